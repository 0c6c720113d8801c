// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"reflect"

	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/resolve"
)

// delisted answers for a pool whose image version is not in the profile's catalog. The pool keeps the image of its class. If its class
// changes its name, or it has none, it gets a fitting record. If core still lists the version, the mapping is wrong.
func (s *Images[R]) delisted(q Question[R], r *resolve.Resolution[R]) (Image[R], error) {
	wrong := s.profile.Version(provider.ImageVersion{Image: q.Pool.Image, Version: q.Pool.Version}) != nil
	if class := q.kept(); class != nil && !imageselector.IsEmpty(class.Reference) {
		return s.withClass(&q, class, r, wrong), nil
	}
	return s.recalled(&q, r, wrong)
}

// undecided answers for a pool if the profile, or the pool's own config, is wrong. It follows the provider's policy.
func (s *Images[R]) undecided(q Question[R], r *resolve.Resolution[R]) (Image[R], error) {
	refused, chosen := refusal(r), provider.PoliciesOf(s.profile.Provider()).Undecided
	if chosen == policy.Fails {
		return Image[R]{}, refused
	}
	class := q.kept()
	if class != nil && !imageselector.IsEmpty(class.Reference) {
		return s.withClass(&q, class, r, true), nil
	}
	if fitKnown(r) && (len(q.Classes) > 0 || chosen == policy.Recalls) {
		return s.recalled(&q, r, true)
	}
	return Image[R]{}, refused
}

// goesOn returns the text of the Event about a pool that carries on with some image although the mapping is wrong; empty if it is right.
func goesOn[R any](r *resolve.Resolution[R], wrong bool, with string) string {
	if !wrong {
		return ""
	}
	return forEvent(refusal(r).text + "; until that is repaired, new machines of the pool boot " + with)
}

// soFar describes the image that most pools carry on with.
const soFar = "what they have booted so far"

// fitKnown reports whether it is possible to decide if an image fits a pool: the pool's requests and its machine type's capabilities must
// be known, and an image must be able to meet them.
func fitKnown[R any](r *resolve.Resolution[R]) bool {
	switch {
	case len(r.Unreadable()) > 0, r.Reason == profile.ReasonUnknownMachineType, r.Reason == profile.ReasonUnregistered:
		return false
	}
	return profile.Suits(r.Machine, r.Pool.Architecture)
}

// withClass answers with the image of a class that the pool keeps.
func (s *Images[R]) withClass(q *Question[R], class *Class[R], r *resolve.Resolution[R], wrong bool) Image[R] {
	return Image[R]{
		Reference: class.Reference, Record: s.recordOfClass(q, class), Faults: r.Further, Undecided: goesOn(r, wrong, soFar),
		Stays: len(r.Unreadable()) > 0 || r.Reason == profile.ReasonUnknownMachineType,
	}
}

// recordOfClass returns the record of a class's image; of several, the one that fits the pool best. If there is none, it makes one with the
// architecture of the pool's machines.
func (s *Images[R]) recordOfClass(q *Question[R], class *Class[R]) Record[R] {
	of := s.recordsOf(q, func(r *Record[R]) bool { return reflect.DeepEqual(r.Reference, class.Reference) })
	if len(of) == 0 {
		return Record[R]{Image: q.Pool.Image, Version: q.Pool.Version, Architecture: q.Pool.Architecture, Reference: class.Reference}
	}
	return of[max(0, s.fitting(q, of))]
}

// recalled answers with a record of the same image version that fits the pool: the record of its machines' image if possible, and otherwise
// the best one of other pools, present or past. If none fits, the error is the pool's refusal.
func (s *Images[R]) recalled(q *Question[R], r *resolve.Resolution[R], wrong bool) (Image[R], error) {
	of, with := s.recordsOf(q, func(r *Record[R]) bool { return q.has(r.Reference) }), soFar
	best := s.fitting(q, of)
	if best < 0 {
		with = "an image that machines of the Shoot have booted"
		of = s.recordsOf(q, func(r *Record[R]) bool { return !imageselector.IsEmpty(r.Reference) })
		best = s.fitting(q, of)
	}
	if best >= 0 {
		return Image[R]{Reference: of[best].Reference, Record: of[best], Faults: r.Further, Undecided: goesOn(r, wrong, with)}, nil
	}
	refused := refusal(r)
	if len(of) > 0 {
		refused.text += "; nor does an image fit that machines of the Shoot have booted"
	}
	return Image[R]{}, refused
}

// has reports whether a class of the pool, for its image version, has a reference.
func (q *Question[R]) has(reference R) bool {
	for i := range q.Classes {
		c := &q.Classes[i]
		if c.Image == q.Pool.Image && c.Version == q.Pool.Version && !imageselector.IsEmpty(c.Reference) && reflect.DeepEqual(c.Reference, reference) {
			return true
		}
	}
	return false
}

// recordsOf returns the records of the pool's image version that the function accepts, in their order.
func (s *Images[R]) recordsOf(q *Question[R], chosen func(*Record[R]) bool) []Record[R] {
	var of []Record[R]
	for i := range s.records {
		if r := &s.records[i]; r.isOf(q.Pool.Image, q.Pool.Version) && chosen(r) {
			of = append(of, *r)
		}
	}
	return of
}

// fitting returns the index of the record that best fits the pool's machine type and requests; -1 if none fits.
func (s *Images[R]) fitting(q *Question[R], of []Record[R]) int {
	flavors := make([]imageselector.Flavor[R], 0, len(of))
	for i := range of {
		flavors = append(flavors, of[i].flavor(s.profile.Vocabulary()))
	}
	question := s.profile.Ask(q.Pool)
	return s.profile.Recall(question.Request, flavors)
}
