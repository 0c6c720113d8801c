// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package between computes the edit operations that turn one manifest into another. New content reuses deleted
// content where possible, to keep its text and comments (spare.go). Start reading at [Operations]. The package is
// pure, does not modify its arguments, and is safe for concurrent use.
package between

import (
	"maps"
	"reflect"
	"slices"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/fieldpath"
)

// Before maps a new mapping member's key to the members it is inserted before, as in [edit.Insert].
type Before map[string][]string

// Operations returns the operations that turn old, the value at a path, into want. List entries match if they are equal, or
// have the same name or version; matched entries keep their order. New content reuses surrounding deleted content where it is
// equal. Capability names in the first and second texts of GEP-0054 are equivalent, for mapping members and list entries.
func Operations(at fieldpath.Path, old, want any, before Before) []edit.Op {
	d := &differ{before: before}
	d.values(at, old, want)
	return d.ops
}

// differ collects operations.
type differ struct {
	before Before
	ops    []edit.Op
	// spares are the deleted values in each enclosing mapping or list, the innermost last.
	spares [][]*spare
}

func (d *differ) add(op edit.Op) { d.ops = append(d.ops, op) }

func (d *differ) values(at fieldpath.Path, old, want any) {
	was, isMapping := old.(map[string]any)
	is, staysMapping := want.(map[string]any)
	former, isList := old.([]any)
	items, staysList := want.([]any)
	switch {
	case reflect.DeepEqual(old, want):
	case isMapping && staysMapping && len(was) > 0 && len(is) > 0:
		d.members(at, was, is)
	case isList && staysList && len(former) > 0 && len(items) > 0:
		d.items(at, former, items)
	default:
		d.add(edit.Replace(at, want))
	}
}

// members adds the operations that turn one mapping's members into another's. Either mapping may be empty.
func (d *differ) members(at fieldpath.Path, old, want map[string]any) {
	var gone []*spare
	names, renamed := slices.Sorted(maps.Keys(old)), renames(old, want)
	for _, name := range names {
		if _, stays := want[name]; !stays && renamed[texts.Canonical(name)] != name {
			gone = collect(gone, at.Child(name), old[name])
		}
	}
	d.spares = append(d.spares, gone)
	for _, name := range edit.Order(want) {
		if _, there := old[name]; !there && renamed[name] == "" {
			d.insert(at.Child(name), want[name], d.before[name]...)
		}
	}
	for _, name := range names {
		if value, stays := want[name]; stays {
			d.values(at.Child(name), old[name], value)
		} else if now := texts.Canonical(name); renamed[now] == name {
			d.add(edit.Rename(at.Child(name), now))
			d.values(at.Child(name), old[name], want[now])
		} else {
			d.add(edit.Delete(at.Child(name)))
		}
	}
	d.spares = d.spares[:len(d.spares)-1]
}

// renames maps the new names of a mapping's renamed members to their old names.
func renames(old, want map[string]any) map[string]string {
	renamed := map[string]string{}
	for name := range old {
		_, stays := want[name]
		now := texts.Canonical(name)
		if _, there := want[now]; there && !stays && old[now] == nil {
			renamed[now] = name
		}
	}
	return renamed
}

func (d *differ) items(at fieldpath.Path, old, want []any) {
	pairs, kept, next := entriesOf(old, want), map[int]bool{}, 0
	for _, i := range pairs {
		kept[i] = true
	}
	var gone []*spare
	for i := range old {
		if !kept[i] {
			gone = collect(gone, at.Index(i), old[i])
		}
	}
	d.spares = append(d.spares, gone)
	for k, value := range want {
		i, found := pairs[k]
		if !found {
			d.insert(at.Index(next), value)
			continue
		}
		next = i + 1
		d.values(at.Index(i), old[i], value)
	}
	for i := range old {
		if !kept[i] {
			d.add(edit.Delete(at.Index(i)))
		}
	}
	d.spares = d.spares[:len(d.spares)-1]
}

// identities are the members that identify a list's entries.
var identities = []string{"name", "version"}

// identity returns a key that distinguishes an entry in its list; empty if it has none.
func identity(value any) string {
	members := edit.Members(value)
	for _, name := range identities {
		if text, isText := members[name].(string); isText {
			return name + " " + texts.Canonical(text)
		}
	}
	return ""
}

// entriesOf matches the new entries of a list with old ones, and maps their indices. Entries match if they are equal,
// or have the same identity. Mappings without an identity match in their order.
func entriesOf(old, want []any) map[int]int {
	pairs, taken := map[int]int{}, make([]bool, len(old))
	match := func(fits func(old, want any) bool) {
		for k := range want {
			if _, done := pairs[k]; done {
				continue
			}
			for i := range old {
				if !taken[i] && fits(old[i], want[k]) {
					pairs[k], taken[i] = i, true
					break
				}
			}
		}
	}
	match(reflect.DeepEqual)
	match(func(a, b any) bool { return identity(a) != "" && identity(a) == identity(b) })
	match(func(a, b any) bool {
		return edit.Members(a) != nil && edit.Members(b) != nil && identity(a) == "" && identity(b) == ""
	})
	return pairs
}
