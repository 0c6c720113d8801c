// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package entries iterates over the image versions of a profile, in core and in a provider config, and lists the names of images and
// machine types.
package entries

import (
	"iter"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
)

// Version is an image version as core lists it.
type Version struct {
	*v1beta1.MachineImageVersion
	ID provider.ImageVersion
	// Image and Index are the indices in spec.machineImages and its versions.
	Image, Index int
}

// Active reports whether worker pools may still use the version.
func (v Version) Active() bool { return versions.Active(v.ExpirableVersion) }

// PathIn returns the path of the version, given the path of its spec.
func (v Version) PathIn(spec *field.Path) *field.Path {
	return spec.Child("machineImages").Index(v.Image).Child("versions").Index(v.Index)
}

// Images returns the names of the images that a spec lists, in order.
func Images(spec *v1beta1.CloudProfileSpec) []string {
	names := make([]string, 0, len(spec.MachineImages))
	for i := range spec.MachineImages {
		names = append(names, spec.MachineImages[i].Name)
	}
	return names
}

// MachineTypes returns the names of the machine types that a spec lists, in order.
func MachineTypes(spec *v1beta1.CloudProfileSpec) []string {
	names := make([]string, 0, len(spec.MachineTypes))
	for i := range spec.MachineTypes {
		names = append(names, spec.MachineTypes[i].Name)
	}
	return names
}

// Versions yields the image versions that a spec lists, in order.
func Versions(spec *v1beta1.CloudProfileSpec) iter.Seq[Version] {
	return func(yield func(Version) bool) {
		for i := range spec.MachineImages {
			image := &spec.MachineImages[i]
			for k := range image.Versions {
				version := &image.Versions[k]
				if !yield(Version{version, provider.ImageVersion{Image: image.Name, Version: version.Version}, i, k}) {
					return
				}
			}
		}
	}
}

// Find returns the first image version with the given ID, and whether the spec lists one.
func Find(spec *v1beta1.CloudProfileSpec, id provider.ImageVersion) (Version, bool) {
	for v := range Versions(spec) {
		if v.ID == id {
			return v, true
		}
	}
	return Version{}, false
}

// Index returns the image versions that a spec lists, by ID. If one is listed twice, the first entry wins. The caller owns the map.
func Index(spec *v1beta1.CloudProfileSpec) map[provider.ImageVersion]*v1beta1.MachineImageVersion {
	index := map[provider.ImageVersion]*v1beta1.MachineImageVersion{}
	for v := range Versions(spec) {
		if _, found := index[v.ID]; !found {
			index[v.ID] = v.MachineImageVersion
		}
	}
	return index
}

// Mappings yields the versions of a provider's images, in order. An ID may occur more than once.
func Mappings[R any](images []imageselector.Image[R]) iter.Seq2[provider.ImageVersion, *imageselector.Version[R]] {
	return func(yield func(provider.ImageVersion, *imageselector.Version[R]) bool) {
		for i := range images {
			for k := range images[i].Versions {
				version := &images[i].Versions[k]
				if !yield(provider.ImageVersion{Image: images[i].Name, Version: version.Version}, version) {
					return
				}
			}
		}
	}
}

// References yields the references for single regions of all flavors of a provider's images, in order.
func References[R any](images []imageselector.Image[R]) iter.Seq[*imageselector.Regional[R]] {
	return func(yield func(*imageselector.Regional[R]) bool) {
		for _, version := range Mappings(images) {
			for i := range version.Flavors {
				for k := range version.Flavors[i].Regional {
					if !yield(&version.Flavors[i].Regional[k]) {
						return
					}
				}
			}
		}
	}
}

// Regions returns the regions for which images have their own references. The caller owns the set.
func Regions[R any](images []imageselector.Image[R]) sets.Set[string] {
	regions := sets.New[string]()
	var last []imageselector.Regional[R]
	for _, version := range Mappings(images) {
		for i := range version.Flavors {
			regional := version.Flavors[i].Regional
			for k := range regional {
				if k >= len(last) || last[k].Region != regional[k].Region { // flavors usually have the same regions
					regions.Insert(regional[k].Region)
				}
			}
			last = regional
		}
	}
	return regions
}

// Flavors returns the number of flavors in the image versions of a spec and in a provider's images together.
func Flavors[R any](spec *v1beta1.CloudProfileSpec, images []imageselector.Image[R]) int {
	n := 0
	for v := range Versions(spec) {
		n += len(v.CapabilityFlavors)
	}
	for _, version := range Mappings(images) {
		n += len(version.Flavors)
	}
	return n
}

// Declared are the capabilities of a machine type or a flavor.
type Declared struct {
	v1beta1.Capabilities
	// version is that of a core flavor, and index the flavor's index in it. For a machine type, index is its own index.
	version Version
	index   int
	// provided is the path of a provider's flavor.
	provided *field.Path
}

// Path returns the path of the capabilities, given the path of the spec.
func (d Declared) Path(spec *field.Path) *field.Path {
	switch {
	case d.provided != nil:
		return d.provided.Child("capabilities")
	case d.version.MachineImageVersion != nil:
		return d.version.PathIn(spec).Child("capabilityFlavors").Index(d.index)
	}
	return spec.Child("machineTypes").Index(d.index).Child("capabilities")
}

// Declarations yields the capabilities of a spec's machine types and core flavors, and of the flavors of a provider's images, in that
// order.
func Declarations[R any](spec *v1beta1.CloudProfileSpec, images []imageselector.Image[R]) iter.Seq[Declared] {
	return func(yield func(Declared) bool) {
		for i := range spec.MachineTypes {
			if !yield(Declared{Capabilities: spec.MachineTypes[i].Capabilities, index: i}) {
				return
			}
		}
		for v := range Versions(spec) {
			if !v.declare(yield) {
				return
			}
		}
		for _, version := range Mappings(images) {
			for i := range version.Flavors {
				if !yield(Declared{Capabilities: version.Flavors[i].Capabilities, provided: version.Flavors[i].Path}) {
					return
				}
			}
		}
	}
}

// declare yields the capabilities of a version's flavors, and reports whether to continue.
func (v Version) declare(yield func(Declared) bool) bool {
	for i := range v.CapabilityFlavors {
		if !yield(Declared{v.CapabilityFlavors[i].Capabilities, v, i, nil}) {
			return false
		}
	}
	return true
}

// DeclareReserved reports whether a machine type, core flavor or provider flavor declares a capability with the prefix that Gardener
// reserves.
func DeclareReserved[R any](spec *v1beta1.CloudProfileSpec, images []imageselector.Image[R]) bool {
	for declared := range Declarations(spec, images) {
		for name := range declared.Capabilities {
			if strings.HasPrefix(name, capability.ReservedPrefix) {
				return true
			}
		}
	}
	return false
}

// IsReserved reports whether a definition registers a capability with the prefix that Gardener reserves.
func IsReserved(d v1beta1.CapabilityDefinition) bool {
	return strings.HasPrefix(d.Name, capability.ReservedPrefix)
}

// RegionsOf returns the names of a spec's regions, each once, in its order. The caller owns the slice.
func RegionsOf(spec *v1beta1.CloudProfileSpec) []string {
	var regions []string
	known := map[string]bool{}
	for _, region := range spec.Regions {
		if !known[region.Name] {
			known[region.Name] = true
			regions = append(regions, region.Name)
		}
	}
	return regions
}

// Unlisted returns the image versions that a provider's images map, but core does not list.
func Unlisted[R any](images []imageselector.Image[R], core map[provider.ImageVersion]*v1beta1.MachineImageVersion) sets.Set[provider.ImageVersion] {
	unlisted := sets.New[provider.ImageVersion]()
	for id := range Mappings(images) {
		if core[id] == nil {
			unlisted.Insert(id)
		}
	}
	return unlisted
}

// Earlier returns a function that, for the index of a reference, returns the first earlier reference for the same region, or nil. It must
// be called for all indices in order. It scans short lists, and indexes long ones, which may have thousands of entries.
func Earlier[R any](regional []imageselector.Regional[R]) func(int) *imageselector.Regional[R] {
	var first map[string]int
	if len(regional) > 8 {
		first = make(map[string]int, len(regional))
	}
	return func(i int) *imageselector.Regional[R] {
		k, found := first[regional[i].Region]
		if first == nil {
			k = slices.IndexFunc(regional[:i], func(r imageselector.Regional[R]) bool { return r.Region == regional[i].Region })
			found = k >= 0
		} else if !found {
			first[regional[i].Region] = i
		}
		if !found {
			return nil
		}
		return &regional[k]
	}
}

// Without returns the given regions for which a flavor has no reference of its own.
func Without[R any](flavor *imageselector.Flavor[R], regions []string) []string {
	own := map[string]bool{} // not allocated for a few regions
	for i := range flavor.Regional {
		own[flavor.Regional[i].Region] = true
	}
	var without []string
	for _, region := range regions {
		if !own[region] {
			without = append(without, region)
		}
	}
	return without
}
