// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// Set is what a machine type or an image flavor supports: for each registered capability the values it supports, with
// omissions defaulted (semantics S2). Sets of one vocabulary are equal (==) exactly if they support the same values,
// and can be keys of a map. The zero Set belongs to no vocabulary and is compatible with nothing. A Set is a value: it
// cannot change, and is safe for concurrent use.
type Set struct {
	vocabulary *Vocabulary
	bits       string
}

// Conflict is a capability in which two sets have no value in common.
type Conflict struct {
	// Capability is its name.
	Capability string
	// Offer and Need are the values of either set, most preferred first; empty if it supports none. The holder of the
	// Conflict owns them.
	Offer, Need []string
}

// Compatible tells whether the sets have a value in common for every registered capability (semantics S4). It is
// symmetric, and false for sets of different vocabularies. It does not allocate.
func (s Set) Compatible(o Set) bool {
	if s.vocabulary == nil || s.vocabulary != o.vocabulary {
		return false
	}
	if !s.vocabulary.bytewise {
		return s.vocabulary.compatible(s.bits, o.bits)
	}
	for i := 0; i+8 <= len(s.bits) && i+8 <= len(o.bits); i += 8 {
		if hasZero(word(s.bits[i:i+8]) & word(o.bits[i:i+8])) {
			return false
		}
	}
	return true
}

// hasZero tells whether one of the eight bytes of a word is zero.
func hasZero(word uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	return (word-ones)&^word&tops != 0
}

// word reads eight bytes; the compiler makes one instruction of it.
func word(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// compatible is Compatible for vocabularies in which some capability has more than a byte.
func (v *Vocabulary) compatible(a, b string) bool {
	for i := range v.capabilities {
		if !v.capabilities[i].meets(a, b) {
			return false
		}
	}
	return true
}

func (r *registered) meets(a, b string) bool {
	for i := r.from; i < r.to; i++ {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

// Conflicts returns the capabilities in which the set, the offer, has no value in common with need, in vocabulary order;
// none if they are compatible. A set of another vocabulary conflicts in everything.
func (s Set) Conflicts(need Set) []Conflict {
	if s.vocabulary == nil {
		return nil
	}
	var conflicts []Conflict
	for i := range s.vocabulary.capabilities {
		r := &s.vocabulary.capabilities[i]
		if need.vocabulary != s.vocabulary || !r.meets(s.bits, need.bits) {
			conflicts = append(conflicts, Conflict{r.name, s.Values(r.name), need.Values(r.name)})
		}
	}
	return conflicts
}

// Intersect returns the set of the values that both sets support: the effective set of a flavor on a machine type
// (semantics S4). For sets of different vocabularies it is the zero Set.
func (s Set) Intersect(o Set) Set {
	if s.vocabulary == nil || s.vocabulary != o.vocabulary {
		return Set{}
	}
	bits := make([]byte, len(s.bits))
	for i := range bits {
		bits[i] = s.bits[i] & o.bits[i]
	}
	return Set{vocabulary: s.vocabulary, bits: string(bits)}
}

// Values returns the values of a capability that the set supports, most preferred first; empty for none, and nil for a
// capability that is not registered. The caller owns the result.
func (s Set) Values(name string) []string {
	if s.vocabulary == nil {
		return nil
	}
	i, found := s.vocabulary.byName[name]
	if !found {
		return nil
	}
	r := &s.vocabulary.capabilities[i]
	values := make([]string, 0, len(r.values))
	for bit, value := range r.values {
		if r.has(s.bits, bit) {
			values = append(values, value)
		}
	}
	return values
}

func (r *registered) has(bits string, value int) bool {
	return bits[r.from+value/8]&(0x80>>(value%8)) != 0
}

// Capabilities returns the set as API type, with every registered capability and its values most preferred first. The
// caller owns the result.
func (s Set) Capabilities() v1beta1.Capabilities {
	c := v1beta1.Capabilities{}
	if s.vocabulary == nil {
		return c
	}
	for _, r := range s.vocabulary.capabilities {
		c[r.name] = s.Values(r.name)
	}
	return c
}

// String prints the set as an operator would write it, with nothing omitted:
// {architecture: [amd64], hypervisor: [baremetal, virtualized]}.
func (s Set) String() string {
	if s.vocabulary == nil {
		return "{}"
	}
	return s.vocabulary.Format(s.Capabilities())
}
