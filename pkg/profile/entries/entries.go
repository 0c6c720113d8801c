// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package entries goes through the image versions of a profile, as core lists them and as a provider config maps them.
package entries

import (
	"iter"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

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

// PathIn returns where the version stands in a spec at a path.
func (v Version) PathIn(spec *field.Path) *field.Path {
	return spec.Child("machineImages").Index(v.Image).Child("versions").Index(v.Index)
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

// Find returns the first image version of a name; false if core lists none.
func Find(spec *v1beta1.CloudProfileSpec, id provider.ImageVersion) (Version, bool) {
	for v := range Versions(spec) {
		if v.ID == id {
			return v, true
		}
	}
	return Version{}, false
}

// Mappings yields the versions of a provider's images, in order. Several may have one name.
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

// References yields the references that the flavors of a provider's images have for single regions, in order.
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

// Without returns those of some regions for which a flavor has no reference of their own.
func Without[R any](flavor *imageselector.Flavor[R], regions []string) []string {
	own := map[string]bool{} // of a few regions, it is not allocated
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
