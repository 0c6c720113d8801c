// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"fmt"
)

// maxDepth is how deep lists and mappings may nest; the outermost is at depth 1.
const maxDepth = 200

// encoder writes values as JSON.
type encoder struct {
	out    []byte
	budget *int // bytes that may still be written; nil: no limit
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
		if f := e.append(item, depth+1); f != nil {
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
		e.out = append(appendString(e.out, m.key), ':')
		if f := e.append(m.value, depth+1); f != nil {
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
	return append(append(append(out, '"'), s...), '"')
}
