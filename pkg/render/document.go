// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// document holds the lists of a provider config that are merged. All providers list machine images under the same name, with nested
// versions.
type document struct {
	images []entry
	// end is the offset of the closing bracket of the images in the decoded document, or -1 if there is none, or several lists.
	end int
	// lists are those of a provider.ListExtender, in its order.
	lists [][]entry
}

// entry is an object in a list, identified by a key.
type entry struct {
	key string
	// versions are those of an image, empty for other entries.
	versions []entry
	// lists are the nested lists of an entry, in the order of the provider.ListExtender.
	lists [][]entry
	// raw is the entry as written, or nil if its versions have changed. In that case before is the entry as originally written.
	raw, before json.RawMessage
}

func read(config *runtime.RawExtension, lists []provider.List) (*document, error) {
	images, end, err := readImages(config.Raw)
	if err != nil {
		return nil, err
	}
	d := &document{images: images, end: end}
	if len(lists) == 0 {
		return d, nil
	}
	members, err := membersOf(config)
	if err != nil {
		return nil, err
	}
	d.lists, err = readLists(members, lists)
	return d, err
}

// readLists reads the given lists of an object, in their order.
func readLists(members map[string]json.RawMessage, lists []provider.List) ([][]entry, error) {
	read := make([][]entry, 0, len(lists))
	for _, list := range lists {
		entries, err := readList(members[list.Field], list)
		if err != nil {
			return nil, fmt.Errorf("%s%w", list.Field, err)
		}
		read = append(read, entries)
	}
	return read, nil
}

func membersOf(config *runtime.RawExtension) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(config.Raw, &members); err != nil {
		return nil, fmt.Errorf("not an object: %w", err)
	}
	return members, nil
}

// readList reads a list of objects and their nested lists. Each object must have a non-empty string under the list's key. The error
// continues a message that begins with the name of the list.
func readList(raw json.RawMessage, list provider.List) ([]entry, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var written []json.RawMessage
	if err := json.Unmarshal(raw, &written); err != nil {
		return nil, fmt.Errorf(": not a list: %w", err)
	}
	entries := make([]entry, 0, len(written))
	for i, raw := range written {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			return nil, fmt.Errorf(": [%d]: not an object: %w", i, err)
		}
		var name string
		if json.Unmarshal(members[list.Key], &name) != nil || name == "" {
			return nil, fmt.Errorf(": [%d]: no %s", i, list.Key)
		}
		within, err := readLists(members, list.Lists)
		if err != nil {
			return nil, fmt.Errorf("[%d].%w", i, err)
		}
		entries = append(entries, entry{key: name, raw: raw, lists: within})
	}
	return entries, nil
}

// checkNames requires that images and versions have names, because nobody can use them otherwise.
func (d *document) checkNames() error {
	for i, image := range d.images {
		if image.key == "" {
			return fmt.Errorf("machineImages[%d]: no name", i)
		}
		for k, version := range image.versions {
			if version.key == "" {
				return fmt.Errorf("machineImages[%d].versions[%d]: no version", i, k)
			}
		}
	}
	return nil
}

// convert replaces versions by their conversions, which are in the order of the document. Conversions for other lists than the images are
// ignored.
func (d *document) convert(conversions []profile.Conversion) {
	for _, c := range slices.Backward(conversions) {
		if c.Image >= len(d.images) || c.Version >= len(d.images[c.Image].versions) {
			continue
		}
		d.images[c.Image].change()
		versions := &d.images[c.Image].versions
		entries := make([]entry, 0, len(c.Entries))
		for _, members := range c.Entries {
			entries = append(entries, entry{key: (*versions)[c.Version].key, raw: marshal(members)})
		}
		*versions = slices.Replace(*versions, c.Version, c.Version+1, entries...)
	}
}

// unite moves the versions of images with the same name into the first of them.
func (d *document) unite() {
	var united []entry
	indices := map[string]int{}
	for _, image := range d.images {
		if at, found := indices[image.key]; !found {
			indices[image.key] = len(united)
			united = append(united, image)
		} else if len(image.versions) > 0 {
			united[at].versions = slices.Concat(united[at].versions, image.versions)
			united[at].change()
		}
	}
	d.images = united
}

// whole returns the config with the images of d.
func (d *document) whole(config *runtime.RawExtension) (json.RawMessage, error) {
	members, err := membersOf(config)
	if err != nil {
		return nil, err
	}
	if len(d.images) > 0 {
		members["machineImages"] = listOf(d.images)
	}
	return marshal(members), nil
}

// indicesOf returns the index of each key in a list. If a key occurs twice, the first entry wins.
func indicesOf(entries []entry) map[string]int {
	indices := make(map[string]int, len(entries))
	for i, e := range slices.Backward(entries) {
		indices[e.key] = i
	}
	return indices
}

// change marks an entry whose versions change.
func (e *entry) change() {
	if e.raw != nil {
		e.before, e.raw = e.raw, nil
	}
}

// written returns the entry as written. If its versions have changed, it returns the entry with these, and its other fields unchanged.
func (e entry) written() json.RawMessage {
	if e.raw != nil {
		return e.raw
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(e.before, &members) == nil && len(members) > 2 {
		members["versions"] = listOf(e.versions)
		return marshal(members)
	}
	return slices.Concat([]byte(`{"name":`), marshal(e.key), []byte(`,"versions":`), listOf(e.versions), []byte("}"))
}

// listOf writes a list without changing the bytes of its elements.
func listOf(entries []entry) json.RawMessage {
	raws := make([][]byte, 0, len(entries))
	for _, e := range entries {
		raws = append(raws, e.written())
	}
	return slices.Concat([]byte("["), bytes.Join(raws, []byte(",")), []byte("]"))
}

// marshal encodes a value that was decoded from JSON, so it cannot fail.
func marshal(value any) json.RawMessage {
	raw, _ := json.Marshal(value)
	return raw
}

// sameJSON reports whether two JSON values are equal, ignoring whitespace and the order of keys.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := exactly(a), exactly(b)
	return x != nil && equality.Semantic.DeepEqual(x, y)
}

// exactly decodes a JSON value, and keeps its numbers as written; nil if it is invalid.
func exactly(raw json.RawMessage) (value any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	return value
}
