// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
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
	// a printable text for an Event. Empty if that is not so.
	Replaced string
}

// Of returns the image of a worker pool (semantics S14). The error says why there is none, in the words of admission, and
// names the pool; it is an [*Error].
func (s *Images[R]) Of(q Question[R]) (Image[R], error) {
	r := resolve.Explain(s.profile, q.Pool)
	delisted := r.Reason == imageselector.ReasonUnknownImage || r.Reason == imageselector.ReasonUnknownVersion
	switch {
	case len(r.Unreadable()) > 0:
		return Image[R]{}, &Error{text: fmt.Sprintf("worker pool %s: %v", q.Pool.Name, r.Unreadable().Errors().ToAggregate())}
	case delisted:
		return s.delisted(q, &r)
	case r.Err != nil:
		return Image[R]{}, refusal(&r)
	}
	chosen, ref := r.Decision.Chosen, r.Decision.Reference
	var replaced string
	if class := q.kept(); class != nil {
		kept, why := s.keep(q.Pool, class, &r)
		if why == "" {
			chosen = kept
			ref, _ = r.Decision.Verdicts[kept].Flavor.Reference(q.Pool.Region)
		} else {
			replaced = words.Printable(fmt.Sprintf("worker pool %s: new machines boot another flavor than the existing ones, %s: %s",
				q.Pool.Name, s.format(&r, chosen), why))
		}
	}
	flavor := r.Decision.Verdicts[chosen].Flavor
	record := s.recordOf(q.Pool.Image, q.Pool.Version, flavor, ref)
	return Image[R]{Reference: ref, Flavor: flavor, Record: record, Faults: r.Further, Replaced: replaced}, nil
}

// Error says why there is no image for a worker pool.
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

// kept returns a class of the pool that is updated in place; nil if there is none.
func (q *Question[R]) kept() *Class[R] {
	for i := range q.Classes {
		if slices.Contains(q.Names, q.Classes[i].Name) {
			return &q.Classes[i]
		}
	}
	return nil
}

// own returns a class of the pool for its image version: one that is updated in place, whose name says that it is; else
// one that says so itself. Nil if there is none.
func (q *Question[R]) own() *Class[R] {
	if class := q.kept(); class != nil {
		return class
	}
	for i := range q.Classes {
		if q.Classes[i].Image == q.Pool.Image && q.Classes[i].Version == q.Pool.Version {
			return &q.Classes[i]
		}
	}
	return nil
}

// keep returns the flavor that a class boots, by its index. Otherwise it says why the flavor cannot be kept.
func (s *Images[R]) keep(pool provider.Pool, class *Class[R], r *resolve.Resolution[R]) (flavor int, why string) {
	candidates := s.flavorsOf(pool, class, r.Decision.Verdicts)
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
		recorded := record.flavor()
		same := s.profile.Alike(provider.ImageVersion{Image: pool.Image, Version: pool.Version}, &recorded)
		found = matching(func(v *imageselector.Verdict[R]) bool { return same(v.Flavor) })
		if len(found) == 0 && len(record.Capabilities) == 0 { // from before the profile had capabilities
			set := s.supported(&recorded)
			found = matching(func(v *imageselector.Verdict[R]) bool { return v.Set.Compatible(set) })
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// supported compiles what a flavor declares or implies.
func (s *Images[R]) supported(flavor *imageselector.Flavor[R]) capability.Set {
	set, _ := s.profile.Vocabulary().Flavor(flavor.Supported(s.profile.Vocabulary()), nil, nil)
	return set
}

// format writes the capabilities of a flavor.
func (s *Images[R]) format(r *resolve.Resolution[R], flavor int) string {
	return s.profile.Vocabulary().Format(r.Decision.Verdicts[flavor].Flavor.Capabilities)
}

// delisted answers for a pool whose image version the profile does not list: with what the pool boots already or, if it
// has no class for this version, with the best of those that other pools boot or have booted.
func (s *Images[R]) delisted(q Question[R], r *resolve.Resolution[R]) (Image[R], error) {
	of := slices.DeleteFunc(slices.Clone(s.records), func(record Record[R]) bool {
		return !record.isOf(q.Pool.Image, q.Pool.Version)
	})
	if class := q.own(); class != nil {
		record := s.recordOfClass(q.Pool, class, of, r.Machine)
		return Image[R]{Reference: class.Reference, Record: record, Faults: r.Further}, nil
	}
	if len(of) == 0 {
		return Image[R]{}, refusal(r)
	}
	recorded := imageselector.Version[R]{Version: q.Pool.Version}
	for i := range of {
		recorded.Flavors = append(recorded.Flavors, of[i].flavor())
	}
	images := []imageselector.Image[R]{{Name: q.Pool.Image, Versions: []imageselector.Version[R]{recorded}}}
	chosen := imageselector.NewCatalog(s.profile.Vocabulary(), images).Choose(r.Decision.Request)
	if chosen < 0 {
		return Image[R]{}, &Error{r.Reason, r.Err.Detail + "; nor does an image fit that other machines of the Shoot have booted"}
	}
	return Image[R]{Reference: of[chosen].Reference, Record: of[chosen], Faults: r.Further}, nil
}

// recordOfClass returns the record of what a class boots; of several the one that fits the machine type. Without any it
// says the architecture of the pool's machines.
func (s *Images[R]) recordOfClass(pool provider.Pool, class *Class[R], of []Record[R], machine capability.Set) Record[R] {
	var found *Record[R]
	for i := range of {
		if !reflect.DeepEqual(of[i].Reference, class.Reference) {
			continue
		}
		flavor := of[i].flavor()
		if found == nil || s.supported(&flavor).Compatible(machine) {
			found = &of[i]
		}
	}
	if found != nil {
		return *found
	}
	return Record[R]{Image: pool.Image, Version: pool.Version, Architecture: pool.Architecture, Reference: class.Reference}
}
