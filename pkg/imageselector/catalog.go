// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector

import "github.com/capkit/capkit/pkg/capability"

// Catalog holds the images of one CloudProfile, compiled; or those of a NamespacedCloudProfile over its parent's, see
// [Catalog.Over]. It is immutable and safe for concurrent use.
type Catalog[R any] struct {
	vocabulary *capability.Vocabulary
	// images holds the versions of each image, by the names of both.
	images map[string]map[string]*version[R]
	// base answers for image versions that images has no flavor of; nil if there is none.
	base *Catalog[R]
}

// version is an image version, with the flavors of all its entries.
type version[R any] struct {
	flavors []Flavor[R]
	// matches are, in the order of flavors, what it takes to choose one of them.
	matches []match[R]
	// regional holds, by region, the references of the flavors that have their own there, in the order of the flavors.
	regional map[string][]located[R]
}

// match is what a flavor supports, and its reference for regions without one of their own, nil if it has none.
type match[R any] struct {
	set    capability.Set
	global *R
}

// located is the reference of a flavor, given by its index, in some region.
type located[R any] struct {
	flavor int
	ref    *R
}

// NewCatalog compiles images, whose capabilities are declared in vocabulary. It takes what it is given (semantics
// S7): an image or a version that is listed twice has the flavors of both, and what the vocabulary does not know is
// left out of a flavor's set, as [capability.Vocabulary.Flavor] does. Finding what is wrong with the images is for
// consistency.Compile, which calls this function. The catalog keeps the images: the caller must not change them any
// more.
func NewCatalog[R any](vocabulary *capability.Vocabulary, images []Image[R]) *Catalog[R] {
	c := &Catalog[R]{vocabulary: vocabulary, images: make(map[string]map[string]*version[R], len(images))}
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

// add adds the flavors of an entry to its version.
func (c *Catalog[R]) add(versions map[string]*version[R], written *Version[R]) {
	v := versions[written.Version]
	if v == nil {
		v = &version[R]{regional: map[string][]located[R]{}}
		versions[written.Version] = v
	}
	for i := range written.Flavors {
		flavor := &written.Flavors[i]
		set, _ := c.vocabulary.Flavor(flavor.Supported(c.vocabulary), written.Undeclared, nil)
		m := match[R]{set: set}
		if flavor.Global != nil {
			m.global = &flavor.Global.Ref
		}
		v.locate(len(v.flavors), flavor.Regional)
		v.flavors = append(v.flavors, *flavor)
		v.matches = append(v.matches, m)
	}
}

// locate adds the references of a flavor; the last entry of each region counts (semantics S7).
func (v *version[R]) locate(flavor int, regional []Regional[R]) {
	for i := range regional {
		refs, ref := v.regional[regional[i].Region], located[R]{flavor, &regional[i].Ref}
		if last := len(refs) - 1; last >= 0 && refs[last].flavor == flavor {
			refs[last] = ref
			continue
		}
		v.regional[regional[i].Region] = append(refs, ref)
	}
}

// Over returns a catalog that answers from c for the image versions that c has any flavor of, and from base for all
// others: that of a NamespacedCloudProfile over its parent's. Flavors of c and base are never mixed in one version.
// Nothing is copied; c and base do not change. A nil base stands for an empty one.
//
// Both must be compiled with the same vocabulary, which a [Request] is compiled with, too. If they are not, the
// flavors of base fit nothing that is compiled with c's, which [Catalog.Vocabulary] returns.
func (c *Catalog[R]) Over(base *Catalog[R]) *Catalog[R] {
	over := *c
	if c.base != nil {
		base = c.base.Over(base)
	}
	over.base = base
	return &over
}

// version returns an image version, nil if neither the catalog nor what it stands over has it.
func (c *Catalog[R]) version(image, name string) *version[R] {
	var empty *version[R]
	for ; c != nil; c = c.base {
		v := c.images[image][name]
		if v != nil && len(v.flavors) > 0 {
			return v
		}
		if empty == nil {
			empty = v
		}
	}
	return empty
}

// hasImage reports whether the catalog, or what it stands over, has an image, with whatever versions.
func (c *Catalog[R]) hasImage(name string) bool {
	for ; c != nil; c = c.base {
		if _, found := c.images[name]; found {
			return true
		}
	}
	return false
}

// Vocabulary returns the vocabulary that the catalog was compiled with.
func (c *Catalog[R]) Vocabulary() *capability.Vocabulary { return c.vocabulary }

// Flavors returns the flavors of an image version in the order written, nil if the catalog does not have the version,
// or no flavors of it. The caller must not change them.
func (c *Catalog[R]) Flavors(image, version string) []Flavor[R] {
	if v := c.version(image, version); v != nil {
		return v.flavors
	}
	return nil
}

// Offers returns what those flavors of an image version support that have a reference in a region, in the order
// written; nil if there is none. The caller owns the result.
func (c *Catalog[R]) Offers(image, version, region string) []capability.Set {
	v := c.version(image, version)
	if v == nil {
		return nil
	}
	var offers []capability.Set
	regional := v.regional[region]
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
