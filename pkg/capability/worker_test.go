// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

var amd64 = v1beta1.CapabilityDefinition{Name: "architecture", Values: []string{"amd64"}}

// trusted is a worker capability of a provider, launch one without an undeclared value.
var (
	trusted = capability.Definition{Name: "acme-trusted", Values: []string{"on", "off"}, Undeclared: "off"}
	launch  = capability.Definition{Name: "acme-launch", Values: []string{"fast", "slow"}}
)

// acme compiles what is registered beside amd64, with the definitions above.
func acme(t *testing.T, registered ...v1beta1.CapabilityDefinition) *capability.Vocabulary {
	t.Helper()
	v, errs := capability.Compile(append([]v1beta1.CapabilityDefinition{amd64}, registered...), nil, trusted, launch)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return v
}

// The table of semantics S3.
func TestReserved(t *testing.T) {
	want := []capability.Definition{
		{Name: "gardener-bootType", Values: []string{"secure", "standard"}, Undeclared: "standard"},
		{Name: "gardener-updateType", Values: []string{"inPlace", "rolling"}, Undeclared: "rolling"},
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
	if diff := cmp.Diff(append(want, trusted, launch), acme(t).WorkerCapabilities()); diff != "" {
		t.Error(diff)
	}
	v := acme(t, v1beta1.CapabilityDefinition{Name: "gardener-bootType", Values: []string{"standard"}})
	if !v.IsRegistered("gardener-bootType") || v.IsRegistered("gardener-updateType") || v.IsRegistered("acme-trusted") {
		t.Error("what is registered are architecture and the boot type")
	}
}

// What a worker asks for, by the last column of the table of S3.
func TestRequirementsOfWorkers(t *testing.T) {
	gpu := func(kind string) capability.Worker { return capability.Worker{GPU: &kind} }
	for name, tc := range map[string]struct {
		worker capability.Worker
		want   string
	}{
		"nothing":          {capability.Worker{}, "boot standard (implied) update rolling (implied)"},
		"secure boot":      {capability.Worker{SecureBoot: true}, "boot secure update rolling (implied)"},
		"rolling":          {capability.Worker{UpdateStrategy: v1beta1.AutoRollingUpdate}, "boot standard (implied) update rolling (implied)"},
		"in place":         {capability.Worker{UpdateStrategy: v1beta1.AutoInPlaceUpdate}, "boot standard (implied) update inPlace"},
		"in place by hand": {capability.Worker{UpdateStrategy: v1beta1.ManualInPlaceUpdate}, "boot standard (implied) update inPlace"},
		"unknown strategy": {capability.Worker{UpdateStrategy: "Never"}, "boot standard (implied) update rolling (implied)"},
		"nvidia":           {gpu("nvidia"), "boot standard (implied) update rolling (implied) gpu nvidia"},
		"amd":              {gpu("amd"), "boot standard (implied) update rolling (implied) gpu amd"},
		"intel":            {gpu("intel"), "boot standard (implied) update rolling (implied) gpu intel"},
		"an unknown GPU":   {gpu("Nvidia"), "boot standard (implied) update rolling (implied) gpu none"},
		"a GPU of no name": {gpu(""), "boot standard (implied) update rolling (implied) gpu none"},
	} {
		t.Run(name, func(t *testing.T) {
			short := strings.NewReplacer("gardener-bootType", "boot", "gardener-updateType", "update", "gardener-gpuSupport", "gpu")
			var got []string
			for _, q := range tc.worker.Requirements(nil) {
				text := short.Replace(q.Capability) + " " + strings.Join(q.Values, ",")
				if q.Implied {
					text += " (implied)"
				}
				if q.Because != nil || q.Setting == "" {
					t.Errorf("%+v", q)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Only the update strategy stands in a Shoot.
func TestRequirementsOfAShootsWorker(t *testing.T) {
	strategy, kind := v1beta1.AutoInPlaceUpdate, "nvidia"
	worker := capability.Worker{UpdateStrategy: strategy, GPU: &kind}
	var got []string
	for _, q := range worker.Requirements(field.NewPath("workers").Index(2)) {
		got = append(got, q.Capability+" "+q.Because.String()+" "+q.Setting)
	}
	want := []string{
		"gardener-bootType <nil> no secure boot",
		"gardener-updateType workers[2].updateStrategy update strategy AutoInPlaceUpdate",
		"gardener-gpuSupport <nil> GPU of type nvidia",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRequest(t *testing.T) {
	asks := func(name string, values ...string) capability.Requirement {
		return capability.Requirement{Capability: name, Values: values}
	}
	type asked = []capability.Requirement
	secure := asks("gardener-bootType", "secure")
	launching := []v1beta1.CapabilityDefinition{{Name: "acme-launch", Values: []string{"fast", "slow"}}}
	both := caps{"gardener-bootType": {"secure", "standard"}, "acme-trusted": {"on", "off"}}
	few := []v1beta1.CapabilityDefinition{{Name: "acme-trusted", Values: []string{"on"}}, {Name: "gardener-updateType", Values: []string{"rolling"}}}
	all := []v1beta1.CapabilityDefinition{{Name: "acme-trusted", Values: []string{"off", "on"}}}
	for name, tc := range map[string]struct {
		registered []v1beta1.CapabilityDefinition
		asked      []capability.Requirement
		flavor     caps
		fits       bool
		unmet      []int
	}{
		"nothing":                       {nil, nil, nil, true, nil},
		"reserved":                      {nil, asked{secure}, caps{"gardener-bootType": {"secure"}}, true, nil},
		"reserved, undeclared":          {nil, asked{secure}, nil, false, nil},
		"two that one value meets":      {all, asked{asks("acme-trusted", "on"), asks("acme-trusted", "off", "on")}, both, true, nil},
		"two that only two values meet": {all, asked{asks("acme-trusted", "on"), asks("acme-trusted", "off")}, both, false, nil},
		"two reserved that only two meet": {
			nil, asked{secure, asks("gardener-bootType", "standard")}, caps{"gardener-bootType": {"secure", "standard"}}, false, nil,
		},
		"not registered":                        {nil, asked{secure, asks("acme-trusted", "on")}, caps{"gardener-bootType": {"secure"}}, true, []int{1}},
		"not registered, and off":               {nil, asked{asks("acme-trusted", "off"), asks("acme-launch", "slow")}, nil, true, []int{1}},
		"an ordinary capability":                {nil, asked{asks("architecture", "amd64")}, nil, true, []int{0}},
		"a capability that nobody knows":        {nil, asked{asks("gardener-bootTypes", "secure"), asks("acme-x", "y")}, nil, true, []int{0, 1}},
		"a value that nobody knows":             {nil, asked{asks("gardener-bootType", "unsafe")}, nil, true, []int{0}},
		"no value":                              {nil, asked{asks("gardener-bootType")}, nil, true, []int{0}},
		"a value that is not registered":        {few, asked{asks("acme-trusted", "off")}, nil, true, []int{0}},
		"one of two values registered":          {few, asked{asks("acme-trusted", "off", "on")}, caps{"acme-trusted": {"on"}}, true, nil},
		"a reserved value that is not":          {few, asked{asks("gardener-updateType", "inPlace")}, nil, true, []int{0}},
		"the undeclared value, not registered":  {few, asked{asks("acme-trusted", "on", "off")}, nil, false, nil},
		"what cannot be met hides nothing":      {nil, asked{asks("acme-trusted", "on"), secure, asks("acme-launch", "fast")}, nil, false, []int{0, 2}},
		"without an undeclared value":           {launching, asked{asks("acme-launch", "slow", "fast")}, nil, false, nil},
		"without an undeclared value, declared": {launching, asked{asks("acme-launch", "slow")}, caps{"acme-launch": {"slow"}}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := acme(t, tc.registered...)
			request, unmet := v.Request(tc.asked)
			var want []capability.Requirement
			for _, i := range tc.unmet {
				want = append(want, tc.asked[i])
			}
			if diff := cmp.Diff(want, unmet); diff != "" {
				t.Error(diff)
			}
			flavor, _ := v.Flavor(tc.flavor, nil, nil)
			if flavor.Fits(v.All(), request) != tc.fits || (len(flavor.Conflicts(v.All(), request)) == 0) != tc.fits {
				t.Errorf("fits %t, conflicts %v", flavor.Fits(v.All(), request), flavor.Conflicts(v.All(), request))
			}
		})
	}
}

// A definition may count only where it is registered: elsewhere nobody is refused, and nothing is matched.
func TestOnlyIfRegistered(t *testing.T) {
	snp := capability.Definition{
		Name: "acme-snp", Values: []string{"enabled", "disabled"}, Undeclared: "disabled", OnlyIfRegistered: true,
	}
	compile := func(defs ...v1beta1.CapabilityDefinition) *capability.Vocabulary {
		v, errs := capability.Compile(append([]v1beta1.CapabilityDefinition{amd64}, defs...), nil, snp, trusted)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		return v
	}
	enabled, disabled := v1beta1.CapabilityValues{"enabled"}, v1beta1.CapabilityValues{"disabled"}
	not := compile()
	fully := compile(v1beta1.CapabilityDefinition{Name: "acme-snp", Values: []string{"enabled", "disabled"}})
	partly := compile(v1beta1.CapabilityDefinition{Name: "acme-snp", Values: disabled})
	for name, tc := range map[string]struct {
		v                    *capability.Vocabulary
		capability           string
		values               []string
		ignored, unmet, fits bool
	}{
		"not registered": {not, "acme-snp", enabled, true, false, true},
		"not registered, a value that nobody knows": {not, "acme-snp", []string{"x"}, true, false, true},
		"not registered, what undeclared means":     {not, "acme-snp", disabled, false, false, true},
		"not registered, another definition":        {not, "acme-trusted", []string{"on"}, false, true, true},
		"not registered, a capability without one":  {not, "acme-other", []string{"on"}, false, true, true},
		"reserved":                          {not, "gardener-bootType", []string{"secure"}, false, false, false},
		"registered":                        {fully, "acme-snp", enabled, false, false, false},
		"registered, what undeclared means": {fully, "acme-snp", disabled, false, false, true},
		"registered without the value that is asked": {partly, "acme-snp", enabled, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			q := capability.Requirement{Capability: tc.capability, Values: tc.values}
			request, unmet := tc.v.Request([]capability.Requirement{q})
			if (len(unmet) > 0) != tc.unmet || tc.v.Ignores(q) != tc.ignored {
				t.Errorf("unmet %v, ignored %t", unmet, tc.v.Ignores(q))
			}
			flavor, _ := tc.v.Flavor(nil, nil, nil)
			if flavor.Fits(tc.v.All(), request) != tc.fits {
				t.Errorf("fits: %t", !tc.fits)
			}
			if nothing, _ := tc.v.Request(nil); (tc.ignored || tc.unmet) && request != nothing {
				t.Error("what is ignored or unmet is part of the request")
			}
		})
	}
	text, err := json.Marshal([]capability.Definition{snp, trusted})
	const want = `[{"name":"acme-snp","values":["enabled","disabled"],"undeclared":"disabled","onlyIfRegistered":true},` +
		`{"name":"acme-trusted","values":["on","off"],"undeclared":"off"}]`
	if string(text) != want || err != nil {
		t.Error(string(text), err)
	}
}

func TestFlavorReportsWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		registered []v1beta1.CapabilityDefinition
		declared   caps
		want       []string
	}{
		"reserved names need not be registered": {
			nil, caps{"gardener-bootType": {"secure"}, "gardener-updateType": {"inPlace", "rolling"}, "gardener-gpuSupport": {"none"}}, nil,
		},
		"another reserved value": {
			nil, caps{"gardener-bootType": {"secure", "Secure"}}, []string{"FieldValueNotSupported at.gardener-bootType[1] reserved-capability-value"},
		},
		"another reserved name": {
			nil, caps{"gardener-bootTypes": {"secure"}}, []string{"FieldValueNotSupported at.gardener-bootTypes reserved-capability-unknown"},
		},
		"an empty list":                       {nil, caps{"gardener-bootType": {}}, []string{"FieldValueRequired at.gardener-bootType capability-value-missing"}},
		"a provider's that is not registered": {nil, caps{"acme-trusted": {"on"}}, []string{"FieldValueNotSupported at.acme-trusted capability-unregistered"}},
		"all of that, in order": {
			nil, caps{"gardener-z": {}, "acme-trusted": {"on"}, "gardener-gpuSupport": {"gpu"}, "gardener-bootType": {}, "architecture": {"arm64"}},
			[]string{
				"FieldValueNotSupported at.architecture[0] capability-value-unregistered",
				"FieldValueRequired at.gardener-bootType capability-value-missing",
				"FieldValueNotSupported at.gardener-gpuSupport[0] reserved-capability-value",
				"FieldValueNotSupported at.acme-trusted capability-unregistered",
				"FieldValueNotSupported at.gardener-z reserved-capability-unknown",
			},
		},
		"registered with fewer values": {
			[]v1beta1.CapabilityDefinition{{Name: "gardener-bootType", Values: []string{"standard"}}, {Name: "acme-trusted", Values: []string{"on"}}},
			caps{"gardener-bootType": {"secure"}, "acme-trusted": {"off"}},
			[]string{
				"FieldValueNotSupported at.gardener-bootType[0] capability-value-unregistered",
				"FieldValueNotSupported at.acme-trusted[0] capability-value-unregistered",
			},
		},
		"registered, an empty list": {
			[]v1beta1.CapabilityDefinition{{Name: "gardener-bootType", Values: []string{"standard"}}}, caps{"gardener-bootType": {}},
			[]string{"FieldValueRequired at.gardener-bootType capability-value-missing"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := acme(t, tc.registered...)
			s, errs := v.Flavor(tc.declared, nil, field.NewPath("at"))
			if diff := cmp.Diff(tc.want, summary(errs)); diff != "" {
				t.Error(diff)
			}
			_, ofMachine := v.Set(tc.declared, field.NewPath("at"))
			if diff := cmp.Diff(tc.want, summary(ofMachine)); diff != "" {
				t.Error("as a machine type:", diff)
			}
			if silent, none := v.Flavor(tc.declared, nil, nil); silent != s || len(none) > 0 {
				t.Error("without a path there must be the same set and no errors")
			}
		})
	}
}

func TestMessagesAboutReservedCapabilities(t *testing.T) {
	_, errs := acme(t).Flavor(caps{"gardener-bootType": {}, "gardener-gpuSupport": {"voodoo"}, "gardener-boot": {"secure"}}, nil, field.NewPath("at"))
	want := []string{
		"at.gardener-bootType: Required value: an empty list matches nothing: " +
			"list values of gardener-bootType, or leave the capability out if the image does not support it",
		`at.gardener-gpuSupport[0]: Unsupported value: "voodoo": gardener-gpuSupport is a capability of Gardener, ` +
			`with the values [nvidia, amd, intel, none]; "voodoo" is none of them`,
		`at.gardener-boot: Unsupported value: "gardener-boot": names with gardener- are Gardener's own, ` +
			`and "gardener-boot" is none of them, which are [gardener-bootType, gardener-updateType, gardener-gpuSupport]`,
	}
	var got []string
	for _, err := range errs {
		got = append(got, err.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The causes, with a machine type that says something about the capability.
func TestConflictsOfWorkerCapabilities(t *testing.T) {
	boot, secure, standard := "gardener-bootType", []string{"secure"}, []string{"standard"}
	both := []string{"secure", "standard"}
	conflict := func(cause capability.Cause, undeclared bool, offer, need, asked []string) *capability.Conflict {
		return &capability.Conflict{Capability: boot, Offer: offer, Need: need, Asked: asked, Undeclared: undeclared, Cause: cause}
	}
	for name, tc := range map[string]struct {
		flavor, machine caps
		asked           []string
		want            *capability.Conflict
	}{
		"undeclared": {nil, nil, secure, conflict(capability.CauseWorker, true, standard, both, secure)},
		"undeclared, on a machine type that lacks it": {nil, caps{boot: standard}, secure, conflict(capability.CauseWorker, true, standard, standard, secure)},
		"undeclared, on a machine type that has it":   {nil, caps{boot: secure}, secure, conflict(capability.CauseWorker, true, standard, secure, secure)},
		"undeclared, and the machine type is another": {nil, caps{boot: secure}, standard, conflict(capability.CauseMachine, true, standard, secure, standard)},
		"declared, and the machine type is another": {
			caps{boot: secure}, caps{boot: standard}, secure, conflict(capability.CauseMachine, false, secure, standard, secure),
		},
		"declared, and the pool is another": {caps{boot: secure}, nil, standard, conflict(capability.CauseWorker, false, secure, both, standard)},
		"declared, and both are another": {
			caps{boot: secure}, caps{boot: standard}, standard, conflict(capability.CauseMachine, false, secure, standard, standard),
		},
		"declared as both, machine type and pool clash": {
			caps{boot: both}, caps{boot: secure}, standard, conflict(capability.CauseBoth, false, both, secure, standard),
		},
		"fits":                         {caps{boot: both}, caps{boot: secure}, secure, nil},
		"nobody asks":                  {caps{boot: secure}, caps{boot: standard}, nil, nil},
		"nobody asks, nobody declares": {nil, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := acme(t)
			var asked []capability.Requirement
			if tc.asked != nil {
				asked = []capability.Requirement{{Capability: boot, Values: tc.asked}}
			}
			request, _ := v.Request(asked)
			flavor, _ := v.Flavor(tc.flavor, nil, nil)
			machine, _ := v.Set(tc.machine, nil)
			var want []capability.Conflict
			if tc.want != nil {
				want = []capability.Conflict{*tc.want}
			}
			if diff := cmp.Diff(want, flavor.Conflicts(machine, request)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Semantics S5: of a plain image and one that supports more, those who do not ask for it take the plain one, in both orders
// and whether or not the capability is registered.
func TestOfferingAFeatureChangesNothing(t *testing.T) {
	boot := v1beta1.CapabilityDefinition{Name: "gardener-bootType", Values: []string{"secure", "standard"}}
	for name, v := range map[string]*capability.Vocabulary{"not registered": acme(t), "registered": acme(t, boot)} {
		for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
			request, _ := v.Request(capability.Worker{}.Requirements(nil))
			plain, _ := v.Flavor(nil, nil, nil)
			both, _ := v.Flavor(caps{"gardener-bootType": {"secure", "standard"}}, nil, nil)
			want := capability.Preference{Sign: -1, Capability: "gardener-bootType", Round: 1, Own: true, LeftOut: true}
			if order == capability.Gardener {
				want.Round = 0
			}
			if diff := cmp.Diff(want, capability.Compare(plain, both, v.All(), request, order)); diff != "" {
				t.Errorf("%s, %s: %s", name, order, diff)
			}
			written, _ := v.Flavor(caps{"gardener-bootType": {"standard"}}, nil, nil)
			if (written == plain) != (name == "not registered") {
				t.Errorf("%s: written out, the undeclared value is another flavor: %t", name, written != plain)
			}
		}
	}
}

// A version says what its flavors support that do not declare a worker capability.
func TestUndeclaredByTheVersion(t *testing.T) {
	v := acme(t)
	both := caps{"gardener-updateType": {"rolling", "inPlace"}}
	plain, _ := v.Flavor(nil, both, nil)
	written, _ := v.Flavor(both, both, nil)
	rolling, _ := v.Flavor(caps{"gardener-updateType": {"rolling"}}, both, nil)
	if plain != written || plain == rolling {
		t.Error("left out it is both, and nothing else")
	}
	for strategy, fits := range map[v1beta1.MachineUpdateStrategy]bool{v1beta1.AutoInPlaceUpdate: false, v1beta1.AutoRollingUpdate: true} {
		request, _ := v.Request(capability.Worker{UpdateStrategy: strategy}.Requirements(nil))
		if !plain.Fits(v.All(), request) || rolling.Fits(v.All(), request) != fits {
			t.Errorf("%s: left out %t, rolling %t", strategy, plain.Fits(v.All(), request), rolling.Fits(v.All(), request))
		}
	}
}

func TestSetsOfOtherVocabulariesFitNothing(t *testing.T) {
	v, w := acme(t), acme(t)
	asked, _ := w.Request([]capability.Requirement{{Capability: "gardener-bootType", Values: []string{"standard"}}})
	flavor, _ := v.Flavor(nil, nil, nil)
	if flavor.Fits(v.All(), asked) || flavor.Effective(v.All(), asked) != (capability.Set{}) || len(flavor.Conflicts(v.All(), asked)) != 1 {
		t.Error("a request of another vocabulary must not fit")
	}
	var zero capability.Set
	if zero.Fits(v.All(), zero) || zero.Fits(zero, zero) || len(zero.Conflicts(v.All(), asked)) > 0 {
		t.Error("the zero set fits nothing")
	}
}

func TestFormatOfWorkerCapabilities(t *testing.T) {
	v := acme(t, v1beta1.CapabilityDefinition{Name: "acme-trusted", Values: []string{"off", "on"}})
	got := v.Format(caps{
		"gardener-z": {"b", "a"}, "gardener-gpuSupport": {"none", "x", "nvidia", "none"}, "gardener-bootType": {"standard", "secure"},
		"acme-trusted": {"on", "off"}, "acme-launch": {"slow"},
	})
	want := "{acme-trusted: [off, on], gardener-bootType: [secure, standard], gardener-gpuSupport: [nvidia, none, x], acme-launch: [slow], gardener-z: [b, a]}"
	if got != want {
		t.Error(got)
	}
}

func TestRequestsDoNotMakeMatchingAllocate(t *testing.T) {
	registered := []v1beta1.CapabilityDefinition{
		{Name: "acme-trusted", Values: []string{"on", "off"}}, {Name: "gardener-updateType", Values: []string{"inPlace", "rolling"}},
	}
	v := acme(t, registered...)
	a, _ := v.Flavor(caps{"acme-trusted": {"on", "off"}, "gardener-bootType": {"secure", "standard"}}, nil, nil)
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
		{Name: "acme-trusted", Values: []string{"on", "off"}}, {Name: "gardener-updateType", Values: []string{"inPlace", "rolling"}},
	}
	ordinary := capability.Worker{}.Requirements(field.NewPath("worker"))
	for name, v := range map[string]*capability.Vocabulary{
		"nothing registered": acme(t), "some registered": acme(t, registered...), "many registered": acme(t, append(many, registered...)...),
	} {
		for _, requirements := range [][]capability.Requirement{nil, ordinary} {
			if n := testing.AllocsPerRun(100, func() { _, _ = v.Request(requirements) }); n != 0 {
				t.Errorf("%s, %d requirements: %v allocations", name, len(requirements), n)
			}
		}
	}
}
