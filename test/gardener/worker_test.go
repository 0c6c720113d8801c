// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"math/rand/v2"
	"testing"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// workers turns some of the registered capabilities into worker capabilities.
func workers(r *rand.Rand, d defs) []capability.Definition {
	var definitions []capability.Definition
	for _, def := range d {
		if r.IntN(2) == 0 {
			continue
		}
		definition := capability.Definition{Name: def.Name, Values: def.Values}
		if r.IntN(3) > 0 {
			definition.Undeclared = def.Values[r.IntN(len(def.Values))]
		}
		definitions = append(definitions, definition)
	}
	return definitions
}

// Semantics S3: without a request, a registered worker capability is matched like any other. Where the library finds a tie,
// capkit may choose a flavor without that capability.
func TestRegisteredWorkerCapabilitiesThatNobodyAsksFor(t *testing.T) {
	r := rand.New(rand.NewPCG(54, 33))
	found, none, ties, chosen := 0, 0, 0, 0
	for i := range questions / 20 {
		q := random(r)
		d := ours(t, q, workers(r, q.defs)...)
		for k, v := range d.Verdicts {
			if fits := helper.AreCapabilitiesCompatible(q.flavors[k].capabilities, q.machine, q.defs); fits != (v.Reason == "") {
				t.Fatalf("question %d, flavor %d: %+v\nfits: %t, ours: %q", i, k, q, fits, v.Reason)
			}
		}
		name, nothingFits, tie := theirs(q)
		switch {
		case nothingFits:
			none++
		case !tie:
			found++
		default:
			ties++
			if !d.Ambiguous {
				chosen++
			}
			name = tied(q, d)
		}
		if (d.Chosen == -1) != nothingFits || d.Reference != name || d.Ambiguous && !tie {
			t.Fatalf("question %d: %+v\nours: flavor %d %q, ambiguous: %t\ntheirs: %q, nothing fits: %t, tie: %t",
				i, q, d.Chosen, d.Reference, d.Ambiguous, name, nothingFits, tie)
		}
	}
	t.Logf("%d found, %d times nothing fits, %d ties, of which %d are none for us", found, none, ties, chosen)
	if min(found, none, ties, chosen) == 0 {
		t.Error("one of these never happens")
	}
}

// tied returns our choice if the library would make it, too, once the flavors that it treats as equal are removed.
func tied(q question, d imageselector.Decision[string]) string {
	filled := func(i int) caps { return v1beta1.GetCapabilitiesWithAppliedDefaults(q.flavors[i].capabilities, q.defs) }
	alone := q
	alone.flavors = nil
	for i, f := range q.flavors {
		if i == d.Chosen || !helper.AreCapabilitiesEqual(filled(i), filled(d.Chosen)) {
			alone.flavors = append(alone.flavors, f)
		}
	}
	name, _, _ := theirs(alone)
	return name
}
