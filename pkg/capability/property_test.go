// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
)

// The laws below hold for any vocabulary. It is drawn with up to ten values a capability, so that some need more than
// one byte, and the values are named against their order, so that no order by name can pass for the preference.

func drawDefinitions(t *rapid.T) []v1beta1.CapabilityDefinition {
	var defs []v1beta1.CapabilityDefinition
	for i := range rapid.IntRange(1, 5).Draw(t, "capabilities") {
		def := v1beta1.CapabilityDefinition{Name: fmt.Sprintf("c%d", 9-i)}
		for k := range rapid.IntRange(1, 10).Draw(t, "values") {
			def.Values = append(def.Values, fmt.Sprintf("v%d", 9-k))
		}
		defs = append(defs, def)
	}
	return defs
}

// drawCapabilities declares some of the capabilities, each with some of its values, in any order and with repetitions.
func drawCapabilities(t *rapid.T, defs []v1beta1.CapabilityDefinition) caps {
	c := caps{}
	for _, def := range defs {
		if rapid.IntRange(0, 3).Draw(t, "declared") > 0 {
			c[def.Name] = rapid.SliceOfN(rapid.SampledFrom(def.Values), 1, len(def.Values)+2).Draw(t, def.Name)
		}
	}
	return c
}

func drawVocabulary(t *rapid.T) (*capability.Vocabulary, []v1beta1.CapabilityDefinition) {
	defs := drawDefinitions(t)
	v, errs := capability.Compile(defs, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return v, defs
}

func drawSet(t *rapid.T, v *capability.Vocabulary, defs []v1beta1.CapabilityDefinition) (capability.Set, caps) {
	c := drawCapabilities(t, defs)
	s, errs := v.Set(c, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s, c
}

// supported says what c supports, by hand: the values of each capability that are declared, or all of them.
func supported(c caps, defs []v1beta1.CapabilityDefinition) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, def := range defs {
		values, declared := c[def.Name]
		if !declared {
			values = def.Values
		}
		all[def.Name] = map[string]bool{}
		for _, value := range values {
			all[def.Name][value] = true
		}
	}
	return all
}

func TestOrderAndRepetitionMeanNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, defs := drawVocabulary(t)
		s, c := drawSet(t, v, defs)
		rewritten := caps{}
		for name, values := range c {
			rewritten[name] = rapid.Permutation(slices.Concat(values, values[:1])).Draw(t, "rewritten")
		}
		for _, def := range defs { // writing out an omission changes nothing either
			if _, declared := c[def.Name]; !declared && rapid.Bool().Draw(t, "written out") {
				rewritten[def.Name] = slices.Clone(def.Values)
			}
		}
		if again, _ := v.Set(rewritten, nil); again != s {
			t.Fatalf("%v is %s, %v is %s", c, s, rewritten, again)
		}
	})
}

func TestSetsAreEqualIfTheySupportTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, defs := drawVocabulary(t)
		a, first := drawSet(t, v, defs)
		b, second := drawSet(t, v, defs)
		same := cmp.Equal(supported(first, defs), supported(second, defs))
		if same != (a == b) || same != (a.String() == b.String()) {
			t.Fatalf("%v and %v: equal is %t, want %t", first, second, a == b, same)
		}
		if again, errs := v.Set(a.Capabilities(), nil); again != a || len(errs) > 0 {
			t.Fatalf("%s written out is %s, %v", a, again, errs)
		}
	})
}

func TestCompatibleIsSymmetricAndMeansNoEmptyIntersection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, defs := drawVocabulary(t)
		a, first := drawSet(t, v, defs)
		b, second := drawSet(t, v, defs)
		var disjoint []string
		for _, def := range defs {
			if !slices.ContainsFunc(def.Values, func(value string) bool {
				return supported(first, defs)[def.Name][value] && supported(second, defs)[def.Name][value]
			}) {
				disjoint = append(disjoint, def.Name)
			}
		}
		if a.Compatible(b) != (len(disjoint) == 0) || a.Compatible(b) != b.Compatible(a) {
			t.Fatalf("%s with %s: %t, the other way round %t, disjoint in %v", a, b, a.Compatible(b), b.Compatible(a), disjoint)
		}
		var conflicts []string
		for _, c := range a.Conflicts(b, capability.Set{}) {
			conflicts = append(conflicts, c.Capability)
			if len(a.Intersect(b).Values(c.Capability)) > 0 {
				t.Fatalf("a conflict in %s, but also %v", c.Capability, a.Intersect(b).Values(c.Capability))
			}
		}
		if !slices.Equal(conflicts, disjoint) {
			t.Fatalf("conflicts in %v, disjoint in %v", conflicts, disjoint)
		}
		if a.Intersect(b) != b.Intersect(a) || a.Intersect(a) != a || a.Intersect(v.All()) != a {
			t.Fatal("intersecting must not depend on the order, and keeps what both have")
		}
	})
}

func sign(n int) int { return min(1, max(-1, n)) }

func TestCompareIsATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, defs := drawVocabulary(t)
		var sets []capability.Set
		_, machine := drawSet(t, v, defs)
		for range 3 {
			s, _ := drawSet(t, v, defs)
			sets = append(sets, s)
			for name := range machine { // make the machine fit: the law is about flavors that are candidates
				machine[name] = append(machine[name], rapid.SampledFrom(s.Values(name)).Draw(t, "shared"))
			}
		}
		need, _ := v.Set(machine, nil)
		for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
			compare := func(i, k int) int {
				return sign(capability.Compare(sets[i], sets[k], need, capability.Set{}, order).Sign)
			}
			for i := range sets {
				for k := range sets {
					if compare(i, k) != -compare(k, i) {
						t.Fatalf("%s: %s and %s on %s: %d, the other way round %d", order, sets[i], sets[k], need, compare(i, k), compare(k, i))
					}
					if (compare(i, k) == 0) != (sets[i] == sets[k]) {
						t.Fatalf("%s: %s and %s on %s: %d", order, sets[i], sets[k], need, compare(i, k))
					}
				}
			}
			for _, p := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
				if compare(p[0], p[1]) <= 0 && compare(p[1], p[2]) <= 0 && compare(p[0], p[2]) > 0 {
					t.Fatalf("%s: not transitive on %s: %s, %s, %s", order, need, sets[p[0]], sets[p[1]], sets[p[2]])
				}
			}
		}
	})
}

// What Compare says decided must be true: the capability is one in which the sets differ, and the values are theirs.
func TestPreferenceNamesWhatDecided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, defs := drawVocabulary(t)
		a, _ := drawSet(t, v, defs)
		b, _ := drawSet(t, v, defs)
		p := capability.Compare(a, b, v.All(), capability.Set{}, capability.GEP33)
		if p.Sign == 0 {
			return
		}
		nth := func(s capability.Set) string {
			if values := s.Values(p.Capability); p.Round <= len(values) {
				return values[p.Round-1]
			}
			return ""
		}
		if p.First != nth(a) || p.Second != nth(b) || p.First == p.Second {
			t.Fatalf("%s and %s: %+v", a, b, p)
		}
		rank := func(value string) int {
			registered := v.Registered(p.Capability)
			if i := slices.Index(registered, value); i >= 0 {
				return i
			}
			return len(registered)
		}
		if (rank(p.First) < rank(p.Second)) != (p.Sign < 0) {
			t.Fatalf("%s and %s: %+v", a, b, p)
		}
	})
}

func TestMatchingDoesNotAllocate(t *testing.T) {
	v := storageAndNet(t)
	a, b := set(t, v, caps{"net": {"basic"}}), set(t, v, caps{"storage": {"SCSI"}})
	need := v.All()
	if n := testing.AllocsPerRun(100, func() {
		a.Compatible(need)
		capability.Compare(a, b, need, capability.Set{}, capability.GEP33)
		capability.Compare(a, b, need, capability.Set{}, capability.Gardener)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
