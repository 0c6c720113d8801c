// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector

import (
	"errors"

	"github.com/capkit/capkit/pkg/capability"
)

// ErrNoImage is returned by [Catalog.Select] if no image can be booted. [Catalog.Decide] returns the reasons.
var ErrNoImage = errors.New("no image fits")

// Request is a question about the image of one worker pool.
type Request struct {
	// Image and Version name an image version of spec.machineImages, exactly as written there.
	Image, Version string
	// Region is the region of the Shoot. A provider without regions has global references only, so any value will do.
	Region string
	// Machine is the machine type's set, compiled with the catalog's vocabulary.
	Machine capability.Set
	// Worker is the worker pool's request, compiled with the catalog's vocabulary. The zero Set requests nothing.
	Worker capability.Set
	// Order ranks the flavors that fit. The zero value is GEP-0033's.
	Order capability.Order
}

// Reason says why a flavor or a whole request is rejected. Its values are part of the command line's JSON.
type Reason string

// The reasons: the first two reject a flavor, the others the whole request.
const (
	// ReasonCapability: flavor, machine type and request share no value of some capability.
	ReasonCapability Reason = "capability"
	// ReasonRegion: the flavor fits but has no reference in the region.
	ReasonRegion Reason = "region"
	// ReasonUnknownImage: the catalog does not have the image.
	ReasonUnknownImage Reason = "unknown-image"
	// ReasonUnknownVersion: the catalog has the image but not this version.
	ReasonUnknownVersion Reason = "unknown-version"
)

// Decision is the record of one selection, even if nothing fits: Chosen is then -1.
type Decision[R any] struct {
	Request Request
	// Chosen is the index of the selected flavor in Verdicts, -1 if nothing can be booted.
	Chosen int
	// Reference is the reference to boot; the zero R if nothing can be booted.
	Reference R
	// Ambiguous is set if another candidate has an equal set; the first one written wins (semantics S5, step 4).
	Ambiguous bool
	// Reason is set if the catalog lacks the image version. It is empty for a version without flavors.
	Reason Reason
	// Verdicts has one for each flavor of the image version, in the order written. Nil if Reason is set.
	Verdicts []Verdict[R]
	// Comparisons has the comparisons that found the best candidate, in order; nil for fewer than two candidates.
	Comparisons []Comparison
}

// Verdict is the evaluation of one flavor.
type Verdict[R any] struct {
	// Flavor as written. It belongs to the catalog and must not be modified.
	Flavor *Flavor[R]
	// Set is the flavor's set, and Effective its effective set on the machine type for the request (semantics S4). Effective is the zero
	// Set if there is a conflict.
	Set, Effective capability.Set
	// Reason is why the flavor was rejected; empty for a candidate. A conflict takes precedence over a missing reference.
	Reason Reason
	// Conflicts with the machine type and the request, in vocabulary order. Set if Reason is ReasonCapability.
	Conflicts []capability.Conflict
}

// Comparison is one step in the search for the best candidate: the best so far against the next one.
type Comparison struct {
	// Best and Next are indices into the verdicts.
	Best, Next int
	// Preference compares Best, as the first, with Next, as the second.
	Preference capability.Preference
}

// Decide evaluates every flavor of the requested image version once and records a verdict for each. The caller owns the decision, but not
// the flavors that it points to. Decide is safe for concurrent use.
func (c *Catalog[R]) Decide(r Request) Decision[R] {
	d := Decision[R]{Request: r}
	switch v := c.find(r.Image, r.Version); {
	case v != nil:
		d.Verdicts = make([]Verdict[R], 0, len(v.matches))
	case c.images[r.Image] != nil:
		d.Reason = ReasonUnknownVersion
	default:
		d.Reason = ReasonUnknownImage
	}
	var ref *R
	if ref, d.Chosen = c.choose(&r, &d); ref != nil {
		d.Reference = *ref
	}
	return d
}

// Select returns the reference that [Catalog.Decide] would choose, or ErrNoImage. It allocates only on the first request for an image
// version. It is safe for concurrent use.
func (c *Catalog[R]) Select(r Request) (R, error) {
	if ref, _ := c.choose(&r, nil); ref != nil {
		return *ref, nil
	}
	var none R
	return none, ErrNoImage
}

// Choose returns the index, among [Catalog.Flavors], of the flavor that [Catalog.Decide] would choose, or -1. It allocates no more than
// [Catalog.Select], and is safe for concurrent use.
func (c *Catalog[R]) Choose(r Request) int {
	_, chosen := c.choose(&r, nil)
	return chosen
}

// Candidate returns the reference of the flavor with an index among [Catalog.Flavors], if [Catalog.Decide] would consider it a candidate:
// it fits the request and has a reference in the region. An invalid index is no candidate. It allocates no more than [Catalog.Select], and
// is safe for concurrent use.
func (c *Catalog[R]) Candidate(r Request, flavor int) (ref R, found bool) {
	v := c.find(r.Image, r.Version)
	if v == nil || flavor < 0 || flavor >= len(v.matches) || !v.matches[flavor].set.Fits(r.Machine, r.Worker) {
		return ref, false
	}
	return v.flavors[flavor].Reference(r.Region)
}

// choose is the only loop that decides. It returns the best candidate's reference and index, or nil and -1. It records verdicts and
// comparisons in record, unless that is nil.
func (c *Catalog[R]) choose(r *Request, record *Decision[R]) (*R, int) {
	v := c.find(r.Image, r.Version)
	if v == nil {
		return nil, -1
	}
	regional := v.regional[r.Region]
	var best *R
	chosen := -1
	for i := range v.matches {
		m := &v.matches[i]
		ref := m.global
		if len(regional) > 0 && regional[0].flavor == i {
			ref, regional = regional[0].ref, regional[1:]
		}
		if ref == nil && record == nil {
			continue // without a record, it does not matter whether the flavor fits
		}
		fits := m.set.Fits(r.Machine, r.Worker)
		if record != nil {
			record.judge(&v.flavors[i], m.set, fits, ref != nil)
		}
		switch {
		case !fits || ref == nil:
		case best == nil:
			best, chosen = ref, i
		default:
			p := capability.Compare(v.matches[chosen].set, m.set, r.Machine, r.Worker, r.Order)
			if record != nil {
				record.compare(chosen, i, p)
			}
			if p.Sign > 0 {
				best, chosen = ref, i
			}
		}
	}
	return best, chosen
}

// judge records the verdict on a flavor; found reports whether it has a reference in the region.
func (d *Decision[R]) judge(flavor *Flavor[R], set capability.Set, fits, found bool) {
	verdict := Verdict[R]{Flavor: flavor, Set: set}
	if fits {
		verdict.Effective = set.Effective(d.Request.Machine, d.Request.Worker)
	} else {
		verdict.Reason, verdict.Conflicts = ReasonCapability, set.Conflicts(d.Request.Machine, d.Request.Worker)
	}
	if fits && !found {
		verdict.Reason = ReasonRegion
	}
	d.Verdicts = append(d.Verdicts, verdict)
}

// compare records a comparison of the best candidate so far with the next one.
func (d *Decision[R]) compare(best, next int, p capability.Preference) {
	d.Comparisons = append(d.Comparisons, Comparison{Best: best, Next: next, Preference: p})
	d.Ambiguous = p.Sign == 0 || d.Ambiguous && p.Sign < 0
}
