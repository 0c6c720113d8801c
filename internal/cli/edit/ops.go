// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
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
	replacing kind = iota
	renaming
	inserting
	deleting
	unwrapping
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

// Result returns what JSON becomes by operations. It shares values with the JSON, and changes none of it.
func Result(value any, ops []Op) any {
	for _, op := range ops {
		switch {
		case op.kind == replacing && len(op.at) == 0:
			return op.value
		case op.kind == unwrapping && len(op.at) == 1:
			members, _ := value.(map[string]any)
			return Result(members[op.at[0].Name], below(ops, op.at[0]))
		}
	}
	switch value := value.(type) {
	case map[string]any:
		return resultOfMembers(value, ops)
	case []any:
		return resultOfItems(value, ops)
	}
	if value == nil && len(ops) > 0 && ops[0].at[0].IsIndex() {
		return resultOfItems(nil, ops)
	} else if value == nil && len(ops) > 0 {
		return resultOfMembers(map[string]any{}, ops)
	}
	return value
}

// below returns the operations on what is in a member or item, with the rest of their paths.
func below(ops []Op, s fieldpath.Segment) (below []Op) {
	for _, op := range ops {
		if len(op.at) > 1 && op.at[0] == s || len(op.at) == 1 && op.kind == replacing && op.at[0] == s {
			op.at = op.at[1:]
			below = append(below, op)
		}
	}
	return below
}

func resultOfMembers(members map[string]any, ops []Op) any {
	becomes := maps.Clone(members)
	for name, member := range members {
		if in := below(ops, fieldpath.Segment{Name: name, Index: -1}); len(in) > 0 {
			becomes[name] = Result(member, in)
		}
	}
	for _, op := range ops {
		if len(op.at) == 1 && (op.kind == renaming || op.kind == deleting) {
			delete(becomes, op.at[0].Name)
		}
	}
	for _, op := range ops {
		switch {
		case len(op.at) != 1:
		case op.kind == renaming:
			becomes[op.key] = Result(members[op.at[0].Name], below(ops, op.at[0]))
		case op.kind == inserting:
			becomes[op.at[0].Name] = op.value
		}
	}
	return becomes
}

func resultOfItems(items []any, ops []Op) any {
	becomes := make([]any, 0, len(items))
	for i := range len(items) + 1 {
		gone := i == len(items)
		for _, op := range ops {
			if len(op.at) == 1 && (op.at[0].Index == i || op.at[0].Index > i && i == len(items)) {
				gone = gone || op.kind == deleting
				if op.kind == inserting {
					becomes = append(becomes, op.value)
				}
			}
		}
		if !gone {
			becomes = append(becomes, Result(items[i], below(ops, fieldpath.Segment{Index: i})))
		}
	}
	return slices.Clip(becomes)
}

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
