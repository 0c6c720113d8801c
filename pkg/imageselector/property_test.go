// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// oracle transcribes S5 to S7 of docs/semantics.md for one image version. It uses package capability for fit and preference, which is
// tested against its own model.
type oracle struct {
	v       *capability.Vocabulary
	defs    defs
	flavors flavors
	// undeclared are the version's values for undeclared worker capabilities.
	undeclared caps
	request    imageselector.Request
}

func (o *oracle) set(flavor int) capability.Set {
	s, _ := o.v.Flavor(o.flavors[flavor].Capabilities, o.undeclared, nil)
	return s
}

func (o *oracle) compatible(flavor int) bool {
	return o.set(flavor).Fits(o.request.Machine, o.request.Worker)
}

func (o *oracle) compare(a, b int) capability.Preference {
	return capability.Compare(o.set(a), o.set(b), o.request.Machine, o.request.Worker, o.request.Order)
}

func (o *oracle) reference(flavor int) (ref string, found bool) {
	for _, r := range o.flavors[flavor].Regional {
		if r.Region == o.request.Region {
			ref, found = r.Ref, true
		}
	}
	if g := o.flavors[flavor].Global; g != nil && !found {
		return g.Ref, true
	}
	return ref, found
}

// verdict returns the verdict on a flavor.
func (o *oracle) verdict(flavor int) imageselector.Verdict[string] {
	v := imageselector.Verdict[string]{Flavor: &o.flavors[flavor], Set: o.set(flavor)}
	_, found := o.reference(flavor)
	switch {
	case !o.compatible(flavor):
		v.Reason, v.Conflicts = imageselector.ReasonCapability, v.Set.Conflicts(o.request.Machine, o.request.Worker)
		return v
	case !found:
		v.Reason = imageselector.ReasonRegion
	}
	v.Effective = v.Set.Effective(o.request.Machine, o.request.Worker)
	return v
}

// choose returns the first candidate with no better one, and whether another is as good.
func (o *oracle) choose() (chosen int, ambiguous bool) {
	var candidates, best []int
	for i := range o.flavors {
		if o.verdict(i).Reason == "" {
			candidates = append(candidates, i)
		}
	}
	for _, c := range candidates {
		if !slices.ContainsFunc(candidates, func(other int) bool { return o.compare(other, c).Sign < 0 }) {
			best = append(best, c)
		}
	}
	if len(best) == 0 {
		return -1, false
	}
	return best[0], len(best) > 1
}

// comparisons returns the comparison of each candidate with the best one before it.
func (o *oracle) comparisons() []imageselector.Comparison {
	var made []imageselector.Comparison
	best := -1
	for i := range o.flavors {
		switch {
		case o.verdict(i).Reason != "":
		case best < 0:
			best = i
		default:
			p := o.compare(best, i)
			made = append(made, imageselector.Comparison{Best: best, Next: i, Preference: p})
			if p.Sign > 0 {
				best = i
			}
		}
	}
	return made
}

var regions = []string{"eu", "us", "ap"}

func drawCase(t *rapid.T) *oracle {
	o := &oracle{}
	for i := range rapid.IntRange(1, 4).Draw(t, "capabilities") {
		def := v1beta1.CapabilityDefinition{Name: fmt.Sprintf("c%d", 9-i)}
		for k := range rapid.IntRange(1, 4).Draw(t, "values") {
			def.Values = append(def.Values, fmt.Sprintf("v%d", 9-k))
		}
		o.defs = append(o.defs, def)
	}
	o.v, _ = capability.Compile(o.defs, nil)
	updates := v1beta1.CapabilityDefinition{Name: capability.UpdateType, Values: []string{"rolling", "in-place"}}
	declarable := append(o.defs[:len(o.defs):len(o.defs)], updates)
	if rapid.Bool().Draw(t, "the version says more") {
		o.undeclared = caps{capability.UpdateType: updates.Values}
	}
	for range rapid.IntRange(0, 6).Draw(t, "flavors") {
		o.flavors = append(o.flavors, drawFlavor(t, declarable))
	}
	if rapid.Bool().Draw(t, "each of them twice") {
		o.flavors = slices.Concat(o.flavors, o.flavors)
	}
	o.request = imageselector.Request{
		Image: "linux", Version: "1", Region: rapid.SampledFrom(append(regions, "nowhere")).Draw(t, "region"),
		Order: rapid.SampledFrom([]capability.Order{capability.GEP33, capability.Gardener}).Draw(t, "order"),
	}
	o.request.Machine, _ = o.v.Set(drawCapabilities(t, declarable), nil)
	strategies := rapid.SampledFrom([]string{"", "AutoRollingUpdate", "AutoInPlaceUpdate"})
	if strategy := strategies.Draw(t, "strategy"); strategy != "" {
		worker := capability.Worker{UpdateStrategy: v1beta1.MachineUpdateStrategy(strategy)}
		o.request.Worker, _ = o.v.Request(worker.Requirements(nil))
	}
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

// drawCapabilities declares some capabilities, with values in any order and repeated, and occasionally without values.
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

func (o *oracle) decide(f ...imageselector.Flavor[string]) imageselector.Decision[string] {
	return o.catalog(f...).Decide(o.request)
}

func (o *oracle) catalog(f ...imageselector.Flavor[string]) *imageselector.Catalog[string] {
	version := imageselector.Version[string]{Version: "1", Flavors: f, Undeclared: o.undeclared}
	return imageselector.NewCatalog(o.v, []imageselector.Image[string]{{Name: "linux", Versions: versions{version}}})
}

func TestDecideAgreesWithTheOracle(t *testing.T) {
	found, ambiguities := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		o := drawCase(t)
		c := o.catalog(o.flavors...)
		d := agree(t, c, o.request)
		chosen, ambiguous := o.choose()
		want := imageselector.Decision[string]{
			Request: o.request, Chosen: chosen, Ambiguous: ambiguous, Comparisons: o.comparisons(),
			Verdicts: make([]imageselector.Verdict[string], len(o.flavors)),
		}
		var offers []capability.Set
		for i := range o.flavors {
			want.Verdicts[i] = o.verdict(i)
			if _, refers := o.reference(i); refers {
				offers = append(offers, o.set(i))
			}
		}
		if got := c.Offers("linux", "1", o.request.Region); !slices.Equal(got, offers) {
			t.Fatalf("offers %v, want %v", got, offers)
		}
		if chosen >= 0 {
			found++
			want.Reference, _ = o.reference(chosen)
		}
		if ambiguous {
			ambiguities++
		}
		if diff := cmp.Diff(want, d, cmp.Comparer(func(a, b capability.Set) bool { return a == b })); diff != "" {
			t.Fatal(diff)
		}
	})
	if min(found, ambiguities) == 0 {
		t.Errorf("there never is an image, or a tie: %d, %d", found, ambiguities)
	}
}
