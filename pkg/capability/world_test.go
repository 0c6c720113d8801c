// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
)

// world is a vocabulary with worker capabilities. Its methods transcribe S2 to S5 and S22 of docs/semantics.md: they use lists of names,
// and share no code with the tested package.
type world struct {
	v          *capability.Vocabulary
	registered []v1beta1.CapabilityDefinition
	provider   []capability.Definition
	// reserved are Gardener's definitions, in either text of GEP-0054.
	reserved []capability.Definition
}

// side holds a flavor's declaration, and its version's values for undeclared worker capabilities.
type side struct{ declared, undeclared caps }

// pool is a machine type with the requirements of a worker pool.
type pool struct {
	machine caps
	asked   []capability.Requirement
}

// drawWorld draws a few ordinary capabilities, with few values or with more than fit a byte. It also draws worker capabilities: some are
// registered, at any position, with some of their values in any order.
func drawWorld(t *rapid.T) *world {
	w := &world{}
	most := rapid.SampledFrom([]int{3, 10}).Draw(t, "most values")
	for i := range rapid.IntRange(0, 3).Draw(t, "capabilities") {
		w.registered = append(w.registered, v1beta1.CapabilityDefinition{Name: fmt.Sprintf("c%d", 9-i), Values: drawValues(t, most)})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "of the provider") {
		d := capability.Definition{Name: fmt.Sprintf("acme-%d", 9-i), Values: drawValues(t, most)}
		if rapid.Bool().Draw(t, "has an undeclared value") {
			d.Undeclared = rapid.SampledFrom(d.Values).Draw(t, "undeclared")
		}
		d.OnlyIfRegistered = rapid.Bool().Draw(t, "only if registered")
		d.MachineTypesOnly = rapid.IntRange(0, 2).Draw(t, "machine types only") == 0
		w.provider = append(w.provider, d)
	}
	w.reserved = capability.Reserved()
	for i, first := range capability.FirstText() {
		if rapid.IntRange(0, 2).Draw(t, "by the name of the first text") == 0 {
			w.reserved[i] = first
			w.registered = append(w.registered, v1beta1.CapabilityDefinition{Name: first.Name, Values: rapid.Permutation(first.Values).Draw(t, first.Name)})
		}
	}
	for _, d := range w.definitions() {
		if !w.isRegistered(d.Name) && rapid.Bool().Draw(t, "registered") {
			values := rapid.Permutation(d.Values).Draw(t, d.Name)[:rapid.IntRange(1, len(d.Values)).Draw(t, "values")]
			w.registered = append(w.registered, v1beta1.CapabilityDefinition{Name: d.Name, Values: values})
		}
	}
	if len(w.registered) == 0 {
		w.registered = []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}
	}
	w.registered = rapid.Permutation(w.registered).Draw(t, "order")
	v, errs := capability.Compile(w.registered, nil, w.provider...)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	w.v = v
	return w
}

// drawValues names values in descending order, so that an order by name cannot pass for the preference.
func drawValues(t *rapid.T, most int) []string {
	var values []string
	for k := range rapid.IntRange(1, most).Draw(t, "values") {
		values = append(values, fmt.Sprintf("v%d", 9-k))
	}
	return values
}

func (w *world) definitions() []capability.Definition {
	return slices.Concat(w.reserved, w.provider)
}

// silentHasAll reports whether a flavor that omits a capability has all its values even if it is requested. This is true if the
// capability applies to machine types only, or if Gardener's own capability is registered as in the second text.
func (w *world) silentHasAll(name string) bool {
	d, _ := w.definition(name)
	return d.MachineTypesOnly || w.isRegistered(name) && slices.Contains([]string{"gardener-boot-type", "gardener-update-type"}, name)
}

func (w *world) definition(name string) (capability.Definition, bool) {
	i := slices.IndexFunc(w.definitions(), func(d capability.Definition) bool { return d.Name == name })
	if i < 0 {
		return capability.Definition{}, false
	}
	return w.definitions()[i], true
}

func (w *world) isRegistered(name string) bool {
	return slices.ContainsFunc(w.registered, func(d v1beta1.CapabilityDefinition) bool { return d.Name == name })
}

// names returns the capabilities that a flavor or machine type may declare: first the registered, then the reserved ones.
func (w *world) names() []string {
	var names []string
	for _, def := range w.registered {
		names = append(names, def.Name)
	}
	for _, d := range w.reserved {
		if !w.isRegistered(d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// values returns a capability's values, best first.
func (w *world) values(name string) []string {
	for _, def := range w.registered {
		if def.Name == name {
			return def.Values
		}
	}
	d, _ := w.definition(name)
	return d.Values
}

// drawDeclared declares some capabilities, with values in any order and repeated, and occasionally without values.
func (w *world) drawDeclared(t *rapid.T) caps {
	c := caps{}
	for _, name := range w.names() {
		switch kind := rapid.IntRange(0, 19).Draw(t, "declared"); {
		case kind == 0:
			c[name] = v1beta1.CapabilityValues{}
		case kind > 7:
			c[name] = rapid.SliceOfN(rapid.SampledFrom(w.values(name)), 1, len(w.values(name))+1).Draw(t, name)
		}
	}
	return c
}

// drawUndeclared draws a version's values for some worker capabilities that it does not declare.
func (w *world) drawUndeclared(t *rapid.T) caps {
	if rapid.IntRange(0, 2).Draw(t, "special") > 0 {
		return nil
	}
	c := caps{}
	for _, d := range w.definitions() {
		if rapid.IntRange(0, 2).Draw(t, "undeclared") == 0 {
			c[d.Name] = rapid.SliceOfN(rapid.SampledFrom(d.Values), 1, 3).Draw(t, d.Name)
		}
	}
	return c
}

// drawPool draws requirements for worker capabilities. Occasionally they have an unknown value, no value, an unknown capability or an
// ordinary one.
func (w *world) drawPool(t *rapid.T) pool {
	p := pool{machine: w.drawDeclared(t)}
	for i := range rapid.IntRange(0, 8).Draw(t, "requirements") {
		d, least := rapid.SampledFrom(w.definitions()).Draw(t, "asked"), 1
		if rapid.IntRange(0, 5).Draw(t, "odd") == 0 {
			odd := []string{d.Name, "gardener-unknown", rapid.SampledFrom(w.names()).Draw(t, "registered")}
			d.Name, least = rapid.SampledFrom(odd).Draw(t, "name"), 0
			d.Values = append(slices.Clone(w.values(d.Name)), "unknown")
		}
		values := rapid.SliceOfN(rapid.SampledFrom(d.Values), least, 3).Draw(t, d.Name)
		p.asked = append(p.asked, capability.Requirement{
			Capability: d.Name, Values: values, Setting: fmt.Sprint("setting ", i),
			OnlyIfRegistered: rapid.IntRange(0, 3).Draw(t, "only if registered") == 0,
		})
	}
	return p
}

// meets reports whether a requirement can be met. Either the capability is registered or reserved, with one of the values; or no image
// can declare it, and its undeclared value is among the values.
func (w *world) meets(q capability.Requirement) bool {
	d, worker := w.definition(q.Capability)
	if !slices.Contains(w.names(), q.Capability) {
		return slices.Contains(q.Values, d.Undeclared)
	}
	return worker && slices.ContainsFunc(q.Values, func(value string) bool {
		return slices.Contains(w.values(q.Capability), value)
	})
}

// ignores reports whether a requirement that the undeclared value does not meet is ignored, because it applies only if its capability is
// registered.
func (w *world) ignores(q capability.Requirement) bool {
	d, _ := w.definition(q.Capability)
	return !w.isRegistered(q.Capability) && !slices.Contains(q.Values, d.Undeclared) && (q.OnlyIfRegistered || d.OnlyIfRegistered)
}

// moot reports whether a requirement, for machine types only, cannot fail.
func (w *world) moot(q capability.Requirement) bool {
	d, _ := w.definition(q.Capability)
	return d.MachineTypesOnly && !w.isRegistered(q.Capability) && slices.Contains(q.Values, d.Undeclared)
}

// asks returns the values of a capability that satisfy all requirements that can be met, and whether there are any requirements.
func (w *world) asks(p pool, name string) (values []string, asked bool) {
	values = slices.Clone(w.values(name))
	for _, q := range p.asked {
		if q.Capability == name && w.meets(q) && !w.ignores(q) {
			asked = true
			values = slices.DeleteFunc(values, func(value string) bool { return !slices.Contains(q.Values, value) })
		}
	}
	return values, asked
}

// matters reports whether a capability is registered or requested.
func (w *world) matters(p pool, name string) bool {
	_, asked := w.asks(p, name)
	return asked || w.isRegistered(name)
}

// undeclared returns a flavor's values of a worker capability that it omits and a pool requests.
func (w *world) undeclared(f side, name string) []string {
	if values, special := f.undeclared[name]; special {
		return values
	}
	if d, _ := w.definition(name); d.Undeclared != "" {
		return []string{d.Undeclared}
	}
	return nil
}

// ofFlavor and ofMachine return the values of a capability that matters.
func (w *world) ofFlavor(f side, p pool, name string) []string {
	values, declared := f.declared[name]
	_, asked := w.asks(p, name)
	switch {
	case declared:
		return values
	case asked && !w.silentHasAll(name):
		return w.undeclared(f, name)
	}
	return w.values(name)
}

func (w *world) ofMachine(p pool, name string) []string {
	if values, declared := p.machine[name]; declared {
		return values
	}
	return w.values(name)
}

// effective returns the values that flavor, machine type and request share, best first.
func (w *world) effective(f side, p pool, name string) []string {
	if !w.matters(p, name) {
		return nil
	}
	asked, _ := w.asks(p, name)
	var shared []string
	for _, value := range w.values(name) {
		if slices.Contains(w.ofFlavor(f, p, name), value) && slices.Contains(w.ofMachine(p, name), value) && slices.Contains(asked, value) {
			shared = append(shared, value)
		}
	}
	return shared
}

// conflicts returns the capabilities that reject a flavor.
func (w *world) conflicts(f side, p pool) []string {
	var names []string
	for _, name := range w.names() {
		if w.matters(p, name) && len(w.effective(f, p, name)) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// leavesOut reports whether a flavor omits a worker capability, or declares exactly what omitting it means.
func (w *world) leavesOut(f side, name string) bool {
	if _, worker := w.definition(name); !worker || w.silentHasAll(name) {
		return false
	}
	values, declared := f.declared[name]
	return !declared || !w.isRegistered(name) && len(values) > 0 && same(values, w.undeclared(f, name))
}

func same(a, b []string) bool {
	sorted := func(values []string) []string { return slices.Compact(slices.Sorted(slices.Values(values))) }
	return slices.Equal(sorted(a), sorted(b))
}

const left = "left out"

// own returns a flavor's own values of a capability, best first. Omitting a worker capability is better than any of its values, unless
// the flavor then has all of them.
func (w *world) own(f side, name string) []string {
	if w.leavesOut(f, name) {
		return []string{left}
	}
	values, declared := f.declared[name]
	return slices.DeleteFunc(slices.Clone(w.values(name)), func(value string) bool { return declared && !slices.Contains(values, value) })
}

// better compares the first values of all capabilities, then the second values, and so on.
func (w *world) better(values func(f side, name string) []string, a, b side) capability.Preference {
	nth := func(values []string, n int) string { return append(values, make([]string, n+1)...)[n] }
	for n := range 100 {
		for _, name := range w.names() {
			if x, y := nth(values(a, name), n), nth(values(b, name), n); x != y {
				return w.preference(name, n+1, x, y)
			}
		}
	}
	return capability.Preference{}
}

// preference compares two values by rank; an empty one means that there is none.
func (w *world) preference(name string, round int, x, y string) capability.Preference {
	p := capability.Preference{Sign: 1, Capability: name, Round: round, First: x, Second: y}
	ranking := slices.Concat([]string{left}, w.values(name), []string{""})
	if slices.Index(ranking, x) < slices.Index(ranking, y) {
		p.Sign = -1
	}
	if x == left || y == left {
		p.LeftOut, p.First, p.Second = true, "", ""
	}
	return p
}

// gep33 is the order of S5.
func (w *world) gep33(p pool, a, b side) capability.Preference {
	effective := func(f side, name string) []string { return w.effective(f, p, name) }
	if d := w.better(effective, a, b); d.Sign != 0 {
		return d
	}
	return w.byOwn(a, b)
}

// byOwn compares flavors by their own values.
func (w *world) byOwn(a, b side) capability.Preference {
	d := w.better(w.own, a, b)
	d.Own = d.Sign != 0
	return d
}

// gardener is the library's order: the first value that only one of two flavors has decides, with omitted registered capabilities filled
// in. If they tie, omitting a worker capability decides, in the order of the definitions.
func (w *world) gardener(a, b side) capability.Preference {
	filled := func(f side, name string) []string {
		if values, declared := f.declared[name]; declared {
			return values
		}
		return w.values(name)
	}
	for _, def := range w.registered {
		if d := w.first(def.Name, filled(a, def.Name), filled(b, def.Name)); d.Sign != 0 {
			return d
		}
	}
	for _, definition := range w.definitions() {
		if !slices.Contains(w.names(), definition.Name) {
			continue
		}
		if d := w.first(definition.Name, w.own(a, definition.Name), w.own(b, definition.Name)); d.Sign != 0 {
			return d
		}
	}
	return capability.Preference{}
}

// first compares two lists by the first value that only one of them has.
func (w *world) first(name string, x, y []string) (p capability.Preference) {
	for _, value := range append([]string{left}, w.values(name)...) {
		switch has := slices.Contains(x, value); {
		case has == slices.Contains(y, value):
			continue
		case has:
			p = w.preference(name, 0, value, "")
		default:
			p = w.preference(name, 0, "", value)
		}
		p.Own = true
		return p
	}
	return p
}
