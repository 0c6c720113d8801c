// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
)

// kind tells the values of a document apart.
type kind byte

const (
	kindScalar kind = iota
	kindList
	kindObject
)

// value is a JSON value and where it was written, while its document is read. Values are shared where a document uses
// aliases; they never contain themselves, and do not change once built.
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
	own   int    // line in which the mapping itself has the key for the first time; 0: only merge keys bring it in
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

// maxSearch is the number of members up to which a mapping is searched from the front, without an index.
const maxSearch = 16

// mapping builds the members of an object.
type mapping struct {
	members []member
	index   map[string]int // key -> place in members; nil for up to maxSearch members
}

// find returns the place of a key in the members, or -1.
func (m *mapping) find(key string) int {
	if m.index != nil {
		if i, found := m.index[key]; found {
			return i
		}
		return -1
	}
	return slices.IndexFunc(m.members, func(known member) bool { return known.key == key })
}

// put adds a member that a merge key brings in, or gives it a new value and place, as the last one wins.
func (m *mapping) put(add member) {
	add.own = 0
	m.set(m.find(add.key), add)
}

// putOwn adds a member that is written in the mapping itself, or gives it a new value and place. It returns a fault if
// the mapping itself had the key before.
func (m *mapping) putOwn(add member) *fault {
	add.own = add.at.line
	i := m.find(add.key)
	if i >= 0 && m.members[i].own > 0 {
		add.own = m.members[i].own
		add.again = &fault{add.at, RuleDuplicateKey,
			fmt.Sprintf("the key %s is already given in line %d", quoteKey(add.key), add.own)}
	}
	m.set(i, add)
	return add.again
}

// set replaces the member at i, or adds one if i is negative.
func (m *mapping) set(i int, add member) {
	if i >= 0 {
		add.own = max(add.own, m.members[i].own)
		m.members[i] = add
		return
	}
	if m.index != nil {
		m.index[add.key] = len(m.members)
	}
	m.members = append(m.members, add)
	if m.index == nil && len(m.members) > maxSearch {
		m.index = make(map[string]int, 2*len(m.members))
		for i := range m.members {
			m.index[m.members[i].key] = i
		}
	}
}

// quoteKey quotes a key for a message, cut if it is long.
func quoteKey(key string) string {
	const most = 60
	if runes := []rune(key); len(runes) > most {
		key = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", key)
}
