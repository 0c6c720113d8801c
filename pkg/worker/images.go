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

// NewImages returns the Images of a Worker. The profile is the Shoot's; of a NamespacedCloudProfile it is the rendered one, as in the
// Cluster. The records are those of the Worker's status, in their order; they must not be modified afterwards.
func NewImages[R any](by *profile.Profile[R], records []Record[R]) *Images[R] {
	return &Images[R]{by, records}
}

// Class is a machine class of a worker pool. Its JSON is for package kit, which stores it.
type Class[R any] struct {
	// Name of the machine class.
	Name string `json:"name"`
	// Image and Version are the machine class's labels operatingSystemName and operatingSystemVersion. Empty if it has none.
	Image   string `json:"image,omitempty"`
	Version string `json:"version,omitempty"`
	// Reference that it boots.
	Reference R `json:"reference"`
}

// Question is about one worker pool.
type Question[R any] struct {
	Pool provider.Pool
	// Classes are the existing machine classes of the pool, of all zones; none for a new pool.
	Classes []Class[R]
	// Names are the names of the pool's future machine classes. An existing class with one of these names is updated in place, so its
	// machines are not replaced.
	Names []string
}

// Image is the image that a worker pool boots.
type Image[R any] struct {
	// Reference to boot.
	Reference R
	// Flavor of the profile with this reference. It must not be modified. Nil: the image does not come from a flavor of the profile.
	Flavor *imageselector.Flavor[R]
	// Record is the entry for the Worker's status.
	Record Record[R]
	// Faults are errors in the pool's providerConfig that do not affect the image. Log them: admission accepts them in a pool that had them
	// before.
	Faults finding.List
	// Replaced says why the pool gets another flavor than its machines boot, although these are not replaced. It is a printable text for an
	// Event, of at most 1,024 bytes. Empty otherwise.
	Replaced string
	// Undecided says why the mapping is wrong, so that the profile does not decide the image, and what would work. The format is that of
	// Replaced. The pool then boots an image that machines of the Shoot have booted. Empty if the image is decided, or core no longer lists it.
	Undecided string
	// Stays reports whether to keep an existing machine class with the new name as it is, except for the credentials. Its other inputs, the
	// pool's providerConfig or its machine type, are then unknown as well.
	Stays bool
}

// Of returns the image of a worker pool (semantics S14). The error, an [*Error], says why there is none in the words of admission, and
// names the pool.
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
	// Reason is one of packages imageselector and profile: the profile lacks the image, its version, the machine type, or a requested
	// capability; no flavor fits; or the fitting flavors have no image in the region. Empty: the pool's providerConfig cannot be read.
	Reason imageselector.Reason
	text   string
}

// Error names the worker pool, and what would work if there is anything. The text is printable.
func (e *Error) Error() string { return words.Printable(e.text) }

// Codes returns Gardener's code for a problem that a user or operator has to repair.
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

// forEvent returns a text that an API server accepts in an Event: printable, and not too long.
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

// kept returns a class of the pool that is updated in place, preferably one with a readable reference; nil if there is none.
func (q *Question[R]) kept() *Class[R] {
	var kept *Class[R]
	for i := range q.Classes {
		if c := &q.Classes[i]; slices.Contains(q.Names, c.Name) && (kept == nil || imageselector.IsEmpty(kept.Reference)) {
			kept = c
		}
	}
	return kept
}

// lasting returns the pool's classes whose machines are not replaced. These are the classes that are updated in place. If the machines are
// updated in place, other classes of the same image version follow, because another Kubernetes version renames a class, too.
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

// keep returns the index of the flavor that the classes boot. Otherwise it says why the flavor cannot be kept.
func (s *Images[R]) keep(pool provider.Pool, classes []*Class[R], r *resolve.Resolution[R]) (flavor int, why string) {
	var candidates []int
	for _, class := range classes { // the first one whose flavor is known
		if candidates = s.flavorsOf(pool, class, r.Decision.Verdicts); len(candidates) > 0 {
			break
		}
	}
	if len(candidates) == 0 {
		return -1, "the one that these boot is not in the profile any more"
	}
	if slices.Contains(candidates, r.Decision.Chosen) { // of two flavors with one reference, the better one
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

// flavorsOf returns the flavors that a class may boot: those with its reference or, if the reference has changed, those that had it
// according to the records.
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
		if len(found) == 0 && len(record.Capabilities) == 0 { // the record is older than the profile's capabilities
			set := s.profile.Supports(id, &recorded)
			found = matching(func(v *imageselector.Verdict[R]) bool { return v.Set.Compatible(set) })
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// format returns the capabilities of a flavor as text.
func (s *Images[R]) format(r *resolve.Resolution[R], flavor int) string {
	return s.profile.Vocabulary().Format(r.Decision.Verdicts[flavor].Flavor.Capabilities)
}
