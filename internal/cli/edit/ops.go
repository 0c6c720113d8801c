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

// Op is one change of an object, made by [Replace], [Rename], [Insert], [Delete] or [Unwrap]. The paths and indices
// of all operations on an object refer to the original object.
type Op struct {
	kind   kind
	at     fieldpath.Path
	value  any
	key    string
	before []string
	takes  map[string]Take
	order  []string
}

// Take is a part of deleted content that new content reuses, with its comments.
type Take struct {
	At   fieldpath.Path
	Part Part
}

// Part is the reused part of a deleted member or item.
type Part int

const (
	// Whole reuses the member or item with its comments.
	Whole Part = iota
	// Key reuses the line with the key of a list.
	Key
	// Source reuses the text of a scalar, without comments.
	Source
)

type kind int

const (
	replacing kind = iota // in the order in which operations at one path take effect
	unwrapping
	renaming
	deleting
	inserting
)

// At returns the path of the changed value, or of the inserted one.
func (op Op) At() fieldpath.Path { return op.at }

// Replace replaces the value at a path. The value is as decoded by [encoding/json.Decoder] with UseNumber.
func Replace(at fieldpath.Path, value any) Op { return Op{kind: replacing, at: at, value: value} }

// Rename changes the key of the member at a path.
func Rename(at fieldpath.Path, key string) Op { return Op{kind: renaming, at: at, key: key} }

// Insert inserts a value at a path. A member goes before the first member with one of the keys in before; if there is
// none, or it is the first of the mapping, at the end. An item goes before the one with its index, or at the end.
func Insert(at fieldpath.Path, value any, before ...string) Op {
	return Op{kind: inserting, at: at, value: value, before: before}
}

// Taking returns an [Insert] that reuses deleted text. The keys are paths of the new content, relative to the
// inserted value. Content that is reused as a whole includes the effects of other operations on it.
func (op Op) Taking(takes map[string]Take) Op {
	op.takes = takes
	return op
}

// InOrder returns the operation with the names of members that come first in the text it writes, in this order.
func (op Op) InOrder(names ...string) Op {
	op.order = names
	return op
}

// Delete removes the member or the item at a path.
func Delete(at fieldpath.Path) Op { return Op{kind: deleting, at: at} }

// Unwrap replaces a mapping by the value of its only member, which is at the path.
func Unwrap(at fieldpath.Path) Op { return Op{kind: unwrapping, at: at} }

// Decoded decodes JSON to the values of operations, and preserves the notation of numbers; nil if it is invalid.
func Decoded(raw []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	return value
}

// Result returns the result of operations on a decoded JSON value. It does not modify the value, but the result shares parts of it.
func Result(value any, ops []Op) any {
	sorted := slices.Clone(ops)
	slices.SortStableFunc(sorted, func(a, b Op) int { return cmp.Or(slices.CompareFunc(a.at, b.at, compareSteps), int(b.kind-a.kind)) })
	for _, op := range slices.Backward(sorted) { // inner values before outer ones, and later items before earlier ones
		value = op.in(value, op.at)
	}
	return value
}

func compareSteps(a, b fieldpath.Segment) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
}

// in returns the result of the operation on a value, where at is its path in the value.
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

// Members returns the members of a JSON object; nil if the value is not an object.
func Members(value any) map[string]any {
	members, _ := value.(map[string]any)
	return members
}

// Items returns the items of a JSON array; nil if the value is not an array.
func Items(value any) []any {
	items, _ := value.([]any)
	return items
}

// Value returns the value at a path of a JSON value; nil if there is none.
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
