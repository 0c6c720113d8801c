// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package render merges the provider config of a NamespacedCloudProfile into that of its parent, as the status of the
// profile has it (semantics S11). Start reading at [Config].
package render

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
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
// versions are added or replaced, and so are the entries of the lists of a [provider.ListExtender], and of lists within these. base is the parent's
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
	cloud provider.Provider[R], capabilities []v1beta1.CapabilityDefinition, object *v1beta1.NamespacedCloudProfile, base *runtime.RawExtension,
) ([]Change, error) {
	changes, _, err := configOf(cloud, capabilities, object, base)
	return changes, err
}

// Merged returns base with the changes that [Config] returns, as [Apply] makes them. If all that is new are images, as mostly, it goes
// through base only once. It is base itself if there are no changes.
func Merged[R any](
	cloud provider.Provider[R], capabilities []v1beta1.CapabilityDefinition, object *v1beta1.NamespacedCloudProfile, base *runtime.RawExtension,
) (*runtime.RawExtension, error) {
	changes, end, err := configOf(cloud, capabilities, object, base)
	if err != nil {
		return nil, err
	}
	another := func(change Change) bool { return change.Path != "/machineImages/-" }
	if end < 0 || len(changes) == 0 || slices.ContainsFunc(changes, another) {
		return Apply(changes, base)
	}
	size := len(base.Raw)
	for _, change := range changes {
		size += len(",") + len(change.Value)
	}
	raw := append(make([]byte, 0, size), base.Raw[:end]...)
	for _, change := range changes {
		raw = append(append(raw, ','), change.Value...) // there are others before it
	}
	return &runtime.RawExtension{Raw: append(raw, base.Raw[end:]...)}, nil
}

// configOf is [Config]. It also returns where the list of images of base ends; -1 if that is not one place.
func configOf[R any](
	cloud provider.Provider[R], capabilities []v1beta1.CapabilityDefinition, object *v1beta1.NamespacedCloudProfile, base *runtime.RawExtension,
) (changes []Change, end int, err error) {
	config := object.Spec.ProviderConfig
	if !providerconfig.HasContent(config) {
		return nil, -1, nil
	}
	var lists []provider.List
	if extender, ok := provider.As[provider.ListExtender](cloud); ok {
		lists = extender.NamespacedLists()
	}
	own, err := read(config, lists)
	if err == nil {
		err = own.checkNames()
	}
	if err != nil {
		return nil, -1, fmt.Errorf("spec.providerConfig: %w", err)
	}
	own.convert(profile.ConvertNamespaced(cloud, capabilities, object))
	own.unite()
	if !providerconfig.HasContent(base) {
		whole, err := own.whole(config)
		return []Change{{Op: "add", Value: whole}}, -1, err
	}
	rendered, err := read(base, lists)
	if err != nil {
		return nil, -1, fmt.Errorf("the provider config of the parent: %w", err)
	}
	changes = merge("/machineImages", rendered.images, own.images, func(at string, there, own entry) []Change {
		return mergeVersions(at+"/versions", there.versions, own.versions)
	})
	return append(changes, mergeLists("", lists, rendered.lists, own.lists)...), rendered.end, nil
}

// mergeLists returns the changes that put the entries of lists into those of an object, which stands at the pointer at. An entry in
// which lists are merged keeps all else that it has; any other is replaced.
func mergeLists(at string, lists []provider.List, there, own [][]entry) (changes []Change) {
	for i, list := range lists {
		change := replace
		if len(list.Lists) > 0 {
			change = func(at string, there, own entry) []Change { return mergeLists(at, list.Lists, there.lists, own.lists) }
		}
		changes = append(changes, merge(at+"/"+list.Field, there[i], own[i], change)...)
	}
	return changes
}

// Apply returns a provider config with the changes that [Config] returned for it. It may be nil; it is not changed, and
// returned as it is if there are none. What they do not change keeps its bytes, unless the config has a member twice. The error says
// that they do not fit.
func Apply(changes []Change, config *runtime.RawExtension) (*runtime.RawExtension, error) {
	switch {
	case len(changes) == 0:
		return config, nil
	case changes[0].Path == "": // the whole config; the library cannot replace that
		return &runtime.RawExtension{Raw: changes[0].Value}, nil
	case !providerconfig.HasContent(config): // the library takes whatever it is given for applied
		config = &runtime.RawExtension{Raw: []byte("{}")}
	}
	if raw, spliced := splice(changes, config.Raw); spliced {
		return &runtime.RawExtension{Raw: raw}, nil
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

// merge returns the changes that put the entries of own into a list, which stands at the pointer at, by their keys.
// change returns those for an entry that is there already. Of two with one key the first counts.
func merge(at string, list, own []entry, change func(at string, there, own entry) []Change) []Change {
	if len(list) == 0 && len(own) > 0 {
		return []Change{{"add", at, listOf(own)}}
	}
	there, firsts := indicesOf(list), indicesOf(own)
	var changes []Change
	for i, e := range own {
		switch k, found := there[e.key]; {
		case firsts[e.key] != i: // which the check refuses
		case !found:
			changes = append(changes, Change{"add", at + "/-", e.written()})
		default:
			changes = append(changes, change(at+"/"+strconv.Itoa(k), list[k], e)...)
		}
	}
	return changes
}

// replace puts an entry in the place of another one, unless that says the same.
func replace(at string, there, own entry) []Change {
	if sameJSON(there.raw, own.raw) {
		return nil
	}
	return []Change{{"replace", at, own.raw}}
}

// mergeVersions returns the changes that put versions into those of an image, which stand at the pointer at. The first
// entry of a version replaces the first one that the image has, the second the second, and so on. If the image has more
// of them, the list is written anew without those.
func mergeVersions(at string, list, own []entry) []Change {
	if len(list) == 0 && len(own) > 0 {
		return []Change{{"add", at, listOf(own)}}
	}
	replacements, used := map[string][]entry{}, map[string]int{}
	for _, v := range own {
		replacements[v.key] = append(replacements[v.key], v)
	}
	var changes []Change
	merged := make([]entry, 0, len(list))
	for k, v := range list {
		entries, n := replacements[v.key], used[v.key]
		if len(entries) > 0 && n == len(entries) {
			continue
		}
		if len(entries) > 0 {
			used[v.key]++
			if change := replace(at+"/"+strconv.Itoa(k), v, entries[n]); len(change) > 0 {
				v, changes = entries[n], append(changes, change...)
			}
		}
		merged = append(merged, v)
	}
	surplus := len(list) > len(merged)
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
