// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// oracle is S4 and S5 of docs/semantics.md, written as it is read: maps and slices, and no code shared with what is
// tested.
type oracle struct {
	defs    defs
	flavors flavors
	machine caps
	region  string
	order   capability.Order
}

// defaulted returns the values that c supports, most preferred first.
func (o *oracle) defaulted(c caps, name string) []string {
	for _, def := range o.defs {
		if def.Name != name {
			continue
		}
		values, declared := c[name]
		if !declared {
			return def.Values
		}
		var sorted []string
		for _, value := range def.Values {
			if slices.Contains(values, value) {
				sorted = append(sorted, value)
			}
		}
		return sorted
	}
	panic("not registered: " + name)
}

// effective returns the values that flavor and machine share, most preferred first.
func (o *oracle) effective(flavor int, name string) []string {
	var shared []string
	for _, value := range o.defaulted(o.flavors[flavor].Capabilities, name) {
		if slices.Contains(o.defaulted(o.machine, name), value) {
			shared = append(shared, value)
		}
	}
	return shared
}

func (o *oracle) own(flavor int, name string) []string {
	return o.defaulted(o.flavors[flavor].Capabilities, name)
}

func (o *oracle) compatible(flavor int) bool {
	for _, def := range o.defs {
		if len(o.effective(flavor, def.Name)) == 0 {
			return false
		}
	}
	return true
}

func (o *oracle) reference(flavor int) (string, bool) {
	for _, r := range o.flavors[flavor].Regional {
		if r.Region == o.region {
			return r.Ref, true
		}
	}
	if g := o.flavors[flavor].Global; g != nil {
		return g.Ref, true
	}
	return "", false
}

// better compares the first values of all capabilities, then the second ones, and so on.
func (o *oracle) better(a, b int, values func(int, string) []string) (better, decided bool) {
	for n := range 100 {
		for _, def := range o.defs {
			x, y := values(a, def.Name), values(b, def.Name)
			switch {
			case n >= len(x) && n >= len(y):
			case n >= len(x):
				return false, true
			case n >= len(y):
				return true, true
			case x[n] != y[n]:
				return slices.Index(def.Values, x[n]) < slices.Index(def.Values, y[n]), true
			}
		}
	}
	return false, false
}

// has compares as the gardener library does: the flavor wins that has the most preferred value which not both have.
func (o *oracle) has(a, b int) bool {
	for _, def := range o.defs {
		for _, value := range def.Values {
			if x, y := slices.Contains(o.own(a, def.Name), value), slices.Contains(o.own(b, def.Name), value); x != y {
				return x
			}
		}
	}
	return false
}

func (o *oracle) preferred(a, b int) bool {
	if o.order == capability.Gardener {
		return o.has(a, b)
	}
	if better, decided := o.better(a, b, o.effective); decided {
		return better
	}
	better, _ := o.better(a, b, o.own)
	return better
}

// choose returns the first candidate to which no other is preferred, and whether another one is as good.
func (o *oracle) choose() (chosen int, ambiguous bool) {
	var candidates []int
	for i := range o.flavors {
		if _, found := o.reference(i); found && o.compatible(i) {
			candidates = append(candidates, i)
		}
	}
	var best []int
	for _, c := range candidates {
		if !slices.ContainsFunc(candidates, func(other int) bool { return o.preferred(other, c) }) {
			best = append(best, c)
		}
	}
	if len(best) == 0 {
		return -1, false
	}
	return best[0], len(best) > 1
}

var regions = []string{"eu", "us", "ap"}

func drawCase(t *rapid.T) *oracle {
	o := &oracle{region: rapid.SampledFrom(append(regions, "nowhere")).Draw(t, "region")}
	o.order = rapid.SampledFrom([]capability.Order{capability.GEP33, capability.Gardener}).Draw(t, "order")
	for i := range rapid.IntRange(1, 4).Draw(t, "capabilities") {
		def := v1beta1.CapabilityDefinition{Name: fmt.Sprintf("c%d", 9-i)}
		for k := range rapid.IntRange(1, 4).Draw(t, "values") {
			def.Values = append(def.Values, fmt.Sprintf("v%d", 9-k))
		}
		o.defs = append(o.defs, def)
	}
	for range rapid.IntRange(0, 6).Draw(t, "flavors") {
		o.flavors = append(o.flavors, drawFlavor(t, o.defs))
	}
	o.machine = drawCapabilities(t, o.defs)
	return o
}

func drawFlavor(t *rapid.T, d defs) imageselector.Flavor[string] {
	f := imageselector.Flavor[string]{Capabilities: drawCapabilities(t, d)}
	for i := range rapid.IntRange(0, 4).Draw(t, "references") {
		region := rapid.SampledFrom(regions).Draw(t, "region")
		f.Regional = append(f.Regional, imageselector.Regional[string]{Region: region, Ref: fmt.Sprintf("%s-%d", region, i)})
	}
	if rapid.IntRange(0, 2).Draw(t, "global") == 0 {
		f.Global = &imageselector.Global[string]{Ref: "global"}
	}
	return f
}

// drawCapabilities declares some capabilities, with values in any order and repeated, now and then with none.
func drawCapabilities(t *rapid.T, d defs) caps {
	c := caps{}
	for _, def := range d {
		switch kind := rapid.IntRange(0, 19).Draw(t, "declared"); {
		case kind == 0:
			c[def.Name] = v1beta1.CapabilityValues{}
		case kind > 4:
			c[def.Name] = rapid.SliceOfN(rapid.SampledFrom(def.Values), 1, len(def.Values)+1).Draw(t, def.Name)
		}
	}
	return c
}

func (o *oracle) request(v *capability.Vocabulary) imageselector.Request {
	m, _ := v.Set(o.machine, nil)
	return imageselector.Request{Image: "linux", Version: "1", Region: o.region, Machine: m, Order: o.order}
}

func TestSelectDecideAndChooseAgreeWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawCase(t)
		v, _ := capability.Compile(o.defs, nil)
		c, r := linux(v, o.flavors...), o.request(v)
		chosen, ambiguous := o.choose()

		d := c.Decide(r)
		if d.Chosen != chosen || d.Ambiguous != ambiguous {
			t.Fatalf("Decide: %d, ambiguous: %t; want %d, %t", d.Chosen, d.Ambiguous, chosen, ambiguous)
		}
		if got := c.Choose(r); got != chosen {
			t.Fatalf("Choose: %d, want %d", got, chosen)
		}
		ref, err := c.Select(r)
		want := ""
		if chosen >= 0 {
			want, _ = o.reference(chosen)
		}
		if ref != want || d.Reference != want || (chosen < 0) != errors.Is(err, imageselector.ErrNoImage) {
			t.Fatalf("Select: %q, %v; Decide: %q; want %q", ref, err, d.Reference, want)
		}
		for i, verdict := range d.Verdicts {
			var reason imageselector.Reason
			if _, found := o.reference(i); !found {
				reason = imageselector.ReasonRegion
			}
			if !o.compatible(i) {
				reason = imageselector.ReasonCapability
			}
			if verdict.Reason != reason {
				t.Fatalf("flavor %d: %q, want %q", i, verdict.Reason, reason)
			}
		}
	})
}

// Only ties depend on the order in which flavors are written.
func TestTheOrderOfFlavorsDecidesTiesOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawCase(t)
		for i := range o.flavors { // mark each, to know it again
			o.flavors[i].Regional = append([]imageselector.Regional[string]{{Region: o.region, Ref: fmt.Sprint(i)}}, o.flavors[i].Regional...)
		}
		v, _ := capability.Compile(o.defs, nil)
		r := o.request(v)
		d := linux(v, o.flavors...).Decide(r)
		shuffled := linux(v, rapid.Permutation(o.flavors).Draw(t, "shuffled")...).Decide(r)
		if d.Ambiguous != shuffled.Ambiguous || !d.Ambiguous && d.Reference != shuffled.Reference {
			t.Fatalf("%q (ambiguous: %t), shuffled %q (ambiguous: %t)", d.Reference, d.Ambiguous, shuffled.Reference, shuffled.Ambiguous)
		}
		if d.Chosen >= 0 && d.Verdicts[d.Chosen].Set != shuffled.Verdicts[shuffled.Chosen].Set {
			t.Fatal("a tie between flavors that support different things")
		}
	})
}

func TestRewritingCapabilitiesChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawCase(t)
		v, _ := capability.Compile(o.defs, nil)
		before := linux(v, o.flavors...).Decide(o.request(v))

		rewrite := func(c caps) caps {
			rewritten := caps{}
			for name, values := range c {
				rewritten[name] = rapid.Permutation(slices.Concat(values, values)).Draw(t, "values")
			}
			return rewritten
		}
		again := *o
		again.machine, again.flavors = rewrite(o.machine), slices.Clone(o.flavors)
		for i := range again.flavors {
			again.flavors[i].Capabilities = rewrite(again.flavors[i].Capabilities)
		}
		after := linux(v, again.flavors...).Decide(again.request(v))
		if before.Chosen != after.Chosen || before.Ambiguous != after.Ambiguous || before.Reference != after.Reference ||
			!cmp.Equal(before.Comparisons, after.Comparisons) {
			t.Fatalf("%+v\n%+v", before, after)
		}
	})
}
