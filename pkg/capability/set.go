// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// Set is what a machine type or an image flavor supports: for each registered capability the values it supports, with
// omissions defaulted (semantics S2), and what either says about worker capabilities (S3); or what a worker pool requests.
// [Vocabulary.Set], [Vocabulary.Flavor] and [Vocabulary.Request] make them. Sets of one kind and one vocabulary are equal
// (==) exactly if they support the same values and, as flavors, say the same about worker capabilities; they can be keys of a
// map. The zero Set belongs to no vocabulary and is compatible with nothing. A Set is a value: it cannot change, and is
// safe for concurrent use.
type Set struct {
	vocabulary *Vocabulary
	bits       string
}

// Conflict is a capability that keeps a flavor from being booted.
type Conflict struct {
	// Capability is its name.
	Capability string
	// Offer and Need are the values that the flavor and the machine type support, most preferred first; empty if it
	// supports none. The holder of the Conflict owns them.
	Offer, Need []string
	// Asked are the values that the worker pool asks for; nil if it does not ask for the capability.
	Asked []string
	// Undeclared tells that the flavor does not declare the capability, so that Offer is what holds then; or that it declares
	// just that.
	Undeclared bool
	// Cause is what the flavor does not go with.
	Cause Cause
}

// Cause says what excludes a flavor. Its values are part of the command line's JSON.
type Cause string

// The causes: the flavor has no value in common with the machine type; it has one, or does not declare the capability,
// but has none in common with the worker pool; it has one with each, but none with both.
const (
	CauseMachine Cause = "machine"
	CauseWorker  Cause = "worker"
	CauseBoth    Cause = "machine-and-worker"
)

// Compatible tells whether the sets have a value in common for every registered capability (semantics S4). It is
// symmetric, and false for sets of different vocabularies. Nothing is requested; see [Set.Fits]. It does not allocate.
func (s Set) Compatible(o Set) bool { return s.Fits(o, Set{}) }

// Fits tells whether the set of a flavor has a value in common with a machine type and the request of a worker pool, for
// every capability that is registered or requested (semantics S4). The zero worker requests nothing. It is false for sets
// of different vocabularies. It does not allocate.
func (s Set) Fits(machine, worker Set) bool {
	v := s.vocabulary
	if worker == (Set{}) && v != nil {
		worker = v.unrequested
	}
	if v == nil || v != machine.vocabulary || v != worker.vocabulary {
		return false
	}
	if !v.bytewise {
		return v.fits(s.bits, machine.bits, worker.bits)
	}
	for i := 0; i+8 <= len(s.bits) && i+8 <= len(machine.bits) && i+8 <= len(worker.bits); i += 8 {
		if hasZero(word(s.bits[i:i+8]) & word(machine.bits[i:i+8]) & word(worker.bits[i:i+8])) {
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

// fits is Fits for vocabularies in which some capability has more than a byte.
func (v *Vocabulary) fits(flavor, machine, worker string) bool {
	for i := range v.capabilities {
		if !v.capabilities[i].meets(flavor, machine, worker) {
			return false
		}
	}
	for i := range v.groups {
		if !v.groups[i].meets(flavor, machine, worker) {
			return false
		}
	}
	return true
}

func (r *entry) meets(a, b, c string) bool {
	for i := r.from; i < r.to; i++ {
		if a[i]&b[i]&c[i] != 0 {
			return true
		}
	}
	return false
}

// Conflicts returns the capabilities in which the set of a flavor has no value in common with a machine type and the
// request of a worker pool, in vocabulary order, those that are not registered last; none if it fits. The zero worker
// requests nothing. Sets of another vocabulary conflict in everything that is registered.
func (s Set) Conflicts(machine, worker Set) []Conflict {
	v := s.vocabulary
	if v == nil {
		return nil
	}
	if worker == (Set{}) {
		worker = v.unrequested
	}
	foreign := machine.vocabulary != v || worker.vocabulary != v
	var conflicts []Conflict
	for i := range v.capabilities {
		r := &v.capabilities[i]
		if foreign {
			conflicts = append(conflicts, Conflict{Capability: r.name, Offer: s.Values(r.name), Need: machine.Values(r.name), Cause: CauseMachine})
			continue
		}
		place := r
		if g := v.groupOf(r.name); g != nil && worker.asks(g) {
			place = &g.entry
		}
		if !r.meets(s.bits, machine.bits, worker.bits) || !place.meets(s.bits, machine.bits, worker.bits) {
			conflicts = append(conflicts, s.conflict(place, machine, worker))
		}
	}
	for i := range v.groups {
		if g := &v.groups[i]; !foreign && !g.registered && !g.meets(s.bits, machine.bits, worker.bits) {
			conflicts = append(conflicts, s.conflict(&g.entry, machine, worker))
		}
	}
	return conflicts
}

// conflict describes a capability in which the three sets have nothing in common. place is where its values are: the
// worker capability's if it is requested.
func (s Set) conflict(place *entry, machine, worker Set) Conflict {
	c := Conflict{Capability: place.name, Offer: place.in(s.bits), Need: place.in(machine.bits), Cause: CauseMachine}
	g := s.vocabulary.groupOf(place.name)
	if g == nil || !worker.asks(g) {
		return c
	}
	c.Asked, c.Undeclared = place.in(worker.bits), g.has(s.bits, leftOut)
	switch {
	case !intersect(c.Offer, c.Asked) && (c.Undeclared || intersect(c.Offer, c.Need)): // undeclared, nobody else minds
		c.Cause = CauseWorker
	case !intersect(c.Offer, c.Need):
	default:
		c.Cause = CauseBoth
	}
	return c
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(value string) bool { return slices.Contains(b, value) })
}

// groupOf returns the group of a worker capability, nil for a capability that is none.
func (v *Vocabulary) groupOf(name string) *group {
	if i, found := v.byWorker[name]; found {
		return &v.groups[i]
	}
	return nil
}

// asks tells whether a request asks for a worker capability.
func (s Set) asks(g *group) bool { return !g.has(s.bits, g.unasked()) }

// Effective returns what remains of the set of a flavor on a machine type for the request of a worker pool (semantics
// S4): nothing of what is neither registered nor requested. The zero worker requests nothing. For sets of different
// vocabularies it is the zero Set.
func (s Set) Effective(machine, worker Set) Set {
	v := s.vocabulary
	if worker == (Set{}) && v != nil {
		worker = v.unrequested
	}
	if v == nil || v != machine.vocabulary || v != worker.vocabulary {
		return Set{}
	}
	bits := make([]byte, len(s.bits))
	for i := range bits {
		bits[i] = s.bits[i] & machine.bits[i] & worker.bits[i]
	}
	for i := range v.groups {
		g := &v.groups[i]
		asked := worker.asks(g)
		if g.has(s.bits, leftOut) || !g.registered && !asked {
			g.put(bits, leftOut)
		}
		if g.registered && asked {
			v.capabilities[v.byName[g.name]].copy(bits, &g.entry)
		}
	}
	return Set{vocabulary: v, bits: string(bits)}
}

// copy sets the values that are set in another entry.
func (r *entry) copy(bits []byte, other *entry) {
	clear(bits[r.from:r.to])
	for i, value := range r.values {
		if other.has(string(bits), other.byValue[value]) {
			r.put(bits, i)
		}
	}
}

// Intersect returns the set of the values that both sets support. For sets of different vocabularies it is the zero Set.
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
// capability that is neither registered nor reserved. Of a reserved one that is not registered a flavor supports what it
// declares, or else the undeclared value; one that is registered and left out it supports in full, as long as nobody asks
// for it. The caller owns the result.
func (s Set) Values(name string) []string {
	if s.vocabulary == nil {
		return nil
	}
	if i, found := s.vocabulary.byName[name]; found {
		return s.vocabulary.capabilities[i].in(s.bits)
	}
	if g := s.vocabulary.groupOf(name); g != nil {
		return g.in(s.bits)
	}
	return nil
}

// in returns the values that are set in bits, without marks.
func (r *entry) in(bits string) []string {
	values := make([]string, 0, len(r.values))
	for i := r.marks; i < len(r.values); i++ {
		if r.has(bits, i) {
			values = append(values, r.values[i])
		}
	}
	return values
}

func (r *entry) has(bits string, value int) bool {
	at, mask := r.bit(value)
	return bits[at]&mask != 0
}

// Capabilities returns the set as API type: every registered capability with its values, most preferred first, and the
// reserved ones that are declared. A worker capability that a flavor leaves out is left out here, too. The caller owns
// the result.
func (s Set) Capabilities() v1beta1.Capabilities {
	c := v1beta1.Capabilities{}
	if s.vocabulary == nil {
		return c
	}
	for i := range s.vocabulary.capabilities {
		if r := &s.vocabulary.capabilities[i]; !s.leavesOut(r.name) {
			c[r.name] = r.in(s.bits)
		}
	}
	for i := range s.vocabulary.groups {
		if g := &s.vocabulary.groups[i]; !g.registered && !s.leavesOut(g.name) {
			c[g.name] = g.in(s.bits)
		}
	}
	return c
}

// leavesOut tells whether the set leaves out a worker capability; false for any other capability.
func (s Set) leavesOut(name string) bool {
	g := s.vocabulary.groupOf(name)
	return g != nil && g.has(s.bits, leftOut)
}

// String prints the set as an operator would write it, with omissions filled in:
// {architecture: [amd64], hypervisor: [baremetal, virtualized]}. A worker capability that a flavor leaves out is not
// printed.
func (s Set) String() string {
	if s.vocabulary == nil {
		return "{}"
	}
	return s.vocabulary.Format(s.Capabilities())
}
