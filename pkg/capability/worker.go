// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/finding"
)

// Definition is a worker capability: one that a worker pool can ask for, and that an image supports only if it
// declares it (semantics S3).
type Definition struct {
	// Name with the prefix of Gardener or of the provider: openstack-trustedLaunch.
	Name string `json:"name"`
	// Values, most preferred first, each once.
	Values []string `json:"values"`
	// Undeclared is the one of Values that an image supports which does not declare the capability. Empty: none, so that
	// such an image fits no worker pool that asks for the capability.
	Undeclared string `json:"undeclared,omitempty"`
	// OnlyIfRegistered is for a capability that stands for a setting which worker pools had before there was the
	// capability. A pool that asks for it in a profile that does not register it is not refused, and the requirement is
	// ignored there; see [Vocabulary.Ignores]. Where the capability is registered it is like any other.
	OnlyIfRegistered bool `json:"onlyIfRegistered,omitempty"`
	// MachineTypesOnly is for a capability that is asked of the machine type alone (semantics S22). A flavor of an image that
	// does not declare it supports all registered values, as of any other capability (S2). Undeclared is then what all machine types
	// have where the capability is not registered, so that none can declare it: a requirement which that meets counts for
	// nothing there; see [Vocabulary.Moot].
	MachineTypesOnly bool `json:"machineTypesOnly,omitempty"`
}

// workerCapability is what matching a request takes. Its bits in a Set are, in this order: bitUndeclared; the values,
// those that are registered before those that are only defined; bitNotRequested. See [Set] for a drawing.
//
// A worker capability that is registered is among Vocabulary.capabilities as well. That entry decides as long as the
// capability is not requested: there, a flavor that does not declare it has all registered values. Once it is
// requested, the workerCapability decides, with the undeclared value of such a flavor.
type workerCapability struct {
	entry
	// undeclared are the values of a flavor that does not declare the capability, unless its version says otherwise.
	undeclared []string
	// registered is set if spec.machineCapabilities registers the capability.
	registered bool
	// machineTypesOnly is that of the definition.
	machineTypesOnly bool
	// silentHasAll is set if a flavor that does not declare the capability supports all values that can be asked for.
	silentHasAll bool
	// offered bounds the indices of the values that a worker pool can ask for, and that a machine type has which does
	// not declare the capability: those registered or, if it is not registered, those defined.
	offered int
}

// bitUndeclared is the index of the flag that is set in a flavor or machine type that does not declare the
// capability; and in a flavor that declares what it would support anyway, if the capability is not registered. No
// request has it. As the first bit it ranks as the most preferred value: of two flavors that are equal otherwise, the
// one is preferred that does not declare the capability (semantics S5, step 3).
const bitUndeclared = 0

// bitNotRequested is the index of the flag that every flavor and machine type has, and a request that does not ask
// for the capability: what is not requested is no condition, whatever they declare.
func (w *workerCapability) bitNotRequested() int { return len(w.values) }

// compileWorkers adds the reserved capabilities, and those of the provider that are registered, to the workers.
func (v *Vocabulary) compileWorkers() {
	v.unregistered = map[string]Definition{}
	for _, d := range slices.Concat(Reserved(), v.defined) {
		r := v.byName[d.Name]
		if r != nil && r.name != d.Name { // it is registered by its other name
			d = firstText(r.name)
		}
		_, known := v.unregistered[d.Name]
		switch {
		case known || r != nil && r.worker != nil: // of two definitions the first counts
		case r == nil && !strings.HasPrefix(d.Name, ReservedPrefix):
			v.unregistered[d.Name] = d
		default:
			v.addWorker(d, r)
		}
	}
	v.allBits = strings.Repeat("\xff", (len(v.places)+7)&^7) // whole words
	bits := []byte(v.allBits)
	for _, w := range v.workers {
		clear(bits[w.from:w.to])
		w.put(bits, w.bitNotRequested())
	}
	v.unrequested = Set{vocabulary: v, bits: string(bits)}
	v.ordinary, _ = v.Request(Worker{}.Requirements(nil))
}

// addWorker adds a worker capability. registered is its entry if it is registered, and else nil.
func (v *Vocabulary) addWorker(d Definition, registered *entry) {
	w := &workerCapability{registered: registered != nil, machineTypesOnly: d.MachineTypesOnly}
	w.silentHasAll = w.machineTypesOnly || w.registered && texts.OfSecond(d.Name)
	if d.Undeclared != "" {
		w.undeclared = []string{d.Undeclared}
	}
	w.entry = entry{name: d.Name, flags: 1, values: []string{""}, byValue: map[string]int{}, other: texts.Other(d.Name), worker: w}
	if w.registered {
		registered.worker = w
		for _, value := range registered.values {
			w.add(value)
		}
		w.offered = len(w.values)
	}
	for _, value := range d.Values {
		w.add(value)
	}
	if !w.registered {
		w.offered = len(w.values)
		v.add(&w.entry)
	}
	v.place(&w.entry, len(w.values)+1)
	v.workers = append(v.workers, w)
}

// Flavor compiles the capabilities that a flavor of an image declares. What it leaves out it supports in full, as in
// [Vocabulary.Set], unless that is a worker capability: once one that it does not declare is requested, it supports
// the undeclared value only (semantics S3). It still supports all values if the capability is asked of machine types only (S22), or is a
// reserved one that is registered by the name of the second text of GEP-0054. undeclared holds, by capability, what to take in place of the undeclared
// value of the definition; nil if there is nothing to say.
//
// Flavors of equal sets fit the same worker pools. A reserved capability that is not registered, and declared with
// the undeclared value, is thus the same as none. Of a registered one that is not so: as long as it is not requested,
// a flavor that leaves it out fits every machine type.
//
// Errors are those of [Vocabulary.Set]; unknown names and values are ignored. A flavor that declares a registered
// capability with no other values thus fits no machine type; with such values of a reserved one that is not registered
// it fits no worker pool that asks for it (semantics S7). A nil at builds no errors.
func (v *Vocabulary) Flavor(c, undeclared v1beta1.Capabilities, at *field.Path) (Set, finding.List) {
	set, plain := v.PlainFlavor(c, undeclared)
	if plain {
		return set, nil
	}
	return set, v.validate(c, at)
}

// PlainFlavor is [Vocabulary.Flavor] without the errors. It reports whether the flavor is as most are: it declares nothing but registered
// capabilities that have one name, each with at least one value, all of which are registered. Then there are no errors.
func (v *Vocabulary) PlainFlavor(c, undeclared v1beta1.Capabilities) (set Set, plain bool) {
	var room [64]byte // mostly enough, and not allocated
	bits, plain := v.registeredBits(room[:], c)
	for _, w := range v.workers {
		if plain && !w.registered {
			w.ofFlavor(bits, nil, undeclared)
		} else {
			w.ofFlavor(bits, c, undeclared)
		}
	}
	return Set{vocabulary: v, bits: string(bits)}, plain
}

// ofMachine sets what a machine type declares, or else what it supports.
func (w *workerCapability) ofMachine(bits []byte, c v1beta1.Capabilities) {
	w.put(bits, w.bitNotRequested())
	if declared := w.ofEither(bits, c); !declared && !w.registered {
		w.put(bits, bitUndeclared)
	}
}

// ofEither sets what a machine type or a flavor declares, or else all values that can be asked for. It reports whether it declares
// the capability.
func (w *workerCapability) ofEither(bits []byte, c v1beta1.Capabilities) (declared bool) {
	values, declared := w.declared(c)
	if !declared {
		values = w.values[w.flags:w.offered]
	}
	w.putAll(bits, values)
	return declared
}

// ofFlavor sets what a flavor declares, or else the undeclared value.
func (w *workerCapability) ofFlavor(bits []byte, c, undeclared v1beta1.Capabilities) {
	w.put(bits, w.bitNotRequested())
	if w.silentHasAll {
		w.ofEither(bits, c)
		return
	}
	usual, special := w.declared(undeclared)
	if !special {
		usual = w.undeclared
	}
	values, declared := w.declared(c)
	if !declared {
		values = usual
	}
	w.putAll(bits, values)
	if !declared || !w.registered && len(values) > 0 && sets.New(values...).Equal(sets.New(usual...)) {
		w.put(bits, bitUndeclared)
	}
}

// WorkerCapabilities returns the reserved definitions, those that are registered by the name of the first text of GEP-0054 as it has them,
// and after them those that the vocabulary was compiled with, whether or not they are registered. The caller owns the slice, but not
// the values of its elements.
func (v *Vocabulary) WorkerCapabilities() []Definition {
	definitions := slices.Concat(Reserved(), v.defined)
	for i, d := range definitions {
		if r := v.byName[d.Name]; r != nil && r.name != d.Name {
			definitions[i] = firstText(r.name)
		}
	}
	return definitions
}

// Requirement is what a worker pool asks for in one worker capability (semantics S3).
type Requirement struct {
	// Capability is its name.
	Capability string `json:"capability"`
	// Values are those that are enough. Their order is not significant.
	Values []string `json:"values"`
	// Setting says in words what asks for it: "update strategy AutoInPlaceUpdate".
	Setting string `json:"setting"`
	// Implied is set if it follows from what the pool leaves unsaid: without secure boot it asks for standard.
	Implied bool `json:"implied"`
	// OnlyIfRegistered makes it ignored in a vocabulary that does not register the capability, as
	// [Definition].OnlyIfRegistered does. It is for reserved capabilities, whose definitions are not the provider's.
	OnlyIfRegistered bool `json:"-"`
	// Because is the path of the setting; nil if it is in no manifest.
	Because *field.Path `json:"-"`
}

// Request compiles what a worker pool asks for. Two requirements of one capability have to be met by one value.
//
// unmet are the requirements, in their order, that no image can ever meet: their capability is neither reserved nor a
// worker capability of the provider that is registered, or none of their values is registered. They are no part of the
// set: it is for the caller to refuse them. Of a capability that is not registered a requirement that the undeclared
// value meets is met by all images, and one that [Vocabulary.Ignores] reports is ignored.
//
// It does not allocate if nothing is asked for, or what the zero [Worker] asks for, as by most pools, in the words of the vocabulary;
// see [Vocabulary.InWords].
func (v *Vocabulary) Request(requirements []Requirement) (request Set, unmet []Requirement) {
	var buffer [64]byte // on the stack, and enough for any vocabulary of a usual size
	bits := append(buffer[:0], v.unrequested.bits...)
	for _, q := range requirements {
		q = v.InWords(q)
		r := v.byName[q.Capability]
		if r == nil && v.undeclaredMeets(q) || v.Ignores(q) {
			continue
		}
		if r == nil || r.worker == nil || !slices.ContainsFunc(q.Values, r.worker.offers) {
			unmet = append(unmet, q)
			continue
		}
		r.worker.request(bits, q.Values)
		r.restrict(bits, q.Values) // the same, unless the capability is registered
	}
	for _, usual := range []Set{v.ordinary, v.unrequested} {
		if string(bits) == usual.bits {
			return usual, unmet
		}
	}
	return Set{vocabulary: v, bits: string(bits)}, unmet
}

// InWords returns a requirement in the words of the vocabulary, if its capability has another name there. Values that it does not have are
// left out then. The argument is not changed, and the result may share its values.
func (v *Vocabulary) InWords(q Requirement) Requirement {
	if r := v.byName[q.Capability]; r != nil && r.name != q.Capability {
		q.Capability, q.Values = r.name, texts.TranslateAll(q.Capability, q.Values)
	}
	return q
}

// Ignores reports whether a requirement is ignored, though the undeclared value does not meet it: its capability is not
// registered, and counts only if it is, as its definition says ([Definition].OnlyIfRegistered) or the requirement
// itself. Callers warn about it.
func (v *Vocabulary) Ignores(r Requirement) bool {
	only := r.OnlyIfRegistered && !v.IsRegistered(r.Capability)
	return (only || v.unregistered[r.Capability].OnlyIfRegistered) && !v.undeclaredMeets(r)
}

// Moot reports whether a requirement is ignored because nothing can fail it, so that no answer mentions it: its
// capability is asked of machine types only and is not registered, and the undeclared value meets it.
func (v *Vocabulary) Moot(r Requirement) bool {
	return v.unregistered[r.Capability].MachineTypesOnly && v.undeclaredMeets(r)
}

// MachineTypesOnly reports whether a capability is asked of machine types only, whether or not it is registered.
func (v *Vocabulary) MachineTypesOnly(name string) bool {
	if e := v.byName[name]; e != nil {
		return e.worker != nil && e.worker.machineTypesOnly
	}
	return v.unregistered[name].MachineTypesOnly
}

// firstText returns the definition that the first text of GEP-0054 has by a name.
func firstText(name string) Definition {
	first := FirstText()
	return first[slices.IndexFunc(first, func(d Definition) bool { return d.Name == name })]
}

// undeclaredMeets reports whether images meet a requirement that do not declare its capability. If that is not registered, and
// not reserved, these are all.
func (v *Vocabulary) undeclaredMeets(r Requirement) bool {
	if e := v.byName[r.Capability]; e != nil && e.worker != nil {
		return slices.ContainsFunc(e.worker.undeclared, func(value string) bool { return slices.Contains(r.Values, value) })
	}
	d := v.unregistered[r.Capability]
	return d.Undeclared != "" && slices.Contains(r.Values, d.Undeclared)
}

// offers reports whether a worker capability has a value, and registers it if it is registered.
func (w *workerCapability) offers(value string) bool {
	index, defined := w.byValue[value]
	return defined && index < w.offered
}

// request adds a requirement, some value of which is offered, to the bits of a request.
func (w *workerCapability) request(bits []byte, values []string) {
	if at, mask := w.bit(w.bitNotRequested()); bits[at]&mask != 0 { // the first requirement: so far any value will do
		clear(bits[w.from:w.to])
		for i := w.flags; i < w.offered; i++ {
			w.put(bits, i)
		}
	}
	w.restrict(bits, values)
}

// restrict clears the bits of all values but the given ones.
func (r *entry) restrict(bits []byte, values []string) {
	for i := r.flags; i < len(r.values); i++ {
		if !slices.Contains(values, r.values[i]) {
			at, mask := r.bit(i)
			bits[at] &^= mask
		}
	}
}
