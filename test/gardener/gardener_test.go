// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gardener compares the order named gardener with the function in the gardener library that it reimplements.
package gardener

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

type (
	caps = v1beta1.Capabilities
	defs = []v1beta1.CapabilityDefinition
)

// flavor is a flavor in a question to the library.
type flavor struct {
	name         string
	capabilities caps
}

func (f flavor) GetCapabilities() v1beta1.Capabilities { return f.capabilities }

// question consists of one image version's flavors and one machine type.
type question struct {
	defs    defs
	flavors []flavor
	machine caps
}

// random returns a question with up to six capabilities of up to five values, and up to twelve flavors. The names run
// against the order of preference, so that an order by name cannot pass for it.
func random(r *rand.Rand) question {
	var q question
	for i := range min(1+r.IntN(8), 6) {
		def := v1beta1.CapabilityDefinition{Name: fmt.Sprintf("c%d", 9-i)}
		for k := range 1 + r.IntN(5) {
			def.Values = append(def.Values, fmt.Sprintf("v%d", 9-k))
		}
		q.defs = append(q.defs, def)
	}
	// Many values make many flavors fit, and few make them distinct. Have questions of both kinds.
	omitted, narrow := r.Float64()/2, r.Float64()
	for i := range r.IntN(13) {
		q.flavors = append(q.flavors, flavor{fmt.Sprintf("flavor-%d", i), declare(r, q.defs, omitted, narrow)})
	}
	q.machine = declare(r, q.defs, r.Float64(), r.Float64())
	return q
}

// declare declares values of the capabilities in random order and with repetitions, and omits some capabilities.
func declare(r *rand.Rand, d defs, omitted, narrow float64) caps {
	c := caps{}
	for _, def := range d {
		if r.Float64() < omitted {
			continue
		}
		n := 1
		for n < 2*len(def.Values) && r.Float64() > narrow {
			n++
		}
		for range n {
			c[def.Name] = append(c[def.Name], def.Values[r.IntN(len(def.Values))])
		}
	}
	return c
}

// ours answers a question with this module, for a provider that defines some of the capabilities as worker capabilities.
func ours(t *testing.T, q question, workers ...capability.Definition) imageselector.Decision[string] {
	t.Helper()
	v, errs := capability.Compile(q.defs, nil, workers...)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	version := imageselector.Version[string]{Version: "1"}
	for _, f := range q.flavors {
		version.Flavors = append(version.Flavors, imageselector.Flavor[string]{
			Capabilities: f.capabilities, Global: &imageselector.Global[string]{Ref: f.name}})
	}
	machine, errs := v.Set(q.machine, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	catalog := imageselector.NewCatalog(v, []imageselector.Image[string]{{Name: "linux", Versions: []imageselector.Version[string]{version}}})
	return catalog.Decide(imageselector.Request{Image: "linux", Version: "1", Machine: machine, Order: capability.Gardener})
}

// theirs answers a question with the library. Only the question distinguishes the library's two errors: no flavor fits, or
// the best ones are equal.
func theirs(q question) (name string, nothingFits, tie bool) {
	best, err := worker.FindBestImageFlavor(q.flavors, q.machine, q.defs)
	if err == nil {
		return best.name, false, false
	}
	nothingFits = !slices.ContainsFunc(q.flavors, func(f flavor) bool {
		_, alone := worker.FindBestImageFlavor([]flavor{f}, q.machine, q.defs)
		return alone == nil
	})
	return "", nothingFits, !nothingFits
}

// questions is the number of compared questions. They are the same on every run.
const questions = 100_000

func TestChoosesWhatTheLibraryChooses(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 54))
	found, none, ties := 0, 0, 0
	for i := range questions {
		q := random(r)
		d := ours(t, q)
		name, nothingFits, tie := theirs(q)
		switch {
		case nothingFits:
			none++
		case tie:
			ties++
		default:
			found++
		}
		if d.Ambiguous != tie || (d.Chosen == -1) != nothingFits || !tie && d.Reference != name {
			t.Fatalf("question %d: %+v\nours: flavor %d %q, ambiguous: %t\ntheirs: %q, nothing fits: %t, tie: %t",
				i, q, d.Chosen, d.Reference, d.Ambiguous, name, nothingFits, tie)
		}
	}
	t.Logf("%d found, %d times nothing fits, %d ties", found, none, ties)
	for kind, n := range map[string]int{"found": found, "nothing fits": none, "tie": ties} {
		if n < questions/20 {
			t.Errorf("%s: %d of %d questions are too few to tell anything", kind, n, questions)
		}
	}
}
