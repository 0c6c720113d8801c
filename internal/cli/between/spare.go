// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package between

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/pkg/fieldpath"
)

// spare is a deleted member or item that new content can reuse, to keep its text and comments.
type spare struct {
	at    fieldpath.Path
	value any
	// used is set once the value is reused, keyUsed once a list's key is.
	used, keyUsed bool
}

// collect adds a deleted member or item, and its contents, to the spares. It skips scalar items.
func collect(spares []*spare, at fieldpath.Path, value any) []*spare {
	if !at[len(at)-1].IsIndex() || edit.Members(value) != nil {
		spares = append(spares, &spare{at: at, value: value})
	}
	members := edit.Members(value)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		spares = collect(spares, at.Child(name), members[name])
	}
	for i, own := range edit.Items(value) {
		spares = collect(spares, at.Index(i), own)
	}
	return spares
}

// take returns the first spare that fits, or nil. It prefers unused spares, and then the innermost mapping or list.
func (d *differ) take(fits func(*spare) bool) *spare {
	for _, used := range []bool{false, true} {
		for _, spares := range slices.Backward(d.spares) {
			for _, s := range spares {
				if s.used == used && fits(s) {
					return s
				}
			}
		}
	}
	return nil
}

// use marks a spare and its contents as used.
func (d *differ) use(used *spare) {
	for _, spares := range d.spares {
		for _, s := range spares {
			s.used = s.used || len(s.at) >= len(used.at) && slices.Equal(s.at[:len(used.at)], used.at)
		}
	}
}

// insert adds the insertion of a value, reusing spares where possible.
func (d *differ) insert(at fieldpath.Path, value any, before ...string) {
	takes := map[string]edit.Take{}
	if last := at[len(at)-1]; last.IsIndex() {
		d.makeItem(value, "", takes)
	} else {
		d.makeMember(last.Name, value, "", takes)
	}
	d.add(edit.Insert(at, value, before...).Taking(takes))
}

// makeMember finds the spares that a member with a value can reuse. path is its place in the inserted value.
func (d *differ) makeMember(name string, value any, path string, takes map[string]edit.Take) {
	named := func(s *spare) bool { return s.at[len(s.at)-1].Name == name }
	whole := d.take(func(s *spare) bool { return named(s) && reflect.DeepEqual(s.value, value) })
	items := edit.Items(value)
	switch {
	case whole != nil && !whole.used:
		takes[path] = edit.Take{At: whole.at, Part: edit.Whole}
		d.use(whole)
	case edit.Members(value) != nil:
		d.makeMembers(edit.Members(value), path, takes)
	case len(items) > 0 && edit.Members(items[0]) != nil:
		key := d.take(func(s *spare) bool { return named(s) && !s.used && !s.keyUsed && len(edit.Items(s.value)) > 0 })
		if key != nil {
			takes[path] = edit.Take{At: key.at, Part: edit.Key}
			key.keyUsed = true
		}
		for i, item := range items {
			d.makeItem(item, fmt.Sprintf("%s[%d]", path, i), takes)
		}
	case whole != nil:
		takes[path] = edit.Take{At: whole.at, Part: edit.Source}
	}
}

func (d *differ) makeMembers(members map[string]any, path string, takes map[string]edit.Take) {
	for _, name := range edit.Order(members) {
		d.makeMember(name, members[name], path+"."+name, takes)
	}
}

// makeItem reuses a deleted item if this only deletes members from it or only adds members to it.
func (d *differ) makeItem(value any, path string, takes map[string]edit.Take) {
	members := edit.Members(value)
	former := d.take(func(s *spare) bool {
		old := edit.Members(s.value)
		return s.at[len(s.at)-1].IsIndex() && !s.used && (within(members, old) || within(old, members))
	})
	if former == nil {
		d.makeMembers(members, path, takes)
		return
	}
	takes[path] = edit.Take{At: former.at, Part: edit.Whole}
	d.members(former.at, edit.Members(former.value), members)
	d.use(former)
}

// within reports whether a mapping is not empty, and another one has all its members.
func within(members, of map[string]any) bool {
	for name, value := range members {
		if other, there := of[name]; !there || !reflect.DeepEqual(value, other) {
			return false
		}
	}
	return len(members) > 0
}
