// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package described

import (
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Decode reads the fields of a config that the description names, and ignores all others. It warns about those by which a field was probably
// meant that the description names. The config may be absent if the description has no images.
func (p Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Reference], finding.Report) {
	var report finding.Report
	if p.images.path == "" && !providerconfig.HasContent(raw) {
		return provider.Config[Reference]{}, report
	}
	config := reflect.New(p.config)
	kindOf := func() schema.GroupVersionKind {
		return schema.FromAPIVersionAndKind(config.Elem().Field(0).String(), config.Elem().Field(1).String())
	}
	var ignored finding.List
	report.Errors, ignored = providerconfig.Ignorable(providerconfig.DecodeKnown(raw, p.kinds, config.Interface(), kindOf, at))
	if p.images.path == "" {
		return provider.Config[Reference]{}, report
	}
	r := reading{Provider: p, report: &report}
	if len(ignored) > 0 {
		r.lacking = map[string]bool{}
	}
	images := r.read(p.imagesAt.of(config.Elem()), at.Child(p.images.path))
	if p.overridesAt != nil {
		list := p.overridesAt.of(config.Elem())
		for i := range list.Len() {
			region, path := list.Index(i), at.Child(p.overrides.path).Index(i)
			overrides := r.read(p.overrideImagesAt.of(region), path.Child(p.images.path))
			images = providerconfig.Override(images, overrides, p.overrideNameAt.of(region).String(), path.Child(p.overrides.name))
		}
	}
	providerconfig.FieldsIgnored(&report, ignored, r.lacking)
	return provider.Config[Reference]{Images: images}, report
}

// reading is the conversion of one config.
type reading struct {
	Provider
	report *finding.Report
	// lacking has the paths of fields whose absence is an error, and those above them. It is nil if no absent field was probably meant.
	lacking map[string]bool
}

// read converts a list of images at a path.
func (r reading) read(list reflect.Value, at *field.Path) []imageselector.Image[Reference] {
	images := make([]imageselector.Image[Reference], 0, list.Len())
	for i := range list.Len() {
		written := list.Index(i)
		image := imageselector.Image[Reference]{Name: r.nameAt.of(written).String(), Path: at.Index(i)}
		entries := r.versionsAt.of(written)
		if entries.Len() > 0 {
			image.Versions = make([]imageselector.Version[Reference], 0, entries.Len())
		}
		paths := fieldpath.Elements(image.Path.Child(r.images.versions), entries.Len())
		for k := range entries.Len() {
			version := r.version(entries.Index(k), &paths[k])
			if len(r.derived) > 0 {
				r.deriveIn(image.Name, &version)
			}
			image.Versions = append(image.Versions, version)
		}
		if r.lacking != nil {
			r.lackingIn(&image)
		}
		images = append(images, image)
	}
	return images
}

// lackingIn collects the fields that an image lacks: names, and the fields of references. A version or a flavor without an image also lacks
// the lists that may have one.
func (r reading) lackingIn(image *imageselector.Image[Reference]) {
	if image.Name == "" {
		r.lacks(image.Path, r.images.name)
	}
	for i := range image.Versions {
		version := &image.Versions[i]
		if version.Version == "" {
			r.lacks(version.Path, r.images.version)
		}
		if len(version.Flavors) == 0 {
			r.lacks(version.Path, r.flavors.path, r.regions.path)
		}
		for k := range version.Flavors {
			if lacks := r.lackingInFlavor(&version.Flavors[k]); lacks && version.Legacy {
				r.lacks(version.Path, r.flavors.path)
			}
		}
	}
}

// lackingInFlavor collects the fields that a flavor lacks, and reports whether these are fields of references.
func (r reading) lackingInFlavor(flavor *imageselector.Flavor[Reference]) bool {
	var errs field.ErrorList
	if flavor.Global != nil {
		errs = r.ValidateReference(flavor.Global.Ref, flavor.Global.Path)
	} else if len(flavor.Regional) == 0 {
		r.lacks(flavor.Path, r.regions.path)
	}
	for _, regional := range flavor.Regional {
		if regional.Region == "" {
			r.lacks(regional.Path, r.regions.name)
		}
		errs = append(errs, r.ValidateReference(regional.Ref, regional.Path)...)
	}
	for _, err := range errs {
		r.lacksAt(err.Field)
	}
	return len(errs) > 0
}

// lacks notes that an entry lacks fields. It skips those that the format does not have.
func (r reading) lacks(entry *field.Path, fields ...string) {
	for _, path := range fields {
		if path != "" {
			r.lacksAt(childOf(entry, pathOf(path)).String())
		}
	}
}

func (r reading) lacksAt(path string) {
	for above := range fieldpath.Upward(path) {
		if r.lacking[above] {
			return
		}
		r.lacking[above] = true
	}
}

// deriveIn derives the references that the entries of a version leave out.
func (r reading) deriveIn(image string, version *imageselector.Version[Reference]) {
	for i := range version.Flavors {
		if global := version.Flavors[i].Global; global.Ref.empty() {
			global.Ref = r.made(provider.ImageVersion{Image: image, Version: version.Version})
		}
	}
}

// version converts a version.
func (r reading) version(written reflect.Value, at *field.Path) imageselector.Version[Reference] {
	version := imageselector.Version[Reference]{Version: r.versionAt.of(written).String(), Path: at, Legacy: true}
	if r.flavorsAt != nil {
		if flavors := r.flavorsAt.of(written); flavors.Len() > 0 {
			version.Legacy = false
			r.mixed(written, at)
			version.Flavors = r.flavorsOf(flavors, at.Child(r.flavors.path))
			return version
		}
	}
	global := r.globalOf(written, r.globalAt, at)
	if r.regional == nil {
		version.Flavors = []imageselector.Flavor[Reference]{{
			Capabilities: r.ofArchitecture(r.named(r.architectureAt, written)), Path: at, Global: global,
		}}
		return version
	}
	version.Flavors = r.legacyRegions(r.versionRegionsAt.of(written), childOf(at, r.regionsPath))
	if global != nil {
		version.Flavors = r.withFallback(version.Flavors, global)
	}
	return version
}

// mixed reports fields of the legacy format in a version with flavors.
func (r reading) mixed(written reflect.Value, at *field.Path) {
	if r.versionRegionsAt != nil && r.versionRegionsAt.of(written).Len() > 0 {
		r.report.Errors = append(r.report.Errors, providerconfig.FormatMixed(childOf(at, r.regionsPath), r.regions.path))
	}
	for i, place := range r.globalAt {
		if value := place.of(written).String(); value != "" {
			r.report.Warnings = append(r.report.Warnings, providerconfig.ImageIgnored(childOf(at, r.global.segments[i]), value))
		}
	}
	if architecture := r.named(r.architectureAt, written); architecture != nil {
		path := childOf(at, r.architecturePath)
		r.report.Errors = append(r.report.Errors, providerconfig.VersionArchitecture(path, *architecture))
	}
}

// flavorsOf converts the flavors of a version.
func (r reading) flavorsOf(list reflect.Value, at *field.Path) []imageselector.Flavor[Reference] {
	flavors := make([]imageselector.Flavor[Reference], 0, list.Len())
	paths := fieldpath.Elements(at, list.Len())
	for i := range list.Len() {
		written, path := list.Index(i), &paths[i]
		supported, _ := r.capabilitiesAt.of(written).Interface().(v1beta1.Capabilities)
		flavor := imageselector.Flavor[Reference]{Capabilities: supported, Path: path, Global: r.globalOf(written, r.flavorGlobalAt, path)}
		if r.regional != nil {
			flavor.Regional = r.regionsOf(r.flavorRegionsAt.of(written), childOf(path, r.regionsPath))
		}
		flavors = append(flavors, flavor)
	}
	return flavors
}

// regionsOf converts the regions of a flavor.
func (r reading) regionsOf(list reflect.Value, at *field.Path) []imageselector.Regional[Reference] {
	regions := make([]imageselector.Regional[Reference], 0, list.Len())
	paths, values := fieldpath.Elements(at, list.Len()), make([]string, list.Len()*len(r.regionalAt))
	for i := range list.Len() {
		written := list.Index(i)
		regions = append(regions, r.region(written, &paths[i], values[i*len(r.regionalAt):]))
		if architecture := r.named(r.regionArchitectureAt, written); architecture != nil {
			r.report.Errors = append(r.report.Errors, providerconfig.FlavorArchitecture(childOf(&paths[i], r.architecturePath), *architecture))
		}
	}
	return regions
}

// region converts the entry of a region. It stores the reference's values in values.
func (r reading) region(written reflect.Value, at *field.Path, values []string) imageselector.Regional[Reference] {
	values = values[:len(r.regionalAt):len(r.regionalAt)]
	for i, place := range r.regionalAt {
		values[i] = place.of(written).String()
	}
	return imageselector.Regional[Reference]{Region: r.regionNameAt.of(written).String(), Ref: referenceWith(r.regional, values), Path: at}
}

// legacyRegions converts the regions of a legacy version to one flavor for each architecture, in the order of their first occurrence.
func (r reading) legacyRegions(list reflect.Value, at *field.Path) (flavors []imageselector.Flavor[Reference]) {
	index := map[string]int{}
	values := make([]string, list.Len()*len(r.regionalAt))
	for i := range list.Len() {
		written, path := list.Index(i), at.Index(i)
		architecture := r.named(r.regionArchitectureAt, written)
		key := r.architecture.standard
		if architecture != nil {
			key = *architecture
		}
		f, found := index[key]
		if !found {
			f = len(flavors)
			index[key] = f
			flavors = append(flavors, imageselector.Flavor[Reference]{Capabilities: r.ofArchitecture(architecture), Path: path})
		}
		flavors[f].Regional = append(flavors[f].Regional, r.region(written, path, values[i*len(r.regionalAt):]))
	}
	return flavors
}

// withFallback adds a reference for all other regions to the legacy flavor of the default architecture. If there is no such flavor, it adds
// one.
func (r reading) withFallback(flavors []imageselector.Flavor[Reference], global *imageselector.Global[Reference]) []imageselector.Flavor[Reference] {
	i := slices.IndexFunc(flavors, func(f imageselector.Flavor[Reference]) bool {
		named := f.Capabilities[capability.Architecture]
		return len(named) == 0 || named[0] == r.architecture.standard
	})
	if i < 0 {
		i = len(flavors)
		flavors = append(flavors, imageselector.Flavor[Reference]{Capabilities: r.ofArchitecture(nil), Path: global.Path})
	}
	flavors[i].Global = global
	return flavors
}

// globalOf reads the reference for all regions, or the fallback for regions without their own, from an entry at a path. It returns nil if
// there is none. An empty reference for all regions is returned, so that ValidateReference rejects it.
func (r reading) globalOf(written reflect.Value, places []place, at *field.Path) *imageselector.Global[Reference] {
	values := make([]string, len(places))
	for i, place := range places {
		values[i] = place.of(written).String()
	}
	ref, fallback := referenceWith(r.global, values), r.regional != nil
	if fallback && ref.empty() {
		return nil
	}
	if !r.global.inEntry {
		at = childOf(at, r.global.segments[0])
	}
	return &imageselector.Global[Reference]{Ref: ref, Fallback: fallback, Path: at}
}

// referenceWith returns a reference with the given values, or the zero Reference if all are empty.
func referenceWith(form *form, values []string) Reference {
	for _, value := range values {
		if value != "" {
			return Reference{form, values}
		}
	}
	return Reference{}
}

// named returns the architecture at a place. It is nil if none is written, or if the format has no such field.
func (reading) named(at place, written reflect.Value) *string {
	if at == nil {
		return nil
	}
	named, _ := at.of(written).Interface().(*string)
	return named
}

// ofArchitecture returns the capabilities of a legacy image with an architecture. For nil, that is the default architecture. If the format
// has none, the image is for all architectures.
func (r reading) ofArchitecture(architecture *string) v1beta1.Capabilities {
	switch {
	case architecture != nil:
		return providerconfig.OfArchitecture(architecture)
	case r.architecture.standard == "":
		return nil
	}
	return providerconfig.OfArchitecture(&r.architecture.standard)
}
