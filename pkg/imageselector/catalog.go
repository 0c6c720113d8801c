// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package imageselector chooses the image that a worker pool boots. It compiles the images of a CloudProfile into a [Catalog], which
// selects the best flavor of an image version for a machine type, a request and a region.
//
// Start reading at [Catalog.Decide], which evaluates each flavor of an image version once and returns the record, a [Decision].
// [Catalog.Select] runs the same loop without a record, and does not allocate.
//
// The package is generic over R, a provider's reference to an image, and inspects it only in [IsEmpty]. It decodes no manifests, which is
// the task of a provider, and reports no errors in them, which is the task of package profile. It accepts even images that lint and
// admission refuse (semantics S7). It implements S4 to S7 of docs/semantics.md.
package imageselector

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

// Image is one entry of a provider config's machineImages.
type Image[R any] struct {
	// Name is the image's name in spec.machineImages.
	Name string
	// Versions in the order written. Entries with the same version string are one version, with the flavors of all of them (semantics S7).
	Versions []Version[R]
	// Path is where the user wrote the entry.
	Path *field.Path
}

// Version is one entry of an image's versions.
type Version[R any] struct {
	// Version is the version string, compared as written.
	Version string
	// Legacy is set if the entry has no capabilityFlavors. Its flavors then declare at most an architecture; other capabilities of its
	// fields are implied (semantics S7).
	Legacy bool
	// Flavors in the order written.
	Flavors []Flavor[R]
	// Undeclared overrides the undeclared values of single worker capabilities, for flavors of this entry that do not declare them
	// (semantics S3). Nil: it overrides none.
	Undeclared v1beta1.Capabilities
	// Path is where the user wrote the entry.
	Path *field.Path
}

// Scattered reports whether a flavor has a reference that is written outside the entry, in a list for one region.
func (v *Version[R]) Scattered() bool {
	return slices.ContainsFunc(v.Flavors, func(f Flavor[R]) bool {
		return slices.ContainsFunc(f.Regional, func(r Regional[R]) bool {
			return r.NamedAt != nil && !strings.HasPrefix(r.NamedAt.String(), v.Path.String()+".")
		})
	})
}

// Flavor is one image artifact, with its capabilities and references.
type Flavor[R any] struct {
	// Capabilities as declared. A flavor supports all values of an absent capability (semantics S2), except for worker capabilities (S3).
	// See [capability.Vocabulary.Flavor].
	Capabilities v1beta1.Capabilities
	// Implied has the capabilities besides the architecture that the fields of a legacy entry imply, such as Azure's acceleratedNetworking
	// (semantics S7). They are treated as declared if the vocabulary registers them and Capabilities does not declare them; see
	// [Flavor.Supported]. Nil, or an empty list, implies nothing.
	Implied v1beta1.Capabilities
	// Unclear is set if a field that determines the capabilities has an invalid value, which is reported. Capabilities and Implied then
	// have the rest, and no findings are reported that would depend on the invalid value.
	Unclear bool
	// Regional holds the references for single regions, in the order written. If a region has several, the last one wins (semantics S7).
	Regional []Regional[R]
	// Global is the reference for all other regions. Nil if there is none.
	Global *Global[R]
	// Path is where the user wrote the flavor: in a legacy entry the first region of its architecture, or the image.
	Path *field.Path
}

// Supported returns the capabilities that the flavor declares by Capabilities or, if a vocabulary registers them, by Implied (semantics
// S7). Capabilities takes precedence. Implied values that are not registered are dropped, unless none is. The result is Capabilities
// itself, which may be nil, if Implied adds nothing. Otherwise it shares the values: the caller must not modify it.
func (f *Flavor[R]) Supported(v *capability.Vocabulary) v1beta1.Capabilities {
	supported := f.Capabilities
	for name, values := range f.Implied {
		if _, declared := f.Capabilities[name]; declared || len(values) == 0 || !v.IsRegistered(name) {
			continue
		}
		if len(supported) == len(f.Capabilities) { // the first addition
			supported = maps.Collect(maps.All(f.Capabilities))
		}
		supported[name] = registeredOf(v, name, values)
	}
	return supported
}

// registeredOf returns the registered ones of implied values, which the user has not written; all values if none is registered.
func registeredOf(v *capability.Vocabulary, name string, values []string) v1beta1.CapabilityValues {
	registered := slices.DeleteFunc(slices.Clone(values), func(value string) bool {
		return !slices.Contains(v.Registered(name), value)
	})
	if len(registered) == 0 {
		return values
	}
	return registered
}

// Regional is a provider's reference to an artifact in one region.
type Regional[R any] struct {
	Region string
	Ref    R
	// Path is where the user wrote the reference. Usually that is the entry of the region.
	Path *field.Path
	// NamedAt is where the region's name is written, if that is not the field name of Path. If it is outside the entry of the version, above
	// a list of images for the region alone, so is the reference, and a provider cannot write it there. Nil: the field name of Path.
	NamedAt *field.Path
}

// NamePath returns the path of the region's name.
func (r *Regional[R]) NamePath() *field.Path {
	if r.NamedAt != nil {
		return r.NamedAt
	}
	return r.Path.Child("name")
}

// Global is a provider's reference to an artifact for all regions without a reference of their own.
type Global[R any] struct {
	Ref R
	// Fallback is set if the reference works but is discouraged, such as an OpenStack image name, which may be ambiguous, instead of an
	// image ID. It affects no decision; package check warns about it.
	Fallback bool
	// Derived is set if the provider derived the reference from the names of image and version, instead of reading it.
	Derived bool
	// Path is where the user wrote the reference; for a derived one, the flavor.
	Path *field.Path
}

// Reference returns the flavor's reference in a region: the region's own, or else the global one (semantics S6). found is false if there is
// neither. If the region has several, the last one wins (semantics S7).
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

// IsEmpty reports whether a reference is missing, so that nothing can boot from it (semantics S6): it is the zero R, or says so by a method
// IsZero, as for encoding/json.
func IsEmpty[R any](ref R) bool {
	boxed := any(ref) // once, since that allocates
	itself, is := boxed.(interface{ IsZero() bool })
	return boxed == nil || reflect.ValueOf(boxed).IsZero() || is && itself.IsZero()
}

// Catalog holds the compiled images of one CloudProfile. It compiles versions on first use, but behaves as if immutable, and is safe for
// concurrent use.
type Catalog[R any] struct {
	vocabulary *capability.Vocabulary
	// images holds the versions of each image, by image name and version string.
	images map[string]map[string]*version[R]
}

// version is an image version with the flavors of all its entries. It is compiled on first use, because a question about a worker pool
// needs one of hundreds.
type version[R any] struct {
	compile sync.Once
	written []*Version[R]
	flavors []Flavor[R]
	// matches has the data needed to choose each of the flavors, in their order.
	matches []match[R]
	// regional holds, by region, the references of the flavors that have one for the region, in the order of the flavors.
	regional map[string][]located[R]
}

// match is a flavor's set, and its reference for regions without one of their own, nil if it has none.
type match[R any] struct {
	set    capability.Set
	global *R
}

// located is the reference in some region of a flavor, given by its index.
type located[R any] struct {
	flavor int
	ref    *R
}

// NewCatalog compiles images whose capabilities are declared in vocabulary. It tolerates errors (semantics S7): an image or version that is
// listed twice has the flavors of both entries, and unknown names and values are dropped, as by [capability.Vocabulary.Flavor]. Its caller
// profile.Compile reports errors in images. The catalog keeps images: the caller must not modify them afterwards.
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

// find returns an image version, compiled; nil if the catalog lacks it.
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

// locate adds the regional references of the flavor with an index; the last one for each region wins (semantics S7). flavors is the number
// of flavors that are still to be added, this one included.
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

// With returns a catalog that also has the image versions of another catalog with the same vocabulary. If both have a version, the other
// catalog's wins. The catalogs share their versions.
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

// Flavors returns the flavors of an image version in the order written; nil if the catalog lacks the version or it has none. The caller
// must not modify them.
func (c *Catalog[R]) Flavors(image, version string) []Flavor[R] {
	if v := c.find(image, version); v != nil {
		return v.flavors
	}
	return nil
}

// Offers returns the sets of the image version's flavors that have a reference in a region, in the order written; nil if there are none.
// The caller owns the result.
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
