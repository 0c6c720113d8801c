// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector

import (
	"slices"

	"github.com/capkit/capkit/pkg/capability"
)

// Catalog holds the images of one CloudProfile, compiled. It is immutable and safe for concurrent use.
type Catalog[R any] struct {
	vocabulary *capability.Vocabulary
	// images holds the versions of each image by their names.
	images map[string]map[string]*version[R]
	// regions numbers the regions that have references of their own.
	regions map[string]int
	// sets holds one of all equal sets, which many flavors share: what is compared often stays close in memory.
	sets map[capability.Set]capability.Set
}

type version[R any] struct {
	flavors []Flavor[R]
	// matches runs parallel to flavors: what deciding needs of each, side by side in memory.
	matches []match[R]
	// regional holds the references of each region, sorted by the number of the region.
	regional []inRegion[R]
}

// inRegion holds the references of a version in one region, in the order of the flavors.
type inRegion[R any] struct {
	region int
	refs   []located[R]
}

type match[R any] struct {
	set    capability.Set
	global *R
}

// located is the reference of a flavor, given by its index, in some region.
type located[R any] struct {
	flavor int
	ref    R
}

// NewCatalog compiles images, whose capabilities are declared in vocabulary. It takes what it is given: capabilities
// that are not registered are left out of a flavor's set, as [capability.Vocabulary.Flavor] does. Finding what is wrong
// with the images is for consistency.Compile, which calls this function. The catalog keeps the images: the caller must
// not change them any more.
func NewCatalog[R any](vocabulary *capability.Vocabulary, images []Image[R]) *Catalog[R] {
	c := &Catalog[R]{
		vocabulary: vocabulary,
		images:     make(map[string]map[string]*version[R], len(images)),
		regions:    map[string]int{},
		sets:       map[capability.Set]capability.Set{},
	}
	for i := range images {
		versions := c.images[images[i].Name]
		if versions == nil {
			versions = make(map[string]*version[R], len(images[i].Versions))
			c.images[images[i].Name] = versions
		}
		for k := range images[i].Versions {
			c.add(versions, &images[i].Versions[k])
		}
	}
	return c
}

func (c *Catalog[R]) add(versions map[string]*version[R], written *Version[R]) {
	v := versions[written.Version]
	if v == nil {
		v = &version[R]{}
		versions[written.Version] = v
	}
	for i := range written.Flavors {
		flavor := &written.Flavors[i]
		set, _ := c.vocabulary.Flavor(flavor.Capabilities, written.Undeclared, nil)
		if known, found := c.sets[set]; found {
			set = known
		} else {
			c.sets[set] = set
		}
		m := match[R]{set: set}
		if flavor.Global != nil {
			m.global = &flavor.Global.Ref
		}
		c.locate(v, len(v.flavors), flavor.Regional)
		v.flavors = append(v.flavors, *flavor)
		v.matches = append(v.matches, m)
	}
}

// locate adds the references of a flavor, the first one for each region.
func (c *Catalog[R]) locate(v *version[R], flavor int, regional []Regional[R]) {
	for i := range regional {
		number, found := c.regions[regional[i].Region]
		if !found {
			number = len(c.regions)
			c.regions[regional[i].Region] = number
		}
		at := v.position(number)
		if at == len(v.regional) || v.regional[at].region != number {
			v.regional = slices.Insert(v.regional, at, inRegion[R]{region: number})
		}
		refs := &v.regional[at].refs
		if len(*refs) == 0 || (*refs)[len(*refs)-1].flavor != flavor {
			*refs = append(*refs, located[R]{flavor, regional[i].Ref})
		}
	}
}

// position returns the index of a region in v.regional, or where it would have to be.
func (v *version[R]) position(region int) int {
	low, high := 0, len(v.regional)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if v.regional[middle].region < region {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// references returns the references of a version in a region, in the order of the flavors.
func (c *Catalog[R]) references(v *version[R], region string) []located[R] {
	number, found := c.regions[region]
	if !found {
		return nil
	}
	if at := v.position(number); at < len(v.regional) && v.regional[at].region == number {
		return v.regional[at].refs
	}
	return nil
}

// Vocabulary returns the vocabulary that the catalog is compiled with.
func (c *Catalog[R]) Vocabulary() *capability.Vocabulary { return c.vocabulary }

// Flavors returns the flavors of an image version in the order written, nil if the catalog does not have it. The caller
// must not change them.
func (c *Catalog[R]) Flavors(image, version string) []Flavor[R] {
	if v := c.images[image][version]; v != nil {
		return v.flavors
	}
	return nil
}

// Offers returns what those flavors of an image version support that have a reference in a region, in the order written;
// empty if there is none. The caller owns the result.
func (c *Catalog[R]) Offers(image, version, region string) []capability.Set {
	v := c.images[image][version]
	if v == nil {
		return nil
	}
	var offers []capability.Set
	regional := c.references(v, region)
	for i := range v.matches {
		own := len(regional) > 0 && regional[0].flavor == i
		if own {
			regional = regional[1:]
		}
		if own || v.matches[i].global != nil {
			offers = append(offers, v.matches[i].set)
		}
	}
	return offers
}
