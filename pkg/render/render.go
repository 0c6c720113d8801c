// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package render merges the provider config of a NamespacedCloudProfile into its parent's, for the status of the NamespacedCloudProfile
// (semantics S11). Start reading at [Config].
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
	// Path is a JSON pointer into the changed document; empty for the whole document.
	Path string `json:"path"`
	// Value is the new value. It may share the bytes of the NamespacedCloudProfile's provider config.
	Value json.RawMessage `json:"value"`
}

// Config returns the changes that turn a provider config into that of a rendered NamespacedCloudProfile. They add or replace its images and
// versions, the entries of the lists of a [provider.ListExtender], and the entries of nested lists. base is the parent's provider config or
// an already rendered one, whose rendered parts are not changed again.
//
// Entries of base that the profile does not define keep their place and their bytes. New entries follow them, in the profile's order.
// Several entries of one version replace those of base one by one. Versions are converted to the parent's format, which follows from
// capabilities, its spec.machineCapabilities. A version with errors, or one that the other format cannot express, is not converted.
//
// There are no changes if the profile has no provider config. If base is nil or empty, a single change adds the whole config. The error
// says that one of the configs is not a JSON object with lists of images and versions, or that the profile's has one without a name. The
// arguments are not modified.
func Config[R any](
	cloud provider.Provider[R], capabilities []v1beta1.CapabilityDefinition, object *v1beta1.NamespacedCloudProfile, base *runtime.RawExtension,
) ([]Change, error) {
	changes, _, err := configOf(cloud, capabilities, object, base)
	return changes, err
}

// Merged returns base with the changes of [Config], like [Apply]. If the changes only add images, which is the usual case, it reads base
// only once. It returns base itself if there are no changes.
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
		raw = append(append(raw, ','), change.Value...) // the list has other images
	}
	return &runtime.RawExtension{Raw: append(raw, base.Raw[end:]...)}, nil
}

// configOf is like [Config], and also returns the offset of the end of base's list of images, or -1 if base does not have exactly one.
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

// mergeLists returns the changes that merge the entries of lists into an object at the pointer at. An entry with nested lists keeps its
// other fields. Any other entry is replaced.
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

// Apply returns a provider config with the changes that [Config] returned for it. config may be nil. It is not modified, and is returned
// itself if there are no changes. Unchanged parts keep their bytes, unless the config has a duplicate member. The error says that the
// changes do not match the config.
func Apply(changes []Change, config *runtime.RawExtension) (*runtime.RawExtension, error) {
	switch {
	case len(changes) == 0:
		return config, nil
	case changes[0].Path == "": // the library cannot replace the whole config
		return &runtime.RawExtension{Raw: changes[0].Value}, nil
	case !providerconfig.HasContent(config): // the library treats everything it is given as applied
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

// merge returns the changes that merge the entries of own by key into a list at the pointer at. change returns the changes for an existing
// entry. If a key occurs twice, the first entry wins.
func merge(at string, list, own []entry, change func(at string, there, own entry) []Change) []Change {
	if len(list) == 0 && len(own) > 0 {
		return []Change{{"add", at, listOf(own)}}
	}
	there, firsts := indicesOf(list), indicesOf(own)
	var changes []Change
	for i, e := range own {
		switch k, found := there[e.key]; {
		case firsts[e.key] != i: // the check rejects duplicates
		case !found:
			changes = append(changes, Change{"add", at + "/-", e.written()})
		default:
			changes = append(changes, change(at+"/"+strconv.Itoa(k), list[k], e)...)
		}
	}
	return changes
}

// replace replaces an entry by another one, unless both are equal.
func replace(at string, there, own entry) []Change {
	if sameJSON(there.raw, own.raw) {
		return nil
	}
	return []Change{{"replace", at, own.raw}}
}

// mergeVersions returns the changes that merge versions into those of an image, at the pointer at. The entries of a version replace the
// image's entries of that version one by one, in order. If the image has more of them, the whole list is replaced, without the surplus.
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
