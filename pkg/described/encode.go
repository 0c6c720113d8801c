// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package described

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// Encode writes a version. It returns an error if the description has no field for a part of it.
func (p Provider) Encode(version imageselector.Version[Reference], format provider.Format) ([]any, error) {
	switch {
	case p.images.path == "":
		return nil, errors.New("the provider config maps no images")
	case format == provider.FormatFlavors && p.flavors.path == "":
		return nil, fmt.Errorf("the provider config of %s knows the legacy format only", p.providerType)
	case len(version.Flavors) == 0 && p.regional == nil:
		return nil, errors.New("a version has an image")
	}
	written := make([]artifact, 0, len(version.Flavors))
	for i := range version.Flavors {
		a, err := p.artifact(&version.Flavors[i])
		if err != nil {
			return nil, err
		}
		written = append(written, a)
	}
	switch {
	case format == provider.FormatFlavors:
		return []any{p.withFlavors(version.Version, written)}, nil
	case slices.ContainsFunc(written, func(a artifact) bool { return len(a.regional) == 0 && a.global == nil }):
		return nil, errors.New("the legacy format has no place for a flavor without an image")
	case p.architecture.standard == "":
		return p.forAll(version.Version, written)
	}
	return p.legacy(version.Version, written)
}

// artifact is a flavor to be written, with its references.
type artifact struct {
	capabilities v1beta1.Capabilities
	regional     []imageselector.Regional[Reference]
	// global is for all regions, or for those without their own reference; nil if there is none.
	global *Reference
}

// artifact returns the parts of a flavor. It returns an error if the format has no place for a part.
func (p Provider) artifact(flavor *imageselector.Flavor[Reference]) (artifact, error) {
	a := artifact{capabilities: flavor.Capabilities, regional: flavor.Regional}
	switch {
	case len(a.regional) > 0 && p.overrides.path != "":
		return a, fmt.Errorf("an image of one region stands under %s, and not among the %s", p.overrides.path, p.images.path)
	case len(a.regional) > 0 && p.regional == nil:
		return a, fmt.Errorf("%s of an image is the same in every region", words.And(p.reference))
	case flavor.Global != nil && p.global == nil:
		return a, errors.New("an image has a reference in each region, and none for all of them")
	}
	for _, r := range a.regional {
		if !r.Ref.is(p.regional) {
			return a, fmt.Errorf("region %s has no place for %s", r.Region, r.Ref)
		}
	}
	if flavor.Global != nil {
		if !flavor.Global.Ref.is(p.global) || p.regional != nil && flavor.Global.Ref.empty() {
			return a, fmt.Errorf("an image for all regions has %s, and no %s", words.And(p.global.fields), flavor.Global.Ref)
		}
		a.global = &flavor.Global.Ref
	}
	if a.global == nil && p.regional == nil {
		return a, fmt.Errorf("an image has %s", words.And(p.reference))
	}
	return a, nil
}

// is reports whether a reference has a form, or is zero.
func (r Reference) is(form *form) bool {
	return r.form == nil || slices.Equal(r.form.fields, form.fields)
}

// withFlavors returns the entry of a version with flavors.
func (p Provider) withFlavors(version string, written []artifact) *object {
	entry := p.entry(version)
	flavors := make([]*object, 0, len(written))
	for _, a := range written {
		flavor := &object{}
		if len(a.capabilities) > 0 {
			flavor.set(pathOf(p.flavors.capabilities), a.capabilities)
		}
		p.place(flavor, a)
		flavors = append(flavors, flavor)
	}
	if len(flavors) > 0 {
		entry.set(pathOf(p.flavors.path), flavors)
	}
	return entry
}

// entry returns the entry of a version with only its name.
func (p Provider) entry(version string) *object {
	entry := &object{}
	entry.set(pathOf(p.images.version), version)
	return entry
}

// place writes the references of a flavor into an object.
func (p Provider) place(into *object, a artifact) {
	if a.global != nil {
		for i, segments := range p.global.segments {
			into.set(segments, a.global.value(i))
		}
	}
	if regions := p.regionList(a.regional); len(regions) > 0 {
		into.set(p.regionsPath, regions)
	}
}

// placeArchitecture writes the architecture of a legacy flavor next to its reference, if the format has a field for it.
func (p Provider) placeArchitecture(into *object, architecture string) {
	if p.architecture.field != "" {
		into.set(p.architecturePath, architecture)
	}
}

// regionList returns the entries of regions.
func (p Provider) regionList(regional []imageselector.Regional[Reference]) []*object {
	var list []*object
	for _, r := range regional {
		region := &object{}
		region.set(pathOf(p.regions.name), r.Region)
		for i, segments := range p.regional.segments {
			region.set(segments, r.Ref.value(i))
		}
		list = append(list, region)
	}
	return list
}

// forAll writes a legacy version with one image for all architectures.
func (p Provider) forAll(version string, written []artifact) ([]any, error) {
	var entry *object
	var text []byte
	for _, a := range written {
		if len(a.capabilities) > 1 || len(a.capabilities) != len(a.capabilities[capability.Architecture]) {
			return nil, errors.New("the legacy format has no place for any capability but one architecture")
		}
		is := p.entry(version)
		p.place(is, a)
		raw, err := json.Marshal(is)
		if err != nil {
			return nil, err
		}
		if entry != nil && !bytes.Equal(raw, text) {
			return nil, errors.New("the legacy format has one image for all architectures")
		}
		entry, text = is, raw
	}
	if entry == nil {
		entry = p.entry(version)
	}
	return []any{entry}, nil
}

// legacy writes a version with a flavor for each architecture, either as one entry with all regions, or as an entry for each flavor.
func (p Provider) legacy(version string, written []artifact) ([]any, error) {
	known := map[string]bool{}
	var entries []any
	var fallback *Reference
	var regions []*object
	for _, a := range written {
		architecture, err := providerconfig.LegacyArchitecture(a.capabilities)
		switch {
		case err != nil:
			return nil, err
		case p.architecture.field == "" && architecture != p.architecture.standard:
			return nil, fmt.Errorf("the legacy format is for %s only", p.architecture.standard)
		case p.regional == nil && p.architecture.field == "" && len(known) > 0:
			return nil, errors.New("the legacy format has one image")
		case p.regional == nil:
			entry := p.entry(version)
			p.place(entry, a)
			p.placeArchitecture(entry, architecture)
			entries = append(entries, entry)
			known[architecture] = true
			continue
		case known[architecture]:
			return nil, fmt.Errorf("the legacy format has one flavor for %s", architecture)
		case a.global != nil && architecture != p.architecture.standard:
			return nil, fmt.Errorf("the legacy format has no %s for %s", words.And(p.global.fields), architecture)
		}
		known[architecture] = true
		if a.global != nil {
			fallback = a.global
		}
		for _, region := range p.regionList(a.regional) {
			p.placeArchitecture(region, architecture)
			regions = append(regions, region)
		}
	}
	if p.regional == nil {
		return entries, nil
	}
	entry := p.entry(version)
	p.place(entry, artifact{global: fallback})
	if len(regions) > 0 {
		entry.set(p.regionsPath, regions)
	}
	return []any{entry}, nil
}

// IgnoredFields returns the fields of an entry that the description does not name, and the paths of unknown fields within the named ones.
func (p Provider) IgnoredFields(entry map[string]any) (ignored map[string]any, within []string) {
	if p.images.path == "" {
		return entry, nil
	}
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		as, known := jsonField(p.shape.version, name)
		if !known {
			if ignored == nil {
				ignored = map[string]any{}
			}
			ignored[name] = entry[name]
			continue
		}
		within = append(within, unknownIn(entry[name], as, name)...)
	}
	return ignored, within
}

// jsonField returns the type of a struct field, given its JSON name.
func jsonField(of reflect.Type, name string) (reflect.Type, bool) {
	for i := range of.NumField() {
		if of.Field(i).Tag.Get("json") == name {
			return of.Field(i).Type, true
		}
	}
	return nil, false
}

// unknownIn returns the paths of fields in a value, at the path at, that its type lacks.
func unknownIn(value any, as reflect.Type, at string) (paths []string) {
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			if as.Kind() == reflect.Slice {
				paths = append(paths, unknownIn(item, as.Elem(), fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case map[string]any:
		if as.Kind() != reflect.Struct {
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			here := strings.Join([]string{at, name}, ".")
			if inner, known := jsonField(as, name); known {
				paths = append(paths, unknownIn(v[name], inner, here)...)
			} else {
				paths = append(paths, here)
			}
		}
	}
	return paths
}
