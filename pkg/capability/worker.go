// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
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

// Definition is a worker capability: one that a worker pool can ask for, and that an image supports only if it declares
// it (semantics S3).
type Definition struct {
	// Name with the prefix of Gardener or of the provider: openstack-trustedLaunch.
	Name string `json:"name"`
	// Values, most preferred first, each once.
	Values []string `json:"values"`
	// Undeclared is the one of Values that an image supports which does not declare the capability. Empty: none, so that
	// such an image fits no worker pool that asks for the capability.
	Undeclared string `json:"undeclared,omitempty"`
	// OnlyIfRegistered is for a capability that stands for a setting which worker pools had before there was the capability. A
	// pool that asks for it in a profile that does not register it is not refused, and the requirement counts for nothing
	// there; see [Vocabulary.Ignores]. Where the capability is registered it is like any other.
	OnlyIfRegistered bool `json:"onlyIfRegistered,omitempty"`
}

// Reserved returns the reserved capabilities, which are known without being registered, in the order of their priority.
// The caller owns the result.
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

// group is what deciding needs to know of a worker capability beside what it needs of every registered one. Its values in
// the bits of a Set are, in this order: a mark that is set if the capability is left out; then the values, those that are
// registered before those that are only defined; then a mark that is set unless a worker pool asks for the capability.
//
// Of a capability that is registered there is an entry as well: it counts while nobody asks for the capability, and what
// leaves the capability out has all registered values there. Once it is asked for, the group counts instead.
//
// The first mark counts as the most preferred value, so that of two flavors which are equal otherwise the one is taken
// that leaves the capability out. All flavors and machine types have the last one: what is not requested is thus no
// condition, whatever they declare.
type group struct {
	entry
	definition Definition
	// registered tells that the capability is registered as well.
	registered bool
	// supported are the values of a machine type that leaves the capability out: those registered or, if it is not
	// registered, those defined.
	supported []string
	// offered bounds the indices of the values that a worker pool can ask for: those of supported.
	offered int
}

// leftOut is the index of a group's first mark. Value i of the definition has the index i+1.
const leftOut = 0

// unasked is the index of a group's last mark.
func (g *group) unasked() int { return len(g.values) }

// compileWorkers adds a group for each reserved capability, and for those of the provider that are registered.
func (v *Vocabulary) compileWorkers(provider []Definition) {
	v.byWorker = map[string]int{}
	for _, d := range slices.Concat(Reserved(), provider) {
		at, registered := v.byName[d.Name]
		_, known := v.byWorker[d.Name]
		if known || !registered && !strings.HasPrefix(d.Name, ReservedPrefix) {
			continue
		}
		g := group{definition: d, registered: registered, supported: d.Values}
		g.marks, g.name, g.values, g.byValue = 1, d.Name, []string{""}, make(map[string]int, len(d.Values))
		if registered {
			g.supported = v.capabilities[at].values
		}
		g.add(g.supported)
		g.offered = len(g.values)
		g.add(d.Values)
		v.place(&g.entry, len(g.values)+1)
		v.groups = append(v.groups, g)
		v.byWorker[d.Name] = len(v.groups) - 1
		if registered {
			v.capabilities[at].worker = len(v.groups)
		}
	}
	everything := make([]byte, (v.width+7)&^7)
	for i := range everything {
		everything[i] = 0xff
	}
	v.everything = string(everything)
	for i := range v.groups {
		v.groups[i].only(everything, v.groups[i].unasked())
	}
	v.unrequested = Set{vocabulary: v, bits: string(everything)}
	v.ordinary, _ = v.Request(Worker{}.Requirements(nil))
	if !slices.ContainsFunc(v.groups, func(g group) bool { return g.registered }) { // else one of them may be declared
		plain, _ := v.Flavor(nil, nil, nil)
		v.plain = []byte(plain.bits[v.groups[0].from:v.width])
	}
}

// add appends values that the group does not have yet.
func (g *group) add(values []string) {
	for _, value := range values {
		if _, found := g.byValue[value]; !found {
			g.byValue[value] = len(g.values)
			g.values = append(g.values, value)
		}
	}
}

// only clears all bits of a group but those of the given values.
func (g *group) only(bits []byte, values ...int) {
	clear(bits[g.from:g.to])
	for _, value := range values {
		g.put(bits, value)
	}
}

// Flavor compiles the capabilities that a flavor of an image declares. What it leaves out it supports in full, as in
// [Vocabulary.Set], unless that is a worker capability: asked for one that it does not declare, it supports the undeclared
// value only (semantics S3). undeclared says so of single capabilities otherwise than their definitions do; nil if there
// is nothing to say.
//
// No worker pool can tell two flavors of equal sets apart. A reserved capability that is not registered, and declared with
// the undeclared value, is thus the same as none. Of a registered one that is not so: while nobody asks for it, a flavor
// that leaves it out fits every machine type.
//
// Errors are those of [Vocabulary.Set], and so is what comes of an input that has some: a name that is neither registered
// nor reserved counts for nothing, nor does a value that the capability does not have. A flavor that declares a registered
// capability with no other values thus fits no machine type; with such values of a reserved one that is not registered it
// fits no worker pool that asks for it (semantics S7). A nil at builds no errors, and changes nothing else.
func (v *Vocabulary) Flavor(c, undeclared v1beta1.Capabilities, at *field.Path) (Set, field.ErrorList) {
	bits, found, errs := v.registeredBits(c, at)
	if found == len(c) && undeclared == nil && v.plain != nil {
		copy(bits[v.width-len(v.plain):], v.plain)
		return Set{vocabulary: v, bits: string(bits)}, errs
	}
	for i := range v.groups {
		errs = append(errs, v.groups[i].ofFlavor(bits, c, undeclared, at)...)
	}
	if found < len(c) {
		errs = append(errs, v.unregistered(c, at)...)
	}
	return Set{vocabulary: v, bits: string(bits)}, errs
}

// ofMachine writes what a machine type declares.
func (g *group) ofMachine(bits []byte, c v1beta1.Capabilities, at *field.Path) field.ErrorList {
	values, declared := c[g.name]
	if !declared {
		values = g.supported
	}
	if !declared && !g.registered {
		g.put(bits, leftOut)
	}
	return g.declare(bits, values, declared, at)
}

// ofFlavor writes what a flavor declares, or else the undeclared value.
func (g *group) ofFlavor(bits []byte, c, undeclared v1beta1.Capabilities, at *field.Path) field.ErrorList {
	values, declared := c[g.name]
	usual, special := undeclared[g.name]
	if !special && g.definition.Undeclared != "" {
		usual = v1beta1.CapabilityValues{g.definition.Undeclared}
	}
	if !declared {
		values = usual
	}
	errs := g.declare(bits, values, declared, at)
	if !declared || !g.registered && len(values) > 0 && sameValues(values, usual) {
		g.put(bits, leftOut)
	}
	return errs
}

// sameValues tells whether two lists have the same values, in whatever order and however often.
func sameValues(a, b []string) bool {
	within := func(values, others []string) bool {
		return !slices.ContainsFunc(values, func(value string) bool { return !slices.Contains(others, value) })
	}
	return within(a, b) && within(b, a)
}

// declare writes values, which a manifest declares, or which stand for nothing declared. What is wrong with those of a
// capability that is registered has been reported where that was compiled.
func (g *group) declare(bits []byte, values []string, declared bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	g.put(bits, g.unasked())
	for i, value := range values {
		if index, found := g.byValue[value]; found {
			g.put(bits, index)
		} else if !g.registered && at != nil {
			errs = append(errs, (&field.Error{
				Type: field.ErrorTypeNotSupported, Field: at.Child(g.name).Index(i).String(), BadValue: value,
				Detail: fmt.Sprintf("%s is a capability of Gardener, with the values %s; %q is none of them",
					g.name, list(g.definition.Values), value),
			}).WithOrigin(RuleReservedValue))
		}
	}
	if declared && len(values) == 0 && !g.registered && at != nil {
		errs = append(errs, workerValueMissing(g.name, at))
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
		err.Detail = fmt.Sprintf("names with %s are Gardener's own, and %q is none of them, which are %s", ReservedPrefix, name, list(reservedNames()))
		return err.WithOrigin(RuleReservedUnknown)
	}
	err.Detail = fmt.Sprintf("capability %q is not registered in spec.machineCapabilities; registered are %s", name, list(v.names()))
	return err.WithOrigin(RuleUnregistered)
}

func reservedNames() []string {
	var names []string
	for _, d := range Reserved() {
		names = append(names, d.Name)
	}
	return names
}

// WorkerCapabilities returns the definitions of all worker capabilities that the vocabulary was compiled with, the
// reserved ones first, whether or not they are registered. The caller owns the slice, but not the values of its elements.
func (v *Vocabulary) WorkerCapabilities() []Definition {
	return slices.Concat(Reserved(), v.defined)
}

// IsRegistered tells whether spec.machineCapabilities registers a capability.
func (v *Vocabulary) IsRegistered(name string) bool {
	_, found := v.byName[name]
	return found
}
