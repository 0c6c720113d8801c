// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// The functions below convert the lists that most configs have, in the order written, each entry with its path.

// Images converts a list of machine images, which stands at the path at. parts returns the name and the versions of an image;
// convert returns a version, which stands at a path, and adds to the report what is wrong with it.
func Images[I, V, R any](
	written []I, at *field.Path, parts func(*I) (name string, versions []V),
	convert func(*V, *field.Path, *finding.Report) imageselector.Version[R], report *finding.Report,
) []imageselector.Image[R] {
	images := make([]imageselector.Image[R], 0, len(written))
	for i := range written {
		name, versions := parts(&written[i])
		image := imageselector.Image[R]{Name: name, Path: at.Index(i)}
		for k := range versions {
			image.Versions = append(image.Versions, convert(&versions[k], image.Path.Child("versions").Index(k), report))
		}
		images = append(images, image)
	}
	return images
}

// Region is an entry of a list of regions: the reference in one region. Architecture is nil if none is written.
type Region[R any] struct {
	Name         string
	Ref          R
	Architecture *string
}

// Regions converts the list of regions of a flavor, which stands at the path at, and reports architectures in it, which belong
// into the capabilities of the flavor.
func Regions[W, R any](
	written []W, at *field.Path, convert func(*W) Region[R], report *finding.Report,
) []imageselector.Regional[R] {
	regions := make([]imageselector.Regional[R], 0, len(written))
	for i := range written {
		region, path := convert(&written[i]), at.Index(i)
		regions = append(regions, imageselector.Regional[R]{Region: region.Name, Ref: region.Ref, Path: path})
		if region.Architecture != nil {
			report.Errors = append(report.Errors, FlavorArchitecture(path.Child("architecture"), *region.Architecture))
		}
	}
	return regions
}

// LegacyFlavors converts the list of regions of a legacy version, which stands at the path at: it makes one flavor for each
// architecture, in order of first appearance (semantics S6).
func LegacyFlavors[W, R any](written []W, at *field.Path, convert func(*W) Region[R]) []imageselector.Flavor[R] {
	var flavors []imageselector.Flavor[R]
	index := map[string]int{}
	for i := range written {
		region, path := convert(&written[i]), at.Index(i)
		architecture := ptr.Deref(region.Architecture, constants.ArchitectureAMD64)
		f, found := index[architecture]
		if !found {
			f = len(flavors)
			index[architecture] = f
			flavors = append(flavors, imageselector.Flavor[R]{Capabilities: OfArchitecture(region.Architecture), Path: path})
		}
		flavors[f].Regional = append(flavors[f].Regional, imageselector.Regional[R]{Region: region.Name, Ref: region.Ref, Path: path})
	}
	return flavors
}

// OfArchitecture returns what a legacy image with this architecture supports; nil is amd64. The caller owns the result.
func OfArchitecture(architecture *string) v1beta1.Capabilities {
	return v1beta1.Capabilities{capability.Architecture: {ptr.Deref(architecture, constants.ArchitectureAMD64)}}
}
