// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/resolve"
)

// comparison compares the images that existing and possible worker pools boot with two versions of a profile. It gives the same answers as
// two calls of [resolve.Pool], but is fast enough for tens of thousands of pools. It is not safe for concurrent use.
type comparison[R any] struct {
	before, after *profile.Profile[R]
	// pools memoizes the results for pools of the same shape.
	pools map[provider.Shape]*compared[R]
	// flavors maps a flavor before the update, and an image version after it, to the indices of the same flavors of that version.
	flavors map[formerFlavor][]int
	// types and versions memoize whether a machine type or image version is unchanged.
	types    map[string]bool
	versions map[provider.ImageVersion]bool
	// sameVocabulary reports whether the vocabulary is unchanged.
	sameVocabulary bool
	// images memoizes whether the same worker pools boot the same versions of an image.
	images map[string]bool
}

// formerFlavor is a flavor of an image version before the update, and an image version after it that may have the same flavor.
type formerFlavor struct {
	provider.ImageVersion
	index int
	of    provider.ImageVersion
}

// compared is the effect of an update on the image of a worker pool.
type compared[R any] struct {
	Boots[R]
	// requested are the pool's requests after the update, without implied ones.
	requested []capability.Requirement
	// faulty reports whether the pool's providerConfig has errors; unread, whether they hide its requests. An unread pool has no Boots.
	faulty, unread bool
}

func compare[R any](before, after *profile.Profile[R]) comparison[R] {
	return comparison[R]{
		before: before, after: after,
		pools: map[provider.Shape]*compared[R]{}, flavors: map[formerFlavor][]int{},
		types: map[string]bool{}, versions: map[provider.ImageVersion]bool{}, images: map[string]bool{},
		sameVocabulary: equality.Semantic.DeepEqual(before.Spec().MachineCapabilities, after.Spec().MachineCapabilities),
	}
}

// sameType reports whether a machine type exists after the update, and is unchanged.
func (c *comparison[R]) sameType(name string) bool {
	return memo.Get(c.types, name, func() bool {
		was, _ := c.before.Machine(name)
		is, has := c.after.Machine(name)
		return has && equality.Semantic.DeepEqual(was.Written, is.Written)
	})
}

// sameVersion reports whether an image version's entry in core is unchanged.
func (c *comparison[R]) sameVersion(id provider.ImageVersion) bool {
	return memo.Get(c.versions, id, func() bool {
		return equality.Semantic.DeepEqual(c.before.Version(id), c.after.Version(id))
	})
}

// pool returns the effect of the update on an existing worker pool, memoized by the pool's shape.
func (c *comparison[R]) pool(pool provider.Pool) *compared[R] {
	shape := c.after.Provider().Workers().ShapeOf(&pool)
	return memo.Get(c.pools, shape, func() *compared[R] {
		was, is := c.before.Ask(pool), c.after.Ask(pool)
		errs := slices.Concat(was.Errors, is.Errors)
		found := &compared[R]{
			requested: requestedBy(&was, &is), faulty: len(errs) > 0, unread: slices.ContainsFunc(errs, profile.Unreadable),
		}
		if !found.unread {
			found.Boots = c.decide(was, is, combinationOf(&pool), pool.Version)
		}
		return found
	})
}

// requestedBy returns a worker pool's requests after an update, or before it if those are more. A request that concerns only machine types
// is ignored by a profile that does not register its capability.
func requestedBy(was, is *profile.Question) []capability.Requirement {
	before, after := was.Requested(), is.Requested()
	if len(before) > len(after) {
		return before
	}
	return after
}

// same reports whether nothing changes. An existing pool then boots the same as a new one.
func (b *Boots[R]) same() bool { return reflect.DeepEqual(b.Before, b.After) }

// sameLocks reports whether Gardener is certain to lock a worker pool's Shoot exactly if it did before, because all that it compares is
// unchanged.
func (c *comparison[R]) sameLocks(pool *provider.Pool) bool {
	return c.sameVocabulary && c.sameType(pool.MachineType) && c.sameVersion(provider.ImageVersion{Image: pool.Image, Version: pool.Version})
}

// sameVersions reports whether worker pools on a machine type are certain to boot the same versions of an image as before, whatever they
// request, and whether core's entries of these versions are unchanged. If so, Gardener chooses the same version. References may differ.
func (c *comparison[R]) sameVersions(image, machineType string) bool {
	if !c.sameVocabulary || !c.sameType(machineType) || !c.before.OffersTheSame(c.after) {
		return false
	}
	return memo.Get(c.images, image, func() bool {
		was, flavorsBefore := contentOf(c.before, image)
		is, flavorsAfter := contentOf(c.after, image)
		return equality.Semantic.DeepEqual(was, is) && reflect.DeepEqual(flavorsBefore, flavorsAfter)
	})
}

// sameChoices reports whether maintenance is certain to choose the same versions for worker pools as before.
func (c *comparison[R]) sameChoices(pools []provider.Pool) bool {
	return !slices.ContainsFunc(pools, func(pool provider.Pool) bool {
		return pool.Image != "" && !c.sameVersions(pool.Image, pool.MachineType)
	})
}

// flavorContent are the properties that decide whether, and where, a flavor can be booted.
type flavorContent struct {
	declared, implied v1beta1.Capabilities
	regions           []string
	global            bool
}

// contentOf returns core's entries of an image, and the flavors of its versions.
func contentOf[R any](p *profile.Profile[R], name string) (core []v1beta1.MachineImage, flavors [][]flavorContent) {
	for _, image := range p.Spec().MachineImages {
		if image.Name != name {
			continue
		}
		core = append(core, image)
		for k := range image.Versions {
			var contents []flavorContent
			for _, f := range p.Catalog().Flavors(name, image.Versions[k].Version) {
				content := flavorContent{f.Capabilities, f.Implied, nil, f.Global != nil}
				for _, r := range f.Regional {
					content.regions = append(content.regions, r.Region)
				}
				contents = append(contents, content)
			}
			flavors = append(flavors, contents)
		}
	}
	return core, flavors
}

// decide compares the answers to two questions about a combination, which had the version former before the update.
func (c *comparison[R]) decide(was, is profile.Question, of resolve.Combination, former string) Boots[R] {
	id, formerID := provider.ImageVersion{Image: of.Image, Version: of.Version}, provider.ImageVersion{Image: of.Image, Version: former}
	after := resolve.Answer(c.after, &is, of)
	of.Version = former
	before := resolve.Answer(c.before, &was, of)
	var boots Boots[R]
	if after >= 0 {
		ref, _ := c.after.Catalog().Flavors(id.Image, id.Version)[after].Reference(of.Region)
		boots.After = &ref
	}
	if before < 0 {
		return boots
	}
	ref, _ := c.before.Catalog().Flavors(formerID.Image, formerID.Version)[before].Reference(of.Region)
	boots.Before = &ref
	if after >= 0 && reflect.DeepEqual(boots.Before, boots.After) {
		boots.Kept = boots.After
		return boots
	}
	boots.Kept, boots.Gone = c.kept(is.Request, formerFlavor{formerID, before, id}, ref, after)
	if after >= 0 {
		return boots
	}
	if boots.Kept != nil { // the machine type, or a request, is refused
		boots.Kept, boots.Gone = nil, Unfit
	}
	if c.goesOn(&is) {
		boots.Kept = boots.Before
	}
	return boots
}

// goesOn reports whether an existing pool keeps booting the image of its machine class although nothing is decided for it after the update
// (semantics S14). It follows package worker.
func (c *comparison[R]) goesOn(is *profile.Question) bool {
	if provider.PoliciesOf(c.after.Provider()).Undecided != policy.Fails {
		return true
	}
	return is.Reason == "" && c.after.Catalog().Decide(is.Request).Reason != "" // the version is no longer listed
}

// kept returns a flavor's reference after the update if the pool can boot it, and otherwise the reason. The flavor is identified by its
// reference or, if no flavor has that reference now, by its capabilities. If several match, the chosen one takes precedence.
func (c *comparison[R]) kept(request imageselector.Request, flavor formerFlavor, ref R, chosen int) (*R, Gone) {
	flavors := c.after.Catalog().Flavors(flavor.of.Image, flavor.of.Version)
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
	gone := Removed
	for _, i := range indices {
		if now, found := c.after.Catalog().Candidate(request, i); found {
			return &now, NotGone
		}
		if _, found := flavors[i].Reference(request.Region); found {
			gone = Unfit
		}
	}
	return nil, gone
}

// sameFlavors returns the indices of the flavors after the update whose capabilities equal those of a flavor before it.
func (c *comparison[R]) sameFlavors(flavor formerFlavor, flavors []imageselector.Flavor[R]) []int {
	return memo.Get(c.flavors, flavor, func() (indices []int) {
		was := &c.before.Catalog().Flavors(flavor.Image, flavor.Version)[flavor.index]
		same := c.after.Alike(flavor.of, was)
		for i := range flavors {
			if same(&flavors[i]) {
				indices = append(indices, i)
			}
		}
		return indices
	})
}
