// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/words"
)

// Images answers for the pools of one Worker. It is immutable and safe for concurrent use.
type Images[R any] struct {
	profile *profile.Profile[R]
	records []Record[R]
}

// NewImages returns the Images of a Worker. The profile, by, is that of the Shoot: of a NamespacedCloudProfile what is rendered
// of it, as in the Cluster. The records are those of the Worker's status, in their order; they must not be changed any more.
func NewImages[R any](by *profile.Profile[R], records []Record[R]) *Images[R] {
	return &Images[R]{by, records}
}

// Class is a machine class of a worker pool. Its JSON is for package kit, which keeps it.
type Class[R any] struct {
	// Name of the machine class.
	Name string `json:"name"`
	// Image and Version that it was made for: the labels operatingSystemName and operatingSystemVersion of a MachineClass.
	// Empty: it does not say.
	Image   string `json:"image,omitempty"`
	Version string `json:"version,omitempty"`
	// Reference that it boots.
	Reference R `json:"reference"`
}

// Question is about one worker pool.
type Question[R any] struct {
	Pool provider.Pool
	// Classes are the machine classes that the pool has, of all zones; none for a new pool.
	Classes []Class[R]
	// Names are those of the machine classes that the pool is going to have. A class that it has already, under one of these
	// names, is updated in place: its machines are not replaced.
	Names []string
}

// Image is what a worker pool boots.
type Image[R any] struct {
	// Reference is what to boot.
	Reference R
	// Flavor of the profile that it is of. It must not be changed. Nil: the profile does not list the image version.
	Flavor *imageselector.Flavor[R]
	// Record is what the Worker's status has to say.
	Record Record[R]
	// Faults are errors in the pool's providerConfig that do not decide about the image. Log them: admission lets them pass
	// in a pool that had them before.
	Faults finding.List
	// Replaced says why the pool gets another flavor than the one that its machines boot, although these are not replaced:
	// a printable text for an Event, which has no more than 1,024 bytes. Empty if that is not so.
	Replaced string
	// Undecided says why the profile does not decide about the image, since the mapping is wrong, and what would work: a text as that of
	// Replaced. The pool goes on then with what its machines boot. Empty if the image is decided, or not listed by core any more.
	Undecided string
	// Stays says that a machine class that exists under its new name is to stay as it is, but for the credentials: what else it is made
	// of, the pool's providerConfig or its machine type, is not known either.
	Stays bool
}

// Of returns the image of a worker pool (semantics S14). The error says why there is none, in the words of admission, and
// names the pool; it is an [*Error].
func (s *Images[R]) Of(q Question[R]) (Image[R], error) {
	r := resolve.Explain(s.profile, q.Pool)
	switch {
	case len(r.Unreadable()) == 0 && (r.Reason == imageselector.ReasonUnknownImage || r.Reason == imageselector.ReasonUnknownVersion):
		return s.delisted(q, &r)
	case len(r.Unreadable()) > 0 || r.Err != nil:
		return s.undecided(q, &r)
	}
	chosen, ref := r.Decision.Chosen, r.Decision.Reference
	var replaced string
	if classes := q.lasting(); len(classes) > 0 {
		kept, why := s.keep(q.Pool, classes, &r)
		if why == "" {
			chosen = kept
			ref, _ = r.Decision.Verdicts[kept].Flavor.Reference(q.Pool.Region)
		} else {
			replaced = forEvent(fmt.Sprintf("worker pool %s: new machines boot another flavor than the existing ones, %s: %s",
				q.Pool.Name, s.format(&r, chosen), why))
		}
	}
	flavor := r.Decision.Verdicts[chosen].Flavor
	record := s.recordOf(q.Pool.Image, q.Pool.Version, flavor, ref)
	return Image[R]{Reference: ref, Flavor: flavor, Record: record, Faults: r.Further, Replaced: replaced}, nil
}

// Error is the reason why there is no image for a worker pool.
type Error struct {
	// Reason is one of those of packages imageselector and profile: the profile lacks the image, its version, the
	// machine type, or a capability that the pool asks for; no flavor fits; those that fit have no image in the region.
	// Empty: the pool's providerConfig cannot be read.
	Reason imageselector.Reason
	text   string
}

// Error names the worker pool, and says what would work if there is anything. The text is printable.
func (e *Error) Error() string { return words.Printable(e.text) }

// Codes returns the code that Gardener has for what a user or operator has to repair.
func (e *Error) Codes() []v1beta1.ErrorCode {
	return []v1beta1.ErrorCode{v1beta1.ErrorConfigurationProblem}
}

// refusal returns the error for a pool without an image.
func refusal[R any](r *resolve.Resolution[R]) *Error {
	if unreadable := r.Unreadable(); len(unreadable) > 0 {
		return &Error{text: fmt.Sprintf("worker pool %s: %v", r.Pool.Name, unreadable.Errors().ToAggregate())}
	}
	e := &Error{Reason: r.Reason, text: r.Err.Detail}
	if e.Reason == "" {
		e.Reason = imageselector.ReasonCapability
		for _, v := range r.Decision.Verdicts {
			if v.Reason == imageselector.ReasonRegion {
				e.Reason = v.Reason
			}
		}
	}
	return e
}

// forEvent returns a text that an API server takes in an Event: printable, and no longer than it may be.
func forEvent(text string) string {
	const most, more = 1024, "..."
	text = words.Printable(text)
	if len(text) <= most {
		return text
	}
	end := most - len(more)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}

// kept returns a class of the pool that is updated in place, one whose reference could be read if there is any; nil if there is none.
func (q *Question[R]) kept() *Class[R] {
	var kept *Class[R]
	for i := range q.Classes {
		if c := &q.Classes[i]; slices.Contains(q.Names, c.Name) && (kept == nil || isZero(kept.Reference)) {
			kept = c
		}
	}
	return kept
}

// lasting returns the classes of the pool whose machines are not replaced: those that are updated in place and, if the machines are,
// behind them others of the same image version, as a class is renamed for another Kubernetes, too.
func (q *Question[R]) lasting() []*Class[R] {
	strategy := q.Pool.Worker.UpdateStrategy
	inPlace := strategy == v1beta1.AutoInPlaceUpdate || strategy == v1beta1.ManualInPlaceUpdate
	var named, others []*Class[R]
	for i := range q.Classes {
		switch c := &q.Classes[i]; {
		case slices.Contains(q.Names, c.Name):
			named = append(named, c)
		case inPlace && c.Image == q.Pool.Image && c.Version == q.Pool.Version:
			others = append(others, c)
		}
	}
	return append(named, others...)
}

// keep returns the flavor that classes boot, by its index. Otherwise it says why the flavor cannot be kept.
func (s *Images[R]) keep(pool provider.Pool, classes []*Class[R], r *resolve.Resolution[R]) (flavor int, why string) {
	var candidates []int
	for _, class := range classes { // the first of which the flavor is known
		if candidates = s.flavorsOf(pool, class, r.Decision.Verdicts); len(candidates) > 0 {
			break
		}
	}
	if len(candidates) == 0 {
		return -1, "the one that these boot is not in the profile any more"
	}
	if slices.Contains(candidates, r.Decision.Chosen) { // of two flavors with one reference the better one
		return r.Decision.Chosen, ""
	}
	for _, i := range candidates {
		if r.Decision.Verdicts[i].Reason == "" {
			return i, ""
		}
	}
	format := s.format(r, candidates[0])
	if r.Decision.Verdicts[candidates[0]].Reason == imageselector.ReasonRegion {
		return -1, fmt.Sprintf("%s has no image in region %s any more", format, pool.Region)
	}
	return -1, fmt.Sprintf("%s does not fit the worker pool any more", format)
}

// flavorsOf returns the flavors that a class may boot: those with its reference or, if there are none because that has
// changed, those of which the records say that they had it.
func (s *Images[R]) flavorsOf(pool provider.Pool, class *Class[R], verdicts []imageselector.Verdict[R]) []int {
	matching := func(matches func(*imageselector.Verdict[R]) bool) []int {
		var found []int
		for i := range verdicts {
			if matches(&verdicts[i]) {
				found = append(found, i)
			}
		}
		return found
	}
	found := matching(func(v *imageselector.Verdict[R]) bool {
		ref, has := v.Flavor.Reference(pool.Region)
		return has && reflect.DeepEqual(ref, class.Reference)
	})
	if len(found) > 0 {
		return found
	}
	for i := range s.records {
		record := &s.records[i]
		if !record.isOf(pool.Image, pool.Version) || !reflect.DeepEqual(record.Reference, class.Reference) {
			continue
		}
		recorded := record.flavor(s.profile.Vocabulary())
		id := provider.ImageVersion{Image: pool.Image, Version: pool.Version}
		same := s.profile.Alike(id, &recorded)
		found = matching(func(v *imageselector.Verdict[R]) bool { return same(v.Flavor) })
		if len(found) == 0 && len(record.Capabilities) == 0 { // from before the profile had capabilities
			set := s.profile.Supports(id, &recorded)
			found = matching(func(v *imageselector.Verdict[R]) bool { return v.Set.Compatible(set) })
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// format writes the capabilities of a flavor.
func (s *Images[R]) format(r *resolve.Resolution[R], flavor int) string {
	return s.profile.Vocabulary().Format(r.Decision.Verdicts[flavor].Flavor.Capabilities)
}
