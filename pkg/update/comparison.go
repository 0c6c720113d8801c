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

// comparison compares what worker pools boot by two versions of a profile: those that there are, and those that there could be. It
// answers as two calls of [resolve.Pool] would, for tens of thousands of pools. It is not safe for concurrent use.
type comparison[R any] struct {
	before, after *profile.Profile[R]
	// pools has what is known of worker pools that are alike.
	pools map[provider.Shape]*compared[R]
	// flavors has, for flavors before the update and a version after it, the indices of those that they are of that.
	flavors map[formerFlavor][]int
	// types and versions have, for those that were asked about, whether they are as they were.
	types    map[string]bool
	versions map[provider.ImageVersion]bool
	// sameVocabulary says that the vocabulary is as it was.
	sameVocabulary bool
	// images has, for those that were asked about, whether the same worker pools boot the same versions of them.
	images map[string]bool
}

// formerFlavor is a flavor of an image version before the update, and the image version after it of which it may be one.
type formerFlavor struct {
	provider.ImageVersion
	index int
	of    provider.ImageVersion
}

// compared is what an update does to what a worker pool boots.
type compared[R any] struct {
	Boots[R]
	// requested is what the pool asks for after the update, without what is implied.
	requested []capability.Requirement
	// faulty says that the providerConfig of the pool has errors; unread, that it is not known with these what the pool asks for. It
	// has no images then.
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

// sameType reports whether a machine type is there after the update, as it was before.
func (c *comparison[R]) sameType(name string) bool {
	return memo.Get(c.types, name, func() bool {
		was, _ := c.before.Machine(name)
		is, has := c.after.Machine(name)
		return has && equality.Semantic.DeepEqual(was.Written, is.Written)
	})
}

// sameVersion reports whether core says the same of an image version before and after the update.
func (c *comparison[R]) sameVersion(id provider.ImageVersion) bool {
	return memo.Get(c.versions, id, func() bool {
		return equality.Semantic.DeepEqual(c.before.Version(id), c.after.Version(id))
	})
}

// pool returns what the update does to a worker pool that exists. It is the same for pools that are alike.
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

// requestedBy returns what a worker pool asks for after an update, or before it if that is more: what is asked of machine types only
// is ignored where it is not registered.
func requestedBy(was, is *profile.Question) []capability.Requirement {
	before, after := was.Requested(), is.Requested()
	if len(before) > len(after) {
		return before
	}
	return after
}

// same reports whether nothing changes: then a pool that exists boots what a new one does.
func (b *Boots[R]) same() bool { return reflect.DeepEqual(b.Before, b.After) }

// sameLocks reports whether Gardener is certain to lock the Shoot of a worker pool as much as before, since what it looks at is as
// it was.
func (c *comparison[R]) sameLocks(pool *provider.Pool) bool {
	return c.sameVocabulary && c.sameType(pool.MachineType) && c.sameVersion(provider.ImageVersion{Image: pool.Image, Version: pool.Version})
}

// sameVersions reports whether worker pools on a machine type are certain to boot the same versions of an image before and
// after the update, whatever they ask for, and whether core says the same of these: then Gardener chooses the same among
// them. That references are others does not matter.
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

// flavorContent is what decides whether a flavor can be booted, and where.
type flavorContent struct {
	declared, implied v1beta1.Capabilities
	regions           []string
	global            bool
}

// contentOf returns what core says of an image, and which flavors its versions have.
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

// decide compares what two questions about a combination get, which had the version former.
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
	if boots.Kept != nil { // the machine type, or what the pool asks for, is refused
		boots.Kept, boots.Gone = nil, Unfit
	}
	if c.goesOn(&is) {
		boots.Kept = boots.Before
	}
	return boots
}

// goesOn reports whether a pool that runs goes on with what its machine class boots, although nothing is decided for it after the
// update (semantics S14): package worker decides so.
func (c *comparison[R]) goesOn(is *profile.Question) bool {
	if provider.PoliciesOf(c.after.Provider()).Undecided != policy.Fails {
		return true
	}
	return is.Reason == "" && c.after.Catalog().Decide(is.Request).Reason != "" // it is not listed any more
}

// kept returns the reference that a flavor has after the update, if it can be booted then, or why not: a flavor is known by its
// reference or, if no flavor has that any more, by its capabilities. Of several it is the one that is chosen after the update.
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

// sameFlavors returns the indices of those flavors that a flavor before the update is after it, by its capabilities.
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
