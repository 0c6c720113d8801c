// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import "fmt"

// kind tells the values of a document apart.
type kind byte

const (
	kindScalar kind = iota
	kindList
	kindObject
)

// value is a JSON value and where it was written. Values are shared where a document uses aliases; they never contain
// themselves, and do not change once built.
type value struct {
	at      place
	kind    kind
	text    string   // of a scalar: its JSON
	members []member // of an object, in the order written
	items   []*value // of a list
}

type member struct {
	key   string
	at    place // of the key
	value *value
	again *fault // set if the mapping has the key more than once
}

// get returns the value of a key, or nil. v may be nil.
func (v *value) get(key string) *value {
	if v != nil {
		for i := range v.members {
			if v.members[i].key == key {
				return v.members[i].value
			}
		}
	}
	return nil
}

// isNull reports whether v is null or absent.
func (v *value) isNull() bool {
	return v == nil || v.kind == kindScalar && v.text == "null"
}

// fault is a reason why a document cannot be read.
type fault struct {
	at            place
	rule, message string
}

// mapping builds the members of an object.
type mapping struct {
	members []member
	index   map[string]int   // key -> place in members
	own     map[string]place // keys written in the mapping itself
}

// newMapping returns a builder with room for size members.
func newMapping(size int) *mapping {
	return &mapping{members: make([]member, 0, size), index: make(map[string]int, size), own: make(map[string]place, size)}
}

// put adds a member or gives it a new value and place, as the last one wins.
func (m *mapping) put(add member) {
	if i, ok := m.index[add.key]; ok {
		m.members[i] = add
		return
	}
	m.index[add.key] = len(m.members)
	m.members = append(m.members, add)
}

// putOwn is put for a key written in the mapping itself. It returns a fault if that key was written there before.
func (m *mapping) putOwn(add member) *fault {
	if first, again := m.own[add.key]; again {
		add.again = &fault{add.at, RuleDuplicateKey, fmt.Sprintf("the key %s is already given in line %d", quoteKey(add.key), first.line)}
	} else {
		m.own[add.key] = add.at
	}
	m.put(add)
	return add.again
}

// quoteKey quotes a key for a message, cut if it is long.
func quoteKey(key string) string {
	const most = 60
	if runes := []rune(key); len(runes) > most {
		key = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", key)
}
