// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/words"
)

// merged is a list that several files contribute to.
type merged[T any] struct {
	what string
	// key returns an item's identity; nil if all items are distinct.
	key   func(*T) string
	items []T
	index map[string]int
	// known reports whether a file has the list, even if it is empty.
	known bool
}

func (m *merged[T]) begin() { m.known = true }

// The functions begin of [kind], by list.
func beginImages(r *reading)      { r.images.begin() }
func beginTypes(r *reading)       { r.machineTypes.begin() }
func beginZones(r *reading)       { r.zones.begin() }
func beginVolumeTypes(r *reading) { r.volumeTypes.begin() }
func beginNetworks(r *reading)    { r.networks.begin() }
func beginProviders(r *reading)   { r.loadBalancerProviders.begin() }

// none reports whether a file has the list, and no file has an item of it in the region.
func (m *merged[T]) none() bool { return m.known && len(m.items) == 0 }

// add adds an item, or merges it into the earlier item with its key. It reports an error if both have different values.
func (m *merged[T]) add(i *item, value T) {
	m.known = true
	if m.key == nil {
		m.items = append(m.items, value)
		return
	}
	key := m.key(&value)
	at, found := m.index[key]
	if !found {
		if m.index == nil {
			m.index = map[string]int{}
		}
		m.index[key] = len(m.items)
		m.items = append(m.items, value)
		return
	}
	both, conflict := combine(m.items[at], value)
	if conflict != "" {
		i.source.wrong(i.offset, fmt.Sprintf("says of %s %s another %s than an earlier list; was the cloud asked twice? leave the older file out",
			m.what, words.Quoted(key), conflict))
		return
	}
	m.items[at] = both
}

// all returns the items: nil if no file has the list, and otherwise not nil.
func (m *merged[T]) all() []T {
	if m.known && m.items == nil {
		return []T{}
	}
	return m.items
}

// combine merges two values. If both set a field differently, it returns the field's path.
func combine[T any](a, b T) (both T, conflict string) {
	var fields [2]map[string]any
	for i, value := range []T{a, b} {
		text, _ := json.Marshal(value) // cannot fail for inventories
		_ = json.Unmarshal(text, &fields[i])
	}
	conflict = fill(fields[0], fields[1])
	text, _ := json.Marshal(fields[0])
	_ = json.Unmarshal(text, &both)
	return both, conflict
}

// fill adds the members of an object that another one lacks, and returns the path of the first member that differs; empty if none does.
func fill(to, from map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		has, found := to[name]
		inner, isObject := has.(map[string]any)
		more, both := from[name].(map[string]any)
		switch {
		case !found:
			to[name] = from[name]
		case isObject && both:
			if path := fill(inner, more); path != "" {
				return name + "." + path
			}
		case fmt.Sprint(has) != fmt.Sprint(from[name]):
			return name
		}
	}
	return ""
}

// zoned adds zones of a machine type.
func (r *reading) zoned(name string, zones []string) {
	r.typeZones[name] = append(r.typeZones[name], zones...)
}

// settleZones sets the zones of machine types. They stay unknown for types that no file mentions with zones.
func (r *reading) settleZones() {
	for i := range r.machineTypes.items {
		m := &r.machineTypes.items[i]
		if zones, known := r.typeZones[m.Name]; known {
			m.Zones = append([]string{}, zones...)
		}
	}
}

// same reports whether two names mean the same region: Azure also writes West Europe for westeurope.
func same(a, b string) bool { return plainRegion(a) == plainRegion(b) }

func plainRegion(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "")) }
