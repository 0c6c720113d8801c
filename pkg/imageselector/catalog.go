// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector

import (
	"cmp"
	"slices"

	"github.com/capkit/capkit/pkg/capability"
)

// Catalog holds the images of one CloudProfile, compiled. It is immutable and safe for concurrent use.
type Catalog[R any] struct {
	vocabulary *capability.Vocabulary
	versions   map[key]*version[R]
	images     map[string]struct{}
	// regions numbers the regions that have references, so that the flavors can keep theirs sorted by number.
	regions map[string]int
}

type key struct{ image, version string }

type version[R any] struct {
	flavors []Flavor[R]
	// matches runs parallel to flavors: what deciding needs of each, side by side in memory.
	matches []match[R]
}

type match[R any] struct {
	set      capability.Set
	regional []numbered[R]
	global   *R
}

type numbered[R any] struct {
	region int
	ref    R
}

// NewCatalog compiles images, whose capabilities are declared in vocabulary. It takes what it is given: capabilities
// that are not registered are left out of a flavor's set, as [capability.Vocabulary.Set] does. Finding what is wrong
// with the images is for consistency.Compile, which calls this function. The catalog keeps the images: the caller must
// not change them any more.
func NewCatalog[R any](vocabulary *capability.Vocabulary, images []Image[R]) *Catalog[R] {
	c := &Catalog[R]{
		vocabulary: vocabulary,
		versions:   map[key]*version[R]{},
		images:     make(map[string]struct{}, len(images)),
		regions:    map[string]int{},
	}
	for i := range images {
		c.images[images[i].Name] = struct{}{}
		for k := range images[i].Versions {
			c.add(images[i].Name, &images[i].Versions[k])
		}
	}
	return c
}

func (c *Catalog[R]) add(image string, written *Version[R]) {
	id := key{image, written.Version}
	v := c.versions[id]
	if v == nil {
		v = &version[R]{}
		c.versions[id] = v
	}
	for i := range written.Flavors {
		flavor := &written.Flavors[i]
		set, _ := c.vocabulary.Set(flavor.Capabilities, nil)
		m := match[R]{set: set, regional: c.number(flavor.Regional)}
		if flavor.Global != nil {
			m.global = &flavor.Global.Ref
		}
		v.flavors = append(v.flavors, *flavor)
		v.matches = append(v.matches, m)
	}
}

// number returns the references sorted by the number of their region, the first one for each region.
func (c *Catalog[R]) number(regional []Regional[R]) []numbered[R] {
	refs := make([]numbered[R], 0, len(regional))
	for i := range regional {
		region, found := c.regions[regional[i].Region]
		if !found {
			region = len(c.regions)
			c.regions[regional[i].Region] = region
		}
		refs = append(refs, numbered[R]{region, regional[i].Ref})
	}
	byRegion := func(a, b numbered[R]) int { return cmp.Compare(a.region, b.region) }
	slices.SortStableFunc(refs, byRegion)
	return slices.CompactFunc(refs, func(a, b numbered[R]) bool { return a.region == b.region })
}

// Vocabulary returns the vocabulary that the catalog is compiled with.
func (c *Catalog[R]) Vocabulary() *capability.Vocabulary { return c.vocabulary }

// Flavors returns the flavors of an image version in the order written, nil if the catalog does not have it. The caller
// must not change them.
func (c *Catalog[R]) Flavors(image, version string) []Flavor[R] {
	if v := c.versions[key{image, version}]; v != nil {
		return v.flavors
	}
	return nil
}

// in returns a pointer to the reference in the region of that number, and nil if there is none.
func (m *match[R]) in(region int) *R {
	low, high := 0, len(m.regional)
	for low < high {
		middle := (low + high) / 2
		if m.regional[middle].region < region {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(m.regional) && m.regional[low].region == region {
		return &m.regional[low].ref
	}
	return m.global
}
