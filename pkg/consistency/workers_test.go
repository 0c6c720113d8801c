// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/test/cases"
)

// workerConfig is the WorkerConfig of a provider with two settings.
type workerConfig struct {
	metav1.TypeMeta `json:",inline"`

	Trusted bool   `json:"trusted,omitempty"`
	Disk    string `json:"disk,omitempty"`
	Nested  *bool  `json:"nested,omitempty"`
}

var (
	workerKind  = schema.GroupVersionKind{Group: "given", Version: "v1", Kind: "WorkerConfig"}
	definitions = []capability.Definition{
		{Name: "given-trusted", Values: []string{"on", "off"}, Undeclared: "off"},
		{Name: "given-disk", Values: []string{"fast", "slow"}},
	}
	rules = capability.Rules[workerConfig]{
		{
			Setting: "trusted: true", Field: "trusted", Capability: "given-trusted", Values: []string{"on"},
			Asks: func(c *workerConfig) bool { return c.Trusted },
		},
		{
			Setting: "disk: fast", Field: "disk", Capability: "given-disk", Values: []string{"fast"},
			Asks: func(c *workerConfig) bool { return c.Disk == "fast" },
		},
		{
			Setting: "disk: any", Field: "disk", Capability: "given-disk", Values: []string{"slow", "fast"},
			Asks: func(c *workerConfig) bool { return c.Disk == "any" },
		},
	}
)

// working is the provider given with workers.
type working struct {
	given
	workers provider.Workers
}

func (w working) Workers() provider.Workers { return w.workers }

func workingWith(flavors ...v1beta1.Capabilities) working {
	return working{given(flavors), consistency.WorkersOf(workerKind, definitions, rules)}
}

func TestCheckProvider(t *testing.T) {
	cases.Run(t, "testdata/workers.txtar", func(c *cases.Case) string {
		var defined []capability.Definition
		c.Decode("definitions.yaml", &defined)
		var written []struct {
			Setting, Field, Capability string
			Values                     []string
			Panics                     bool
		}
		c.Decode("rules.yaml", &written)
		var asking capability.Rules[workerConfig]
		for _, r := range written {
			asks := func(c *workerConfig) bool { return r.Panics && *c.Nested }
			asking = append(asking, capability.Rule[workerConfig]{Setting: r.Setting, Field: r.Field, Capability: r.Capability, Values: r.Values, Asks: asks})
		}
		if err := provider.Check(working{workers: consistency.WorkersOf(workerKind, defined, asking)}); err != nil {
			return folded(strings.Split(err.Error(), "\n")...)
		}
		return ""
	})
}

func TestCheckProviderWithoutAKind(t *testing.T) {
	err := provider.Check(working{workers: consistency.WorkersOf(schema.GroupVersionKind{Kind: "WorkerConfig"}, definitions, rules)})
	if err == nil || err.Error() != "provider given: the kind of the WorkerConfig is not given" {
		t.Error(err)
	}
}

// What this repository ships is sound.
func TestTheProvidersAreSound(t *testing.T) {
	if err := provider.Check(openstack.Provider{}); err != nil {
		t.Error(err)
	}
	if err := provider.Check(local.Provider{}); err != nil {
		t.Error(err)
	}
	if err := provider.Check(given{}); err != nil {
		t.Error(err)
	}
}

func TestWorkers(t *testing.T) {
	workers := consistency.WorkersOf(workerKind, definitions, rules)
	if diff := cmp.Diff(definitions, workers.Definitions()); diff != "" {
		t.Error(diff)
	}
	want := []provider.Setting{
		{Setting: "trusted: true", Field: "trusted", Capability: "given-trusted", Values: []string{"on"}},
		{Setting: "disk: fast", Field: "disk", Capability: "given-disk", Values: []string{"fast"}},
		{Setting: "disk: any", Field: "disk", Capability: "given-disk", Values: []string{"slow", "fast"}},
	}
	if diff := cmp.Diff(want, workers.Settings()); diff != "" {
		t.Error(diff)
	}
	workers.Definitions()[0].Name, workers.Settings()[0].Field = "changed", "changed"
	if workers.Definitions()[0].Name != "given-trusted" || workers.Settings()[0].Field != "trusted" {
		t.Error("what is returned is the caller's")
	}
	var none provider.Workers
	requirements, errs := none.Requirements(&runtime.RawExtension{Raw: []byte("{")}, nil)
	if len(none.Definitions())+len(none.Settings())+len(requirements)+len(errs) > 0 {
		t.Error("the zero Workers look at nothing")
	}
}

func TestRequirementsOfAConfig(t *testing.T) {
	const (
		head    = `{"apiVersion": "given/v1", "kind": "WorkerConfig"`
		trusted = "trusted: true at w.providerConfig.trusted"
	)
	text := func(raw string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(raw)} }
	workers := consistency.WorkersOf(workerKind, definitions, rules)
	for name, tc := range map[string]struct {
		raw  *runtime.RawExtension
		want []string
		errs []string
	}{
		"nil":           {nil, nil, nil},
		"empty":         {&runtime.RawExtension{}, nil, nil},
		"white space":   {text(" \n"), nil, nil},
		"null":          {text(" null "), nil, nil},
		"nothing asked": {text(head + "}"), nil, nil},
		"one":           {text(head + `, "trusted": true}`), []string{trusted}, nil},
		"both, in the rules' order": {
			text(head + `, "disk": "any", "trusted": true}`), []string{trusted, "disk: any at w.providerConfig.disk"}, nil,
		},
		"an unknown field beside it": {
			text(head + `, "trusted": true, "x": {}}`), []string{trusted}, []string{"Forbidden w.providerConfig.x unknown-field"},
		},
		"a wrong type beside it": {
			text(head + `, "trusted": true, "disk": 5}`), []string{trusted}, []string{"Invalid w.providerConfig.disk field-type"},
		},
		"a wrong type": {text(head + `, "trusted": "true"}`), nil, []string{"Invalid w.providerConfig.trusted field-type"}},
		"of another kind": {
			text(`{"apiVersion": "given/v1", "kind": "Config", "trusted": true}`), []string{trusted},
			[]string{"NotSupported w.providerConfig.kind provider-config-kind"},
		},
		"of no kind": {text(`{}`), nil, []string{
			"Required w.providerConfig.apiVersion provider-config-kind", "Required w.providerConfig.kind provider-config-kind",
		}},
		"no object": {text(`[]`), nil, []string{"Invalid w.providerConfig field-type"}},
		"no JSON":   {text(head + `, "trusted": tru`), nil, []string{"Invalid w.providerConfig syntax"}},
	} {
		t.Run(name, func(t *testing.T) {
			requirements, errs := workers.Requirements(tc.raw, field.NewPath("w", "providerConfig"))
			var got []string
			for _, q := range requirements {
				got = append(got, q.Setting+" at "+q.Because.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.errs, plainly(errs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHowWorkerCapabilitiesAreRegistered(t *testing.T) {
	cases.Run(t, "testdata/worker-definitions.txtar", func(c *cases.Case) string {
		var def v1beta1.CapabilityDefinition
		c.Decode("capability.yaml", &def)
		s := coreSpec([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, def}, nil)
		_, report := consistency.Compile(workingWith(v1beta1.Capabilities{}), s, field.NewPath("spec"))
		checkFindings(c.T(), report.Errors)
		checkFindings(c.T(), report.Warnings)
		got := plainly(report.Errors)
		for _, line := range plainly(report.Warnings) {
			got = append(got, "warning "+line)
		}
		return folded(got...)
	})
}

// An image version that boots only for those who ask is none that Gardener should choose for others.
func TestVersionsOnlyOnRequest(t *testing.T) {
	cases.Run(t, "testdata/only-on-request.txtar", func(c *cases.Case) string {
		_, report := consistency.ValidateCloudProfile(imagesOnly{}, &v1beta1.CloudProfile{Spec: *specOf(c, "profile.yaml")})
		if len(report.Errors) > 0 {
			c.T().Error(report.Errors)
		}
		var got field.ErrorList
		for _, err := range report.Warnings {
			if err.Origin == consistency.RuleOnlyOnRequest {
				got = append(got, err)
				if !strings.Contains(err.Detail, "on machine type m,") {
					c.T().Error(err)
				}
			}
		}
		return folded(plainly(got)...)
	})
}

// What only the provider knows to be wrong in a config is found once the config could be read.
func TestChecksOfAConfig(t *testing.T) {
	workers := consistency.WorkersOf(workerKind, definitions, rules, func(c *workerConfig, at *field.Path) field.ErrorList {
		if c.Disk == "" || c.Disk == "fast" || c.Disk == "any" {
			return nil
		}
		return field.ErrorList{field.NotSupported(at.Child("disk"), c.Disk, []string{"any", "fast"}).WithOrigin("disk-unknown")}
	})
	for raw, want := range map[string][]string{
		`"disk": "fast"`:                 nil,
		`"disk": "FAST"`:                 {"NotSupported c.disk disk-unknown"},
		`"disk": "FAST", "disc": "fast"`: {"Forbidden c.disc unknown-field"},
	} {
		_, errs := workers.Requirements(&runtime.RawExtension{Raw: []byte(`{"apiVersion": "given/v1", "kind": "WorkerConfig", ` + raw + `}`)}, field.NewPath("c"))
		if diff := cmp.Diff(want, plainly(errs)); diff != "" {
			t.Error(raw, diff)
		}
	}
}
