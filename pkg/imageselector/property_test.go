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

// oracle is S3 to S5 of docs/semantics.md, written as it is read: maps and slices, and no code shared with what is
// tested.
type oracle struct {
	defs    defs
	flavors flavors
	machine caps
	region  string
	order   capability.Order
	// provider are worker capabilities of a provider, undeclared is what the version says about worker capabilities.
	provider   []capability.Definition
	undeclared caps
	asked      []capability.Requirement
}

func (o *oracle) definitions() []capability.Definition {
	return slices.Concat(capability.Reserved(), o.provider)
}

func (o *oracle) registered(name string) bool {
	return slices.ContainsFunc(o.defs, func(def v1beta1.CapabilityDefinition) bool { return def.Name == name })
}

// names are those of the vocabulary, and behind them the reserved ones that are not registered.
func (o *oracle) names() []string {
	var names []string
	for _, def := range o.defs {
		names = append(names, def.Name)
	}
	for _, d := range capability.Reserved() {
		if !o.registered(d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// values are those of a capability, most preferred first.
func (o *oracle) values(name string) []string {
	for _, def := range o.defs {
		if def.Name == name {
			return def.Values
		}
	}
	for _, d := range o.definitions() {
		if d.Name == name {
			return d.Values
		}
	}
	panic("neither registered nor reserved: " + name)
}

// request returns the values that the pool asks for, and whether it asks.
func (o *oracle) request(name string) (values []string, asked bool) {
	values = o.values(name)
	for _, q := range o.asked {
		met := slices.ContainsFunc(q.Values, func(value string) bool { return slices.Contains(o.values(name), value) })
		if q.Capability == name && met {
			asked, values = true, intersect(values, q.Values)
		}
	}
	return values, asked
}

func intersect(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(value string) bool { return !slices.Contains(b, value) })
}

// usual returns what a flavor has of a worker capability that it leaves out; worker reports whether it is one.
func (o *oracle) usual(name string) (values []string, worker bool) {
	for _, d := range o.definitions() {
		if d.Name != name {
			continue
		}
		worker = true
		if d.Undeclared != "" {
			values = []string{d.Undeclared}
		}
	}
	if special, found := o.undeclared[name]; found && worker {
		values = special
	}
	return values, worker
}

// defaulted returns the values that c supports, most preferred first.
func (o *oracle) defaulted(c caps, name string) []string {
	if values, declared := c[name]; declared {
		return intersect(o.values(name), values)
	}
	return o.values(name)
}

// effective returns the values that flavor, machine and request share, most preferred first.
func (o *oracle) effective(flavor int, name string) []string {
	values, asked := o.request(name)
	if !asked && !o.registered(name) {
		return nil
	}
	own := o.defaulted(o.flavors[flavor].Capabilities, name)
	if _, declared := o.flavors[flavor].Capabilities[name]; !declared && asked {
		own, _ = o.usual(name)
	}
	return intersect(intersect(values, o.defaulted(o.machine, name)), own)
}

const leftOut = "left out"

// own returns the values that a flavor supports; a worker capability that is left out, or is as good as that, counts as
// better than any value.
func (o *oracle) own(flavor int, name string) []string {
	c := o.flavors[flavor].Capabilities
	values, declared := c[name]
	usual, worker := o.usual(name)
	asGood := !o.registered(name) && len(intersect(values, usual)) == len(values) && len(intersect(usual, values)) == len(usual)
	if worker && (!declared || asGood && len(values) > 0) {
		return []string{leftOut}
	}
	return o.defaulted(c, name)
}

func (o *oracle) compatible(flavor int) bool {
	for _, name := range o.names() {
		if _, asked := o.request(name); (asked || o.registered(name)) && len(o.effective(flavor, name)) == 0 {
			return false
		}
	}
	return true
}

func (o *oracle) reference(flavor int) (string, bool) {
	last, found := "", false
	for _, r := range o.flavors[flavor].Regional {
		if r.Region == o.region {
			last, found = r.Ref, true
		}
	}
	if found {
		return last, true
	}
	if g := o.flavors[flavor].Global; g != nil {
		return g.Ref, true
	}
	return "", false
}

// better compares the first values of all capabilities, then the second ones, and so on.
func (o *oracle) better(a, b int, values func(int, string) []string) (better, decided bool) {
	for n := range 100 {
		for _, name := range o.names() {
			ranking := append([]string{leftOut}, o.values(name)...)
			x, y := values(a, name), values(b, name)
			switch {
			case n >= len(x) && n >= len(y):
			case n >= len(x):
				return false, true
			case n >= len(y):
				return true, true
			case x[n] != y[n]:
				return slices.Index(ranking, x[n]) < slices.Index(ranking, y[n]), true
			}
		}
	}
	return false, false
}

// has compares as the gardener library does: the flavor wins that has the most preferred value which not both have. The
// library knows what is registered; of what that leaves open, leaving a worker capability out decides.
func (o *oracle) has(a, b int) bool {
	first := func(name string, x, y []string) (better, decided bool) {
		for _, value := range append([]string{leftOut}, o.values(name)...) {
			if has := slices.Contains(x, value); has != slices.Contains(y, value) {
				return has, true
			}
		}
		return false, false
	}
	for _, def := range o.defs {
		if better, decided := first(def.Name, o.defaulted(o.flavors[a].Capabilities, def.Name), o.defaulted(o.flavors[b].Capabilities, def.Name)); decided {
			return better
		}
	}
	for _, d := range o.definitions() {
		if !slices.Contains(o.names(), d.Name) {
			continue
		}
		if better, decided := first(d.Name, o.own(a, d.Name), o.own(b, d.Name)); decided {
			return better
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
	declarable := o.defs
	if rapid.IntRange(0, 2).Draw(t, "with workers") > 0 {
		declarable = o.drawWorkers(t)
	}
	for range rapid.IntRange(0, 6).Draw(t, "flavors") {
		o.flavors = append(o.flavors, drawFlavor(t, declarable))
	}
	o.machine = drawCapabilities(t, declarable)
	return o
}

// drawWorkers draws worker capabilities, of which some are registered, and what a pool asks for. It returns everything that
// a flavor or a machine type may declare.
func (o *oracle) drawWorkers(t *rapid.T) defs {
	o.provider = []capability.Definition{{Name: "acme-net", Values: []string{"x", "z", "y"}}, {Name: "acme-disk", Values: []string{"b", "a"}, Undeclared: "a"}}
	for _, d := range o.definitions() {
		if rapid.Bool().Draw(t, "registered") {
			values := rapid.Permutation(d.Values).Draw(t, d.Name)[:rapid.IntRange(1, len(d.Values)).Draw(t, "values")]
			o.defs = slices.Insert(o.defs, rapid.IntRange(0, len(o.defs)).Draw(t, "at"), v1beta1.CapabilityDefinition{Name: d.Name, Values: values})
		}
	}
	if rapid.Bool().Draw(t, "the version says more") {
		o.undeclared = caps{capability.UpdateType: {capability.UpdateTypeInPlace, capability.UpdateTypeRolling}}
	}
	for range rapid.IntRange(0, 3).Draw(t, "requirements") {
		d := rapid.SampledFrom(o.definitions()).Draw(t, "asked")
		if slices.Contains(o.names(), d.Name) {
			o.asked = append(o.asked, capability.Requirement{Capability: d.Name, Values: rapid.SliceOfN(rapid.SampledFrom(d.Values), 1, 3).Draw(t, d.Name)})
		}
	}
	var declarable defs
	for _, name := range o.names() {
		declarable = append(declarable, v1beta1.CapabilityDefinition{Name: name, Values: o.values(name)})
	}
	return declarable
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

func (o *oracle) catalog(v *capability.Vocabulary, f ...imageselector.Flavor[string]) *imageselector.Catalog[string] {
	return imageselector.NewCatalog(v, []imageselector.Image[string]{{Name: "linux", Versions: versions{{Version: "1", Flavors: f, Undeclared: o.undeclared}}}})
}

func (o *oracle) compile() *capability.Vocabulary {
	v, _ := capability.Compile(o.defs, nil, o.provider...)
	return v
}

func (o *oracle) question(v *capability.Vocabulary) imageselector.Request {
	m, _ := v.Set(o.machine, nil)
	worker, _ := v.Request(o.asked)
	return imageselector.Request{Image: "linux", Version: "1", Region: o.region, Machine: m, Worker: worker, Order: o.order}
}

func TestSelectDecideAndChooseAgreeWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawCase(t)
		v := o.compile()
		c, r := o.catalog(v, o.flavors...), o.question(v)
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
			o.flavors[i].Regional = append(o.flavors[i].Regional, imageselector.Regional[string]{Region: o.region, Ref: fmt.Sprint(i)})
		}
		v := o.compile()
		r := o.question(v)
		d := o.catalog(v, o.flavors...).Decide(r)
		shuffled := o.catalog(v, rapid.Permutation(o.flavors).Draw(t, "shuffled")...).Decide(r)
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
		v := o.compile()
		before := o.catalog(v, o.flavors...).Decide(o.question(v))

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
		after := again.catalog(v, again.flavors...).Decide(again.question(v))
		if before.Chosen != after.Chosen || before.Ambiguous != after.Ambiguous || before.Reference != after.Reference ||
			!cmp.Equal(before.Comparisons, after.Comparisons) {
			t.Fatalf("%+v\n%+v", before, after)
		}
	})
}

// Who mentions no worker capability is answered as if there were none, whoever asks: nothing at all, or as a worker pool
// without special wishes does.
func TestWithoutWorkerCapabilitiesNothingChanges(t *testing.T) {
	chosen := 0
	rapid.Check(t, func(t *rapid.T) {
		o := drawCase(t)
		o.asked, o.undeclared = nil, nil
		forget := func(c caps) {
			for _, d := range o.definitions() {
				delete(c, d.Name)
			}
		}
		for i := range o.flavors {
			forget(o.flavors[i].Capabilities)
		}
		forget(o.machine)
		o.defs = slices.DeleteFunc(o.defs, func(def v1beta1.CapabilityDefinition) bool {
			return slices.ContainsFunc(o.definitions(), func(d capability.Definition) bool { return d.Name == def.Name })
		})
		v := o.compile()
		c, r := o.catalog(v, o.flavors...), o.question(v)
		r.Worker = capability.Set{}
		without := c.Decide(r)
		if without.Chosen >= 0 {
			chosen++
		}
		r.Worker, _ = v.Request(capability.Worker{}.Requirements(nil))
		with := c.Decide(r)
		ref, err := c.Select(r)
		if with.Chosen != without.Chosen || with.Ambiguous != without.Ambiguous || ref != without.Reference || (err == nil) != (with.Chosen >= 0) ||
			c.Choose(r) != without.Chosen || !cmp.Equal(with.Comparisons, without.Comparisons) {
			t.Fatalf("%+v\n%+v", with, without)
		}
		for i := range with.Verdicts {
			a, b := with.Verdicts[i], without.Verdicts[i]
			if a.Reason != b.Reason || !cmp.Equal(a.Conflicts, b.Conflicts) || a.Effective.String() != b.Effective.String() {
				t.Fatalf("flavor %d: %+v, without a request %+v", i, a, b)
			}
		}
	})
	if chosen == 0 {
		t.Error("there never is an image")
	}
}
