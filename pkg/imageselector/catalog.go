// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package imageselector chooses the image that a worker pool boots: from the images of a CloudProfile, compiled once
// into a [Catalog], it selects the best flavor of an image version for a machine type, a request and a region.
//
// Start reading at [Catalog.Decide]. It evaluates each flavor of an image version once and returns the record, a
// [Decision]; [Catalog.Select] runs the same loop without keeping the record and does not allocate.
//
// The package is generic over R, a provider's reference to an image, and never looks into it. It decodes no manifest
// and reports no errors about one: it takes what it is given, also what lint and admission refuse (semantics S7).
// Decoding is up to a provider, checking to package profile. It implements S4 to S7 of docs/semantics.md.
package imageselector

import (
	"maps"
	"slices"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

// Image is one entry of a provider config's machineImages.
type Image[R any] struct {
	// Name is the name by which spec.machineImages knows the image.
	Name string
	// Versions in the order written. Entries with the same version string are one version whose flavors add up
	// (semantics S7).
	Versions []Version[R]
	// Path is where the user wrote the entry.
	Path *field.Path
}

// Version is one entry of an image's versions.
type Version[R any] struct {
	// Version is the version string, compared as written.
	Version string
	// Legacy is set if the entry has no capabilityFlavors. Its flavors then declare an architecture at most; what else
	// its fields say of capabilities is implied (semantics S7).
	Legacy bool
	// Flavors in the order written.
	Flavors []Flavor[R]
	// Undeclared holds the values of single worker capabilities that a flavor of this entry supports which does not
	// declare them, in place of what their definitions say (semantics S3). Nil if there is nothing to say.
	Undeclared v1beta1.Capabilities
	// Path is where the user wrote the entry.
	Path *field.Path
}

// Scattered reports whether a flavor has a reference that does not stand in the entry, but in a list for one region.
func (v *Version[R]) Scattered() bool {
	return slices.ContainsFunc(v.Flavors, func(f Flavor[R]) bool {
		return slices.ContainsFunc(f.Regional, func(r Regional[R]) bool { return r.NamedAt != nil })
	})
}

// Flavor is one image artifact, with what it supports and where it can be found.
type Flavor[R any] struct {
	// Capabilities as declared. What is absent is supported in full (semantics S2), but for worker capabilities (S3).
	// See [capability.Vocabulary.Flavor].
	Capabilities v1beta1.Capabilities
	// Implied is what the fields of a legacy entry say of capabilities besides the architecture, such as Azure's
	// acceleratedNetworking (semantics S7). Where the vocabulary registers a capability that Capabilities does not
	// declare, it counts as declared; see [Flavor.Supported]. Nil, or an empty list, if there is nothing to say.
	Implied v1beta1.Capabilities
	// Unclear is set if a field that says what the flavor supports has a value that it cannot have, which is reported. Capabilities and
	// Implied then have the rest, and nothing is said that would follow from what is not known.
	Unclear bool
	// Regional holds the reference for each region that has one of its own, in the order written. If a region has
	// several entries, the last one counts (semantics S7).
	Regional []Regional[R]
	// Global is the reference for all other regions. Nil if there is none.
	Global *Global[R]
	// Path is where the user wrote the flavor: in a legacy entry the first region of its architecture, or the image.
	Path *field.Path
}

// Supported returns the capabilities that the flavor counts as declaring in a vocabulary: those of Capabilities, and
// those of Implied that are registered and not among them, with the values of these that are registered, or all if none is
// (semantics S7). It is Capabilities itself, which may be nil, if nothing is added, and shares its values otherwise: the
// caller must not change it.
func (f *Flavor[R]) Supported(v *capability.Vocabulary) v1beta1.Capabilities {
	supported := f.Capabilities
	for name, values := range f.Implied {
		if _, declared := f.Capabilities[name]; declared || len(values) == 0 || !v.IsRegistered(name) {
			continue
		}
		if len(supported) == len(f.Capabilities) { // the first one that is added
			supported = maps.Collect(maps.All(f.Capabilities))
		}
		supported[name] = registeredOf(v, name, values)
	}
	return supported
}

// registeredOf returns those of implied values, which the user has not written, that are registered; all if none is.
func registeredOf(v *capability.Vocabulary, name string, values []string) v1beta1.CapabilityValues {
	registered := slices.DeleteFunc(slices.Clone(values), func(value string) bool {
		return !slices.Contains(v.Registered(name), value)
	})
	if len(registered) == 0 {
		return values
	}
	return registered
}

// Regional is a provider's pointer to an artifact in one region.
type Regional[R any] struct {
	Region string
	Ref    R
	// Path is where the user wrote the reference, with the name of the region beside it.
	Path *field.Path
	// NamedAt is where the name of the region is written, if that is elsewhere: above a list of images for the region alone. Then the
	// reference does not stand in the entry of the version, and a provider cannot write it there. Nil: in the field name of Path.
	NamedAt *field.Path
}

// NamePath returns where the name of the region is written.
func (r *Regional[R]) NamePath() *field.Path {
	if r.NamedAt != nil {
		return r.NamedAt
	}
	return r.Path.Child("name")
}

// Global is a provider's pointer to an artifact that holds in every region without a reference of its own.
type Global[R any] struct {
	Ref R
	// Fallback is set if booting from this reference works but is discouraged: an OpenStack image name, say, which need
	// not be unique, where an image ID would be. It changes no decision; package check warns about it.
	Fallback bool
	// Derived is set if nobody has written the reference: the provider knows it by the name of the image version.
	Derived bool
	// Path is where the user wrote the reference. Of one that is derived, where the flavor is written.
	Path *field.Path
}

// Reference returns the flavor's reference in a region: the region's own, else the global one (semantics S6). found
// is false if there is neither. Of several entries for the region the last one counts (semantics S7).
func (f *Flavor[R]) Reference(region string) (ref R, found bool) {
	for i := range slices.Backward(f.Regional) {
		if f.Regional[i].Region == region {
			return f.Regional[i].Ref, true
		}
	}
	if f.Global != nil {
		return f.Global.Ref, true
	}
	return ref, false
}

// Catalog holds the images of one CloudProfile, compiled. It answers as if it were immutable, and is safe for concurrent use.
type Catalog[R any] struct {
	vocabulary *capability.Vocabulary
	// images holds the versions of each image, by the names of both.
	images map[string]map[string]*version[R]
}

// version is an image version, with the flavors of all its entries. The first who needs it compiles it: who asks about a worker pool
// needs one of hundreds.
type version[R any] struct {
	compile sync.Once
	written []*Version[R]
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

// NewCatalog compiles images, whose capabilities are declared in vocabulary. It takes what it is given (semantics S7):
// an image or a version that is listed twice has the flavors of both, and what the vocabulary does not know is left
// out, as [capability.Vocabulary.Flavor] does. profile.Compile, which calls it, finds what is wrong with images.
// The catalog keeps them: the caller must not change them any more.
func NewCatalog[R any](vocabulary *capability.Vocabulary, images []Image[R]) *Catalog[R] {
	c := &Catalog[R]{vocabulary: vocabulary, images: make(map[string]map[string]*version[R], len(images))}
	for i := range images {
		versions := c.images[images[i].Name]
		if versions == nil {
			versions = make(map[string]*version[R], len(images[i].Versions))
			c.images[images[i].Name] = versions
		}
		for k := range images[i].Versions {
			written := &images[i].Versions[k]
			v := versions[written.Version]
			if v == nil {
				v = &version[R]{}
				versions[written.Version] = v
			}
			v.written = append(v.written, written)
		}
	}
	return c
}

// find returns an image version, nil if the catalog does not have it.
func (c *Catalog[R]) find(image, name string) *version[R] {
	v := c.images[image][name]
	if v != nil {
		v.compile.Do(func() {
			v.regional = map[string][]located[R]{}
			for _, written := range v.written {
				v.add(c.vocabulary, written)
			}
			v.written = nil
		})
	}
	return v
}

func (v *version[R]) add(vocabulary *capability.Vocabulary, written *Version[R]) {
	v.flavors, v.matches = slices.Grow(v.flavors, len(written.Flavors)), slices.Grow(v.matches, len(written.Flavors))
	for i := range written.Flavors {
		flavor := &written.Flavors[i]
		set, _ := vocabulary.Flavor(flavor.Supported(vocabulary), written.Undeclared, nil)
		m := match[R]{set: set}
		if flavor.Global != nil {
			m.global = &flavor.Global.Ref
		}
		v.locate(len(v.flavors), flavor.Regional, len(written.Flavors)-i)
		v.flavors = append(v.flavors, *flavor)
		v.matches = append(v.matches, m)
	}
}

// locate adds the references of a flavor, of so many that are still to come, itself included; the last entry of each region counts
// (semantics S7).
func (v *version[R]) locate(flavor int, regional []Regional[R], flavors int) {
	for i := range regional {
		refs, ref := v.regional[regional[i].Region], located[R]{flavor, &regional[i].Ref}
		if refs == nil {
			refs = make([]located[R], 0, min(flavors, 8)) // there may be thousands of regions
		}
		if last := len(refs) - 1; last >= 0 && refs[last].flavor == flavor {
			refs[last] = ref
			continue
		}
		v.regional[regional[i].Region] = append(refs, ref)
	}
}

// With returns a catalog that has the image versions of another one as well, of the same vocabulary. What both have is that of the other
// one. They share what they have.
func (c *Catalog[R]) With(other *Catalog[R]) *Catalog[R] {
	both := &Catalog[R]{vocabulary: c.vocabulary, images: maps.Clone(c.images)}
	for image, versions := range other.images {
		all := make(map[string]*version[R], len(c.images[image])+len(versions))
		maps.Copy(all, c.images[image])
		maps.Copy(all, versions)
		both.images[image] = all
	}
	return both
}

// Vocabulary returns the vocabulary that the catalog was compiled with.
func (c *Catalog[R]) Vocabulary() *capability.Vocabulary { return c.vocabulary }

// Flavors returns the flavors of an image version in the order written, nil if the catalog does not have the version,
// or no flavors of it. The caller must not change them.
func (c *Catalog[R]) Flavors(image, version string) []Flavor[R] {
	if v := c.find(image, version); v != nil {
		return v.flavors
	}
	return nil
}

// Offers returns what those flavors of an image version support that have a reference in a region, in the order
// written; nil if there is none. The caller owns the result.
func (c *Catalog[R]) Offers(image, version, region string) []capability.Set {
	v := c.find(image, version)
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
