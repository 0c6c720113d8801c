// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// Architecture is the name of the one mandatory capability (GEP-0033).
const Architecture = constants.ArchitectureName

// The stable names of this package's rules, which are the Origin of the errors of [Compile] and [Vocabulary.Set].
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

// Vocabulary is the compiled spec.machineCapabilities of a CloudProfile. The order of capabilities is their priority, and the order of
// values is the operator's preference, best first (semantics S1). It is immutable and safe for concurrent use. The zero Vocabulary
// registers nothing; use [Compile].
//
// A vocabulary also has worker capabilities (semantics S3): all reserved ones, and the provider's registered ones. A reserved capability
// with two names is found by either. Results use the registered name, or else the name in the second text of GEP-0054.
type Vocabulary struct {
	// capabilities are the registered ones, in their order, followed by the unregistered reserved ones.
	capabilities []*entry
	// byName has a capability with two names twice.
	byName map[string]*entry
	// registered is the number of registered capabilities.
	registered int
	// workers are the reserved capabilities and the provider's registered ones.
	workers []*workerCapability
	// defined are the provider's worker capabilities; unregistered has the ones that are not registered, by name.
	defined      []Definition
	unregistered map[string]Definition
	// places has the entry of each byte of a Set. bytewise is set if no entry has more than one byte, which is usual.
	places   []*entry
	bytewise bool
	legacy   bool
	all      Set
	// unrequested requests nothing; ordinary is the request of the zero Worker.
	unrequested, ordinary Set
	// allBits has every bit set: as a machine type or a request it is no constraint.
	allBits string
}

// entry is a capability and the place of its values in the bits of a Set; see [Set] for the layout.
type entry struct {
	name    string
	values  []string
	byValue map[string]int
	// flags is the number of flag bits before the values: 1 in a workerCapability, whose values[0] is empty, otherwise 0.
	flags int
	// from (inclusive) and to (exclusive) bound the bytes; there is at least one. Value i is bit 7-i%8 of byte from+i/8.
	from, to int
	// other is the capability's name in the other text of GEP-0054; empty if it has none. names has one name or both.
	other string
	names []string
	// worker is the entry that matches requests; nil if this is not a worker capability. If the capability is not registered, worker
	// contains this entry.
	worker *workerCapability
}

// Compile returns the vocabulary that defs register, in their order. Empty defs give the vocabulary of legacy mode, architecture: [amd64,
// arm64] (semantics S1). provider has the provider's worker capabilities, registered or not; see [Vocabulary.Request] for their effect.
//
// The errors are at paths below at, the path of spec.machineCapabilities. They are violations of rules that Gardener's API server does not
// enforce: a value registered twice is a Duplicate. The vocabulary is usable even if there are errors. If a name is defined twice, the
// first definition wins; reserved definitions come before the provider's. Compile keeps provider: the caller must not modify it afterwards.
func Compile(
	defs []v1beta1.CapabilityDefinition, at *field.Path, provider ...Definition,
) (*Vocabulary, finding.List) {
	v := &Vocabulary{byName: map[string]*entry{}, legacy: len(defs) == 0, bytewise: true, defined: provider}
	if v.legacy {
		defs = []v1beta1.CapabilityDefinition{{Name: Architecture, Values: slices.Clone(constants.ValidArchitectures)}}
	}
	var errs finding.List
	for i, def := range defs {
		if v.byName[def.Name] == nil { // under neither name
			errs = append(errs, v.register(def, at.Index(i).Child("values"))...)
		}
	}
	v.registered = len(v.capabilities)
	v.compileWorkers()
	v.all, _ = v.Set(nil, nil)
	return v, errs
}

// register appends a capability, without repeated values.
func (v *Vocabulary) register(def v1beta1.CapabilityDefinition, at *field.Path) finding.List {
	r := &entry{name: def.Name, byValue: make(map[string]int, len(def.Values))}
	var errs finding.List
	for i, value := range def.Values {
		if _, found := r.byValue[value]; found {
			errs = append(errs, finding.New(RuleValueDuplicate, field.ErrorTypeDuplicate, at.Index(i), value, fmt.Sprintf(
				"value %q of capability %q is registered already, as values[%d]; remove one of the two",
				value, def.Name, slices.Index(def.Values, value))))
		}
		r.add(value)
	}
	v.place(r, len(r.values))
	v.add(r)
	return errs
}

// add appends a capability, and indexes it by its names.
func (v *Vocabulary) add(r *entry) {
	v.capabilities, r.names = append(v.capabilities, r), []string{r.name}
	if r.other = texts.Other(r.name); r.other != "" {
		r.names = append(r.names, r.other)
	}
	for _, name := range r.names {
		v.byName[name] = r
	}
}

// declared returns the values that c declares for the capability, in the words of the vocabulary. It reports whether c declares it.
func (r *entry) declared(c v1beta1.Capabilities) (values []string, declared bool) {
	values, declared = c[r.name]
	if r.other == "" {
		return values, declared
	}
	if _, also := c[r.other]; !also { // the usual case
		return values, declared
	}
	return texts.Declared(c, r.name)
}

func (r *entry) add(value string) {
	if _, found := r.byValue[value]; !found {
		r.byValue[value] = len(r.values)
		r.values = append(r.values, value)
	}
}

// place assigns the next bytes, with room for the given number of bits, to an entry.
func (v *Vocabulary) place(r *entry, bits int) {
	n := max(1, (bits+7)/8)
	r.from, r.to = len(v.places), len(v.places)+n
	v.places = append(v.places, slices.Repeat([]*entry{r}, n)...)
	v.bytewise = v.bytewise && n == 1
}

// Legacy reports whether the profile registers no capabilities, so that the vocabulary is architecture: [amd64, arm64].
func (v *Vocabulary) Legacy() bool { return v.legacy }

// Definitions returns the registered capabilities, best values first, without repetitions; in legacy mode the architecture. The caller owns
// the result.
func (v *Vocabulary) Definitions() []v1beta1.CapabilityDefinition {
	defs := make([]v1beta1.CapabilityDefinition, 0, v.registered)
	for _, r := range v.capabilities[:v.registered] {
		defs = append(defs, v1beta1.CapabilityDefinition{Name: r.name, Values: slices.Clone(r.values)})
	}
	return defs
}

// Registered returns the registered values of a capability, most preferred first; nil if it is not registered. The caller owns the result.
func (v *Vocabulary) Registered(name string) []string {
	if !v.IsRegistered(name) {
		return nil
	}
	return slices.Clone(v.byName[name].values)
}

// IsRegistered reports whether spec.machineCapabilities registers a capability. In legacy mode only the architecture is registered.
func (v *Vocabulary) IsRegistered(name string) bool {
	r := v.byName[name]
	return r != nil && r.registered()
}

func (r *entry) registered() bool { return r.worker == nil || r.worker.registered }

// All returns the set with every registered value, which a machine type or flavor supports if it declares nothing (semantics S2).
func (v *Vocabulary) All() Set { return v.all }

// Set compiles the capabilities of a machine type. If a registered capability is absent, the machine type supports all its registered
// values (semantics S2). If a worker capability is absent (S3), it supports all registered values or, if the capability is not registered,
// all defined ones. Order and repetition of values are not significant. For image flavors use [Vocabulary.Flavor].
//
// The errors are at paths below at, the path of the map, in vocabulary order with unknown names last. They are NotSupported for an
// unregistered name or value, and Required for an empty list. The set is usable even if there are errors: it omits unknown values, so a
// capability with unknown values only matches nothing. If at is nil, no errors are returned.
func (v *Vocabulary) Set(c v1beta1.Capabilities, at *field.Path) (Set, finding.List) {
	bits, plain := v.registeredBits(nil, c)
	for _, w := range v.workers {
		w.ofMachine(bits, c)
	}
	if plain {
		at = nil
	}
	return Set{vocabulary: v, bits: string(bits)}, v.validate(c, at)
}

// registeredBits returns the bits of a new Set, with the registered capabilities set. It uses room, whose bytes are zero, if that is large
// enough. The bytes that pad the set to whole words have all bits set, so that they never conflict. plain reports that c has no errors
// because it declares only registered capabilities that have one name, each with at least one value, and only registered values.
func (v *Vocabulary) registeredBits(room []byte, c v1beta1.Capabilities) (bits []byte, plain bool) {
	if len(room) < len(v.allBits) {
		room = make([]byte, len(v.allBits))
	}
	bits = room[:len(v.allBits)]
	known := 0
	for _, r := range v.capabilities[:v.registered] {
		values, declared := r.declared(c)
		if !declared {
			for i := r.flags; i < len(r.values); i++ {
				r.put(bits, i)
			}
			continue
		}
		if all := r.putAll(bits, values); all && r.other == "" && len(values) > 0 {
			known++
		}
	}
	copy(bits[len(v.places):], v.allBits)
	return bits, known == len(c)
}

// bit returns the byte of a Set that holds a value or flag, and the bit's mask.
func (r *entry) bit(value int) (at int, mask byte) { return r.from + value/8, 0x80 >> (value % 8) }

func (r *entry) has(bits string, value int) bool {
	at, mask := r.bit(value)
	return bits[at]&mask != 0
}

func (r *entry) put(bits []byte, value int) {
	at, mask := r.bit(value)
	bits[at] |= mask
}

// putAll sets the bits of the values that the capability has. It reports whether it has all of them.
func (r *entry) putAll(bits []byte, values []string) bool {
	all := true
	for _, value := range values {
		if i := r.index(value); i >= 0 {
			r.put(bits, i)
		} else {
			all = false
		}
	}
	return all
}

// few is the number of values up to which a linear search is faster.
const few = 8

// index returns the index of a value, or -1 if the capability lacks it.
func (r *entry) index(value string) int {
	if len(r.values) > few {
		if i, found := r.byValue[value]; found {
			return i
		}
		return -1
	}
	for i := r.flags; i < len(r.values); i++ {
		if r.values[i] == value {
			return i
		}
	}
	return -1
}

// validate returns the errors of declared capabilities at the path at; none for a nil path.
func (v *Vocabulary) validate(c v1beta1.Capabilities, at *field.Path) finding.List {
	if at == nil {
		return nil
	}
	var errs finding.List
	known := 0
	for _, r := range v.capabilities {
		if known == len(c) {
			break
		}
		for _, name := range r.names {
			values, declared := c[name]
			if !declared {
				continue
			}
			known++
			errs = append(errs, r.validate(name, values, at)...)
		}
	}
	if known == len(c) {
		return errs
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if v.byName[name] == nil {
			errs = append(errs, v.unknownName(name, at.Child(name)))
		}
	}
	return errs
}

// validate returns the errors of the values that are declared for the capability under one of its names; at is the path of the map.
func (r *entry) validate(name string, values []string, at *field.Path) (errs finding.List) {
	if len(values) == 0 {
		errs = append(errs, r.valueMissing(at.Child(name)))
	}
	for i, value := range values {
		if !r.hasValue(name, value) {
			errs = append(errs, r.unknownValue(name, value, at.Child(name).Index(i)))
		}
	}
	return errs
}

// hasValue reports whether the capability has a value, which is in the words of the given name.
func (r *entry) hasValue(name, value string) bool {
	if name != r.name {
		translated, found := texts.Translate(name, value)
		if !found {
			return false
		}
		value = translated
	}
	_, found := r.byValue[value]
	return found
}

func (r *entry) valueMissing(at *field.Path) finding.Finding {
	otherwise := "to support all of " + list(r.values)
	if r.worker != nil && !r.worker.silentHasAll {
		otherwise = "if the image does not support it"
	}
	return finding.New(RuleValueMissing, field.ErrorTypeRequired, at, "", fmt.Sprintf(
		"an empty list matches nothing: list values of %s, or leave the capability out %s", r.name, otherwise))
}

func (r *entry) unknownValue(name, value string, at *field.Path) finding.Finding {
	if !r.registered() || name != r.name || r.other != "" && !slices.Contains(valuesOf(name), value) {
		return reservedValue(name, value, at)
	}
	probably, certainly := MeantValue(r.name, value, r.values), words.Certain(value, r.values)
	if r.name == Architecture && probably == otherNames[strings.ToLower(value)] && probably != "" {
		certainly = probably
	}
	repair := words.DidYouMean(probably)
	if repair == "" && value == "" {
		repair = "; write a value, or remove it"
	} else if repair == "" && (r.name != Architecture || slices.Contains(constants.ValidArchitectures, value)) {
		repair = "; register it in spec.machineCapabilities, or remove it here"
	}
	f := unknown(RuleValueUnregistered, at, value, "value %q is not registered for capability %s; registered are %s%s",
		value, r.name, list(r.values), repair)
	f.Suggestion = finding.Suggest(finding.ReplaceValue, value, probably, certainly)
	return f
}

// reservedValue returns the finding about an unknown value of a reserved capability, with the value that was probably meant.
func reservedValue(name, value string, at *field.Path) finding.Finding {
	values := valuesOf(name)
	probably, certainly := meant(value, values), words.Certain(value, values)
	for _, right := range values { // the other text's name for a value is certainly meant for it
		if other, found := texts.Translate(name, right); found && strings.EqualFold(other, value) && !slices.Contains(values, other) {
			probably, certainly = right, right
		}
	}
	f := unknown(RuleReservedValue, at, value, "%s is a capability of Gardener, with the values %s; %q is none of them%s",
		name, list(values), value, words.DidYouMean(probably))
	f.Suggestion = finding.Suggest(finding.ReplaceValue, value, probably, certainly)
	return f
}

// valuesOf returns the defined values of a reserved capability, by its name in either text.
func valuesOf(name string) []string {
	for _, d := range slices.Concat(Reserved(), FirstText()) {
		if d.Name == name {
			return d.Values
		}
	}
	return nil
}

// unknown returns a finding about an unknown name.
func unknown(rule string, at *field.Path, name, format string, args ...any) finding.Finding {
	return finding.New(rule, field.ErrorTypeNotSupported, at, name, fmt.Sprintf(format, args...))
}

// otherNames are other systems' names for Gardener's architectures.
var otherNames = map[string]string{
	"x86_64": constants.ArchitectureAMD64, "x86-64": constants.ArchitectureAMD64, "x64": constants.ArchitectureAMD64,
	"aarch64": constants.ArchitectureARM64,
}

// MeantValue returns the registered value that was probably meant by an unregistered one; empty if there is none.
func MeantValue(name, value string, registered []string) string {
	if alias := otherNames[strings.ToLower(value)]; name == Architecture && slices.Contains(registered, alias) {
		return alias
	}
	return meant(value, registered)
}

// meant returns the known name that was probably meant by an unknown one: a similar name, or the only one of which the unknown name is a
// prefix or vice versa. It is empty if there is none.
func meant(name string, known []string) string {
	if closest := words.Closest(name, known); closest != "" {
		return closest
	}
	partOf := func(k string) bool {
		return len(name) > 3 && (strings.HasPrefix(k, name) || len(k) > 3 && strings.HasPrefix(name, k))
	}
	i := slices.IndexFunc(known, partOf)
	if i < 0 || slices.ContainsFunc(known[i+1:], partOf) {
		return ""
	}
	return known[i]
}

// meantReserved returns the reserved capability that was probably meant by an unknown name: one with a similar name in either text of
// GEP-0054. probably is empty if there is none; certainly is empty unless it is certain.
func meantReserved(name string, known []string) (probably, certainly string) {
	var first []string
	for _, d := range FirstText() {
		first = append(first, d.Name)
	}
	return cmp.Or(meant(name, known), texts.Canonical(meant(name, first))), cmp.Or(words.Certain(name, known), texts.Canonical(words.Certain(name, first)))
}

func (v *Vocabulary) unknownName(name string, at *field.Path) finding.Finding {
	var known []string
	if strings.HasPrefix(name, ReservedPrefix) {
		for _, d := range Reserved() {
			known = append(known, d.Name)
		}
		probably, certainly := meantReserved(name, known)
		f := unknown(RuleReservedUnknown, at, name, "unknown capability %q; names with %s are Gardener's own, which has %s%s",
			name, ReservedPrefix, list(known), words.DidYouMean(probably))
		f.Suggestion = finding.Suggest(finding.ReplaceKey, name, probably, certainly)
		return f
	}
	for _, r := range v.capabilities[:v.registered] {
		known = append(known, r.name)
	}
	probably, repair := meant(name, known), "; register it there, or remove it here"
	if name == "" {
		repair = "; write the name of a capability, or remove it"
	}
	f := unknown(RuleUnregistered, at, name, "capability %q is not registered in spec.machineCapabilities; registered are %s%s",
		name, list(known), cmp.Or(words.DidYouMean(probably), repair))
	f.Suggestion = finding.Suggest(finding.ReplaceKey, name, probably, words.Certain(name, known))
	return f
}

// Format formats capabilities as an operator writes them: {architecture: [amd64], hypervisor: [baremetal]}. They are in vocabulary order:
// registered ones, reserved ones, and unknown names in lexical order. Known values come in the vocabulary's order, without repetition,
// followed by unknown values as written.
func (v *Vocabulary) Format(c v1beta1.Capabilities) string {
	var written []string
	for _, r := range v.capabilities {
		for _, name := range r.names {
			if values, declared := c[name]; declared {
				written = append(written, name+": "+list(r.ordered(name, values)))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if v.byName[name] == nil {
			written = append(written, name+": "+list(c[name]))
		}
	}
	return "{" + strings.Join(written, ", ") + "}"
}

// ordered returns values with the known ones first, by preference and once each. The values are in the words of the given name.
func (r *entry) ordered(name string, values []string) []string {
	used := slices.Clone(r.values[r.flags:])
	if name != r.name {
		for i, value := range used {
			used[i], _ = texts.Translate(r.name, value)
		}
	}
	known := slices.Clone(used)
	used = slices.DeleteFunc(used, func(value string) bool { return !slices.Contains(values, value) })
	unknown := slices.DeleteFunc(slices.Clone(values), func(value string) bool { return slices.Contains(known, value) })
	return append(used, unknown...)
}

func list(values []string) string { return "[" + strings.Join(values, ", ") + "]" }
