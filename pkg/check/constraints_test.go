// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// ruled is a provider with its own rules: a config must name an endpoint, and a Shoot may have only the purposes that the config lists. A
// purpose may be limited to one domain.
type ruled struct{ given.Cloud }

type ruledConfig struct {
	metav1.TypeMeta `json:",inline"`

	Endpoint string            `json:"endpoint"`
	Purposes []string          `json:"purposes"`
	Domains  map[string]string `json:"domains"`
}

func (r ruled) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[string], finding.Report) {
	read, report := r.Cloud.Decode(raw, at)
	config := &ruledConfig{}
	kind := schema.GroupVersionKind{Group: "ruled", Version: "v1", Kind: "CloudProfileConfig"}
	report.Errors = append(report.Errors, providerconfig.Decode(raw, kind, config, at)...)
	read.Validator = config
	return read, report
}

func (c *ruledConfig) ValidateCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report {
	report := finding.Report{Warnings: finding.List{finding.New("ruled-warning", field.ErrorTypeInvalid, at.Child("warned"), spec.Type, "")}}
	if c.Endpoint == "" {
		report.Errors = append(report.Errors, finding.New("ruled-endpoint", field.ErrorTypeRequired, at.Child("endpoint"), nil, ""))
	}
	if len(c.Purposes) == 0 {
		report.Errors = append(report.Errors, finding.New("ruled-purposes", field.ErrorTypeRequired, at.Child("purposes"), nil, ""))
	}
	return report
}

func (c *ruledConfig) ValidateShoot(q provider.ShootQuestion) finding.Report {
	var report finding.Report
	for _, purpose := range c.Purposes {
		if string(*q.Shoot.Spec.Purpose) == purpose && (c.Domains[purpose] == "" || c.Domains[purpose] == ptr.Deref(q.Scope, "?")) {
			return report
		}
	}
	return finding.Report{Errors: finding.Of(field.ErrorList{
		field.NotSupported(field.NewPath("spec", "purpose"), string(*q.Shoot.Spec.Purpose), c.Purposes).WithOrigin("ruled-purpose"),
	})}
}

func (c *ruledConfig) NeedsScope(shoot *v1beta1.Shoot) bool {
	return c.Domains[string(*shoot.Spec.Purpose)] != ""
}

// ruledProfile compiles a CloudProfile with one image and the provider config of a case.
func ruledProfile(c *cases.Case) (*profile.Profile[string], finding.Report) {
	defs := []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}
	spec := given.CoreSpec(defs, []v1beta1.Capabilities{{}})
	spec.ProviderConfig = &runtime.RawExtension{Raw: c.JSON("config.yaml")}
	spec.Regions = []v1beta1.Region{{Name: "europe"}}
	spec.MachineTypes = []v1beta1.MachineType{{Name: "m", Architecture: ptr.To("amd64")}}
	return profile.Compile(ruled{given.Linux(v1beta1.Capabilities{})}, spec, field.NewPath("spec"))
}

func TestOwnRulesAboutTheConfig(t *testing.T) {
	cases.Run(t, "testdata/own-rules-config.txtar", func(c *cases.Case) string {
		_, report := ruledProfile(c)
		var lines []string
		for _, err := range report.Errors {
			lines = append(lines, fmt.Sprintf("%s %s %s", err.Type, err.Field, err.Origin))
		}
		for _, warning := range report.Warnings {
			lines = append(lines, fmt.Sprintf("warning %s %s", warning.Field, warning.Origin))
		}
		return cases.Fold(lines...)
	})
}

func TestOwnRulesAboutShoots(t *testing.T) {
	cases.Run(t, "testdata/own-rules-shoots.txtar", func(c *cases.Case) string {
		p, _ := ruledProfile(c)
		s := shootOf(c, "shoot.yaml")
		s.Spec.Provider.Workers = shoot(c.T(), "provider: {workers: [{name: w, machine: {type: m, image: {name: linux, version: '1'}}}]}").Spec.Provider.Workers
		var domain *string
		if c.Has("domain") {
			domain = new(strings.TrimSpace(c.Text("domain")))
		}
		lines := given.Plainly(check.Shoot(p, s, domain).Errors)
		if check.NeedsScope(p, s) {
			lines = append(lines, "depends on the domain")
		}
		s.Spec.Provider.Workers = nil
		if check.NeedsScope(p, s) || len(check.Shoot(p, s, domain).Errors) > 0 {
			c.T().Error("there is nothing to check without workers")
		}
		return cases.Fold(lines...)
	})
}
