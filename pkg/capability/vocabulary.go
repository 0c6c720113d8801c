// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Architecture is the name of the one capability that every vocabulary has (GEP-0033).
const Architecture = constants.ArchitectureName

// The stable names of this package's rules: the Origin of the errors that [Compile] and [Vocabulary.Set] return.
const (
	// RuleValueDuplicate: a value is registered twice for one capability.
	RuleValueDuplicate = "capability-value-duplicate"
	// RuleUnregistered: a capability is used that spec.machineCapabilities does not register.
	RuleUnregistered = "capability-unregistered"
	// RuleValueUnregistered: a value is used that is not registered for its capability.
	RuleValueUnregistered = "capability-value-unregistered"
	// RuleValueMissing: a capability is declared with an empty list of values, so that nothing could ever match.
	RuleValueMissing = "capability-value-missing"
)

// Vocabulary is the compiled spec.machineCapabilities of a CloudProfile. The order of capabilities is their priority,
// the order of values the operator's preference, best first (semantics S1). It is immutable and safe for concurrent
// use. The zero Vocabulary registers nothing; use [Compile].
//
// A vocabulary also has worker capabilities (semantics S3): the reserved ones, whether or not they are registered,
// and those of the provider that are.
type Vocabulary struct {
	// capabilities are the registered ones, workers the reserved ones and those of the provider that are registered.
	capabilities []entry
	byName       map[string]int
	workers      []workerCapability
	workerByName map[string]int
	// defined are the worker capabilities of the provider, registered or not.
	defined []Definition
	// width is the number of bytes that the capabilities take in a Set. bytewise is set if none takes more than one,
	// which is usual.
	width    int
	bytewise bool
	legacy   bool
	all      Set
	// unrequested requests nothing, ordinary what the zero Worker does.
	unrequested, ordinary Set
	// allBits has every bit set: as a machine type and as a request it is no condition.
	allBits string
	// undeclaredBits are the bits of workers in a flavor that declares none of them, as most do. Nil if one of them is
	// registered, so that it may be among the capabilities that a flavor declares.
	undeclaredBits []byte
}

// entry is one capability and the place of its values in the bits of a Set; see [Set] for their layout.
type entry struct {
	name    string
	values  []string
	byValue map[string]int
	// flags is the number of flag bits before the values: 1 in a workerCapability, whose values[0] is empty, and else 0.
	flags int
	// from (inclusive) and to (exclusive) bound the bytes: value i is bit 7-i%8 of byte from+i/8. There is a byte even
	// if there are no values.
	from, to int
	// worker is the index, counting from 1, among the workers of a worker capability that is registered. It is 0 for any
	// other capability, and not used in workers.
	worker int
}

// Compile returns the vocabulary that defs register, in their order. Empty defs give the vocabulary of a profile in
// legacy mode, architecture: [amd64, arm64] (semantics S1). provider are the worker capabilities that the provider
// defines, registered or not; see [Vocabulary.Request] for what can be asked for.
//
// The errors, at paths below at (the path of spec.machineCapabilities), are those of rules that Gardener's API server
// does not enforce: a value registered twice is a Duplicate. What it does enforce (unique and qualified names, the
// mandatory architecture, …) is left to it: a repeated name extends nothing, its first definition counts. The
// vocabulary is usable whatever errors there are, so that a caller can go on and report the rest. It keeps provider:
// the caller must not change the definitions any more. Of two with one name the first counts, and a reserved one
// before them.
func Compile(
	defs []v1beta1.CapabilityDefinition, at *field.Path, provider ...Definition,
) (*Vocabulary, field.ErrorList) {
	v := &Vocabulary{byName: make(map[string]int, len(defs)), legacy: len(defs) == 0, bytewise: true, defined: provider}
	if v.legacy {
		defs = []v1beta1.CapabilityDefinition{{Name: Architecture, Values: slices.Clone(constants.ValidArchitectures)}}
	}
	var errs field.ErrorList
	for i, def := range defs {
		if _, found := v.byName[def.Name]; found {
			continue
		}
		errs = append(errs, v.register(def, at.Index(i).Child("values"))...)
	}
	v.compileWorkers(provider)
	v.all, _ = v.Set(nil, nil)
	return v, errs
}

// register appends one capability, without values that are repeated.
func (v *Vocabulary) register(def v1beta1.CapabilityDefinition, at *field.Path) field.ErrorList {
	c := entry{name: def.Name, byValue: make(map[string]int, len(def.Values))}
	var errs field.ErrorList
	for i, value := range def.Values {
		if first, found := c.byValue[value]; found {
			err := field.Duplicate(at.Index(i), value)
			err.Detail = fmt.Sprintf("value %q of capability %q is registered already, as number %d; remove one of the two",
				value, def.Name, first+1)
			errs = append(errs, err.WithOrigin(RuleValueDuplicate))
			continue
		}
		c.byValue[value] = len(c.values)
		c.values = append(c.values, value)
	}
	v.place(&c, len(c.values))
	v.byName[c.name] = len(v.capabilities)
	v.capabilities = append(v.capabilities, c)
	return errs
}

// place gives a capability the next bytes that have room for some bits.
func (v *Vocabulary) place(r *entry, bits int) {
	r.from = v.width
	r.to = r.from + max(1, (bits+7)/8)
	v.width = r.to
	v.bytewise = v.bytewise && r.to == r.from+1
}

// Legacy reports whether the profile registers no capabilities, so that the vocabulary is architecture: [amd64,
// arm64].
func (v *Vocabulary) Legacy() bool { return v.legacy }

// Definitions returns the vocabulary as it is registered, best first, without repetitions. The caller owns the
// result.
func (v *Vocabulary) Definitions() []v1beta1.CapabilityDefinition {
	defs := make([]v1beta1.CapabilityDefinition, 0, len(v.capabilities))
	for _, c := range v.capabilities {
		defs = append(defs, v1beta1.CapabilityDefinition{Name: c.name, Values: slices.Clone(c.values)})
	}
	return defs
}

// Registered returns the values registered for a capability, most preferred first, and nil for a capability that is
// not registered. The caller owns the result.
func (v *Vocabulary) Registered(name string) []string {
	i, found := v.byName[name]
	if !found {
		return nil
	}
	return slices.Clone(v.capabilities[i].values)
}

// All returns the set that supports every registered value: what a machine type or flavor supports that declares
// nothing (semantics S2).
func (v *Vocabulary) All() Set { return v.all }

// Set compiles the capabilities that a machine type declares. A registered capability that is absent supports all of
// its registered values (semantics S2), and so does an absent worker capability (S3), of all that are defined if it
// is not registered; order and repetition of values mean nothing. For a flavor of an image, for which an absent
// worker capability means something else, see [Vocabulary.Flavor].
//
// Errors, at paths below at (the path of the map), in vocabulary order with unknown names last: NotSupported for a
// name or a value that is not registered, Required for a capability with an empty list. The set is usable all the
// same: it leaves out what is unknown, so a capability with nothing but unknown values matches nothing. A nil at
// builds no errors, for callers whose input someone else has validated.
func (v *Vocabulary) Set(c v1beta1.Capabilities, at *field.Path) (Set, field.ErrorList) {
	bits, found, errs := v.registeredBits(c, at)
	for i := range v.workers {
		errs = append(errs, v.workers[i].ofMachine(bits, c, at)...)
	}
	if found < len(c) {
		errs = append(errs, v.unregistered(c, at)...)
	}
	return Set{vocabulary: v, bits: string(bits)}, errs
}

// registeredBits returns the bits of a new Set with those of the registered capabilities set, and the number of these
// that c declares. The bytes that pad it to whole words have all bits set, so that they never conflict.
func (v *Vocabulary) registeredBits(
	c v1beta1.Capabilities, at *field.Path,
) (bits []byte, found int, errs field.ErrorList) {
	bits = make([]byte, v.width, (v.width+7)&^7)
	for i := range v.capabilities {
		r := &v.capabilities[i]
		values, declared := c[r.name]
		if declared {
			found++
		} else {
			values = r.values
		}
		for k, value := range values {
			bit, found := r.byValue[value]
			if !found {
				errs = append(errs, r.unregisteredValue(value, at, k)...)
				continue
			}
			r.put(bits, bit)
		}
		if declared && len(values) == 0 && at != nil {
			errs = append(errs, r.valueMissing(at))
		}
	}
	for len(bits) < cap(bits) {
		bits = append(bits, 0xff)
	}
	return bits, found, errs
}

// bit returns which byte of a Set holds a value, and which bit of it.
func (r *entry) bit(value int) (at int, mask byte) { return r.from + value/8, 0x80 >> (value % 8) }

func (r *entry) put(bits []byte, value int) {
	at, mask := r.bit(value)
	bits[at] |= mask
}

func (r *entry) valueMissing(at *field.Path) *field.Error {
	if r.worker > 0 {
		return workerValueMissing(r.name, at)
	}
	return field.Required(at.Child(r.name), fmt.Sprintf(
		"an empty list matches nothing: list values of %s, or leave the capability out to support all of %s",
		r.name, list(r.values))).WithOrigin(RuleValueMissing)
}

func (r *entry) unregisteredValue(value string, at *field.Path, index int) field.ErrorList {
	if at == nil {
		return nil
	}
	return field.ErrorList{(&field.Error{
		Type: field.ErrorTypeNotSupported, Field: at.Child(r.name).Index(index).String(), BadValue: value,
		Detail: fmt.Sprintf("value %q is not registered for capability %s; registered are %s", value, r.name, list(r.values)),
	}).WithOrigin(RuleValueUnregistered)}
}

// knows reports whether a capability is registered or reserved.
func (v *Vocabulary) knows(name string) bool {
	_, registered := v.byName[name]
	_, worker := v.workerByName[name]
	return registered || worker
}

// unregistered reports the names in c that the vocabulary does not know, in lexical order.
func (v *Vocabulary) unregistered(c v1beta1.Capabilities, at *field.Path) field.ErrorList {
	if at == nil {
		return nil
	}
	var errs field.ErrorList
	for name := range c {
		if !v.knows(name) {
			errs = append(errs, v.unknownName(name, at.Child(name)))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

func (v *Vocabulary) names() []string {
	names := make([]string, 0, len(v.capabilities))
	for _, c := range v.capabilities {
		names = append(names, c.name)
	}
	return names
}

// Format prints capabilities as an operator writes them: {architecture: [amd64], hypervisor: [baremetal]}. They come
// in vocabulary order, reserved ones after those that are registered, and unknown names last, in lexical order.
// Values that the vocabulary knows come in its order, without repetition, the others after them as written. What c
// leaves out is left out.
func (v *Vocabulary) Format(c v1beta1.Capabilities) string {
	var b strings.Builder
	b.WriteByte('{')
	write := func(name string, values []string) {
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		b.WriteString(name + ": " + list(values))
	}
	for _, r := range v.capabilities {
		if values, declared := c[r.name]; declared {
			write(r.name, r.ordered(values))
		}
	}
	for i := range v.workers {
		w := &v.workers[i]
		if values, declared := c[w.name]; declared && !w.registered {
			write(w.name, w.ordered(values))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if !v.knows(name) {
			write(name, c[name])
		}
	}
	b.WriteByte('}')
	return b.String()
}

// ordered returns values with the known ones first, in order of preference and once each.
func (r *entry) ordered(values []string) []string {
	known := make([]string, 0, len(values))
	var unknown []string
	for _, value := range values {
		if _, found := r.byValue[value]; !found {
			unknown = append(unknown, value)
		} else if !slices.Contains(known, value) {
			known = append(known, value)
		}
	}
	slices.SortFunc(known, func(a, b string) int { return r.byValue[a] - r.byValue[b] })
	return append(known, unknown...)
}

func list(values []string) string { return "[" + strings.Join(values, ", ") + "]" }
