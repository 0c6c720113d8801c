// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// The functions below convert the lists that most configs have, in the order written, each entry with its path.

// Images converts a list of machine images at the path at. parts returns the name and versions of an image. convert returns the version at
// a path, and adds its findings to the report.
func Images[I, V, R any](
	written []I, at *field.Path, parts func(*I) (name string, versions []V),
	convert func(*V, *field.Path, *finding.Report) imageselector.Version[R], report *finding.Report,
) []imageselector.Image[R] {
	images := make([]imageselector.Image[R], 0, len(written))
	for i := range written {
		name, versions := parts(&written[i])
		image := imageselector.Image[R]{Name: name, Path: at.Index(i)}
		if len(versions) > 0 {
			image.Versions = make([]imageselector.Version[R], 0, len(versions))
		}
		paths := fieldpath.Elements(image.Path.Child("versions"), len(versions))
		for k := range versions {
			image.Versions = append(image.Versions, convert(&versions[k], &paths[k], report))
		}
		images = append(images, image)
	}
	return images
}

// Region is an entry of a list of regions: the reference in one region. Architecture is nil if the entry has none.
type Region[R any] struct {
	Name         string
	Ref          R
	Architecture *string
}

// Regions converts the list of regions of a flavor, at the path at. It reports architectures in it, which belong into the flavor's
// capabilities.
func Regions[W, R any](
	written []W, at *field.Path, convert func(*W) Region[R], report *finding.Report,
) []imageselector.Regional[R] {
	regions, paths := make([]imageselector.Regional[R], 0, len(written)), fieldpath.Elements(at, len(written))
	for i := range written {
		region, path := convert(&written[i]), &paths[i]
		regions = append(regions, imageselector.Regional[R]{Region: region.Name, Ref: region.Ref, Path: path})
		if region.Architecture != nil {
			report.Errors = append(report.Errors, FlavorArchitecture(path.Child("architecture"), *region.Architecture))
		}
	}
	return regions
}

// LegacyFlavors converts the list of regions of a legacy version, at the path at, into one flavor for each architecture, in order of first
// appearance (semantics S7).
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

// OfArchitecture returns the capabilities of a legacy image with this architecture; nil means amd64. The caller owns the result.
func OfArchitecture(architecture *string) v1beta1.Capabilities {
	return v1beta1.Capabilities{capability.Architecture: {ptr.Deref(architecture, constants.ArchitectureAMD64)}}
}

// Override merges images for a single region into the images for all regions, and returns the latter. The global references of overrides
// become references for the region, whose name is written at the path namedAt, and keep their paths. Missing images, missing versions in
// the same format, and missing flavors with the same capabilities are appended. overrides must not be used afterwards.
func Override[R any](images, overrides []imageselector.Image[R], region string, namedAt *field.Path) []imageselector.Image[R] {
	named := make(map[string]*overridden, len(images))
	for i := range slices.Backward(images) { // the first of several with one name wins
		named[images[i].Name] = &overridden{index: i}
	}
	for _, override := range overrides {
		if named[override.Name] == nil {
			named[override.Name] = &overridden{index: len(images)}
			images = append(images, imageselector.Image[R]{Name: override.Name, Path: override.Path})
		}
		to := named[override.Name]
		image := &images[to.index]
		if to.versions == nil {
			to.versions = make(map[string][]int, len(image.Versions))
			for k := range image.Versions {
				to.versions[image.Versions[k].Version] = append(to.versions[image.Versions[k].Version], k)
			}
		}
		for k := range override.Versions {
			overrideVersion(image, to, &override.Versions[k], imageselector.Regional[R]{Region: region, NamedAt: namedAt})
		}
	}
	return images
}

// overridden is an image in a list: its index, and the indices of its versions by name, nil until they are needed.
type overridden struct {
	index    int
	versions map[string][]int
}

// overrideVersion merges an image version for a single region into image. of has the region.
func overrideVersion[R any](image *imageselector.Image[R], to *overridden, version *imageselector.Version[R], of imageselector.Regional[R]) {
	for _, flavor := range version.Flavors {
		flavor.Regional = nil
		if flavor.Global != nil {
			of.Ref, of.Path = flavor.Global.Ref, flavor.Global.Path
			flavor.Regional, flavor.Global = []imageselector.Regional[R]{of}, nil
		}
		entries := to.versions[version.Version]
		if f := flavorAmong(image, entries, &flavor); f != nil {
			f.Regional = append(f.Regional, flavor.Regional...)
			continue
		}
		at := slices.IndexFunc(entries, func(k int) bool { return image.Versions[k].Legacy == version.Legacy })
		if at < 0 {
			at = len(entries)
			entries = append(entries, len(image.Versions))
			to.versions[version.Version] = entries
			image.Versions = append(image.Versions, imageselector.Version[R]{
				Version: version.Version, Legacy: version.Legacy, Undeclared: version.Undeclared, Path: version.Path,
			})
		}
		entry := &image.Versions[entries[at]]
		entry.Flavors = append(entry.Flavors, flavor)
	}
}

// flavorAmong returns the flavor with the same capabilities as other in the given versions of an image; nil if there is none.
func flavorAmong[R any](image *imageselector.Image[R], entries []int, other *imageselector.Flavor[R]) *imageselector.Flavor[R] {
	same := func(a, b v1beta1.Capabilities) bool {
		return maps.EqualFunc(a, b, slices.Equal[v1beta1.CapabilityValues])
	}
	for _, k := range entries {
		flavors := image.Versions[k].Flavors
		for i := range flavors {
			if same(flavors[i].Capabilities, other.Capabilities) && same(flavors[i].Implied, other.Implied) {
				return &flavors[i]
			}
		}
	}
	return nil
}
