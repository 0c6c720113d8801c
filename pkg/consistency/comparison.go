// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"iter"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// Comparison says what an update of a profile does to what worker pools boot: to those that there are, and to those that
// there could be. It answers as two calls of [Profile.ResolvePool] would, for tens of thousands of pools. It is not safe
// for concurrent use. [NewComparison] makes one.
type Comparison[R any] struct {
	before, after *Profile[R]
	order         capability.Order
	// pools has what is known of worker pools that are alike.
	pools map[provider.Shape]*Change[R]
	// formerly is what Renamed was given, or nil.
	formerly func(Combination) (version string, counts bool)
	// same has, for flavors before the update and a version after it, the indices of those that they are of that.
	same map[formerFlavor][]int
	// locks has what is known of machine types with image versions.
	locks map[lockable]bool
	// types and versions are those that are not as they were, for Gardener's own comparison of the two.
	types    map[string]bool
	versions map[imageVersion]bool
	// vocabulary says that the vocabulary is not as it was.
	vocabulary bool
	// images has, for those that were asked about, whether the same worker pools boot the same versions of them.
	images map[string]bool
}

type flavorIndex struct {
	imageVersion
	flavor int
}

// formerFlavor is a flavor before the update, and the image version after it of which it may be one.
type formerFlavor struct {
	flavorIndex
	of imageVersion
}

type lockable struct {
	imageVersion
	machineType string
}

// Change is what an update of a profile does to what a worker pool boots.
type Change[R any] struct {
	// Before and After are what a new pool boots before and after the update; nil if that is nothing.
	Before, After *R
	// Kept is what new machines of a pool that exists boot after the update, as long as its machine class keeps its name
	// (semantics S14): what the flavor of Before has for a reference then. Nil if there is no Before, or if that flavor is
	// gone or cannot be booted any more, so that the image is chosen anew.
	Kept *R
	// Requested is what the pool asks for after the update, without what is implied.
	Requested []capability.Requirement
	// Unreadable is true if the providerConfig of the pool has errors, so that it is not known what the pool asks for. It
	// has no images then.
	Unreadable bool
	// Regional is said by Combinations of a region that only one of the profiles has. No Shoot can be created in such a region
	// while the profile lacks it; worker pools that are there all the same go on as Pool says, which does not look at that.
	Regional bool
}

// Combination is what a worker pool could be: an image version on a machine type in a region.
type Combination struct{ Image, Version, MachineType, Region string }

// NewComparison compares a profile as it is with what it is to become, by a preference order. Both must be of the same provider.
func NewComparison[R any](before, after *Profile[R], order capability.Order) *Comparison[R] {
	c := &Comparison[R]{
		before: before, after: after, order: order,
		pools: map[provider.Shape]*Change[R]{}, same: map[formerFlavor][]int{}, locks: map[lockable]bool{},
		types: map[string]bool{}, versions: map[imageVersion]bool{}, images: map[string]bool{},
	}
	c.vocabulary = !equality.Semantic.DeepEqual(before.spec.MachineCapabilities, after.spec.MachineCapabilities)
	for name, m := range after.machines {
		c.types[name] = !equality.Semantic.DeepEqual(before.machines[name].written, m.written)
	}
	for id, version := range after.core {
		c.versions[id] = !equality.Semantic.DeepEqual(before.core[id], version)
	}
	return c
}

// Renamed makes [Comparison.Combinations] compare with another version before the update: the one that formerly returns for
// a combination after it. Those for which counts is false are left out. Nil, as without Renamed: each is compared with itself.
// Worker pools are always compared with themselves, since it is they who name their version.
func (c *Comparison[R]) Renamed(formerly func(Combination) (version string, counts bool)) {
	c.formerly = formerly
}

// Pool returns what the update does to a worker pool that exists, whose own preference order does not count. It belongs to the
// comparison: it must not be changed, and is the same for pools that are alike.
func (c *Comparison[R]) Pool(pool provider.Pool) *Change[R] {
	pool.Order = c.order
	shape := c.after.provider.Workers().ShapeOf(&pool)
	change, done := c.pools[shape]
	if !done {
		was, is := c.before.question(pool), c.after.question(pool)
		change = &Change[R]{Requested: is.requested, Unreadable: was.unreadable || is.unreadable}
		if !change.Unreadable {
			*change = c.decide(was, is, Combination{pool.Image, pool.Version, pool.MachineType, pool.Region}, pool.Version)
		}
		c.pools[shape] = change
	}
	return change
}

// Combinations yields what the update does to every combination of an image version that core lists, a machine type and a
// region, which it has before or after: for a pool that asks for nothing, and for one that asks for one thing, for each
// setting whose capability is offered before or after. Where a profile lacks the region nothing boots. What boots the same as
// before is left out. The order is that of the lists after the update, and then of what they had before.
func (c *Comparison[R]) Combinations() iter.Seq2[Combination, Change[R]] {
	types := union(namesOf(c.after.spec.MachineTypes), namesOf(c.before.spec.MachineTypes))
	templates, regions := c.templates(), c.regions()
	return func(yield func(Combination, Change[R]) bool) {
		for _, name := range types {
			for _, template := range templates {
				pool := provider.Pool{MachineType: name, Worker: template.worker, Order: c.order}
				was, is := c.before.question(pool, template.more...), c.after.question(pool, template.more...)
				for of := range c.with(name, regions) {
					before, after := was, is
					before.refused, after.refused = was.refused || !of.had, is.refused || !of.has
					change := c.decide(before, after, of.Combination, of.former)
					change.Regional = of.had != of.has
					if !change.Same() && !yield(of.Combination, change) {
						return
					}
				}
			}
		}
	}
}

// possible is a combination, with what it is compared with.
type possible struct {
	Combination
	// former is the version that it had before the update.
	former string
	comparedRegion
}

// comparedRegion says which of the profiles have a region.
type comparedRegion struct {
	name     string
	had, has bool
}

func (c *Comparison[R]) regions() []comparedRegion {
	var regions []comparedRegion
	for _, name := range union(c.after.regions, c.before.regions) {
		regions = append(regions, comparedRegion{name, c.before.hasRegion(name), c.after.hasRegion(name)})
	}
	return regions
}

// with yields the combinations with a machine type.
func (c *Comparison[R]) with(machineType string, regions []comparedRegion) iter.Seq[possible] {
	versions := union(c.after.listed(), c.before.listed())
	return func(yield func(possible) bool) {
		for _, id := range versions {
			for _, region := range regions {
				of, counts := possible{Combination{id.image, id.version, machineType, region.name}, id.version, region}, true
				if c.formerly != nil {
					of.former, counts = c.formerly(of.Combination)
				}
				if counts && !yield(of) {
					return
				}
			}
		}
	}
}

// Same reports whether nothing changes: neither what a new pool boots, nor what one does that exists.
func (d *Change[R]) Same() bool {
	equal := func(a, b *R) bool { return a == nil && b == nil || a != nil && b != nil && reflect.DeepEqual(*a, *b) }
	return equal(d.Before, d.After) && equal(d.Before, d.Kept)
}

// WhyNot says why a worker pool boots nothing after the update, without its name and without what would work; empty if it
// does boot something.
func (c *Comparison[R]) WhyNot(pool provider.Pool) string {
	pool.Name = ""
	r, request, unmet := c.after.ask(pool)
	if errs := c.after.unmet(pool, unmet); r.Reason == ReasonUnregistered {
		return errs[0].Detail
	}
	if r.Reason == "" {
		if c.after.choose(&r, request) {
			return ""
		}
		r.Decision = c.after.all.Decide(request)
		r.Reason = r.Decision.Reason
	}
	return c.after.refusal(&r).Detail
}

// Lock says by what Gardener refuses every later update of the Shoot of a worker pool.
type Lock int

// The reasons.
const (
	// NoLock: Gardener does not refuse them.
	NoLock Lock = iota
	// LockedByType: the machine type is gone, and Gardener answers that the service is not available.
	LockedByType
	// LockedByFlavors: no core flavor of the image version fits the machine type.
	LockedByFlavors
)

// Locks says by what the update locks the Shoot of a worker pool (semantics S16). It is NoLock if that has been locked
// before.
func (c *Comparison[R]) Locks(pool provider.Pool) Lock {
	key := lockable{imageVersion{pool.Image, pool.Version}, pool.MachineType}
	_, has := c.after.machines[pool.MachineType]
	_, had := c.before.machines[pool.MachineType]
	capabilities := len(c.after.spec.MachineCapabilities) > 0
	switch {
	case !capabilities || !has && !had && len(c.before.spec.MachineCapabilities) > 0:
		return NoLock
	case !has:
		return LockedByType
	case !c.vocabulary && !c.types[pool.MachineType] && !c.versions[key.imageVersion]:
		return NoLock
	}
	locked, done := c.locks[key]
	if !done {
		locked = c.after.locks(pool) && !c.before.locks(pool)
		c.locks[key] = locked
	}
	if locked {
		return LockedByFlavors
	}
	return NoLock
}

// SameVersions reports whether worker pools on a machine type are certain to boot the same versions of an image before and
// after the update, whatever they ask for, and whether core says the same of these: then Gardener chooses the same among
// them. That references are others does not matter.
func (c *Comparison[R]) SameVersions(image, machineType string) bool {
	_, has := c.after.machines[machineType]
	if c.vocabulary || !has || c.types[machineType] || !c.before.offered.Equal(c.after.offered) {
		return false
	}
	same, done := c.images[image]
	if !done {
		was, flavorsBefore := c.before.shapeOf(image)
		is, flavorsAfter := c.after.shapeOf(image)
		same = equality.Semantic.DeepEqual(was, is) && reflect.DeepEqual(flavorsBefore, flavorsAfter)
		c.images[image] = same
	}
	return same
}

// flavorShape is what decides whether a flavor can be booted, and where.
type flavorShape struct {
	declared, implied v1beta1.Capabilities
	regions           []string
	global            bool
}

// shapeOf returns what core says of an image, and which flavors its versions have.
func (p *Profile[R]) shapeOf(image string) (core []v1beta1.MachineImage, flavors [][]flavorShape) {
	for i := range p.spec.MachineImages {
		if p.spec.MachineImages[i].Name != image {
			continue
		}
		core = append(core, p.spec.MachineImages[i])
		for k := range p.spec.MachineImages[i].Versions {
			var shapes []flavorShape
			for _, f := range p.all.Flavors(image, p.spec.MachineImages[i].Versions[k].Version) {
				shape := flavorShape{f.Capabilities, f.Implied, nil, f.Global != nil}
				for _, r := range f.Regional {
					shape.regions = append(shape.regions, r.Region)
				}
				shapes = append(shapes, shape)
			}
			flavors = append(flavors, shapes)
		}
	}
	return core, flavors
}

// decide compares what two questions about a combination get, which had the version former.
func (c *Comparison[R]) decide(was, is question, of Combination, former string) Change[R] {
	id, formerID := imageVersion{of.Image, of.Version}, imageVersion{of.Image, former}
	change := Change[R]{Requested: is.requested}
	after := c.after.answer(&is, of)
	of.Version = former
	before := c.before.answer(&was, of)
	if after >= 0 {
		ref, _ := c.after.all.Flavors(id.image, id.version)[after].Reference(of.Region)
		change.After = &ref
	}
	if before < 0 {
		return change
	}
	flavor := &c.before.all.Flavors(formerID.image, formerID.version)[before]
	ref, _ := flavor.Reference(of.Region)
	change.Before = &ref
	if after < 0 {
		return change
	}
	if reflect.DeepEqual(change.Before, change.After) {
		change.Kept = change.After
		return change
	}
	change.Kept = c.kept(is.request, formerFlavor{flavorIndex{formerID, before}, id}, ref, after)
	return change
}

// kept returns the reference that a flavor has after the update, if it can be booted then: a flavor is known by its
// reference or, if no flavor has that any more, by its capabilities. Of several it is the one that is chosen after the update.
func (c *Comparison[R]) kept(request imageselector.Request, flavor formerFlavor, ref R, chosen int) *R {
	flavors := c.after.all.Flavors(flavor.of.image, flavor.of.version)
	var indices []int
	for i := range flavors {
		if now, found := flavors[i].Reference(request.Region); found && reflect.DeepEqual(now, ref) {
			indices = append(indices, i)
		}
	}
	if len(indices) == 0 {
		indices = c.sameFlavors(flavor, flavors)
	}
	if slices.Contains(indices, chosen) {
		indices = []int{chosen}
	}
	for _, i := range indices {
		if now, found := c.after.all.Candidate(request, i); found {
			return &now
		}
	}
	return nil
}

// sameFlavors returns the indices of those flavors that a flavor before the update is after it, by its capabilities.
func (c *Comparison[R]) sameFlavors(flavor formerFlavor, flavors []imageselector.Flavor[R]) []int {
	indices, done := c.same[flavor]
	if !done {
		was := c.before.all.Flavors(flavor.image, flavor.version)[flavor.flavor].Capabilities
		same := c.before.like(flavor.imageVersion, was, c.after)
		for i := range flavors {
			if same(flavors[i]) {
				indices = append(indices, i)
			}
		}
		c.same[flavor] = indices
	}
	return indices
}

// question is what a worker pool asks of a profile, whatever its image.
type question struct {
	request   imageselector.Request
	requested []capability.Requirement
	// refused says that there can be no image, unmet that no image can ever meet what is asked for, and unreadable that it
	// is not known what that is.
	refused, unmet, unreadable bool
}

// question returns what a pool asks, and more.
func (p *Profile[R]) question(pool provider.Pool, more ...capability.Requirement) question {
	r, request, unmet := p.ask(pool, more...)
	q := question{request: request, refused: r.Reason != "", unmet: len(unmet) > 0, unreadable: len(r.Further) > 0}
	for _, requirement := range r.Requirements {
		if !requirement.Implied {
			q.requested = append(q.requested, requirement)
		}
	}
	return q
}

// answer returns the index of the flavor that a question about a combination gets, -1 if there is none. It completes the
// request.
func (p *Profile[R]) answer(q *question, of Combination) int {
	q.request.Image, q.request.Version, q.request.Region = of.Image, of.Version, of.Region
	if q.refused {
		return -1
	}
	return p.all.Choose(q.request)
}

// templates returns what pools may ask for: nothing; and each thing that is offered before or after the update, by itself.
func (c *Comparison[R]) templates() []template {
	offers := func(name string) bool { return c.before.offers(name) || c.after.offers(name) }
	return templates(c.after.provider.Workers().Settings(), offers)
}

// offers reports whether a worker capability is registered, or declared by a flavor or a version.
func (p *Profile[R]) offers(name string) bool {
	if p.vocabulary.IsRegistered(name) || p.offered.Has(name) {
		return true
	}
	for _, version := range p.core {
		if _, said := undeclaredBy(version)[name]; said {
			return true
		}
	}
	return false
}

// listed returns the image versions that core lists, in order.
func (p *Profile[R]) listed() []imageVersion {
	var ids []imageVersion
	for v := range versionsOf(p.spec) {
		ids = append(ids, v.id)
	}
	return ids
}

func namesOf(types []v1beta1.MachineType) []string {
	names := make([]string, 0, len(types))
	for i := range types {
		names = append(names, types[i].Name)
	}
	return names
}

// union returns what is in either list, each once, in the order of a and then of b.
func union[T comparable](a, b []T) []T {
	seen := make(map[T]bool, len(a))
	var all []T
	for _, element := range slices.Concat(a, b) {
		if !seen[element] {
			seen[element] = true
			all = append(all, element)
		}
	}
	return all
}
