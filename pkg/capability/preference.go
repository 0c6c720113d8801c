// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"math"
	"math/bits"
)

// Order is a way to rank image flavors that all fit a machine type (semantics S5).
type Order int

const (
	// GEP33 is the order of GEP-0033, and the default. It compares the most preferred values of the effective sets, capability by
	// capability, then the second most preferred, and so on. If the effective sets are equal, it compares the flavors' own sets in the same
	// way.
	GEP33 Order = iota
	// Gardener is the order of the gardener library (extensions/pkg/controller/worker.FindBestImageFlavor). It compares the flavors' own
	// sets capability by capability and value by value, whatever the machine type supports. It is for extensions that must keep their
	// previous choices.
	Gardener
)

// String returns the order's name on the command line and in messages: gep33 or gardener.
func (o Order) String() string {
	if o == Gardener {
		return "gardener"
	}
	return "gep33"
}

// Other returns the other order.
func (o Order) Other() Order { return Gardener - o }

// ParseOrder is the inverse of [Order.String]. The error lists the valid names.
func ParseOrder(name string) (Order, error) {
	for _, o := range []Order{GEP33, Gardener} {
		if o.String() == name {
			return o, nil
		}
	}
	return GEP33, fmt.Errorf("unknown preference order %q: use %s or %s", name, GEP33, Gardener)
}

// Preference is the outcome of [Compare], with the values that decided it. The zero Preference is a tie.
type Preference struct {
	// Sign is negative if the first set is preferred, positive if the second is, and 0 if they are equal.
	Sign int
	// Capability is the name of the deciding capability; empty in a tie.
	Capability string
	// Round counts from 1: round n compares the n-th most preferred values. It is 0 in a tie and in [Gardener].
	Round int
	// First and Second are the compared values. One is empty if its set has run out of values ([GEP33]), or lacks the other's value
	// ([Gardener]).
	First, Second string
	// Own is set if the flavors' own sets decided, either because the effective sets are equal or because the order ignores them.
	Own bool
	// LeftOut is set if the capability is a worker capability that one flavor declares and the preferred one does not. First and Second are
	// then empty.
	LeftOut bool
}

// Compare ranks the sets of two flavors that both fit a machine type and a worker pool's request. Each order is a total order: transitive,
// antisymmetric, and a tie (Sign 0) only for equal sets (semantics S5). The zero machine is no constraint, and worker is then ignored. The
// zero worker requests nothing. Sets of different vocabularies tie. Compare does not allocate.
func Compare(a, b, machine, worker Set, order Order) Preference {
	v := a.vocabulary
	if v == nil || b.vocabulary != v {
		return Preference{}
	}
	if order == Gardener {
		r, x, y := v.firstDifference(a.bits, b.bits)
		return r.preference(x, y, 0, true)
	}
	mask, own := need{machine.bits, worker.bits}, false
	if worker.vocabulary != v {
		mask.worker = v.unrequested.bits
	}
	if machine.vocabulary != v {
		mask, own = need{v.allBits, v.allBits}, true
	}
	r, shared := v.decides(a.bits, b.bits, mask, own)
	if r == nil && a != b { // the effective sets are equal, but not the own sets
		mask, own = need{v.allBits, v.allBits}, true
		r, shared = v.decides(a.bits, b.bits, mask, own)
	}
	if r == nil {
		return Preference{}
	}
	return r.preference(r.nth(a.bits, mask, shared), r.nth(b.bits, mask, shared), shared+1, own)
}

// preference returns the outcome for the indices of the deciding values; the lower index is preferred. A nil r is a tie.
func (r *entry) preference(x, y, round int, own bool) Preference {
	if r == nil {
		return Preference{}
	}
	p := Preference{Sign: 1, Capability: r.name, Round: round, Own: own}
	if x < y {
		p.Sign = -1
	}
	if p.LeftOut = min(x, y) < r.flags; !p.LeftOut { // otherwise bitUndeclared decided
		p.First, p.Second = r.value(x), r.value(y)
	}
	return p
}

// need limits a comparison to the values that machine type and request share.
type need struct{ machine, worker string }

func (n need) at(i int) byte { return n.machine[i] & n.worker[i] }

// decides returns the deciding capability when the n-th most preferred values within need are compared, capability by capability, for n =
// 1, 2, …: the first capability whose sets share the fewest values before they differ. It also returns the number of shared values. The
// capability is nil if the sets are equal within need. own is set if need limits nothing.
func (v *Vocabulary) decides(a, b string, within need, own bool) (*entry, int) {
	var decisive *entry
	fewest := math.MaxInt
	for _, r := range v.capabilities {
		if w := r.worker; w != nil && (own || !w.has(within.worker, w.bitNotRequested())) {
			r = &w.entry // the worker capability decides, unless effective sets are compared and it is not requested
		}
		if shared := r.shared(a, b, within); shared < fewest {
			fewest, decisive = shared, r
			if shared == 0 {
				break
			}
		}
	}
	return decisive, fewest
}

// shared counts the values within need before the first one that only one set has; math.MaxInt for equal sets.
func (r *entry) shared(a, b string, within need) int {
	count := 0
	for i := r.from; i < r.to; i++ {
		mask := within.at(i)
		x, y := a[i]&mask, b[i]&mask
		if x != y {
			return count + bits.OnesCount8(x>>bits.Len8(x^y))
		}
		count += bits.OnesCount8(x)
	}
	return math.MaxInt
}

// nth returns the index of the n-th most preferred value in set within need, where n counts from 0. If there are fewer values, it returns
// the number of all values: a set that has run out of values ranks last.
func (r *entry) nth(set string, within need, n int) int {
	for i := r.from; i < r.to; i++ {
		b := set[i] & within.at(i)
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

// firstDifference finds the first value, in vocabulary order, that only one of the sets has; r is nil if there is none. The most preferred
// value is the highest bit, so it is in the first byte that differs. x and y are the value's index for the set that has it, and the number
// of values for the other set.
func (v *Vocabulary) firstDifference(a, b string) (r *entry, x, y int) {
	for i, r := range v.places {
		if a[i] == b[i] {
			continue
		}
		value, none := (i-r.from)*8+bits.LeadingZeros8(a[i]^b[i]), len(r.values)
		if a[i] > b[i] {
			return r, value, none
		}
		return r, none, value
	}
	return nil, 0, 0
}

// value returns the value at an index, empty for an index past the last value.
func (r *entry) value(i int) string {
	if i < len(r.values) {
		return r.values[i]
	}
	return ""
}
