// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
)

type caps = v1beta1.Capabilities

var amd64 = v1beta1.CapabilityDefinition{Name: "architecture", Values: []string{"amd64"}}

// trusted and launch are worker capabilities of a provider; launch has no undeclared value.
var (
	trusted = capability.Definition{Name: "acme-trusted", Values: []string{"on", "off"}, Undeclared: "off"}
	launch  = capability.Definition{Name: "acme-launch", Values: []string{"fast", "slow"}}
)

// compile compiles amd64 and the registered capabilities with the definitions above.
func compile(t *testing.T, registered ...v1beta1.CapabilityDefinition) *capability.Vocabulary {
	t.Helper()
	v, errs := capability.Compile(append([]v1beta1.CapabilityDefinition{amd64}, registered...), nil, trusted, launch)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return v
}

func storageAndNet(t *testing.T) *capability.Vocabulary {
	t.Helper()
	return compile(t, v1beta1.CapabilityDefinition{Name: "storage", Values: []string{"NVMe", "SCSI"}},
		v1beta1.CapabilityDefinition{Name: "net", Values: []string{"accelerated", "basic"}})
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

func summary(errs finding.List) []string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, fmt.Sprintf("%s %s %s", string(err.Type), err.Field, err.Origin))
	}
	return lines
}

// The errors in declared capabilities, and the set of a machine type that declares them anyway.
func TestSet(t *testing.T) {
	const all = "{architecture: [amd64], storage: [NVMe, SCSI], net: [accelerated, basic]}"
	v := storageAndNet(t)
	narrow := compile(t, v1beta1.CapabilityDefinition{Name: "gardener-boot-type", Values: []string{"standard"}},
		v1beta1.CapabilityDefinition{Name: "acme-trusted", Values: []string{"on"}})
	for name, tc := range map[string]struct {
		v        *capability.Vocabulary
		declared caps
		want     string
		errs     []string
	}{
		"nothing declared":  {v, nil, all, nil},
		"empty":             {v, caps{}, all, nil},
		"order, repetition": {v, caps{"storage": {"SCSI", "NVMe", "SCSI"}}, all, nil},
		"narrowed":          {v, caps{"net": {"basic"}}, "{architecture: [amd64], storage: [NVMe, SCSI], net: [basic]}", nil},
		"empty list": {
			v, caps{"net": {}}, "{architecture: [amd64], storage: [NVMe, SCSI], net: []}",
			[]string{"FieldValueRequired at.net capability-value-missing"},
		},
		"unknown value": {
			v, caps{"net": {"fast", "basic"}}, "{architecture: [amd64], storage: [NVMe, SCSI], net: [basic]}",
			[]string{"FieldValueNotSupported at.net[0] capability-value-unregistered"},
		},
		"unknown names": {
			v, caps{"b": {"x"}, "a": {"x"}}, all,
			[]string{
				"FieldValueNotSupported at.a capability-unregistered", "FieldValueNotSupported at.b capability-unregistered",
			},
		},
		"name differs in case": {
			v, caps{"Net": {"basic"}}, all, []string{"FieldValueNotSupported at.Net capability-unregistered"},
		},
		"reserved names need not be registered": {
			compile(t), caps{"gardener-boot-type": {"secure"}, "gardener-update-type": {"rolling", "in-place"}},
			"{architecture: [amd64], gardener-boot-type: [secure], gardener-update-type: [rolling, in-place]}", nil,
		},
		"all of that, in order": {
			compile(t), caps{
				"gardener-z": {}, "acme-trusted": {"on"}, "gardener-gpuSupport": {"amd", "gpu"}, "gardener-boot-type": {},
				"architecture": {"arm64"},
			},
			"{architecture: [], gardener-boot-type: [], gardener-gpuSupport: [amd]}",
			[]string{
				"FieldValueNotSupported at.architecture[0] capability-value-unregistered",
				"FieldValueRequired at.gardener-boot-type capability-value-missing",
				"FieldValueNotSupported at.gardener-gpuSupport[1] reserved-capability-value",
				"FieldValueNotSupported at.acme-trusted capability-unregistered",
				"FieldValueNotSupported at.gardener-z reserved-capability-unknown",
			},
		},
		"registered with fewer values": {
			narrow, caps{"gardener-boot-type": {"secure"}, "acme-trusted": {"off"}},
			"{architecture: [amd64], gardener-boot-type: [], acme-trusted: []}",
			[]string{
				"FieldValueNotSupported at.gardener-boot-type[0] capability-value-unregistered",
				"FieldValueNotSupported at.acme-trusted[0] capability-value-unregistered",
			},
		},
		"registered, an empty list": {
			narrow, caps{"gardener-boot-type": {}}, "{architecture: [amd64], gardener-boot-type: [], acme-trusted: [on]}",
			[]string{"FieldValueRequired at.gardener-boot-type capability-value-missing"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, errs := tc.v.Set(tc.declared, field.NewPath("at"))
			if s.String() != tc.want {
				t.Errorf("got %s, want %s", s, tc.want)
			}
			if diff := cmp.Diff(tc.errs, summary(errs)); diff != "" {
				t.Error(diff)
			}
			flavor, errs := tc.v.Flavor(tc.declared, nil, field.NewPath("at"))
			if diff := cmp.Diff(tc.errs, summary(errs)); diff != "" {
				t.Error("as a flavor:", diff)
			}
			silent, none := tc.v.Set(tc.declared, nil)
			silentFlavor, also := tc.v.Flavor(tc.declared, nil, nil)
			if silent != s || silentFlavor != flavor || len(none)+len(also) > 0 {
				t.Error("without a path there must be the same set and no errors")
			}
		})
	}
}

func TestMessagesAboutReservedCapabilities(t *testing.T) {
	declared := caps{"gardener-boot-type": {}, "gardener-gpuSupport": {"voodoo"}, "gardener-boot": {"secure"}}
	_, errs := compile(t).Flavor(declared, nil, field.NewPath("at"))
	want := []string{
		"at.gardener-boot-type: Required value: an empty list matches nothing: " +
			"list values of gardener-boot-type, or leave the capability out if the image does not support it",
		`at.gardener-gpuSupport[0]: Unsupported value: "voodoo": gardener-gpuSupport is a capability of Gardener, ` +
			`with the values [nvidia, amd, intel, none]; "voodoo" is none of them`,
		`at.gardener-boot: Unsupported value: "gardener-boot": unknown capability "gardener-boot"; ` +
			`names with gardener- are Gardener's own, which has [gardener-boot-type, gardener-update-type, gardener-gpuSupport]; ` +
			"did you mean gardener-boot-type?",
	}
	var got []string
	for _, err := range errs {
		got = append(got, err.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
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
	v := compile(t, defs...)
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
	want := capability.Preference{Sign: 1, Capability: "c39", Second: "v97", Own: true}
	if got := capability.Compare(a, b, v.All(), capability.Set{}, capability.Gardener); got != want {
		t.Errorf("%+v", got)
	}
}

func TestSetsOfOtherVocabularies(t *testing.T) {
	v, w := storageAndNet(t), storageAndNet(t)
	var zero capability.Set
	asked, _ := w.Request([]capability.Requirement{{Capability: "gardener-boot-type", Values: []string{"standard"}}})
	flavor, _ := v.Flavor(nil, nil, nil)
	for _, other := range []capability.Set{w.All(), zero} {
		if flavor.Compatible(other) || other.Compatible(flavor) {
			t.Error("compatible across vocabularies")
		}
		if flavor.Intersect(other) != zero || other.Intersect(flavor) != zero || flavor.Effective(other, zero) != zero {
			t.Error("an intersection across vocabularies must be the zero set")
		}
		if capability.Compare(flavor, other, v.All(), zero, capability.GEP33).Sign != 0 {
			t.Error("ranked across vocabularies")
		}
	}
	if flavor.Fits(v.All(), asked) || flavor.Effective(v.All(), asked) != zero {
		t.Error("a request of another vocabulary must not fit")
	}
	if len(flavor.Conflicts(w.All(), zero)) != 3 || len(flavor.Conflicts(v.All(), asked)) != 3 {
		t.Error("a foreign set conflicts in everything")
	}
	if zero.Fits(v.All(), zero) || zero.Fits(zero, zero) || zero.Effective(zero, zero) != zero ||
		len(zero.Conflicts(v.All(), asked)) > 0 {
		t.Error("the zero set fits nothing")
	}
	if zero.String() != "{}" || zero.Values("net") != nil || len(zero.Capabilities()) != 0 {
		t.Error("the zero set holds nothing")
	}
}

// The cases of semantics S5 in which the two orders differ, and the steps of GEP-0033's order.
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

// The table of semantics S3.
func TestReserved(t *testing.T) {
	want := []capability.Definition{
		{Name: "gardener-boot-type", Values: []string{"standard", "secure"}, Undeclared: "standard"},
		{Name: "gardener-update-type", Values: []string{"rolling", "in-place"}, Undeclared: "rolling"},
		{Name: "gardener-gpuSupport", Values: []string{"nvidia", "amd", "intel", "none"}, Undeclared: "none"},
	}
	reserved := capability.Reserved()
	if diff := cmp.Diff(want, reserved); diff != "" {
		t.Error(diff)
	}
	reserved[0].Values[0] = "changed"
	if diff := cmp.Diff(want, capability.Reserved()); diff != "" {
		t.Error("the result is the caller's:", diff)
	}
	if diff := cmp.Diff(append(want, trusted, launch), compile(t).WorkerCapabilities()); diff != "" {
		t.Error(diff)
	}
	v := compile(t, v1beta1.CapabilityDefinition{Name: "gardener-boot-type", Values: []string{"standard"}})
	if !v.IsRegistered("gardener-boot-type") || v.IsRegistered("gardener-update-type") || v.IsRegistered("acme-trusted") {
		t.Error("what is registered are architecture and the boot type")
	}
	text, err := json.Marshal([]capability.Definition{
		{Name: "acme-snp", Values: []string{"enabled", "disabled"}, Undeclared: "disabled", OnlyIfRegistered: true}, trusted,
	})
	const inJSON = `[{"name":"acme-snp","values":["enabled","disabled"],"undeclared":"disabled","onlyIfRegistered":true},` +
		`{"name":"acme-trusted","values":["on","off"],"undeclared":"off"}]`
	if string(text) != inJSON || err != nil {
		t.Error(string(text), err)
	}
}

// The requirements of a worker pool, from the last column of the table of S3. A Shoot has only the update strategy.
func TestRequirements(t *testing.T) {
	const (
		boot    = "gardener-boot-type [standard]: no secure boot, implied true, at <nil>"
		rolling = "gardener-update-type [rolling]: no update in place, implied true, at worker.updateStrategy"
		inPlace = "gardener-update-type [in-place]: update strategy %s, implied false, at worker.updateStrategy"
		gpu     = "gardener-gpuSupport [%s]: GPU of type %s, implied false, at <nil>"
	)
	strategy := func(s v1beta1.MachineUpdateStrategy) capability.Worker { return capability.Worker{UpdateStrategy: s} }
	type lines = []string
	tests := map[string]struct {
		worker capability.Worker
		want   []string
	}{
		"nothing": {capability.Worker{}, lines{boot, rolling}},
		"secure boot": {capability.Worker{SecureBoot: true}, lines{
			"gardener-boot-type [secure]: secure boot, implied false, at <nil>", rolling,
		}},
		"rolling":          {strategy("AutoRollingUpdate"), lines{boot, rolling}},
		"in place":         {strategy("AutoInPlaceUpdate"), lines{boot, fmt.Sprintf(inPlace, "AutoInPlaceUpdate")}},
		"in place by hand": {strategy("ManualInPlaceUpdate"), lines{boot, fmt.Sprintf(inPlace, "ManualInPlaceUpdate")}},
		"unknown strategy": {strategy("Never"), lines{boot, rolling}},
	}
	for kind, value := range map[string]string{
		"nvidia": "nvidia", "amd": "amd", "intel": "intel", "Nvidia": "none", "": "none",
	} {
		test := tests["nothing"]
		test.worker.GPU, test.want = &kind, append(test.want[:2:2], fmt.Sprintf(gpu, value, kind))
		tests["GPU "+kind] = test
	}
	for name, tc := range tests {
		var got []string
		for _, q := range tc.worker.Requirements(field.NewPath("worker")) {
			got = append(got, fmt.Sprintf("%s %v: %s, implied %t, at %s",
				q.Capability, q.Values, q.Setting, q.Implied, q.Because))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Error(name, diff)
		}
		for _, q := range tc.worker.Requirements(nil) {
			if q.Because != nil {
				t.Errorf("%s: %s stands in no manifest", name, q.Because)
			}
		}
	}
}

func TestFormatOfWorkerCapabilities(t *testing.T) {
	v := compile(t, v1beta1.CapabilityDefinition{Name: "acme-trusted", Values: []string{"off", "on"}})
	got := v.Format(caps{
		"gardener-z": {"b", "a"}, "gardener-gpuSupport": {"none", "x", "nvidia", "none"}, "gardener-boot-type": {"standard", "secure"},
		"acme-trusted": {"on", "off"}, "acme-launch": {"slow"},
	})
	want := "{acme-trusted: [off, on], gardener-boot-type: [standard, secure], gardener-gpuSupport: [nvidia, none, x], acme-launch: [slow], gardener-z: [b, a]}"
	if got != want {
		t.Error(got)
	}
}

func TestRequestsDoNotMakeMatchingAllocate(t *testing.T) {
	registered := []v1beta1.CapabilityDefinition{
		{Name: "acme-trusted", Values: []string{"on", "off"}}, {Name: "gardener-update-type", Values: []string{"rolling", "in-place"}},
	}
	v := compile(t, registered...)
	a, _ := v.Flavor(caps{"acme-trusted": {"on", "off"}, "gardener-boot-type": {"secure", "standard"}}, nil, nil)
	b, _ := v.Flavor(nil, nil, nil)
	request, _ := v.Request(append(capability.Worker{}.Requirements(nil), capability.Requirement{Capability: "acme-trusted", Values: []string{"off"}}))
	if n := testing.AllocsPerRun(100, func() {
		a.Fits(v.All(), request)
		for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
			capability.Compare(a, b, v.All(), request, order)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestOrdinaryRequestsDoNotAllocate(t *testing.T) {
	var many []v1beta1.CapabilityDefinition
	for i := range 40 {
		many = append(many, v1beta1.CapabilityDefinition{Name: fmt.Sprintf("c%02d", i), Values: []string{"v"}})
	}
	registered := []v1beta1.CapabilityDefinition{
		{Name: "acme-trusted", Values: []string{"on", "off"}}, {Name: "gardener-update-type", Values: []string{"rolling", "in-place"}},
	}
	ordinary := capability.Worker{}.Requirements(field.NewPath("worker"))
	for name, v := range map[string]*capability.Vocabulary{
		"nothing registered": compile(t), "some registered": compile(t, registered...),
		"many registered": compile(t, append(many, registered...)...),
	} {
		for _, requirements := range [][]capability.Requirement{nil, ordinary} {
			if n := testing.AllocsPerRun(100, func() { _, _ = v.Request(requirements) }); n != 0 {
				t.Errorf("%s, %d requirements: %v allocations", name, len(requirements), n)
			}
		}
	}
}
