// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"maps"
	"reflect"
	"slices"

	"github.com/capkit/capkit/pkg/fieldpath"
)

// Before says before which members of its mapping a new one goes, by its key, as [Insert] has it.
type Before map[string][]string

// Value returns the value at a path of JSON; nil if there is none.
func Value(object any, path fieldpath.Path) any {
	for _, step := range path {
		switch value := object.(type) {
		case map[string]any:
			object = value[step.Name]
		case []any:
			if step.Index < 0 || step.Index >= len(value) {
				return nil
			}
			object = value[step.Index]
		default:
			return nil
		}
	}
	return object
}

// Between returns the operations that make one value of another one, which is at a path. Entries of lists are the same if they say
// the same, or have the same name or version; those that stay do not change their order.
func Between(at fieldpath.Path, old, want any, before Before) (ops []Op) {
	was, isMapping := old.(map[string]any)
	is, staysMapping := want.(map[string]any)
	former, isList := old.([]any)
	items, staysList := want.([]any)
	switch {
	case same(old, want):
		return nil
	case isMapping && staysMapping && len(was) > 0 && len(is) > 0:
		return BetweenMembers(at, was, is, before)
	case isList && staysList && len(former) > 0 && len(items) > 0:
		return betweenLists(at, former, items, before)
	}
	return []Op{Replace(at, want)}
}

// BetweenMembers does so for some members of a mapping, of which one of the two may have none.
func BetweenMembers(at fieldpath.Path, old, want map[string]any, before Before) (ops []Op) {
	member := func(name string) fieldpath.Path {
		return append(slices.Clip(at), fieldpath.Segment{Name: name, Index: -1})
	}
	for _, name := range order(want) {
		if _, there := old[name]; !there {
			ops = append(ops, Insert(member(name), want[name], before[name]...))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if value, stays := want[name]; stays {
			ops = append(ops, Between(member(name), old[name], value, before)...)
		} else {
			ops = append(ops, Delete(member(name)))
		}
	}
	return ops
}

func betweenLists(at fieldpath.Path, old, want []any, before Before) (ops []Op) {
	item := func(i int) fieldpath.Path { return append(slices.Clip(at), fieldpath.Segment{Index: i}) }
	pairs, kept, next := pair(old, want), map[int]bool{}, 0
	for k, value := range want {
		i, found := pairs[k]
		if !found {
			ops = append(ops, Insert(item(next), value))
			continue
		}
		kept[i], next = true, i+1
		ops = append(ops, Between(item(i), old[i], value, before)...)
	}
	for i := range old {
		if !kept[i] {
			ops = append(ops, Delete(item(i)))
		}
	}
	return ops
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }

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

// pair finds the old entry of a list that each new one is, by their indices: one that says the same, or has the same identity,
// or, where nothing tells entries apart, stands where it stood.
func pair(old, want []any) map[int]int {
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
	match(same)
	match(func(a, b any) bool { return identity(a) != "" && identity(a) == identity(b) })
	match(func(a, b any) bool { return isMapping(a) && isMapping(b) && identity(a) == "" && identity(b) == "" })
	return pairs
}
