// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package described

import (
	"fmt"
	"reflect"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// shape is the type that a config is decoded into, and the type of an image version in it, made from a description. It has a struct for each
// object, with only the fields that the description names. So decoder and messages are those of all providers. A place is the path to a
// field, given by the indices of struct fields. It is nil for fields that the format lacks.
type shape struct {
	config, version                    reflect.Type
	imagesAt, overridesAt              place
	nameAt, versionsAt                 place // of an image
	overrideNameAt, overrideImagesAt   place // of the entry of a region with images of its own
	versionAt, architectureAt          place // of a version
	versionRegionsAt, flavorsAt        place
	capabilitiesAt, flavorRegionsAt    place // of a flavor
	globalAt, flavorGlobalAt           []place
	regionNameAt, regionArchitectureAt place // of the entry of a region
	regionalAt                         []place
}

type place []int

// of returns a field of a struct.
func (p place) of(v reflect.Value) reflect.Value {
	if len(p) == 1 {
		return v.Field(p[0])
	}
	return v.FieldByIndex(p)
}

// fields are the fields of a struct to be made.
type fields []wanted

// wanted is a field with its path and type, and the variable for its place.
type wanted struct {
	segments []string
	as       reflect.Type
	at       *place
}

func (f *fields) add(path string, as reflect.Type, at *place) {
	*f = append(*f, wanted{pathOf(path), as, at})
}

// all adds string fields, and returns their places, which made sets.
func (f *fields) all(paths []string) []place {
	places := make([]place, len(paths))
	for i, path := range paths {
		f.add(path, reflect.TypeFor[string](), &places[i])
	}
	return places
}

// made returns the struct type, with a nested struct for each object on a path.
func (f fields) made() reflect.Type {
	var order []string
	grouped := map[string]fields{}
	for _, w := range f {
		name := w.segments[0]
		if grouped[name] == nil {
			order = append(order, name)
		}
		grouped[name] = append(grouped[name], w)
	}
	made := make([]reflect.StructField, 0, len(order))
	for i, name := range order {
		group, as := grouped[name], grouped[name][0].as
		if len(group[0].segments) > 1 {
			var inner fields
			for _, w := range group {
				inner = append(inner, wanted{w.segments[1:], w.as, w.at})
			}
			as = inner.made()
		}
		for _, w := range group {
			*w.at = append(place{i}, *w.at...)
		}
		made = append(made, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: as, Tag: reflect.StructTag(fmt.Sprintf("json:%q", name))})
	}
	return reflect.StructOf(made)
}

var (
	text     = reflect.TypeFor[string]()
	optional = reflect.TypeFor[*string]()
)

// shapeOf returns the shape of a valid description.
func shapeOf(d *description) *shape {
	s := &shape{}
	var config fields
	var apiVersion, kind place // 0 and 1
	config.add("apiVersion", text, &apiVersion)
	config.add("kind", text, &kind)
	if d.images.path != "" {
		images := reflect.SliceOf(s.imageOf(d))
		config.add(d.images.path, images, &s.imagesAt)
		if d.overrides.path != "" {
			var override fields
			override.add(d.overrides.name, text, &s.overrideNameAt)
			override.add(d.images.path, images, &s.overrideImagesAt)
			config.add(d.overrides.path, reflect.SliceOf(override.made()), &s.overridesAt)
		}
	}
	s.config = config.made()
	return s
}

// imageOf returns the type of an image, including the types of its parts.
func (s *shape) imageOf(d *description) reflect.Type {
	var image, version, flavor, region fields
	if d.regions.path != "" {
		region.add(d.regions.name, text, &s.regionNameAt)
		s.regionalAt = region.all(d.reference)
		if d.architecture.field != "" {
			region.add(d.architecture.field, optional, &s.regionArchitectureAt)
		}
		regions := reflect.SliceOf(region.made())
		version.add(d.regions.path, regions, &s.versionRegionsAt)
		flavor.add(d.regions.path, regions, &s.flavorRegionsAt)
		s.globalAt, s.flavorGlobalAt = version.all(d.fallback), flavor.all(d.fallback)
	} else {
		s.globalAt, s.flavorGlobalAt = version.all(d.reference), flavor.all(d.reference)
		if d.architecture.field != "" {
			version.add(d.architecture.field, optional, &s.architectureAt)
		}
	}
	version.add(d.images.version, text, &s.versionAt)
	if d.flavors.path != "" {
		flavor.add(d.flavors.capabilities, reflect.TypeFor[v1beta1.Capabilities](), &s.capabilitiesAt)
		version.add(d.flavors.path, reflect.SliceOf(flavor.made()), &s.flavorsAt)
	}
	image.add(d.images.name, text, &s.nameAt)
	s.version = version.made()
	image.add(d.images.versions, reflect.SliceOf(s.version), &s.versionsAt)
	return image.made()
}
