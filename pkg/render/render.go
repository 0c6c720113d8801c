// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package render merges the provider config of a NamespacedCloudProfile into that of its parent, as the status of the
// profile has it (semantics S11). Start reading at [Config].
package render

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/provider"
)

// Change is one operation of a JSON patch (RFC 6902).
type Change struct {
	// Op is "add" or "replace".
	Op string `json:"op"`
	// Path is a JSON pointer below the document that is changed; empty for the document as a whole.
	Path string `json:"path"`
	// Value is the new value.
	Value json.RawMessage `json:"value"`
}

// Config returns the changes that turn a provider config into that of a rendered NamespacedCloudProfile: its images and
// versions are added or replaced, and so are the entries of the lists of a [provider.ListExtender]. base is the parent's
// provider config, or one that has been rendered before; then what is rendered already is not changed again. What base has
// and the profile does not define keeps its place and its bytes; additions come after it, in the profile's order. Several
// entries of one version replace those of base one by one. Versions are converted to the parent's format, which
// capabilities, its spec.machineCapabilities, decide; one that has errors, or that the other format cannot express, stays
// as it is.
//
// There are no changes if the profile has no provider config, and one, the whole config, if base is nil or has no content.
// The error says that one of the two configs is not a JSON object with lists of images and versions, or that the profile's
// has one without a name. The arguments are not changed.
func Config[R any](
	cloud provider.Provider[R], capabilities []v1beta1.CapabilityDefinition, profile *v1beta1.NamespacedCloudProfile, base *runtime.RawExtension,
) ([]Change, error) {
	config := profile.Spec.ProviderConfig
	if !provider.HasContent(config) {
		return nil, nil
	}
	var lists []provider.List
	if extender, ok := cloud.(provider.ListExtender); ok {
		lists = extender.NamespacedLists()
	}
	own, err := read(config, lists)
	if err == nil {
		err = own.checkNames()
	}
	if err != nil {
		return nil, fmt.Errorf("spec.providerConfig: %w", err)
	}
	own.convert(consistency.ConvertNamespaced(cloud, capabilities, profile))
	own.unite()
	if !provider.HasContent(base) {
		whole, err := own.whole(config)
		return []Change{{Op: "add", Value: whole}}, err
	}
	rendered, err := read(base, lists)
	if err != nil {
		return nil, fmt.Errorf("the provider config of the parent: %w", err)
	}
	changes := rendered.merge(own)
	for i, list := range lists {
		changes = append(changes, mergeEntries("/"+list.Field, rendered.lists[i], own.lists[i])...)
	}
	return changes, nil
}

// Apply returns a provider config with the changes that [Config] returned for it. It may be nil; it is not changed, and
// returned as it is if there are none. The error says that they do not fit.
func Apply(changes []Change, config *runtime.RawExtension) (*runtime.RawExtension, error) {
	switch {
	case len(changes) == 0:
		return config, nil
	case changes[0].Path == "": // the whole config; the library cannot replace that
		return &runtime.RawExtension{Raw: changes[0].Value}, nil
	}
	operations, err := json.Marshal(changes)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		return nil, err
	}
	raw, err := patch.Apply(config.Raw)
	return &runtime.RawExtension{Raw: raw}, err
}

// merge returns the changes that put the images of own into d, in which every name is there once. Of d's images with one
// name the first counts.
func (d *document) merge(own *document) []Change {
	if len(d.images) == 0 {
		if len(own.images) == 0 {
			return nil
		}
		return []Change{{"add", "/machineImages", listOf(own.images)}}
	}
	var changes []Change
	for _, image := range own.images {
		if at := indexOf(d.images, image.key); at >= 0 {
			changes = append(changes, d.images[at].merge(image.versions, "/machineImages/"+strconv.Itoa(at)+"/versions")...)
		} else {
			changes = append(changes, Change{"add", "/machineImages/-", image.written()})
		}
	}
	return changes
}

// merge returns the changes that put versions into an image, whose versions stand at the pointer at. The first entry of a
// version replaces the first one that the image has, the second the second, and so on. If the image has more of them, the
// list is written anew without those.
func (e *entry) merge(own []entry, at string) []Change {
	if len(e.versions) == 0 && len(own) > 0 {
		return []Change{{"add", at, listOf(own)}}
	}
	replacements, used := map[string][]entry{}, map[string]int{}
	for _, v := range own {
		replacements[v.key] = append(replacements[v.key], v)
	}
	var changes []Change
	merged := make([]entry, 0, len(e.versions))
	for k, v := range e.versions {
		entries, n := replacements[v.key], used[v.key]
		if len(entries) > 0 && n == len(entries) {
			continue
		}
		if len(entries) > 0 {
			used[v.key]++
			if !sameJSON(v.raw, entries[n].raw) {
				v = entries[n]
				changes = append(changes, Change{"replace", at + "/" + strconv.Itoa(k), v.raw})
			}
		}
		merged = append(merged, v)
	}
	surplus := len(e.versions) > len(merged)
	for _, v := range own {
		if used[v.key] > 0 {
			used[v.key]--
			continue
		}
		merged = append(merged, v)
		changes = append(changes, Change{"add", at + "/-", v.raw})
	}
	if surplus {
		return []Change{{"replace", at, listOf(merged)}}
	}
	return changes
}

// mergeEntries returns the changes that put the entries of own into a list, which stands at the pointer at, by their keys. Of
// two with one key, which the check refuses, the first counts.
func mergeEntries(at string, list, own []entry) []Change {
	if len(list) == 0 && len(own) > 0 {
		return []Change{{"add", at, listOf(own)}}
	}
	index := make(map[string]int, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		index[list[i].key] = i
	}
	var changes []Change
	seen := make(map[string]bool, len(own))
	for _, e := range own {
		if seen[e.key] {
			continue
		}
		seen[e.key] = true
		switch i, found := index[e.key]; {
		case !found:
			changes = append(changes, Change{"add", at + "/-", e.raw})
		case !sameJSON(list[i].raw, e.raw):
			changes = append(changes, Change{"replace", at + "/" + strconv.Itoa(i), e.raw})
		}
	}
	return changes
}
