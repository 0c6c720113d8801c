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

// Definition is a worker capability: one that a worker pool can request, and that an image supports only if it declares it (semantics S3).
type Definition struct {
	// Name with the prefix of Gardener or of the provider: openstack-trustedLaunch.
	Name string `json:"name"`
	// Values, most preferred first, each once.
	Values []string `json:"values"`
	// Undeclared is the value that an image supports if it does not declare the capability. Empty: such an image fits no worker pool that
	// requests the capability.
	Undeclared string `json:"undeclared,omitempty"`
	// OnlyIfRegistered is for a capability whose setting is older than itself. In a profile that does not register the capability, a pool
	// that requests it is not refused, and the requirement is ignored; see [Vocabulary.Ignores]. In other profiles it has no effect.
	OnlyIfRegistered bool `json:"onlyIfRegistered,omitempty"`
	// MachineTypesOnly is for a capability that is asked of machine types only (semantics S22). An image flavor that does not declare it
	// supports all registered values, as of any ordinary capability (S2). In a profile that does not register the capability, no machine
	// type can declare it, and all have the Undeclared value. A requirement that this value meets is ignored there; see [Vocabulary.Moot].
	MachineTypesOnly bool `json:"machineTypesOnly,omitempty"`
}

// workerCapability is the entry that matches requests. Its bits in a Set are, in this order: bitUndeclared; the values, registered ones
// before those that are only defined; bitNotRequested. [Set] has a drawing.
//
// A registered worker capability has another entry in Vocabulary.capabilities, which decides unless the capability is requested. There, a
// flavor that does not declare the capability has all registered values. Once it is requested, the workerCapability decides, with the
// flavor's undeclared value.
type workerCapability struct {
	entry
	// undeclared are the values of a flavor that does not declare the capability, unless its version overrides them.
	undeclared []string
	// registered is set if spec.machineCapabilities registers the capability.
	registered bool
	// machineTypesOnly is the definition's MachineTypesOnly.
	machineTypesOnly bool
	// silentHasAll is set if a flavor that does not declare the capability supports all values that can be requested.
	silentHasAll bool
	// offered is the exclusive upper bound of the indices of the values that a worker pool can request: the registered ones or, if the
	// capability is not registered, the defined ones. A machine type that does not declare the capability has these values.
	offered int
}

// bitUndeclared is the index of the flag for a flavor that does not declare the capability, unless silentHasAll is set. If the capability
// is not registered, a flavor that declares just the undeclared value also has it, and so has a machine type that does not declare the
// capability. Requests never have it. As the first bit it ranks as the most preferred value: of two otherwise equal flavors, the one that
// does not declare the capability is preferred (semantics S5, step 3).
const bitUndeclared = 0

// bitNotRequested returns the index of the flag that every flavor and machine type has. A request has it if it does not request the
// capability. So a capability that is not requested is no condition, whatever they declare.
func (w *workerCapability) bitNotRequested() int { return len(w.values) }

// compileWorkers adds the reserved capabilities, and the provider's registered ones, to the workers.
func (v *Vocabulary) compileWorkers() {
	v.unregistered = map[string]Definition{}
	for _, d := range slices.Concat(Reserved(), v.defined) {
		r := v.byName[d.Name]
		if r != nil && r.name != d.Name { // it is registered under its other name
			d = firstText(r.name)
		}
		_, known := v.unregistered[d.Name]
		switch {
		case known || r != nil && r.worker != nil: // the first definition wins
		case r == nil && !strings.HasPrefix(d.Name, ReservedPrefix):
			v.unregistered[d.Name] = d
		default:
			v.addWorker(d, r)
		}
	}
	v.allBits = strings.Repeat("\xff", (len(v.places)+7)&^7) // rounded up to whole words
	bits := []byte(v.allBits)
	for _, w := range v.workers {
		clear(bits[w.from:w.to])
		w.put(bits, w.bitNotRequested())
	}
	v.unrequested = Set{vocabulary: v, bits: string(bits)}
	v.ordinary, _ = v.Request(Worker{}.Requirements(nil))
}

// addWorker adds a worker capability. registered is its entry among the registered capabilities, nil if there is none.
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

// Flavor compiles the capabilities of an image flavor. As in [Vocabulary.Set], the flavor supports all values of a capability that it
// leaves out, unless that is a worker capability: once it is requested, the flavor supports the undeclared value only (semantics S3). It
// still supports all values of a capability that is asked of machine types only (S22), and of a reserved one that is registered under its
// name in the second text of GEP-0054. undeclared overrides the undeclared values of definitions, by capability; nil overrides none.
//
// Flavors with equal sets fit the same worker pools. So declaring just the undeclared value of an unregistered reserved capability equals
// leaving it out. This does not hold for a registered one: unless it is requested, a flavor that leaves it out fits every machine type.
//
// The errors are those of [Vocabulary.Set]. Unknown names and values are ignored. So a flavor with only unknown values of a registered
// capability fits no machine type. With only unknown values of an unregistered reserved one, it fits no worker pool that requests the
// capability (semantics S7). If at is nil, no errors are returned.
func (v *Vocabulary) Flavor(c, undeclared v1beta1.Capabilities, at *field.Path) (Set, finding.List) {
	set, plain := v.PlainFlavor(c, undeclared)
	if plain {
		return set, nil
	}
	return set, v.validate(c, at)
}

// PlainFlavor is [Vocabulary.Flavor] without the errors. It reports whether the flavor is a plain one, which has no errors: it declares
// only registered capabilities that have one name, each with at least one value, and only registered values. Most flavors are plain.
func (v *Vocabulary) PlainFlavor(c, undeclared v1beta1.Capabilities) (set Set, plain bool) {
	var room [64]byte // usually enough, and not allocated
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

// ofMachine sets the values that a machine type declares, or else all values that can be requested.
func (w *workerCapability) ofMachine(bits []byte, c v1beta1.Capabilities) {
	w.put(bits, w.bitNotRequested())
	if declared := w.ofEither(bits, c); !declared && !w.registered {
		w.put(bits, bitUndeclared)
	}
}

// ofEither sets the values that a machine type or a flavor declares, or else all values that can be requested. It reports whether the
// capability is declared.
func (w *workerCapability) ofEither(bits []byte, c v1beta1.Capabilities) (declared bool) {
	values, declared := w.declared(c)
	if !declared {
		values = w.values[w.flags:w.offered]
	}
	w.putAll(bits, values)
	return declared
}

// ofFlavor sets the values that a flavor declares, or else the undeclared value.
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

// WorkerCapabilities returns the reserved definitions, followed by those that the vocabulary was compiled with, registered or not. A
// reserved capability that is registered under its name in the first text of GEP-0054 has the definition of that text. The caller owns the
// slice, but not the values of its elements.
func (v *Vocabulary) WorkerCapabilities() []Definition {
	definitions := slices.Concat(Reserved(), v.defined)
	for i, d := range definitions {
		if r := v.byName[d.Name]; r != nil && r.name != d.Name {
			definitions[i] = firstText(r.name)
		}
	}
	return definitions
}

// Requirement is a worker pool's request for one worker capability (semantics S3).
type Requirement struct {
	// Capability is the capability's name.
	Capability string `json:"capability"`
	// Values are alternatives: any one of them suffices. Their order is not significant.
	Values []string `json:"values"`
	// Setting describes the requesting setting: "update strategy AutoInPlaceUpdate".
	Setting string `json:"setting"`
	// Implied is set if the request follows from an omission: a pool without secure boot requests standard.
	Implied bool `json:"implied"`
	// OnlyIfRegistered ignores the requirement in a vocabulary that does not register the capability, as [Definition].OnlyIfRegistered
	// does. It is for reserved capabilities, which the provider does not define.
	OnlyIfRegistered bool `json:"-"`
	// Because is the path of the setting; nil if it is in no manifest.
	Because *field.Path `json:"-"`
}

// Request compiles the requirements of a worker pool. If a capability has two requirements, one value must meet both.
//
// unmet are the requirements that no image can ever meet, in their order; the caller must refuse them, and the set omits them. Their
// capability is neither reserved nor a registered worker capability of the provider, or none of their values is registered. A requirement
// for an unregistered capability is met by every image if the undeclared value meets it. It is ignored if [Vocabulary.Ignores] reports so.
//
// Request does not allocate if the requirements, in the words of the vocabulary, are none or those of the zero [Worker], as for most pools;
// see [Vocabulary.InWords].
func (v *Vocabulary) Request(requirements []Requirement) (request Set, unmet []Requirement) {
	var buffer [64]byte // on the stack, and large enough for any ordinary vocabulary
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
		r.restrict(bits, q.Values) // the same entry, unless the capability is registered
	}
	for _, usual := range []Set{v.ordinary, v.unrequested} {
		if string(bits) == usual.bits {
			return usual, unmet
		}
	}
	return Set{vocabulary: v, bits: string(bits)}, unmet
}

// InWords translates a requirement to the words of the vocabulary if its capability has another name there, and drops values without a
// translation. The argument is not modified; the result may share its values.
func (v *Vocabulary) InWords(q Requirement) Requirement {
	if r := v.byName[q.Capability]; r != nil && r.name != q.Capability {
		q.Capability, q.Values = r.name, texts.TranslateAll(q.Capability, q.Values)
	}
	return q
}

// Ignores reports whether a requirement is ignored although the undeclared value does not meet it: its capability is not registered, and
// the requirement or the definition sets OnlyIfRegistered. Callers warn about it.
func (v *Vocabulary) Ignores(r Requirement) bool {
	only := r.OnlyIfRegistered && !v.IsRegistered(r.Capability)
	return (only || v.unregistered[r.Capability].OnlyIfRegistered) && !v.undeclaredMeets(r)
}

// Moot reports whether a requirement is ignored because every machine type meets it, so that no answer mentions it: its capability is asked
// of machine types only and is not registered, and the undeclared value meets it.
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

// firstText returns the definition of a name in the first text of GEP-0054.
func firstText(name string) Definition {
	first := FirstText()
	return first[slices.IndexFunc(first, func(d Definition) bool { return d.Name == name })]
}

// undeclaredMeets reports whether an image that does not declare the capability meets the requirement. If the capability is neither
// registered nor reserved, that holds for every image.
func (v *Vocabulary) undeclaredMeets(r Requirement) bool {
	if e := v.byName[r.Capability]; e != nil && e.worker != nil {
		return slices.ContainsFunc(e.worker.undeclared, func(value string) bool { return slices.Contains(r.Values, value) })
	}
	d := v.unregistered[r.Capability]
	return d.Undeclared != "" && slices.Contains(r.Values, d.Undeclared)
}

// offers reports whether a worker pool can request a value.
func (w *workerCapability) offers(value string) bool {
	index, defined := w.byValue[value]
	return defined && index < w.offered
}

// request adds a requirement, at least one of whose values is offered, to the bits of a request.
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
