// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/capkit/capkit/pkg/fieldpath"
)

// Op is one change of an object, made by [Replace], [Rename], [Insert], [Delete] or [Unwrap]. Of several for one object, all have
// the paths and indices of the object as it was.
type Op struct {
	kind   kind
	at     fieldpath.Path
	value  any
	key    string
	before []string
	takes  map[string]Take
	order  []string
}

// Take is what is taken along of what is deleted, with its comments.
type Take struct {
	At   fieldpath.Path
	Part Part
}

// Part is what of a deleted member or item is taken along.
type Part int

const (
	// Whole takes the member or item as a whole, with its comments.
	Whole Part = iota
	// Key takes the line of the key of a list.
	Key
	// Source takes the text of a scalar, without comments.
	Source
)

type kind int

const (
	replacing kind = iota // in the order in which those at one path take effect
	unwrapping
	renaming
	deleting
	inserting
)

// At is the path of what it changes or adds, as it is before or then.
func (op Op) At() fieldpath.Path { return op.at }

// Replace gives the value at a path another one, as [encoding/json.Decoder] with UseNumber has it.
func Replace(at fieldpath.Path, value any) Op { return Op{kind: replacing, at: at, value: value} }

// Rename gives the member at a path another key.
func Rename(at fieldpath.Path, key string) Op { return Op{kind: renaming, at: at, key: key} }

// Insert adds a value that has this path then: a member, before the first one that has one of some keys, unless that is the first
// of all, and otherwise at the end; or an item, before the one that has the index, or at the end.
func Insert(at fieldpath.Path, value any, before ...string) Op {
	return Op{kind: inserting, at: at, value: value, before: before}
}

// Taking returns an [Insert] that takes text along, by the path of what is made of it, from the value that is inserted on. What is
// taken as a whole becomes what other operations make of it.
func (op Op) Taking(takes map[string]Take) Op {
	op.takes = takes
	return op
}

// InOrder returns the operation, with the names of members that come first in what it writes, in this order.
func (op Op) InOrder(names ...string) Op {
	op.order = names
	return op
}

// Delete removes the member or the item at a path.
func Delete(at fieldpath.Path) Op { return Op{kind: deleting, at: at} }

// Unwrap puts the value at a path in the place of the mapping of which it is the only member.
func Unwrap(at fieldpath.Path) Op { return Op{kind: unwrapping, at: at} }

// Decoded returns JSON as operations have it, with its numbers as they are written; nil if it is none.
func Decoded(raw []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	return value
}

// Result returns what JSON becomes by operations. It changes none of the JSON, and shares values with it.
func Result(value any, ops []Op) any {
	sorted := slices.Clone(ops)
	slices.SortStableFunc(sorted, func(a, b Op) int { return cmp.Or(slices.CompareFunc(a.at, b.at, compareSteps), int(b.kind-a.kind)) })
	for _, op := range slices.Backward(sorted) { // what is in a value before that, and later items before earlier ones
		value = op.in(value, op.at)
	}
	return value
}

func compareSteps(a, b fieldpath.Segment) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
}

// in returns what the operation makes of a value in which it has a path.
func (op Op) in(value any, at fieldpath.Path) any {
	if len(at) == 0 {
		return op.value
	}
	if at[0].IsIndex() {
		return op.inItems(slices.Clone(Items(value)), at)
	}
	members := maps.Clone(Members(value))
	if members == nil {
		members = map[string]any{}
	}
	name, last := at[0].Name, len(at) == 1
	switch {
	case last && op.kind == unwrapping:
		return members[name]
	case last && op.kind == deleting:
		delete(members, name)
	case last && op.kind == renaming:
		members[op.key] = members[name]
		delete(members, name)
	default:
		members[name] = op.in(members[name], at[1:])
	}
	return members
}

func (op Op) inItems(items []any, at fieldpath.Path) []any {
	i, last := at[0].Index, len(at) == 1
	switch {
	case last && op.kind == inserting:
		return slices.Insert(items, min(i, len(items)), op.value)
	case i >= len(items):
	case last && op.kind == deleting:
		return slices.Delete(items, i, i+1)
	default:
		items[i] = op.in(items[i], at[1:])
	}
	return items
}

// Members returns the members of an object of JSON; nil if the value is none.
func Members(value any) map[string]any {
	members, _ := value.(map[string]any)
	return members
}

// Items returns the items of a list of JSON; nil if the value is none.
func Items(value any) []any {
	items, _ := value.([]any)
	return items
}

// Value returns the value at a path of JSON; nil if there is none.
func Value(object any, path fieldpath.Path) any {
	for _, step := range path {
		if !step.IsIndex() {
			object = Members(object)[step.Name]
			continue
		}
		items := Items(object)
		if step.Index >= len(items) {
			return nil
		}
		object = items[step.Index]
	}
	return object
}
