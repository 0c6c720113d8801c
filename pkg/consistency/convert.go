// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// What a NamespacedCloudProfile defines is rendered in the format of its parent (semantics S11). The conversion works on
// raw JSON, guided by the paths that the provider gave to what it read there, so that it holds for all providers.

// convert replaces the versions of own that are in another format than the parent's. own is the config that p has
// compiled. A version stays as it is if it has errors, or if the other format cannot say the same.
func (p *Profile[R]) convert(own *rawConfig) {
	for i := range p.images {
		for k := range p.images[i].Versions {
			version := &p.images[i].Versions[k]
			image, raw := own.find(version.Path, p.at.Child("providerConfig"))
			if raw == nil || version.Legacy == p.vocabulary.Legacy() || p.unread.touches(version.Path) {
				continue
			}
			flavors, complete := p.agreedOn(p.images[i].Name, version)
			if !complete {
				continue
			}
			var converted json.RawMessage
			if version.Legacy {
				converted = p.toFlavors(raw.raw, p.images[i].Name, version, flavors)
			} else {
				converted = p.toLegacy(own, raw.raw, p.images[i].Name, version, flavors)
			}
			if converted != nil {
				raw.raw, image.changed = converted, true
			}
		}
	}
}

// agreedOn returns the flavors of a version that core agrees with, and whether these are all.
func (p *Profile[R]) agreedOn(image string, version *imageselector.Version[R]) ([]imageselector.Flavor[R], bool) {
	var agreed []imageselector.Flavor[R]
	paths := map[string]bool{}
	for _, flavor := range p.catalog.Flavors(image, version.Version) {
		if path := flavor.Path.String(); above(version.Path.String(), path) {
			agreed = append(agreed, flavor)
			paths[path] = true
		}
	}
	for i := range version.Flavors {
		if !paths[version.Flavors[i].Path.String()] {
			return nil, false
		}
	}
	return agreed, len(agreed) > 0
}

// written is a reference as it stands in a version: the member that holds it, and what it says. Regions stand in a list.
type written struct {
	member string
	value  any
	listed bool
}

// references returns the references of a flavor as they stand in a version, raw, whose path is at.
func references[R any](raw json.RawMessage, at *field.Path, flavor *imageselector.Flavor[R]) []written {
	var tree any
	if json.Unmarshal(raw, &tree) != nil {
		return nil
	}
	paths := make([]*field.Path, 0, len(flavor.Regional)+1)
	for i := range flavor.Regional {
		paths = append(paths, flavor.Regional[i].Path)
	}
	if flavor.Global != nil {
		paths = append(paths, flavor.Global.Path)
	}
	refs := make([]written, 0, len(paths))
	for _, path := range paths {
		segments := split(strings.TrimPrefix(path.String(), at.String()))
		value, found := tree, len(segments) > 0
		for _, segment := range segments {
			value, found = lookUp(value, segment)
		}
		if !found {
			return nil
		}
		w := written{member: strings.TrimPrefix(segments[len(segments)-1], "."), value: value}
		if isIndex(segments[len(segments)-1]) && len(segments) > 1 {
			w.member, w.listed = strings.TrimPrefix(segments[len(segments)-2], "."), true
		}
		refs = append(refs, w)
	}
	return refs
}

func split(path string) []string {
	var segments []string
	for path != "" {
		var segment string
		segment, path = cutSegment(path)
		segments = append(segments, segment)
	}
	return segments
}

// put writes references into an object. architecture, if not empty, is written into the elements of lists; else theirs is
// removed. It returns false if two references would stand in one place.
func put(object map[string]any, refs []written, architecture string) bool {
	for _, ref := range refs {
		if !ref.listed {
			if present, found := object[ref.member]; found && !reflect.DeepEqual(present, ref.value) {
				return false
			}
			object[ref.member] = ref.value
			continue
		}
		region, ok := ref.value.(map[string]any)
		if !ok {
			return false
		}
		region = maps.Clone(region)
		delete(region, capability.Architecture)
		if architecture != "" {
			region[capability.Architecture] = architecture
		}
		present, _ := object[ref.member].([]any)
		object[ref.member] = append(present, region)
	}
	return true
}

// toFlavors writes a legacy version with capabilityFlavors, one for each of flavors; nil if that is not possible, or if
// core lists others: one flavor, say, that leaves out its architecture, for images of several.
func (p *Profile[R]) toFlavors(raw json.RawMessage, image string, version *imageselector.Version[R], flavors []imageselector.Flavor[R]) json.RawMessage {
	core := p.coreOf(imageVersion{image, version.Version})
	converted := make([]any, 0, len(flavors))
	for i := range flavors {
		set, _ := p.vocabulary.Flavor(flavors[i].Capabilities, core.undeclared, nil)
		if _, listed := core.bySet[set]; !listed {
			return nil
		}
		object := map[string]any{}
		if len(flavors[i].Capabilities) > 0 {
			object["capabilities"] = flavors[i].Capabilities
		}
		refs := references(raw, version.Path, &flavors[i])
		if len(refs) == 0 || !put(object, refs, "") {
			return nil
		}
		converted = append(converted, object)
	}
	return marshal(map[string]any{"version": version.Version, "capabilityFlavors": converted})
}

// coreOf returns the core flavors of an image version.
func (p *Profile[R]) coreOf(id imageVersion) *correspondence[R] {
	if version := p.core[id]; version != nil {
		return p.newCorrespondence(id.image, version, p.at)
	}
	return &correspondence[R]{}
}

// toLegacy writes a version of own with capabilityFlavors in the legacy format; nil if that would not say the same. Whether it
// does the provider tells, by reading it.
func (p *Profile[R]) toLegacy(own *rawConfig, raw json.RawMessage, image string, version *imageselector.Version[R], flavors []imageselector.Flavor[R]) json.RawMessage {
	if p.saysMore(image, version) {
		return nil
	}
	object := map[string]any{"version": version.Version}
	for i := range flavors {
		refs := references(raw, version.Path, &flavors[i])
		if len(refs) == 0 || !put(object, refs, architectureOf(flavors[i].Capabilities)) {
			return nil
		}
	}
	converted := marshal(object)
	if !p.saysTheSame(own, converted, flavors) {
		return nil
	}
	return converted
}

// saysMore tells whether a flavor says something by a capability of Gardener, for which the legacy format has no place. The
// parent registers no other ones.
func (p *Profile[R]) saysMore(image string, version *imageselector.Version[R]) bool {
	undeclared := p.coreOf(imageVersion{image, version.Version}).undeclared
	return slices.ContainsFunc(version.Flavors, func(f imageselector.Flavor[R]) bool {
		set, _ := p.vocabulary.Flavor(f.Capabilities, undeclared, nil)
		without, _ := p.vocabulary.Flavor(carriedOf(p.vocabulary, f.Capabilities, nil), undeclared, nil)
		return set != without
	})
}

func architectureOf(capabilities v1beta1.Capabilities) string {
	if values := capabilities[capability.Architecture]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// saysTheSame tells whether the provider reads a legacy version as flavors with the references of those given.
func (p *Profile[R]) saysTheSame(own *rawConfig, version json.RawMessage, flavors []imageselector.Flavor[R]) bool {
	image := marshal(map[string]any{"name": "image", "versions": []json.RawMessage{version}})
	config := marshal(map[string]any{"apiVersion": own.members["apiVersion"], "kind": own.members["kind"], "machineImages": []json.RawMessage{image}})
	read, report := p.provider.CloudProfileConfig(&runtime.RawExtension{Raw: config}, field.NewPath("converted"))
	if len(report.Errors) > 0 || len(read.Images) != 1 || len(read.Images[0].Versions) != 1 {
		return false
	}
	legacy := read.Images[0].Versions[0].Flavors
	return !slices.ContainsFunc(flavors, func(f imageselector.Flavor[R]) bool {
		at := slices.IndexFunc(legacy, func(r imageselector.Flavor[R]) bool {
			architectures := r.Capabilities[capability.Architecture]
			return len(architectures) == 0 || slices.Contains(architectures, architectureOf(f.Capabilities))
		})
		return at < 0 || !sameReferences(&legacy[at], &f)
	})
}

func sameReferences[R any](a, b *imageselector.Flavor[R]) bool {
	if (a.Global == nil) != (b.Global == nil) || a.Global != nil && !reflect.DeepEqual(a.Global.Ref, b.Global.Ref) {
		return false
	}
	return slices.EqualFunc(a.Regional, b.Regional, func(x, y imageselector.Regional[R]) bool {
		return x.Region == y.Region && reflect.DeepEqual(x.Ref, y.Ref)
	})
}

// marshal writes what consists of JSON values, and so cannot fail.
func marshal(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return raw
}
