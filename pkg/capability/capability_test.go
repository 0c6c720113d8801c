// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

type caps = v1beta1.Capabilities

func storageAndNet(t *testing.T) *capability.Vocabulary {
	t.Helper()
	return compile(t, []v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64"}},
		{Name: "storage", Values: []string{"NVMe", "SCSI"}},
		{Name: "net", Values: []string{"accelerated", "basic"}},
	})
}

func compile(t *testing.T, defs []v1beta1.CapabilityDefinition) *capability.Vocabulary {
	t.Helper()
	v, errs := capability.Compile(defs, field.NewPath("spec", "machineCapabilities"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return v
}

func set(t *testing.T, v *capability.Vocabulary, c caps) capability.Set {
	t.Helper()
	s, errs := v.Set(c, field.NewPath("at"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s
}

func TestCompileReportsOnlyWhatGardenerDoesNot(t *testing.T) {
	v, errs := capability.Compile([]v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64", "amd64"}},
		{Name: "storage", Values: []string{"NVMe", "NVMe"}},
		{Name: "storage", Values: []string{"SCSI"}},
	}, field.NewPath("spec", "machineCapabilities"))
	got := summary(errs)
	want := []string{
		"FieldValueDuplicate spec.machineCapabilities[0].values[2] capability-value-duplicate",
		"FieldValueDuplicate spec.machineCapabilities[1].values[1] capability-value-duplicate",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"NVMe"}, v.Registered("storage")); diff != "" {
		t.Errorf("the first definition of a name counts, each value once: %s", diff)
	}
}

func summary(errs field.ErrorList) []string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, fmt.Sprintf("%s %s %s", string(err.Type), err.Field, err.Origin))
	}
	return lines
}

func TestEmptyDefinitionsAreLegacy(t *testing.T) {
	v := compile(t, nil)
	if !v.Legacy() {
		t.Error("no definitions must mean legacy mode")
	}
	if got := v.All().String(); got != "{architecture: [amd64, arm64]}" {
		t.Error(got)
	}
}

func TestSet(t *testing.T) {
	v := storageAndNet(t)
	for name, tc := range map[string]struct {
		declared caps
		want     string
		errs     []string
	}{
		"nothing declared":  {nil, "{architecture: [amd64], storage: [NVMe, SCSI], net: [accelerated, basic]}", nil},
		"empty":             {caps{}, "{architecture: [amd64], storage: [NVMe, SCSI], net: [accelerated, basic]}", nil},
		"order, repetition": {caps{"storage": {"SCSI", "NVMe", "SCSI"}}, "{architecture: [amd64], storage: [NVMe, SCSI], net: [accelerated, basic]}", nil},
		"narrowed":          {caps{"net": {"basic"}}, "{architecture: [amd64], storage: [NVMe, SCSI], net: [basic]}", nil},
		"empty list": {
			caps{"net": {}}, "{architecture: [amd64], storage: [NVMe, SCSI], net: []}", []string{"FieldValueRequired at.net capability-value-missing"},
		},
		"unknown value": {
			caps{"net": {"fast", "basic"}}, "{architecture: [amd64], storage: [NVMe, SCSI], net: [basic]}",
			[]string{"FieldValueNotSupported at.net[0] capability-value-unregistered"},
		},
		"unknown names": {
			caps{"b": {"x"}, "a": {"x"}}, "{architecture: [amd64], storage: [NVMe, SCSI], net: [accelerated, basic]}",
			[]string{"FieldValueNotSupported at.a capability-unregistered", "FieldValueNotSupported at.b capability-unregistered"},
		},
		"name differs in case": {
			caps{"Net": {"basic"}}, "{architecture: [amd64], storage: [NVMe, SCSI], net: [accelerated, basic]}",
			[]string{"FieldValueNotSupported at.Net capability-unregistered"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, errs := v.Set(tc.declared, field.NewPath("at"))
			if s.String() != tc.want {
				t.Errorf("got %s, want %s", s, tc.want)
			}
			if diff := cmp.Diff(tc.errs, summary(errs)); diff != "" {
				t.Error(diff)
			}
			if silent, none := v.Set(tc.declared, nil); silent != s || len(none) > 0 {
				t.Error("without a path there must be the same set and no errors")
			}
		})
	}
}

func TestManyCapabilitiesAndValues(t *testing.T) {
	var defs []v1beta1.CapabilityDefinition
	for i := range 40 {
		def := v1beta1.CapabilityDefinition{Name: fmt.Sprintf("c%02d", i)}
		for k := range 100 {
			def.Values = append(def.Values, fmt.Sprintf("v%02d", k))
		}
		defs = append(defs, def)
	}
	v := compile(t, defs)
	a, b := set(t, v, caps{"c39": {"v99", "v98"}}), set(t, v, caps{"c39": {"v98", "v97"}})
	if !a.Compatible(b) || a == b {
		t.Error("the sets share v98 of c39")
	}
	if got := a.Intersect(b).Values("c39"); len(got) != 1 || got[0] != "v98" {
		t.Error(got)
	}
	if got := capability.Compare(a, b, v.All(), capability.Set{}, capability.GEP33); got.Sign != 1 || got.First != "v98" || got.Second != "v97" || got.Round != 1 {
		t.Errorf("%+v", got)
	}
}

func TestConflicts(t *testing.T) {
	v := storageAndNet(t)
	image := set(t, v, caps{"storage": {"NVMe"}, "net": {"basic"}})
	machine := set(t, v, caps{"storage": {"SCSI"}, "net": {"accelerated"}})
	want := []capability.Conflict{
		{Capability: "storage", Offer: []string{"NVMe"}, Need: []string{"SCSI"}, Cause: capability.CauseMachine},
		{Capability: "net", Offer: []string{"basic"}, Need: []string{"accelerated"}, Cause: capability.CauseMachine},
	}
	if diff := cmp.Diff(want, image.Conflicts(machine, capability.Set{})); diff != "" {
		t.Error(diff)
	}
	if image.Compatible(machine) {
		t.Error("compatible although there are conflicts")
	}
	if got := image.Conflicts(v.All(), capability.Set{}); got != nil {
		t.Error(got)
	}
}

func TestSetsOfOtherVocabularies(t *testing.T) {
	v, w := storageAndNet(t), storageAndNet(t)
	var zero capability.Set
	for _, other := range []capability.Set{w.All(), zero} {
		if v.All().Compatible(other) || other.Compatible(v.All()) {
			t.Error("compatible across vocabularies")
		}
		if v.All().Intersect(other) != zero || other.Intersect(v.All()) != zero {
			t.Error("an intersection across vocabularies must be the zero set")
		}
		if capability.Compare(v.All(), other, v.All(), capability.Set{}, capability.GEP33).Sign != 0 {
			t.Error("ranked across vocabularies")
		}
	}
	if len(v.All().Conflicts(w.All(), capability.Set{})) != 3 || zero.String() != "{}" || zero.Values("net") != nil || len(zero.Capabilities()) != 0 {
		t.Error("a foreign set conflicts in everything, the zero set holds nothing")
	}
}

// The cases of semantics S5 in which the two orders differ, and the steps of GEP-0033's.
func TestCompare(t *testing.T) {
	everything := caps{}
	for name, tc := range map[string]struct {
		a, b, machine caps
		order         capability.Order
		want          capability.Preference
	}{
		"first value, capability by capability": {
			caps{"storage": {"NVMe"}}, caps{"storage": {"SCSI"}}, everything, capability.GEP33,
			capability.Preference{Sign: -1, Capability: "storage", Round: 1, First: "NVMe", Second: "SCSI"},
		},
		"most preferred values before second ones": {
			caps{"storage": {"NVMe", "SCSI"}, "net": {"basic"}}, caps{"storage": {"NVMe"}, "net": {"accelerated"}}, everything, capability.GEP33,
			capability.Preference{Sign: 1, Capability: "net", Round: 1, First: "basic", Second: "accelerated"},
		},
		"the library lets more values win": {
			caps{"storage": {"NVMe", "SCSI"}, "net": {"basic"}}, caps{"storage": {"NVMe"}, "net": {"accelerated"}}, everything, capability.Gardener,
			capability.Preference{Sign: -1, Capability: "storage", First: "SCSI", Own: true},
		},
		"what the machine lacks does not count": {
			caps{"storage": {"NVMe", "SCSI"}, "net": {"basic"}}, caps{"storage": {"SCSI"}, "net": {"accelerated"}}, caps{"storage": {"SCSI"}}, capability.GEP33,
			capability.Preference{Sign: 1, Capability: "net", Round: 1, First: "basic", Second: "accelerated"},
		},
		"what the machine lacks counts for the library": {
			caps{"storage": {"NVMe", "SCSI"}, "net": {"basic"}}, caps{"storage": {"SCSI"}, "net": {"accelerated"}}, caps{"storage": {"SCSI"}}, capability.Gardener,
			capability.Preference{Sign: -1, Capability: "storage", First: "NVMe", Own: true},
		},
		"a set that runs out of values loses": {
			caps{"storage": {"NVMe"}}, caps{"storage": {"NVMe", "SCSI"}}, everything, capability.GEP33,
			capability.Preference{Sign: 1, Capability: "storage", Round: 2, First: "", Second: "SCSI"},
		},
		"own sets decide when the effective ones are equal": {
			caps{"storage": {"SCSI"}}, caps{"storage": {"NVMe", "SCSI"}}, caps{"storage": {"SCSI"}}, capability.GEP33,
			capability.Preference{Sign: 1, Capability: "storage", Round: 1, First: "SCSI", Second: "NVMe", Own: true},
		},
		"equal": {
			caps{"storage": {"SCSI", "NVMe"}}, caps{}, everything, capability.GEP33, capability.Preference{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := storageAndNet(t)
			a, b, machine := set(t, v, tc.a), set(t, v, tc.b), set(t, v, tc.machine)
			if diff := cmp.Diff(tc.want, capability.Compare(a, b, machine, capability.Set{}, tc.order)); diff != "" {
				t.Error(diff)
			}
			if reverse := capability.Compare(b, a, machine, capability.Set{}, tc.order); reverse.Sign != -tc.want.Sign {
				t.Errorf("the other way round: %+v", reverse)
			}
		})
	}
}

func TestParseOrder(t *testing.T) {
	for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
		if got, err := capability.ParseOrder(order.String()); err != nil || got != order {
			t.Errorf("%s: %v %v", order, got, err)
		}
	}
	if _, err := capability.ParseOrder("best"); err == nil {
		t.Error("an unknown order must be refused")
	}
}
