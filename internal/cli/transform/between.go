// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"maps"
	"reflect"
	"slices"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/pkg/fieldpath"
)

// Before says before which members of its mapping a new one goes, by its key, as [edit.Insert] has it.
type Before map[string][]string

// Between returns the operations that make one value of another one, which is at a path. Entries of lists are the same if they say
// the same, or have the same name or version; those that stay do not change their order.
func Between(at fieldpath.Path, old, want any, before Before) (ops []edit.Op) {
	was, isMapping := old.(map[string]any)
	is, staysMapping := want.(map[string]any)
	former, isList := old.([]any)
	items, staysList := want.([]any)
	switch {
	case reflect.DeepEqual(old, want):
		return nil
	case isMapping && staysMapping && len(was) > 0 && len(is) > 0:
		return betweenMembers(at, was, is, before)
	case isList && staysList && len(former) > 0 && len(items) > 0:
		return betweenLists(at, former, items, before)
	}
	return []edit.Op{edit.Replace(at, want)}
}

// betweenMembers does so for some members of a mapping, of which one of the two may have none.
func betweenMembers(at fieldpath.Path, old, want map[string]any, before Before) (ops []edit.Op) {
	member := func(name string) fieldpath.Path {
		return append(slices.Clip(at), fieldpath.Segment{Name: name, Index: -1})
	}
	for _, name := range edit.Order(want) {
		if _, there := old[name]; !there {
			ops = append(ops, edit.Insert(member(name), want[name], before[name]...))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if value, stays := want[name]; stays {
			ops = append(ops, Between(member(name), old[name], value, before)...)
		} else {
			ops = append(ops, edit.Delete(member(name)))
		}
	}
	return ops
}

func betweenLists(at fieldpath.Path, old, want []any, before Before) (ops []edit.Op) {
	item := func(i int) fieldpath.Path { return append(slices.Clip(at), fieldpath.Segment{Index: i}) }
	pairs, kept, next := entriesOf(old, want), map[int]bool{}, 0
	for k, value := range want {
		i, found := pairs[k]
		if !found {
			ops = append(ops, edit.Insert(item(next), value))
			continue
		}
		kept[i], next = true, i+1
		ops = append(ops, Between(item(i), old[i], value, before)...)
	}
	for i := range old {
		if !kept[i] {
			ops = append(ops, edit.Delete(item(i)))
		}
	}
	return ops
}

// identities are the members that tell the entries of a list apart.
var identities = []string{"name", "version"}

// identity returns what tells an entry apart from others in its list; empty if nothing does.
func identity(value any) string {
	members, _ := value.(map[string]any)
	for _, name := range identities {
		if text, isText := members[name].(string); isText {
			return name + " " + text
		}
	}
	return ""
}

// entriesOf finds the old entry of a list that each new one is, by their indices: one that says the same, or has the same identity,
// or, where nothing tells entries apart, stands where it stood.
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
		return mapping(a) != nil && mapping(b) != nil && identity(a) == "" && identity(b) == ""
	})
	return pairs
}
