// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
)

// triple holds the three sides of a match: flavor, machine type and the worker pool's request.
type triple struct{ flavor, machine, request caps }

// secondText matches by the second text of GEP-0054: flavor, machine type and request share a value of every registered capability. A
// side that omits a capability, including the request, has all values.
func secondText(registered []v1beta1.CapabilityDefinition, x triple) bool {
	for _, c := range registered {
		flavor, machine, request := orAll(x.flavor, c), orAll(x.machine, c), orAll(x.request, c)
		if len(intersection(intersection(flavor, machine), request)) == 0 {
			return false
		}
	}
	return true
}

// firstText matches by the first text: registered capabilities match in the same way. For any other requested capability, a flavor that
// omits it has the undeclared value.
func firstText(registered []v1beta1.CapabilityDefinition, x triple) bool {
	if !secondText(registered, x) {
		return false
	}
	for _, c := range capability.Reserved() {
		request, requested := x.request[c.Name]
		if !requested {
			continue
		}
		flavor, declared := x.flavor[c.Name]
		if !declared {
			flavor = []string{c.Undeclared}
		}
		machine, declared := x.machine[c.Name]
		if !declared {
			machine = c.Values
		}
		if len(intersection(intersection(flavor, machine), request)) == 0 {
			return false
		}
	}
	return true
}

func orAll(c caps, def v1beta1.CapabilityDefinition) []string {
	if values, declared := c[def.Name]; declared {
		return values
	}
	return def.Values
}

func intersection(a, b []string) (both []string) {
	for _, value := range a {
		if slices.Contains(b, value) {
			both = append(both, value)
		}
	}
	return both
}

// The proposal, as implemented above, and the vocabulary agree for all worker pools, whether reserved capabilities are registered or not.
func TestBothTextsOfTheProposal(t *testing.T) {
	const triples = 100_000
	random := rand.New(rand.NewPCG(54, 33))
	some := func(values []string) []string {
		chosen := slices.Clone(values)
		random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		return chosen[:1+random.IntN(len(chosen))]
	}
	ordinary := []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "net", Values: []string{"fast", "slow", "none"}}}
	var reserved []v1beta1.CapabilityDefinition
	for _, d := range capability.Reserved()[:2] {
		reserved = append(reserved, v1beta1.CapabilityDefinition{Name: d.Name, Values: d.Values})
	}
	for name, test := range map[string]struct {
		registered bool
		matches    func([]v1beta1.CapabilityDefinition, triple) bool
	}{"registered, by the second": {true, secondText}, "not registered, by the first": {false, firstText}} {
		t.Run(name, func(t *testing.T) {
			matching := 0
			for range triples {
				registered := slices.Clone(ordinary[:1+random.IntN(2)])
				if test.registered {
					for _, def := range reserved {
						registered = append(registered, v1beta1.CapabilityDefinition{Name: def.Name, Values: some(def.Values)})
					}
				}
				declare := func() caps {
					c := caps{}
					all := registered
					if !test.registered {
						all = slices.Concat(registered, reserved)
					}
					for _, def := range all {
						if random.IntN(2) == 0 {
							c[def.Name] = some(def.Values)
						}
					}
					return c
				}
				worker := capability.Worker{SecureBoot: random.IntN(2) == 0}
				worker.UpdateStrategy = []v1beta1.MachineUpdateStrategy{
					"", v1beta1.AutoRollingUpdate, v1beta1.AutoInPlaceUpdate, v1beta1.ManualInPlaceUpdate,
				}[random.IntN(4)]
				x := triple{flavor: declare(), machine: declare(), request: caps{"gardener-boot-type": {"standard"}, "gardener-update-type": {"rolling"}}}
				if worker.SecureBoot {
					x.request["gardener-boot-type"] = []string{"secure"}
				}
				if strings.Contains(string(worker.UpdateStrategy), "InPlace") {
					x.request["gardener-update-type"] = []string{"in-place"}
				}

				v, _ := capability.Compile(registered, nil)
				flavor, _ := v.Flavor(x.flavor, nil, nil)
				machine, _ := v.Set(x.machine, nil)
				request, unmet := v.Request(worker.Requirements(nil))
				got, want := len(unmet) == 0 && flavor.Fits(machine, request), test.matches(registered, x)
				if got != want {
					t.Fatalf("%v registered, %+v: fits is %t, and by the proposal %t", registered, x, got, want)
				}
				if got {
					matching++
				}
			}
			if matching < triples/20 || matching > triples*19/20 {
				t.Errorf("%d of %d match", matching, triples)
			}
		})
	}
}

// inFirstText translates names and values into the first text.
func inFirstText(c caps) caps {
	renamed := maps.Clone(c)
	for _, d := range capability.Reserved() {
		for _, value := range c[d.Name] {
			if first, found := texts.Translate(d.Name, value); found {
				name := map[string]string{"gardener-boot-type": "gardener-bootType", "gardener-update-type": "gardener-updateType"}[d.Name]
				delete(renamed, d.Name)
				renamed[name] = append(renamed[name], first)
			}
		}
	}
	return renamed
}

// A flavor or machine type means the same in either text.
func TestBothNamesMeanTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		f, p := w.drawSide(t), w.drawPool(t)
		if got, want := w.flavor(side{inFirstText(f.declared), inFirstText(f.undeclared)}), w.flavor(f); got != want {
			t.Fatalf("%v is %s, and %v is %s", inFirstText(f.declared), got, f.declared, want)
		}
		first := pool{machine: inFirstText(p.machine)}
		if got, want := w.machine(first), w.machine(p); got != want {
			t.Fatalf("%v is %s, and %v is %s", first.machine, got, p.machine, want)
		}
		for _, q := range p.asked {
			for name, values := range inFirstText(caps{q.Capability: q.Values}) {
				if len(values) == len(q.Values) {
					q.Capability, q.Values = name, values
				}
			}
			first.asked = append(first.asked, q)
		}
		if got, want := w.request(first), w.request(p); got != want {
			t.Fatalf("%+v is %s, and %+v is %s", first.asked, got, p.asked, want)
		}
	})
}

// A profile registers a capability under one name. Results use that name, and the other one is still accepted.
func TestTheRegisteredNameCounts(t *testing.T) {
	v := compile(t, v1beta1.CapabilityDefinition{Name: "gardener-updateType", Values: []string{"inPlace", "rolling"}})
	set, errs := v.Flavor(caps{"gardener-update-type": {"in-place"}, "gardener-bootType": {"secure"}}, nil, field.NewPath("at"))
	if got := set.String(); got != "{architecture: [amd64], gardener-updateType: [inPlace], gardener-boot-type: [secure]}" || len(errs) > 0 {
		t.Errorf("got %s, %v", got, errs)
	}
	if got := v.Format(caps{"gardener-update-type": {"in-place", "rolling"}, "gardener-bootType": {"secure", "odd", "standard"}}); got !=
		"{gardener-update-type: [in-place, rolling], gardener-bootType: [standard, secure, odd]}" {
		t.Errorf("as written: %s", got)
	}
	if !v.IsRegistered("gardener-update-type") || v.IsRegistered("gardener-boot-type") || len(v.Definitions()) != 2 {
		t.Error(v.Definitions())
	}
	words := v.InWords(capability.Requirement{Capability: "gardener-update-type", Values: []string{"in-place", "odd"}})
	if words.Capability != "gardener-updateType" || !slices.Equal(words.Values, []string{"inPlace"}) {
		t.Errorf("%+v", words)
	}
}

// The error about a misspelt name or value says what to write.
func TestWrongSpellings(t *testing.T) {
	v := compile(t, v1beta1.CapabilityDefinition{Name: "architecture", Values: []string{"amd64"}},
		v1beta1.CapabilityDefinition{Name: "gardener-boot-type", Values: []string{"standard", "secure"}})
	for _, test := range []struct {
		declared   caps
		rule, with string
		certain    bool
	}{
		{caps{"gardener-update-type": {"inPlace"}}, "reserved-capability-value", "in-place", true},
		{caps{"gardener-update-type": {"inplace"}}, "reserved-capability-value", "in-place", true},
		{caps{"gardener-updateType": {"in-place"}}, "reserved-capability-value", "inPlace", true},
		{caps{"gardener-boot-type": {"Secure"}}, "reserved-capability-value", "secure", true},
		{caps{"gardener-bootType": {"secured"}}, "reserved-capability-value", "secure", true},
		{caps{"gardener-updatetype": {"rolling"}}, "reserved-capability-unknown", "gardener-update-type", true},
		{caps{"gardener-boottypes": {"secure"}}, "reserved-capability-unknown", "gardener-boot-type", false},
	} {
		_, errs := v.Flavor(test.declared, nil, field.NewPath("at"))
		if len(errs) != 1 || errs[0].Origin != test.rule {
			t.Errorf("%v: %v", test.declared, errs)
			continue
		}
		if s := errs[0].Suggestion; s == nil || s.With != test.with || s.Certain != test.certain {
			t.Errorf("%v: %v, suggests %+v", test.declared, errs, s)
		}
	}
}

// ValuesIfAsked returns exactly the values for which the flavor fits a worker pool that requests them.
func TestValuesIfAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		registered := []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}
		declared := caps{}
		definitions := slices.Concat(capability.Reserved(), capability.FirstText())
		used := map[string]string{}
		for _, d := range definitions {
			name := texts.Canonical(d.Name)
			some := rapid.SliceOfNDistinct(rapid.SampledFrom(d.Values), 1, 2, rapid.ID[string])
			if used[name] == "" && rapid.Bool().Draw(t, "is registered") {
				used[name] = d.Name
				registered = append(registered, v1beta1.CapabilityDefinition{Name: d.Name, Values: some.Draw(t, "registered")})
			}
			if rapid.Bool().Draw(t, "is declared") {
				declared[d.Name] = some.Draw(t, "declared")
			}
		}
		v, _ := capability.Compile(registered, nil)
		flavor, _ := v.Flavor(declared, nil, nil)
		for _, d := range definitions {
			q := v.InWords(capability.Requirement{Capability: d.Name, Values: d.Values})
			var served []string
			for _, value := range q.Values {
				request, unmet := v.Request([]capability.Requirement{{Capability: q.Capability, Values: []string{value}}})
				conflicts := flavor.Conflicts(v.All(), request)
				if len(unmet) == 0 && !slices.ContainsFunc(conflicts, func(c capability.Conflict) bool { return c.Capability == q.Capability }) {
					served = append(served, value)
				}
			}
			got := flavor.ValuesIfAsked(d.Name)
			slices.Sort(got)
			slices.Sort(served)
			if !slices.Equal(got, served) {
				t.Fatalf("%s of %v by %v: %v, want %v", d.Name, declared, registered, got, served)
			}
		}
		if values := flavor.ValuesIfAsked("architecture"); values != nil {
			t.Fatalf("architecture: %v", values)
		}
	})
}
