// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package capability decides which capabilities fit together. It compiles the capability vocabulary of a CloudProfile, and sets of
// capabilities in that vocabulary, into values that are compared, matched and ranked without the manifest.
//
// Start reading at [Compile], which turns spec.machineCapabilities into a [Vocabulary]. A [Set] is compiled by [Vocabulary.Set] from the
// capabilities of a machine type, by [Vocabulary.Flavor] from those of an image flavor, and by [Vocabulary.Request] from the requirements
// of a worker pool. [Set.Fits] matches the three, and [Compare] ranks flavors. [Worker] has the pool settings that request Gardener's own
// capabilities.
//
// The package knows only capabilities. It decodes nothing, logs nothing, and needs no context and no client. Package imageselector knows
// images and regions, package profile manifests and providers. Package capability implements S1 to S5 of docs/semantics.md.
package capability

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Set holds the values that a machine type or an image flavor supports, or that a worker pool requests. For a machine type or flavor, it
// has the values of each registered capability, with omissions filled in (semantics S2), and the worker capabilities (S3).
// [Vocabulary.Set], [Vocabulary.Flavor] and [Vocabulary.Request] compile sets. Two sets of one kind and vocabulary are equal (==) exactly
// if they support the same values and, for flavors, agree about worker capabilities. So they can be map keys. The zero Set belongs to no
// vocabulary and is compatible with nothing. A Set is immutable and safe for concurrent use.
type Set struct {
	vocabulary *Vocabulary
	// bits has one byte or more for each capability: first the registered ones, in vocabulary order, then the worker capabilities,
	// including those that are registered. With architecture and storage registered:
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
	// U and N are the flags bitUndeclared and bitNotRequested. The most preferred value is the highest bit, so that comparing bytes
	// compares preferences. Flavor, machine type and request fit if they share a bit for each capability. A request has all bits of a
	// registered capability that it does not request, including the unused ones.
	bits string
}

// Conflict is a capability that excludes a flavor.
type Conflict struct {
	// Capability is the capability's name.
	Capability string
	// Offer has the values that the flavor supports, and Need those of the machine type, most preferred first; empty if there are none. The
	// holder of the Conflict owns them.
	Offer, Need []string
	// Asked has the values that the worker pool requests; nil if it does not request the capability.
	Asked []string
	// Undeclared is set if the worker pool requests the capability and the flavor does not declare it, so that Offer has its undeclared
	// value. If the capability is not registered, it is also set if the flavor declares just that value.
	Undeclared bool
	// Cause says what excludes the flavor.
	Cause Cause
}

// Cause says what excludes a flavor. Its values are part of the command line's JSON.
type Cause string

// The causes. CauseMachine: the flavor shares no value with the machine type. CauseWorker: it shares none with the worker pool's request,
// although it fits the machine type or does not declare the capability. CauseBoth: it shares a value with each, but none with both.
const (
	CauseMachine Cause = "machine"
	CauseWorker  Cause = "worker"
	CauseBoth    Cause = "machine-and-worker"
)

// Compatible reports whether the sets share a value of every registered capability (semantics S4), without a request; see [Set.Fits]. It is
// symmetric, and false for sets of different vocabularies. It does not allocate.
func (s Set) Compatible(o Set) bool { return s.Fits(o, Set{}) }

// Fits reports whether a flavor's set shares a value with a machine type and a worker pool's request, for every capability that is
// registered or requested (semantics S4). The zero worker requests nothing. Fits is false for sets of different vocabularies. It does not
// allocate.
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
	// Comparing eight capabilities at a time takes a third of the time of comparing them one by one: BenchmarkFits.
	for i := 0; i+8 <= len(s.bits) && i+8 <= len(machine.bits) && i+8 <= len(worker.bits); i += 8 {
		if hasZero(word(s.bits[i:i+8]) & word(machine.bits[i:i+8]) & word(worker.bits[i:i+8])) {
			return false
		}
	}
	return true
}

// hasZero reports whether a word has a zero byte.
func hasZero(word uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	return (word-ones)&^word&tops != 0
}

// word reads eight bytes; where possible, the compiler emits a single load.
func word(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// fits implements Fits for vocabularies in which some capability takes more than a byte.
func (v *Vocabulary) fits(flavor, machine, worker string) bool {
	for i, r := range v.places {
		if i == r.from && !r.meets(flavor, machine, worker) {
			return false
		}
	}
	return true
}

// meets reports whether three sets share a bit of the capability.
func (r *entry) meets(a, b, c string) bool {
	for i := r.from; i < r.to; i++ {
		if a[i]&b[i]&c[i] != 0 {
			return true
		}
	}
	return false
}

// Conflicts returns the capabilities in which a flavor's set shares no value with a machine type and a worker pool's request, in vocabulary
// order, unregistered ones last; nil if it fits. The zero worker requests nothing. A machine type or request of another vocabulary
// conflicts in every registered capability. The zero Set, as flavor, has no conflicts although it fits nothing.
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

// conflictsInAll returns a conflict in each registered capability, for a machine type of any vocabulary.
func (s Set) conflictsInAll(machine Set) []Conflict {
	var conflicts []Conflict
	for _, r := range s.vocabulary.capabilities[:s.vocabulary.registered] {
		conflicts = append(conflicts, Conflict{
			Capability: r.name, Offer: s.Values(r.name), Need: machine.Values(r.name), Cause: CauseMachine,
		})
	}
	return conflicts
}

// conflict describes a capability without a shared value. If the capability is requested, r is the entry of its workerCapability.
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
		c.Cause = CauseWorker // even if it is undeclared: without the request, the flavor would fit any machine type
	case offered:
		c.Cause = CauseBoth
	}
	return c
}

func (s Set) requests(r *entry) bool {
	return r.worker != nil && !r.worker.has(s.bits, r.worker.bitNotRequested())
}

// Effective returns the effective set of a flavor (semantics S4): the values that flavor, machine type and request share, of each
// capability that is registered or requested. The zero worker requests nothing. For sets of different vocabularies the result is the zero
// Set.
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

// Intersect returns the values that both sets support; the zero Set for sets of different vocabularies.
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

// Values returns the values of a capability that the set supports, most preferred first; empty if there are none. A flavor that does not
// declare a reserved capability supports its undeclared value if the capability is not registered. If it is registered, the flavor supports
// all values unless the capability is requested. The result is nil for the zero Set, and for a capability that is neither registered nor
// reserved. The caller owns the result.
func (s Set) Values(name string) []string {
	if s.vocabulary == nil || s.vocabulary.byName[name] == nil {
		return nil
	}
	return s.vocabulary.byName[name].in(s.bits)
}

// ValuesIfAsked returns the values of a worker capability with which a flavor's set serves worker pools that request it, most preferred
// first. If the flavor does not declare the capability, this is the undeclared value or, by the second text of GEP-0054, all registered
// ones (semantics S3). The values are in the words of the vocabulary, see [Vocabulary.InWords], and exclude values that no pool can
// request. Nil for the zero Set, and for a capability that is neither registered nor reserved, or not a worker capability. The caller owns
// the result.
func (s Set) ValuesIfAsked(name string) []string {
	if s.vocabulary == nil || s.vocabulary.byName[name] == nil || s.vocabulary.byName[name].worker == nil {
		return nil
	}
	w := s.vocabulary.byName[name].worker
	return slices.DeleteFunc(w.in(s.bits), func(value string) bool { return !w.offers(value) })
}

// in returns the values whose bits are set, without flags.
func (r *entry) in(bits string) []string {
	values := make([]string, 0, len(r.values))
	for i := r.flags; i < len(r.values); i++ {
		if r.has(bits, i) {
			values = append(values, r.values[i])
		}
	}
	return values
}

// Capabilities returns the set as API type: every registered capability and the declared reserved ones, with their values, most preferred
// first. It omits a worker capability that a flavor does not declare, unless the flavor then supports all values. The result is never nil.
// The caller owns it.
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

// String formats the set as an operator would write it, with omissions filled in: {architecture: [amd64], hypervisor: [baremetal,
// virtualized]}. It omits the same worker capabilities as [Set.Capabilities]. The zero Set is {}.
func (s Set) String() string {
	if s.vocabulary == nil {
		return "{}"
	}
	return s.vocabulary.Format(s.Capabilities())
}
