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
		{Setting: "trusted: true", Field: "trusted", Capability: "given-trusted", Values: []string{"on"}, Asks: func(c *workerConfig) bool { return c.Trusted }},
		{Setting: "disk: fast", Field: "disk", Capability: "given-disk", Values: []string{"fast"}, Asks: func(c *workerConfig) bool { return c.Disk == "fast" }},
		{Setting: "disk: any", Field: "disk", Capability: "given-disk", Values: []string{"slow", "fast"}, Asks: func(c *workerConfig) bool { return c.Disk == "any" }},
	}
)

// working is the provider given with workers.
type working struct {
	given
	workers consistency.Workers
}

func (w working) Workers() consistency.Workers { return w.workers }

func workingWith(flavors ...v1beta1.Capabilities) working {
	return working{given(flavors), consistency.WorkersOf(workerKind, definitions, rules)}
}

func TestCheckProvider(t *testing.T) {
	define := func(name, undeclared string, values ...string) []capability.Definition {
		return []capability.Definition{{Name: name, Values: values, Undeclared: undeclared}}
	}
	rule := func(setting, field, name string, values ...string) capability.Rules[workerConfig] {
		never := func(*workerConfig) bool { return false }
		return capability.Rules[workerConfig]{{Setting: setting, Field: field, Capability: name, Values: values, Asks: never}}
	}
	hasty := rule("a: true", "a", "given-a", "on")
	hasty[0].Asks = func(c *workerConfig) bool { return *c.Nested }
	for name, tc := range map[string]struct {
		definitions []capability.Definition
		rules       capability.Rules[workerConfig]
		want        []string
	}{
		"nothing":               {nil, nil, nil},
		"sound":                 {definitions, rules, nil},
		"without a rule":        {definitions, nil, nil},
		"without prefix":        {define("trusted", "", "on"), nil, []string{`worker capability "trusted" must begin with "given-", the prefix of this provider`}},
		"of Gardener":           {define("gardener-bootType", "", "on"), nil, []string{`worker capability "gardener-bootType" must begin with "given-", the prefix of this provider`}},
		"nothing but a prefix":  {define("given-", "", "on"), nil, []string{`worker capability "given-" must begin with "given-", the prefix of this provider`}},
		"no qualified name":     {define("given-a b", "", "on"), nil, []string{`"given-a b" is no name for a capability: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`}},
		"no values":             {define("given-a", ""), nil, []string{`worker capability "given-a" needs values, each of them once, and none of them empty`}},
		"an empty value":        {define("given-a", "", "on", ""), nil, []string{`worker capability "given-a" needs values, each of them once, and none of them empty`}},
		"a value twice":         {define("given-a", "", "on", "off", "on"), nil, []string{`worker capability "given-a" needs values, each of them once, and none of them empty`}},
		"undeclared and absent": {define("given-a", "none", "on", "off"), nil, []string{`worker capability "given-a": the undeclared value "none" is none of its values [on, off]`}},
		"twice":                 {append(define("given-a", "", "on"), define("given-a", "", "on")...), nil, []string{`worker capability "given-a" is defined twice`}},
		"rule without setting":  {define("given-a", "", "on"), rule("", "a", "given-a", "on"), []string{`the rule that asks for worker capability "given-a" does not say for which setting, and at which field`}},
		"rule without field":    {define("given-a", "", "on"), rule("a: true", "", "given-a", "on"), []string{`the rule that asks for worker capability "given-a" does not say for which setting, and at which field`}},
		"rule of another":       {nil, rule("a: true", "a", "given-a", "on"), []string{`"a: true" asks for "given-a", which is not among the worker capabilities that it defines`}},
		"rule of Gardener":      {nil, rule("a: true", "a", "gardener-bootType", "secure"), []string{`"a: true" asks for "gardener-bootType", which is not among the worker capabilities that it defines`}},
		"rule without values":   {define("given-a", "", "on"), rule("a: true", "a", "given-a"), []string{`"a: true" asks for [] of worker capability "given-a", which has the values [on]`}},
		"rule of another value": {define("given-a", "", "on", "off"), rule("a: true", "a", "given-a", "on", "of"), []string{`"a: true" asks for [on, of] of worker capability "given-a", which has the values [off, on]`}},
		"rule that panics":      {define("given-a", "", "on"), hasty, []string{"a rule panics when it is asked about a config without any settings: runtime error: invalid memory address or nil pointer dereference"}},
		"all at once": {
			[]capability.Definition{{Name: "trusted", Undeclared: "none"}, {Name: "given-b", Values: []string{"on"}, Undeclared: "x"}}, append(rule("", "", "given-c"), rule("b", "b", "given-b", "x")...),
			[]string{
				`worker capability "trusted" must begin with "given-", the prefix of this provider`, `worker capability "trusted" needs values, each of them once, and none of them empty`,
				`worker capability "given-b": the undeclared value "x" is none of its values [on]`,
				`the rule that asks for worker capability "given-c" does not say for which setting, and at which field`, `"" asks for "given-c", which is not among the worker capabilities that it defines`,
				`"b" asks for [x] of worker capability "given-b", which has the values [on]`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			if err := consistency.CheckProvider(working{workers: consistency.WorkersOf(workerKind, tc.definitions, tc.rules)}); err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			for i := range tc.want {
				tc.want[i] = "provider given: " + tc.want[i]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckProviderWithoutAKind(t *testing.T) {
	err := consistency.CheckProvider(working{workers: consistency.WorkersOf(schema.GroupVersionKind{Kind: "WorkerConfig"}, definitions, rules)})
	if err == nil || err.Error() != "provider given: the kind of the WorkerConfig is not given" {
		t.Error(err)
	}
}

// What this repository ships is sound.
func TestTheProvidersAreSound(t *testing.T) {
	if err := consistency.CheckProvider(openstack.Provider{}); err != nil {
		t.Error(err)
	}
	if err := consistency.CheckProvider(local.Provider{}); err != nil {
		t.Error(err)
	}
	if err := consistency.CheckProvider(given{}); err != nil {
		t.Error(err)
	}
}

func TestWorkers(t *testing.T) {
	workers := consistency.WorkersOf(workerKind, definitions, rules)
	if diff := cmp.Diff(definitions, workers.Definitions()); diff != "" {
		t.Error(diff)
	}
	want := []consistency.Setting{
		{Setting: "trusted: true", Field: "trusted", Capability: "given-trusted", Values: []string{"on"}}, {Setting: "disk: fast", Field: "disk", Capability: "given-disk", Values: []string{"fast"}},
		{Setting: "disk: any", Field: "disk", Capability: "given-disk", Values: []string{"slow", "fast"}},
	}
	if diff := cmp.Diff(want, workers.Settings()); diff != "" {
		t.Error(diff)
	}
	workers.Definitions()[0].Name, workers.Settings()[0].Field = "changed", "changed"
	if workers.Definitions()[0].Name != "given-trusted" || workers.Settings()[0].Field != "trusted" {
		t.Error("what is returned is the caller's")
	}
	var none consistency.Workers
	requirements, errs := none.Requirements(&runtime.RawExtension{Raw: []byte("{")}, nil)
	if len(none.Definitions())+len(none.Settings())+len(requirements)+len(errs) > 0 {
		t.Error("the zero Workers look at nothing")
	}
}

func TestRequirementsOfAConfig(t *testing.T) {
	const head = `{"apiVersion": "given/v1", "kind": "WorkerConfig"`
	workers := consistency.WorkersOf(workerKind, definitions, rules)
	for name, tc := range map[string]struct {
		raw  *runtime.RawExtension
		want []string
		errs []string
	}{
		"nil":                        {nil, nil, nil},
		"empty":                      {&runtime.RawExtension{}, nil, nil},
		"white space":                {&runtime.RawExtension{Raw: []byte(" \n")}, nil, nil},
		"null":                       {&runtime.RawExtension{Raw: []byte(" null ")}, nil, nil},
		"nothing asked":              {&runtime.RawExtension{Raw: []byte(head + "}")}, nil, nil},
		"one":                        {&runtime.RawExtension{Raw: []byte(head + `, "trusted": true}`)}, []string{"trusted: true at w.providerConfig.trusted"}, nil},
		"both, in the rules' order":  {&runtime.RawExtension{Raw: []byte(head + `, "disk": "any", "trusted": true}`)}, []string{"trusted: true at w.providerConfig.trusted", "disk: any at w.providerConfig.disk"}, nil},
		"an unknown field beside it": {&runtime.RawExtension{Raw: []byte(head + `, "trusted": true, "x": {}}`)}, []string{"trusted: true at w.providerConfig.trusted"}, []string{"Forbidden w.providerConfig.x unknown-field"}},
		"a wrong type beside it":     {&runtime.RawExtension{Raw: []byte(head + `, "trusted": true, "disk": 5}`)}, []string{"trusted: true at w.providerConfig.trusted"}, []string{"Invalid w.providerConfig.disk field-type"}},
		"a wrong type":               {&runtime.RawExtension{Raw: []byte(head + `, "trusted": "true"}`)}, nil, []string{"Invalid w.providerConfig.trusted field-type"}},
		"of another kind":            {&runtime.RawExtension{Raw: []byte(`{"apiVersion": "given/v1", "kind": "Config", "trusted": true}`)}, []string{"trusted: true at w.providerConfig.trusted"}, []string{"NotSupported w.providerConfig.kind provider-config-kind"}},
		"of no kind":                 {&runtime.RawExtension{Raw: []byte(`{}`)}, nil, []string{"Required w.providerConfig.apiVersion provider-config-kind", "Required w.providerConfig.kind provider-config-kind"}},
		"no object":                  {&runtime.RawExtension{Raw: []byte(`[]`)}, nil, []string{"Invalid w.providerConfig field-type"}},
		"no JSON":                    {&runtime.RawExtension{Raw: []byte(head + `, "trusted": tru`)}, nil, []string{"Invalid w.providerConfig syntax"}},
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
	const at = "spec.machineCapabilities[1].values"
	for name, tc := range map[string]struct {
		def  v1beta1.CapabilityDefinition
		want []string
	}{
		"all values":                {v1beta1.CapabilityDefinition{Name: "given-trusted", Values: []string{"off", "on"}}, nil},
		"what is asked for":         {v1beta1.CapabilityDefinition{Name: "given-disk", Values: []string{"slow"}}, nil},
		"nothing that is asked for": {v1beta1.CapabilityDefinition{Name: "given-trusted", Values: []string{"off"}}, []string{"warning Invalid " + at + " worker-capability-value-unasked"}},
		"a value that it has not":   {v1beta1.CapabilityDefinition{Name: "given-trusted", Values: []string{"on", "On", "off", "ON"}}, []string{"NotSupported " + at + "[1] worker-capability-value-unknown", "NotSupported " + at + "[3] worker-capability-value-unknown"}},
		"only values that it has not": {v1beta1.CapabilityDefinition{Name: "given-trusted", Values: []string{"yes"}}, []string{
			"NotSupported " + at + "[0] worker-capability-value-unknown", "warning Invalid " + at + " worker-capability-value-unasked"}},
		"a capability like others":        {v1beta1.CapabilityDefinition{Name: "given-network-speed", Values: []string{"x"}}, nil},
		"reserved":                        {v1beta1.CapabilityDefinition{Name: "gardener-bootType", Values: []string{"standard", "secure"}}, nil},
		"reserved, a value that it lacks": {v1beta1.CapabilityDefinition{Name: "gardener-bootType", Values: []string{"standard", "insecure"}}, []string{"NotSupported " + at + "[1] reserved-capability-value"}},
		"reserved, not what all ask for":  {v1beta1.CapabilityDefinition{Name: "gardener-updateType", Values: []string{"inPlace"}}, []string{"warning Invalid " + at + " worker-capability-value-unasked"}},
		"another case":                    {v1beta1.CapabilityDefinition{Name: "given-Trusted", Values: []string{"on"}}, []string{"warning Invalid spec.machineCapabilities[1].name worker-capability-misspelt"}},
		"a letter too many":               {v1beta1.CapabilityDefinition{Name: "given-trustedd", Values: []string{"on"}}, []string{"warning Invalid spec.machineCapabilities[1].name worker-capability-misspelt"}},
		"without its prefix":              {v1beta1.CapabilityDefinition{Name: "trusted", Values: []string{"on"}}, []string{"warning Invalid spec.machineCapabilities[1].name worker-capability-misspelt"}},
		"one of this prefix, unlike any":  {v1beta1.CapabilityDefinition{Name: "given-network", Values: []string{"on"}}, nil},
		"reserved, asked for by few":      {v1beta1.CapabilityDefinition{Name: "gardener-gpuSupport", Values: []string{"amd"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := coreSpec([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, tc.def}, nil)
			_, report := consistency.Compile(workingWith(v1beta1.Capabilities{}), s, field.NewPath("spec"))
			checkFindings(t, report.Errors)
			checkFindings(t, report.Warnings)
			got := plainly(report.Errors)
			for _, line := range plainly(report.Warnings) {
				got = append(got, "warning "+line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An image version that boots only for those who ask is none that Gardener should choose for others.
func TestVersionsOnlyOnRequest(t *testing.T) {
	cases.Run(t, "testdata/only-on-request.txtar", func(c *cases.Case) string {
		_, report := consistency.CheckCloudProfile(imagesOnly{}, &v1beta1.CloudProfile{Spec: *specOf(c, "profile.yaml")})
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
