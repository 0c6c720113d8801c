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

// spare is a member or an item that is deleted, of which what is new can be made, so that it keeps its text and its comments.
type spare struct {
	at    fieldpath.Path
	value any
	// used is set once it is made into something, and keyUsed once the key of a list is.
	used, keyUsed bool
}

// collect adds a member or item, and everything in it, to what is deleted.
func collect(spares []*spare, at fieldpath.Path, value any) []*spare {
	if !at[len(at)-1].IsIndex() || edit.Members(value) != nil {
		spares = append(spares, &spare{at: at, value: value})
	}
	members := edit.Members(value)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		spares = collect(spares, Member(at, name), members[name])
	}
	for i, own := range edit.Items(value) {
		spares = collect(spares, Item(at, i), own)
	}
	return spares
}

// take returns the first spare that fits, those of the innermost mapping or list first, and those that are not used before others;
// nil if there is none.
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

// use notes that a spare is used, with everything in it.
func (d *differ) use(used *spare) {
	for _, spares := range d.spares {
		for _, s := range spares {
			s.used = s.used || len(s.at) >= len(used.at) && slices.Equal(s.at[:len(used.at)], used.at)
		}
	}
}

// insert adds a value, made of spares where it can be.
func (d *differ) insert(at fieldpath.Path, value any, before ...string) {
	takes := map[string]edit.Take{}
	if last := at[len(at)-1]; last.IsIndex() {
		d.makeItem(value, "", takes)
	} else {
		d.makeMember(last.Name, value, "", takes)
	}
	d.add(edit.Insert(at, value, before...).Taking(takes))
}

// makeMember finds what a member with a value is made of, at a path in what is inserted.
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

// makeItem makes an item from a deleted one, if members are either deleted from it or added to it, but not both.
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

// within reports whether a mapping has all members of another one, which is not empty.
func within(members, of map[string]any) bool {
	for name, value := range members {
		if other, there := of[name]; !there || !reflect.DeepEqual(value, other) {
			return false
		}
	}
	return len(members) > 0
}
