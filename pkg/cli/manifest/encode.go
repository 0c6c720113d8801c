// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// maxDepth is how deep lists and mappings may nest; the outermost is at depth 1.
const maxDepth = 200

// encoder writes a value as JSON, and where it and all that it contains was written.
type encoder struct {
	out      []byte
	places   []valuePlace
	repeated []repeatedKey
	budget   *int // bytes that may still be written; nil: no limit
}

// begin makes the encoder ready for another value. What it has returned before must have been copied.
func (e *encoder) begin(budget *int) {
	e.out, e.places, e.repeated, e.budget = e.out[:0], e.places[:0], nil, budget
}

// value writes v, which is at the given depth, with its place. The key begins at an offset of the JSON.
func (e *encoder) value(v *value, at place, key, depth int) *fault {
	i := len(e.places)
	e.places = append(e.places, valuePlace{line: int32(at.line), column: int32(at.column), key: int32(key)})
	f := e.append(v, depth)
	e.places[i].next = int32(len(e.places))
	return f
}

// append writes v, which is at the given depth.
func (e *encoder) append(v *value, depth int) *fault {
	if depth > maxDepth {
		return tooDeep(v.at)
	}
	switch v.kind {
	case kindList:
		return e.list(v, depth)
	case kindObject:
		return e.object(v, depth)
	}
	e.out = append(e.out, v.text...)
	return e.spend(len(v.text), v.at)
}

func (e *encoder) list(v *value, depth int) *fault {
	e.out = append(e.out, '[')
	for i, item := range v.items {
		e.separate(i)
		if f := e.value(item, item.at, noKey, depth+1); f != nil {
			return f
		}
	}
	e.out = append(e.out, ']')
	return e.spend(2+len(v.items), v.at)
}

func (e *encoder) object(v *value, depth int) *fault {
	e.out = append(e.out, '{')
	for i, m := range v.members {
		e.separate(i)
		if m.again != nil {
			e.repeated = append(e.repeated, repeatedKey{len(e.places), m.again.message})
		}
		key := len(e.out)
		e.out = append(appendString(e.out, m.key), ':')
		if f := e.value(m.value, m.at, key, depth+1); f != nil {
			return f
		}
		if f := e.spend(len(m.key)+4, m.at); f != nil {
			return f
		}
	}
	e.out = append(e.out, '}')
	return e.spend(2, v.at)
}

func (e *encoder) separate(i int) {
	if i > 0 {
		e.out = append(e.out, ',')
	}
}

// spend takes n bytes from the budget.
func (e *encoder) spend(n int, at place) *fault {
	if e.budget == nil {
		return nil
	}
	if *e.budget -= n; *e.budget < 0 {
		return &fault{at, RuleTooLarge, fmt.Sprintf("the aliases (*name) expand to more than %d MiB", maxExpanded>>20)}
	}
	return nil
}

func tooDeep(at place) *fault {
	return &fault{at, RuleTooLarge, fmt.Sprintf("lists and mappings are nested more than %d deep", maxDepth)}
}

// appendString appends s as JSON.
func appendString(out []byte, s string) []byte {
	for i := range len(s) {
		if b := s[i]; b < ' ' || b > '~' || b == '"' || b == '\\' {
			text, _ := json.Marshal(s) // cannot fail for a string
			return append(out, text...)
		}
	}
	out = slices.Grow(out, len(s)+2)
	return append(append(append(out, '"'), s...), '"')
}
