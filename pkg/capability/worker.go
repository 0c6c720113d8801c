// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ReservedPrefix is what the names of the capabilities begin with that Gardener keeps for itself (GEP-0054).
const ReservedPrefix = "gardener-"

// The reserved capabilities and their values (GEP-0054, semantics S3).
const (
	BootType         = "gardener-bootType"
	BootTypeSecure   = "secure"
	BootTypeStandard = "standard"

	UpdateType        = "gardener-updateType"
	UpdateTypeInPlace = "inPlace"
	UpdateTypeRolling = "rolling"

	GPUSupport       = "gardener-gpuSupport"
	GPUSupportNvidia = "nvidia"
	GPUSupportAMD    = "amd"
	GPUSupportIntel  = "intel"
	GPUSupportNone   = "none"
)

// The stable names of the rules about reserved capabilities.
const (
	// RuleReservedUnknown: a name begins with gardener- and is none of the reserved capabilities.
	RuleReservedUnknown = "reserved-capability-unknown"
	// RuleReservedValue: a reserved capability is declared with a value that it does not have.
	RuleReservedValue = "reserved-capability-value"
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
	// capability. A pool that asks for it in a profile that does not register it is not refused, and the requirement
	// counts for nothing there; see [Vocabulary.Ignores]. Where the capability is registered it is like any other.
	OnlyIfRegistered bool `json:"onlyIfRegistered,omitempty"`
}

// Reserved returns the reserved capabilities, which are known without being registered, in the order of their
// priority. The caller owns the result.
func Reserved() []Definition {
	return []Definition{
		{Name: BootType, Values: []string{BootTypeSecure, BootTypeStandard}, Undeclared: BootTypeStandard},
		{Name: UpdateType, Values: []string{UpdateTypeInPlace, UpdateTypeRolling}, Undeclared: UpdateTypeRolling},
		{
			Name:       GPUSupport,
			Values:     []string{GPUSupportNvidia, GPUSupportAMD, GPUSupportIntel, GPUSupportNone},
			Undeclared: GPUSupportNone,
		},
	}
}

// workerCapability is what matching a request takes. Its bits in a Set are, in this order: bitUndeclared; the values,
// those that are registered before those that are only defined; bitNotRequested. See [Set] for a drawing.
//
// A worker capability that is registered is among Vocabulary.capabilities as well. That entry decides as long as the
// capability is not requested: there, a flavor that does not declare it has all registered values. Once it is
// requested, the workerCapability decides, with the undeclared value of such a flavor.
type workerCapability struct {
	entry
	definition Definition
	// registered is set if spec.machineCapabilities registers the capability.
	registered bool
	// supported are the values of a machine type that does not declare the capability: those registered or, if it is not
	// registered, those defined.
	supported []string
	// offered bounds the indices of the values that a worker pool can ask for: those of supported.
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
func (v *Vocabulary) compileWorkers(provider []Definition) {
	v.workerByName = map[string]int{}
	for _, d := range slices.Concat(Reserved(), provider) {
		at, registered := v.byName[d.Name]
		_, known := v.workerByName[d.Name]
		if known || !registered && !strings.HasPrefix(d.Name, ReservedPrefix) {
			continue
		}
		w := workerCapability{definition: d, registered: registered, supported: d.Values}
		w.flags, w.name, w.values, w.byValue = 1, d.Name, []string{""}, make(map[string]int, len(d.Values))
		if registered {
			w.supported = v.capabilities[at].values
		}
		w.add(w.supported)
		w.offered = len(w.values)
		w.add(d.Values)
		v.place(&w.entry, len(w.values)+1)
		v.workers = append(v.workers, w)
		v.workerByName[d.Name] = len(v.workers) - 1
		if registered {
			v.capabilities[at].worker = len(v.workers)
		}
	}
	bits := bytes.Repeat([]byte{0xff}, (v.width+7)&^7) // whole words
	v.allBits = string(bits)
	for i := range v.workers {
		v.workers[i].setOnly(bits, v.workers[i].bitNotRequested())
	}
	v.unrequested = Set{vocabulary: v, bits: string(bits)}
	v.ordinary, _ = v.Request(Worker{}.Requirements(nil))
	if !slices.ContainsFunc(v.workers, func(w workerCapability) bool { return w.registered }) {
		undeclared, _ := v.Flavor(nil, nil, nil)
		v.undeclaredBits = []byte(undeclared.bits[v.workers[0].from:v.width])
	}
}

// add appends values that the capability does not have yet.
func (w *workerCapability) add(values []string) {
	for _, value := range values {
		if _, found := w.byValue[value]; !found {
			w.byValue[value] = len(w.values)
			w.values = append(w.values, value)
		}
	}
}

// setOnly sets the bits with the given indices, and clears the others of the capability.
func (w *workerCapability) setOnly(bits []byte, values ...int) {
	clear(bits[w.from:w.to])
	for _, value := range values {
		w.put(bits, value)
	}
}

// Flavor compiles the capabilities that a flavor of an image declares. What it leaves out it supports in full, as in
// [Vocabulary.Set], unless that is a worker capability: once one that it does not declare is requested, it supports
// the undeclared value only (semantics S3). undeclared holds, by capability, what to take in place of the undeclared
// value of the definition; nil if there is nothing to say.
//
// Flavors of equal sets fit the same worker pools. A reserved capability that is not registered, and declared with
// the undeclared value, is thus the same as none. Of a registered one that is not so: as long as it is not requested,
// a flavor that leaves it out fits every machine type.
//
// Errors are those of [Vocabulary.Set], and so is what comes of an input that has some: a name that is neither
// registered nor reserved counts for nothing, nor does a value that the capability does not have. A flavor that
// declares a registered capability with no other values thus fits no machine type; with such values of a reserved one
// that is not registered it fits no worker pool that asks for it (semantics S7). A nil at builds no errors, and
// changes nothing else.
func (v *Vocabulary) Flavor(c, undeclared v1beta1.Capabilities, at *field.Path) (Set, field.ErrorList) {
	bits, found, errs := v.registeredBits(c, at)
	if found == len(c) && undeclared == nil && v.undeclaredBits != nil {
		copy(bits[v.width-len(v.undeclaredBits):], v.undeclaredBits)
		return Set{vocabulary: v, bits: string(bits)}, errs
	}
	for i := range v.workers {
		errs = append(errs, v.workers[i].ofFlavor(bits, c, undeclared, at)...)
	}
	if found < len(c) {
		errs = append(errs, v.unregistered(c, at)...)
	}
	return Set{vocabulary: v, bits: string(bits)}, errs
}

// ofMachine sets what a machine type declares, or else what it supports.
func (w *workerCapability) ofMachine(bits []byte, c v1beta1.Capabilities, at *field.Path) field.ErrorList {
	values, declared := c[w.name]
	if !declared {
		values = w.supported
	}
	if !declared && !w.registered {
		w.put(bits, bitUndeclared)
	}
	return w.declare(bits, values, declared, at)
}

// ofFlavor sets what a flavor declares, or else the undeclared value.
func (w *workerCapability) ofFlavor(bits []byte, c, undeclared v1beta1.Capabilities, at *field.Path) field.ErrorList {
	values, declared := c[w.name]
	usual, special := undeclared[w.name]
	if !special && w.definition.Undeclared != "" {
		usual = v1beta1.CapabilityValues{w.definition.Undeclared}
	}
	if !declared {
		values = usual
	}
	errs := w.declare(bits, values, declared, at)
	if !declared || !w.registered && len(values) > 0 && sameValues(values, usual) {
		w.put(bits, bitUndeclared)
	}
	return errs
}

// sameValues reports whether two lists have the same values, in whatever order and however often.
func sameValues(a, b []string) bool {
	within := func(values, others []string) bool {
		return !slices.ContainsFunc(values, func(value string) bool { return !slices.Contains(others, value) })
	}
	return within(a, b) && within(b, a)
}

// declare sets values: those that a manifest declares or, if declared is false, those that hold instead.
// registeredBits reports what is wrong with the values of a capability that is registered.
func (w *workerCapability) declare(bits []byte, values []string, declared bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	w.put(bits, w.bitNotRequested())
	for i, value := range values {
		if index, found := w.byValue[value]; found {
			w.put(bits, index)
		} else if !w.registered && at != nil {
			errs = append(errs, (&field.Error{
				Type: field.ErrorTypeNotSupported, Field: at.Child(w.name).Index(i).String(), BadValue: value,
				Detail: fmt.Sprintf("%s is a capability of Gardener, with the values %s; %q is none of them",
					w.name, list(w.definition.Values), value),
			}).WithOrigin(RuleReservedValue))
		}
	}
	if declared && len(values) == 0 && !w.registered && at != nil {
		errs = append(errs, workerValueMissing(w.name, at))
	}
	return errs
}

func workerValueMissing(name string, at *field.Path) *field.Error {
	return field.Required(at.Child(name), fmt.Sprintf(
		"an empty list matches nothing: list values of %s, or leave the capability out if the image does not support it",
		name)).WithOrigin(RuleValueMissing)
}

// unknownName returns the error for a name that the vocabulary does not know.
func (v *Vocabulary) unknownName(name string, at *field.Path) *field.Error {
	err := &field.Error{Type: field.ErrorTypeNotSupported, Field: at.String(), BadValue: name}
	if strings.HasPrefix(name, ReservedPrefix) {
		err.Detail = fmt.Sprintf("names with %s are Gardener's own, and %q is none of them, which are %s",
			ReservedPrefix, name, list(reservedNames()))
		return err.WithOrigin(RuleReservedUnknown)
	}
	err.Detail = fmt.Sprintf("capability %q is not registered in spec.machineCapabilities; registered are %s",
		name, list(v.names()))
	return err.WithOrigin(RuleUnregistered)
}

func reservedNames() []string {
	var names []string
	for _, d := range Reserved() {
		names = append(names, d.Name)
	}
	return names
}

// WorkerCapabilities returns the reserved definitions, and after them those that the vocabulary was compiled with,
// whether or not they are registered. The caller owns the slice, but not the values of its elements.
func (v *Vocabulary) WorkerCapabilities() []Definition {
	return slices.Concat(Reserved(), v.defined)
}

// IsRegistered reports whether spec.machineCapabilities registers a capability.
func (v *Vocabulary) IsRegistered(name string) bool {
	_, found := v.byName[name]
	return found
}
