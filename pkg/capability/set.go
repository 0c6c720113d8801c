// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package capability decides what fits together. It compiles the capability vocabulary of a CloudProfile, and sets of
// capabilities in that vocabulary, into values that can be compared, matched and ranked without the manifest.
//
// Start reading at [Compile], which turns spec.machineCapabilities into a [Vocabulary]. Three methods of it make a
// [Set]: [Vocabulary.Set] of what a machine type declares, [Vocabulary.Flavor] of what a flavor of an image declares,
// and [Vocabulary.Request] of what a worker pool asks for. [Set.Fits] matches the three and [Compare] ranks flavors.
// [Worker] says what settings of a pool ask for of Gardener's own capabilities.
//
// The package sees of images, machine types and providers the capabilities that they declare or define, and nothing
// else. It decodes nothing, logs nothing, and needs no context and no client. Images and regions are in imageselector,
// manifests and providers in package profile. It implements the rules S1 to S5 of docs/semantics.md.
package capability

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Set is what a machine type or an image flavor supports: for each registered capability the values it supports, with
// omissions defaulted (semantics S2), and what either says about worker capabilities (S3); or what a worker pool
// requests. [Vocabulary.Set], [Vocabulary.Flavor] and [Vocabulary.Request] make them. Sets of one kind and one
// vocabulary are equal (==) exactly if they support the same values and, as flavors, say the same about worker
// capabilities; they can be keys of a map. The zero Set belongs to no vocabulary and is compatible with nothing. A
// Set is a value: it cannot change, and is safe for concurrent use.
type Set struct {
	vocabulary *Vocabulary
	// bits has for each capability a byte, or as many as it takes: first for the registered ones, in vocabulary order,
	// then for the worker capabilities, also for those that are registered. With architecture and storage registered:
	//
	//	 byte  capability            bits, the highest first
	//	+----+----------------------+----------------------------------------------------+
	//	|  0 | architecture         | amd64  arm64  0  0  0  0  0  0                     |
	//	|  1 | storage              | NVMe   SCSI   0  0  0  0  0  0                     |
	//	+----+----------------------+----------------------------------------------------+
	//	|  2 | gardener-boot-type   | U  standard  secure   N  0  0  0  0                |
	//	|  3 | gardener-update-type | U  rolling   in-place N  0  0  0  0                |
	//	|  4 | gardener-gpuSupport  | U  nvidia   amd       intel  none  N  0  0         |
	//	+----+----------------------+----------------------------------------------------+
	//	|5-7 | padding              | 1  1  1  1  1  1  1  1                             |
	//	+----+----------------------+----------------------------------------------------+
	//
	// U and N are the flags bitUndeclared and bitNotRequested. The most preferred value is the highest bit, so that
	// comparing bytes compares preferences. Flavor, machine type and request fit if they have a bit in common for each
	// capability. A request has all bits, also those that are 0 here, of a registered capability that it does not ask for.
	bits string
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
	// Undeclared is set if the worker pool asks for the capability and the flavor does not declare it, so that Offer is
	// what holds for such flavors; and, if the capability is not registered, also if the flavor declares just that.
	Undeclared bool
	// Cause is what excludes the flavor.
	Cause Cause
}

// Cause says what excludes a flavor. Its values are part of the command line's JSON.
type Cause string

// The causes: the flavor has no value in common with the machine type; it has one, or does not declare the
// capability, but has none in common with the request of the worker pool; it has one with each, but none with both.
const (
	CauseMachine Cause = "machine"
	CauseWorker  Cause = "worker"
	CauseBoth    Cause = "machine-and-worker"
)

// Compatible reports whether the sets have a value in common for every registered capability (semantics S4). It is
// symmetric, and false for sets of different vocabularies. Nothing is requested; see [Set.Fits]. It does not allocate.
func (s Set) Compatible(o Set) bool { return s.Fits(o, Set{}) }

// Fits reports whether the set of a flavor has a value in common with a machine type and the request of a worker
// pool, for every capability that is registered or requested (semantics S4). The zero worker requests nothing. It is
// false for sets of different vocabularies. It does not allocate.
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
	// Eight capabilities at a time take a third of the time that one after the other takes: BenchmarkFits.
	for i := 0; i+8 <= len(s.bits) && i+8 <= len(machine.bits) && i+8 <= len(worker.bits); i += 8 {
		if hasZero(word(s.bits[i:i+8]) & word(machine.bits[i:i+8]) & word(worker.bits[i:i+8])) {
			return false
		}
	}
	return true
}

// hasZero reports whether one of the eight bytes of a word is zero.
func hasZero(word uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	return (word-ones)&^word&tops != 0
}

// word reads eight bytes; the compiler makes one load of it where it can.
func word(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// fits is Fits for vocabularies in which some capability takes more than a byte.
func (v *Vocabulary) fits(flavor, machine, worker string) bool {
	for i, r := range v.places {
		if i == r.from && !r.meets(flavor, machine, worker) {
			return false
		}
	}
	return true
}

// meets reports whether three sets have a bit of the capability in common.
func (r *entry) meets(a, b, c string) bool {
	for i := r.from; i < r.to; i++ {
		if a[i]&b[i]&c[i] != 0 {
			return true
		}
	}
	return false
}

// Conflicts returns the capabilities in which the set of a flavor has no value in common with a machine type and the
// request of a worker pool, in vocabulary order, those that are not registered last; nil if it fits. The zero worker
// requests nothing. A machine type or request of another vocabulary conflicts in everything that is registered; the
// zero Set, as flavor, has no conflicts, and fits nothing all the same.
func (s Set) Conflicts(machine, worker Set) []Conflict {
	v := s.vocabulary
	if v == nil {
		return nil
	}
	if worker == (Set{}) {
		worker = v.unrequested
	}
	if machine.vocabulary != v || worker.vocabulary != v {
		return s.conflictsInAll(machine)
	}
	var conflicts []Conflict
	for _, r := range v.capabilities {
		if worker.requests(r) {
			r = &r.worker.entry
		}
		if !r.meets(s.bits, machine.bits, worker.bits) {
			conflicts = append(conflicts, s.conflict(r, machine, worker))
		}
	}
	return conflicts
}

// conflictsInAll returns a conflict for each registered capability, with a machine type of any vocabulary.
func (s Set) conflictsInAll(machine Set) []Conflict {
	var conflicts []Conflict
	for _, r := range s.vocabulary.capabilities[:s.vocabulary.registered] {
		conflicts = append(conflicts, Conflict{
			Capability: r.name, Offer: s.Values(r.name), Need: machine.Values(r.name), Cause: CauseMachine,
		})
	}
	return conflicts
}

// conflict describes a capability in which the sets have nothing in common; if requested, by its workerCapability.
func (s Set) conflict(r *entry, machine, worker Set) Conflict {
	c := Conflict{Capability: r.name, Offer: r.in(s.bits), Need: r.in(machine.bits), Cause: CauseMachine}
	if !worker.requests(r) {
		return c
	}
	c.Asked, c.Undeclared = r.in(worker.bits), r.worker.has(s.bits, bitUndeclared)
	offer := sets.New(c.Offer...)
	offered := offer.HasAny(c.Need...)
	switch {
	case !offer.HasAny(c.Asked...) && (c.Undeclared || offered):
		c.Cause = CauseWorker // also if it is undeclared: without the request it would fit any machine type
	case offered:
		c.Cause = CauseBoth
	}
	return c
}

func (s Set) requests(r *entry) bool {
	return r.worker != nil && !r.worker.has(s.bits, r.worker.bitNotRequested())
}

// Effective returns what remains of the set of a flavor on a machine type for the request of a worker pool (semantics
// S4): the values that all three have, of the capabilities that are registered or requested. The zero worker requests
// nothing. For sets of different vocabularies it is the zero Set.
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
	for _, w := range v.workers {
		asked := worker.requests(&w.entry)
		if w.has(s.bits, bitUndeclared) || !w.registered && !asked {
			w.put(bits, bitUndeclared)
		}
		if w.registered && asked {
			r := v.byName[w.name]
			clear(bits[r.from:r.to])
			r.putAll(bits, w.in(string(bits)))
		}
	}
	return Set{vocabulary: v, bits: string(bits)}
}

// Intersect returns the set of the values that both sets support; the zero Set for sets of different vocabularies.
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

// Values returns the values of a capability that the set supports, most preferred first; empty for none, and nil for
// a capability that is neither registered nor reserved, and for the zero Set. Of a reserved one that is not
// registered a flavor supports what it declares, or else the undeclared value; one that is registered and not
// declared it supports in full, as long as it is not requested. The caller owns the result.
func (s Set) Values(name string) []string {
	if s.vocabulary == nil || s.vocabulary.byName[name] == nil {
		return nil
	}
	return s.vocabulary.byName[name].in(s.bits)
}

// ValuesIfAsked returns the values of a worker capability with which the set of a flavor serves worker pools that ask for it, most
// preferred first: of one that the flavor does not declare its undeclared value or, by the second text of GEP-0054, all that are registered
// (semantics S3). They are in the words of the vocabulary, see [Vocabulary.InWords], and none is one that nobody can ask for. Nil for a
// capability that is neither registered nor reserved, or is none of worker pools, and for the zero Set. The caller owns the result.
func (s Set) ValuesIfAsked(name string) []string {
	if s.vocabulary == nil || s.vocabulary.byName[name] == nil || s.vocabulary.byName[name].worker == nil {
		return nil
	}
	w := s.vocabulary.byName[name].worker
	return slices.DeleteFunc(w.in(s.bits), func(value string) bool { return !w.offers(value) })
}

// in returns the values that are set in bits, without flags.
func (r *entry) in(bits string) []string {
	values := make([]string, 0, len(r.values))
	for i := r.flags; i < len(r.values); i++ {
		if r.has(bits, i) {
			values = append(values, r.values[i])
		}
	}
	return values
}

// Capabilities returns the set as API type: every registered capability with its values, most preferred first, and
// the reserved ones that are declared. A worker capability that a flavor does not declare is left out here, too, unless it is
// one of machine types only. The result is never nil, and the caller's.
func (s Set) Capabilities() v1beta1.Capabilities {
	c := v1beta1.Capabilities{}
	if s.vocabulary == nil {
		return c
	}
	for _, r := range s.vocabulary.capabilities {
		if r.worker == nil || !r.worker.has(s.bits, bitUndeclared) {
			c[r.name] = r.in(s.bits)
		}
	}
	return c
}

// String prints the set as an operator would write it, with omissions filled in: {architecture: [amd64], hypervisor:
// [baremetal, virtualized]}. A worker capability that a flavor does not declare is not printed. The zero Set is {}.
func (s Set) String() string {
	if s.vocabulary == nil {
		return "{}"
	}
	return s.vocabulary.Format(s.Capabilities())
}
