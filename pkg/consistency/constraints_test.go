// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/consistency"
)

// ruled is a provider with rules of its own: a config must name an endpoint, and a Shoot may only have the purposes that
// the config lists, one of them for a single domain.
type ruled struct{ given }

type ruledConfig struct {
	metav1.TypeMeta `json:",inline"`

	Endpoint string            `json:"endpoint"`
	Purposes []string          `json:"purposes"`
	Domains  map[string]string `json:"domains"`
}

func (r ruled) CloudProfileConfig(raw *runtime.RawExtension, at *field.Path) (consistency.CloudProfileConfig[string], consistency.Report) {
	read, report := r.given.CloudProfileConfig(raw, at)
	config := &ruledConfig{}
	kind := schema.GroupVersionKind{Group: "ruled", Version: "v1", Kind: "CloudProfileConfig"}
	report.Errors = append(report.Errors, consistency.DecodeConfig(raw, kind, config, at)...)
	read.Constraints = config
	return read, report
}

func (c *ruledConfig) CheckCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) consistency.Report {
	report := consistency.Report{Warnings: field.ErrorList{field.Invalid(at.Child("warned"), spec.Type, "").WithOrigin("ruled-warning")}}
	if c.Endpoint == "" {
		report.Errors = append(report.Errors, field.Required(at.Child("endpoint"), "").WithOrigin("ruled-endpoint"))
	}
	if len(c.Purposes) == 0 {
		report.Errors = append(report.Errors, field.Required(at.Child("purposes"), "").WithOrigin("ruled-purposes"))
	}
	return report
}

func (c *ruledConfig) CheckShoot(q consistency.ShootQuestion) consistency.Report {
	var report consistency.Report
	for _, purpose := range c.Purposes {
		if string(*q.Shoot.Spec.Purpose) == purpose && (c.Domains[purpose] == "" || c.Domains[purpose] == ptr.Deref(q.Domain, "?")) {
			return report
		}
	}
	report.Errors = field.ErrorList{field.NotSupported(field.NewPath("spec", "purpose"), string(*q.Shoot.Spec.Purpose), c.Purposes).WithOrigin("ruled-purpose")}
	return report
}

func (c *ruledConfig) DependsOnDomain(shoot *v1beta1.Shoot) bool {
	return c.Domains[string(*shoot.Spec.Purpose)] != ""
}

const ruledHeader = "{apiVersion: ruled/v1, kind: CloudProfileConfig, "

// ruledProfile compiles a CloudProfile with one image and a provider config.
func ruledProfile(t *testing.T, config string) (*consistency.Profile[string], consistency.Report) {
	t.Helper()
	defs := []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}
	spec := coreSpec(defs, []v1beta1.Capabilities{{}})
	raw, err := yaml.YAMLToJSON([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	spec.Regions = []v1beta1.Region{{Name: "europe"}}
	spec.MachineTypes = []v1beta1.MachineType{{Name: "m", Architecture: ptr.To("amd64")}}
	return consistency.Compile(ruled{given{{}}}, spec, field.NewPath("spec"))
}

func TestOwnRulesAboutTheConfig(t *testing.T) {
	const at = "spec.providerConfig"
	endpoint, purposes := "Required value "+at+".endpoint ruled-endpoint", "Required value "+at+".purposes ruled-purposes"
	for name, tc := range map[string]struct {
		config   string
		errs     []string
		warnings bool
	}{
		"sound":                        {ruledHeader + "endpoint: e, purposes: [testing]}", nil, true},
		"all that is wrong, in order":  {ruledHeader + "x: 1}", []string{endpoint, purposes, "Forbidden " + at + ".x unknown-field"}, true},
		"misspelt, and so missing":     {ruledHeader + "endpont: e, purposes: [testing]}", []string{"Forbidden " + at + ".endpont unknown-field"}, true},
		"in another case":              {ruledHeader + "endPoint: e, purposes: [testing]}", []string{"Forbidden " + at + ".endPoint unknown-field"}, true},
		"a part of a wrong type":       {ruledHeader + "endpoint: e, purposes: [5]}", []string{"Invalid value " + at + ".purposes[0] field-type"}, true},
		"of a wrong type":              {ruledHeader + "endpoint: e, purposes: testing}", []string{"Invalid value " + at + ".purposes field-type"}, true},
		"a wrong type beside":          {ruledHeader + "endpoint: {}}", []string{"Invalid value " + at + ".endpoint field-type", purposes}, true},
		"of another kind":              {"{apiVersion: ruled/v1, kind: WorkerConfig}", []string{"Unsupported value " + at + ".kind provider-config-kind"}, false},
		"null":                         {"null", []string{"Required value " + at + " provider-config-missing"}, false},
		"no object, so nothing of its": {"[]", []string{"Invalid value " + at + " field-type"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := ruledProfile(t, tc.config)
			var got []string
			for _, err := range report.Errors {
				got = append(got, fmt.Sprintf("%s %s %s", err.Type, err.Field, err.Origin))
			}
			if diff := cmp.Diff(tc.errs, got); diff != "" {
				t.Error(diff)
			}
			if len(report.Warnings) != map[bool]int{true: 1, false: 0}[tc.warnings] {
				t.Error(report.Warnings)
			}
		})
	}
}

func TestOwnRulesAboutShoots(t *testing.T) {
	const ours = "endpoint: e, purposes: [testing, production], domains: {production: finance}}"
	for name, tc := range map[string]struct {
		config, shoot string
		domain        *string
		want          []string
		depends       bool
	}{
		"allowed":                {ours, "purpose: testing, region: europe", nil, nil, false},
		"refused":                {ours, "purpose: evaluation, region: europe", nil, []string{"NotSupported spec.purpose ruled-purpose"}, false},
		"for the domain":         {ours, "purpose: production, region: europe", ptr.To("finance"), nil, true},
		"for another domain":     {ours, "purpose: production, region: europe", ptr.To(""), []string{"NotSupported spec.purpose ruled-purpose"}, true},
		"domain not known":       {ours, "purpose: production, region: europe", nil, []string{"NotSupported spec.purpose ruled-purpose"}, true},
		"region, too":            {ours, "purpose: evaluation, region: mars", nil, []string{"NotSupported spec.purpose ruled-purpose", "NotSupported spec.region unknown-region"}, false},
		"a config that has none": {"x: 1}", "purpose: testing, region: europe", nil, []string{"NotSupported spec.purpose ruled-purpose"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := ruledProfile(t, ruledHeader+tc.config)
			s := shoot(t, "{"+tc.shoot+", provider: {workers: [{name: w, machine: {type: m, image: {name: linux, version: '1'}}}]}}")
			if diff := cmp.Diff(tc.want, plainly(p.CheckShoot(s, tc.domain).Errors)); diff != "" {
				t.Error(diff)
			}
			if got := p.DependsOnDomain(s); got != tc.depends {
				t.Errorf("depends on the domain: %t", got)
			}
			s.Spec.Provider.Workers = nil
			if p.DependsOnDomain(s) || len(p.CheckShoot(s, tc.domain).Errors) > 0 {
				t.Error("there is nothing to check without workers")
			}
		})
	}
}
