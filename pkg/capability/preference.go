// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"math/bits"
)

// Order is a way to rank image flavors that all fit a machine type (semantics S5).
type Order int

const (
	// GEP33 is the order of GEP-0033, and the default. The most preferred values of the effective sets are compared
	// capability by capability, then the second most preferred, and so on; if the effective sets are equal, the
	// flavors' own sets are compared in the same way.
	GEP33 Order = iota
	// Gardener is the order of the gardener library (extensions/pkg/controller/worker.FindBestImageFlavor): capability
	// by capability and value by value, on the flavors' own sets, whatever the machine type supports. It is meant for
	// extensions that must go on choosing what they chose before.
	Gardener
)

// String returns the name by which the command line and messages know the order: gep33 or gardener.
func (o Order) String() string {
	if o == Gardener {
		return "gardener"
	}
	return "gep33"
}

// ParseOrder is the inverse of [Order.String]. The error says which names there are.
func ParseOrder(name string) (Order, error) {
	for _, o := range []Order{GEP33, Gardener} {
		if o.String() == name {
			return o, nil
		}
	}
	return GEP33, fmt.Errorf("unknown preference order %q: use %s or %s", name, GEP33, Gardener)
}

// Preference is the outcome of [Compare] together with what decided it, so that an explanation needs no second look.
// The zero Preference is a tie.
type Preference struct {
	// Sign is negative if the first set is preferred, positive if the second is, and 0 if they are equal.
	Sign int
	// Capability is the name of the capability that decided; empty in a tie.
	Capability string
	// Round counts from 1: in round n the n-th most preferred values were compared. It is 0 in a tie and in the
	// [Gardener] order, which has no rounds.
	Round int
	// First and Second are the values that were compared. One of them is empty if that set had run out of values
	// ([GEP33]), or lacks the other's value ([Gardener]).
	First, Second string
	// Own tells that the flavors' own sets were compared because their effective sets are equal, or because the order
	// looks at nothing else.
	Own bool
}

// Compare ranks two sets that are both compatible with need, the set of the machine type. For each order it is a total
// order: transitive, antisymmetric, and a tie (Sign 0) only for equal sets (semantics S5). The zero need stands for no
// constraint. Sets of different vocabularies are ranked as ties. It does not allocate.
func Compare(a, b, need Set, order Order) Preference {
	v := a.vocabulary
	switch {
	case a == b || v == nil || b.vocabulary != v:
		return Preference{}
	case order == Gardener:
		return v.compareValues(a.bits, b.bits)
	case need.vocabulary == v:
		if p := v.compareRounds(a.bits, b.bits, need.bits); p.Sign != 0 {
			return p
		}
	}
	p := v.compareRounds(a.bits, b.bits, v.all.bits)
	p.Own = true
	return p
}

// compareRounds compares the n-th most preferred values within need, capability by capability, for n = 1, 2, …
func (v *Vocabulary) compareRounds(a, b, need string) Preference {
	for round := 0; ; round++ {
		left := false
		for i := range v.capabilities {
			r := &v.capabilities[i]
			x, y := r.nth(a, need, round), r.nth(b, need, round)
			if x != y {
				return r.preference(x, y, round+1)
			}
			left = left || x < len(r.values)
		}
		if !left {
			return Preference{}
		}
	}
}

// nth returns the index of the n-th most preferred value in bits and mask, counting from 0, or the number of registered
// values if there are fewer: running out ranks behind every value.
func (r *registered) nth(set, mask string, n int) int {
	for i := r.from; i < r.to; i++ {
		b := set[i] & mask[i]
		count := bits.OnesCount8(b)
		if n >= count {
			n -= count
			continue
		}
		for ; n > 0; n-- {
			b &^= 0x80 >> bits.LeadingZeros8(b)
		}
		return (i-r.from)*8 + bits.LeadingZeros8(b)
	}
	return len(r.values)
}

// compareValues ranks by the first value, in vocabulary order, that one set has and the other has not. As the most
// preferred value is the highest bit, that is the first byte that differs.
func (v *Vocabulary) compareValues(a, b string) Preference {
	for i := range v.capabilities {
		r := &v.capabilities[i]
		for k := r.from; k < r.to; k++ {
			if a[k] == b[k] {
				continue
			}
			value := (k-r.from)*8 + bits.LeadingZeros8(a[k]^b[k])
			x, y := value, len(r.values)
			if a[k] < b[k] {
				x, y = y, x
			}
			p := r.preference(x, y, 0)
			p.Own = true
			return p
		}
	}
	return Preference{}
}

func (r *registered) preference(x, y, round int) Preference {
	p := Preference{Sign: 1, Capability: r.name, Round: round, First: r.value(x), Second: r.value(y)}
	if x < y {
		p.Sign = -1
	}
	return p
}

func (r *registered) value(i int) string {
	if i < len(r.values) {
		return r.values[i]
	}
	return ""
}
