// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// Registering the reserved capabilities gives what says nothing of them another meaning (semantics S3): it has all values then. So the
// values that it had are written down.

// Uses returns the reserved capabilities that a manifest uses, by the names that the second text of GEP-0054 has for them, in the order of
// [capability.Reserved]: those that it registers, or that a machine type or a flavor declares, by either name; and updates in place if
// core has a version that supports them. What only the first text has is not among them. Nothing is used by what cannot be read.
func Uses(cloud provider.Provider[any], input Input) []string {
	p, err := read(cloud, input)
	if err != nil {
		return nil
	}
	used := sets.New[string]()
	add := func(c v1beta1.Capabilities) {
		for name := range c {
			used.Insert(texts.Canonical(name))
		}
	}
	for _, c := range p.spec.MachineCapabilities {
		used.Insert(texts.Canonical(c.Name))
	}
	for i := range p.spec.MachineTypes {
		add(p.spec.MachineTypes[i].Capabilities)
	}
	for v := range entries.Versions(&p.spec) {
		for _, flavor := range v.CapabilityFlavors {
			add(flavor.Capabilities)
		}
		for name := range profile.Undeclared(v.MachineImageVersion) {
			used.Insert(name)
		}
	}
	for _, e := range p.entries() {
		for i := range e.Flavors {
			add(e.Flavors[i].Capabilities)
		}
	}
	return slices.DeleteFunc(secondText(), func(name string) bool { return !used.Has(name) })
}

// secondText returns the reserved capabilities of the second text of GEP-0054, in the order of [capability.Reserved].
func secondText() []string {
	return slices.DeleteFunc(texts.Names(), texts.OfFirst)
}

// Register returns what a manifest becomes that registers some reserved capabilities, by the names of the second text of GEP-0054 and with
// all values of Gardener's. Names and values of the first text become those of the second, wherever they are. Every flavor of the
// provider config that leaves one of them out gets the values that it had, and core's flavors become those of the provider config. A
// manifest in the legacy format registers the architecture as well, as by [Forward], and its image versions become flavors.
//
// uses are what the profile and its NamespacedCloudProfiles use, as of [Uses]; none leaves a manifest as it is. was is the vocabulary
// before: of a NamespacedCloudProfile that of its parent. What the parent is not going to register stays as it is. Errors are as those of Forward.
func Register(
	cloud provider.Provider[any], input Input, uses []string, was []v1beta1.CapabilityDefinition,
) (result Result, errs field.ErrorList, err error) {
	p, err := read(cloud, input)
	if err != nil {
		return Result{}, nil, err
	}
	if input.Parent != nil {
		uses = slices.DeleteFunc(slices.Clone(uses), func(name string) bool { return !isComplete(input.Parent.MachineCapabilities, name) })
	}
	if len(p.errs) > 0 || len(uses) == 0 {
		return p.result(nil)
	}
	r := &registration{document: p, names: slices.DeleteFunc(slices.Clone(uses), func(name string) bool { return isComplete(was, name) })}
	all := func(provider.ImageVersion) bool { return len(r.names) > 0 }
	if input.Parent != nil {
		p.capabilities = withoutNew(input.Parent.MachineCapabilities, was)
	} else if len(p.capabilities) == 0 {
		p.capabilities = p.architectures()
	}
	if input.Parent == nil {
		p.registerImplied(all)
		p.demandedFlavors()
	}
	p.rewrite(provider.FormatFlavors, all)
	r.vocabulary, _ = capability.Compile(p.capabilities, nil, cloud.Workers().Definitions()...)
	filled := p.fill(p.capabilities)
	r.flavors()
	for v := range entries.Versions(&p.spec) {
		if !p.inherits(v.ID) {
			r.core(v, versionIn(filled, v).CapabilityFlavors)
		}
	}
	for i := range p.spec.MachineTypes {
		at := fmt.Sprintf("spec.machineTypes[%d].capabilities", i)
		p.spec.MachineTypes[i].Capabilities = p.renamed(p.spec.MachineTypes[i].Capabilities, at)
	}
	if input.Parent == nil {
		p.spec.MachineCapabilities = registering(p.capabilities, uses)
	}
	result, errs, err = p.result(nil)
	result.Unreplaced = r.unreplaced
	return result, errs, err
}

// Together is what a worker pool asks for that asks for more than one of the reserved capabilities: those of which each changes nothing by
// itself may do so together.
func Together() []resolve.Template {
	return []resolve.Template{{Worker: capability.Worker{SecureBoot: true, UpdateStrategy: v1beta1.AutoInPlaceUpdate}}}
}

// registration is a manifest while reserved capabilities are registered in it, or not any more.
type registration struct {
	*document
	// names are those that are registered, or not any more, by the second text.
	names []string
	// vocabulary is that before, with the architecture.
	vocabulary *capability.Vocabulary
	// mapped are the flavors of the provider config.
	mapped map[provider.ImageVersion][]mappedFlavor
	// unreplaced are those that declare what the second text has nothing in the place of.
	unreplaced []string
}

// mappedFlavor is a flavor of the provider config: what it declares before and after, by the names of the second text.
type mappedFlavor struct{ was, is v1beta1.Capabilities }

// definition returns that of a reserved capability.
func definition(name string) capability.Definition {
	all := capability.Reserved()
	return all[slices.IndexFunc(all, func(d capability.Definition) bool { return d.Name == name })]
}

// registeredAs returns the entry that registers a reserved capability by either name; nil if none does. The first one counts.
func registeredAs(capabilities []v1beta1.CapabilityDefinition, name string) *v1beta1.CapabilityDefinition {
	for i := range capabilities {
		if texts.Canonical(capabilities[i].Name) == name {
			return &capabilities[i]
		}
	}
	return nil
}

// isComplete reports whether a vocabulary registers a reserved capability by the name of the second text, with all values of Gardener's.
func isComplete(capabilities []v1beta1.CapabilityDefinition, name string) bool {
	as := registeredAs(capabilities, name)
	return as != nil && as.Name == name && !slices.ContainsFunc(definition(name).Values, func(value string) bool { return !slices.Contains(as.Values, value) })
}

// withoutNew returns a vocabulary in which the reserved capabilities are registered as they were.
func withoutNew(capabilities, was []v1beta1.CapabilityDefinition) (old []v1beta1.CapabilityDefinition) {
	for _, c := range capabilities {
		if !slices.Contains(secondText(), c.Name) {
			old = append(old, c)
		} else if as := registeredAs(was, c.Name); as != nil {
			old = append(old, *as)
		}
	}
	return old
}

// registering returns a vocabulary that registers reserved capabilities, behind all others. Those that it has keep their place and the
// order of their values.
func registering(capabilities []v1beta1.CapabilityDefinition, names []string) (all []v1beta1.CapabilityDefinition) {
	for _, c := range capabilities {
		name := texts.Canonical(c.Name)
		if registeredAs(all, name) != nil {
			continue // by its other name
		}
		if slices.Contains(secondText(), name) {
			c = v1beta1.CapabilityDefinition{Name: name, Values: inWords(c.Name, c.Values)}
		}
		all = append(all, c)
	}
	for _, name := range names {
		if registeredAs(all, name) == nil {
			all = append(all, v1beta1.CapabilityDefinition{Name: name})
		}
		as := registeredAs(all, name)
		as.Values = added(as.Values, definition(name).Values...)
	}
	return all
}

// inWords returns values of a capability in the words of the second text; those that the first one does not have stay.
func inWords(name string, values []string) []string {
	if !texts.OfFirst(name) {
		return values
	}
	translated := make([]string, 0, len(values))
	for _, value := range values {
		if word, has := texts.Translate(name, value); has {
			value = word
		}
		translated = added(translated, value)
	}
	return translated
}

// added returns values with those of some others that are not among them.
func added(values []string, others ...string) []string {
	values = slices.Clone(values)
	for _, value := range others {
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// renamed returns capabilities by the names of the second text, in its words. Values that the first one does not have are reported.
func (p *document) renamed(c v1beta1.Capabilities, at string) v1beta1.Capabilities {
	is := maps.Clone(c)
	for _, d := range capability.FirstText() {
		values, declared := c[d.Name]
		if !declared {
			continue
		}
		for i, value := range values {
			if !slices.Contains(d.Values, value) {
				p.fail(fmt.Sprintf("%s.%s[%d]", at, d.Name, i), "%s has no value %q, but %s: it is not known what it means; correct it first",
					d.Name, value, strings.Join(d.Values, " and "))
			}
		}
		name := texts.Canonical(d.Name)
		is[name] = added(c[name], inWords(d.Name, values)...)
		delete(is, d.Name)
	}
	return is
}

// meaning returns the values that a flavor has of a reserved capability which it does not declare; nil for a version that core lacks.
func (r *registration) meaning(name string, version *v1beta1.MachineImageVersion) []string {
	if as := registeredAs(r.capabilities, name); as != nil && as.Name == name {
		return as.Values
	}
	return undeclared(name, version)
}

// undeclared returns what a flavor has that does not declare a reserved capability where that is not registered.
func undeclared(name string, version *v1beta1.MachineImageVersion) []string {
	values := profile.Undeclared(version)[name]
	if values == nil {
		return []string{definition(name).Undeclared}
	}
	return slices.DeleteFunc(definition(name).Values, func(value string) bool { return !slices.Contains(values, value) })
}

// flavors writes the values that flavors of the provider config had and do not declare.
func (r *registration) flavors() {
	r.eachFlavor(func(c v1beta1.Capabilities, version *v1beta1.MachineImageVersion) {
		for _, name := range r.names {
			if _, declared := c[name]; !declared {
				c[name] = r.meaning(name, version)
			}
		}
	})
}

// eachFlavor has what flavors of the provider config declare changed by a function, which is given the version of core as well; nil if
// core does not list it.
func (r *registration) eachFlavor(change func(c v1beta1.Capabilities, version *v1beta1.MachineImageVersion)) {
	r.mapped = map[provider.ImageVersion][]mappedFlavor{}
	for _, e := range r.entries() {
		var version *v1beta1.MachineImageVersion
		if v, listed := entries.Find(&r.spec, e.id); listed {
			version = v.MachineImageVersion
		}
		for i, flavor := range edit.Items(e.tree["capabilityFlavors"]) {
			tree, declared := edit.Members(flavor), v1beta1.Capabilities{}
			if raw, err := json.Marshal(capabilitiesOf(flavor)); tree == nil || err != nil || json.Unmarshal(raw, &declared) != nil {
				continue // which is an error that has been reported
			}
			was := r.renamed(declared, fmt.Sprintf("%s.capabilityFlavors[%d].capabilities", e.Path, i))
			if was == nil {
				was = v1beta1.Capabilities{}
			}
			if _, gpu := was[capability.GPUSupport]; gpu {
				r.unreplaced = append(r.unreplaced, fmt.Sprintf("%s.capabilityFlavors[%d].capabilities.%s", e.Path, i, capability.GPUSupport))
			}
			is := maps.Clone(was)
			change(is, version)
			r.mapped[e.id] = append(r.mapped[e.id], mappedFlavor{was, is})
			if !reflect.DeepEqual(is, declared) && len(is)+len(declared) > 0 {
				tree["capabilities"] = is
			}
		}
	}
	r.refresh()
}

// core gives an image version of core the flavors that correspond to those of the provider config. filled are those that admission fills in.
func (r *registration) core(v entries.Version, filled []v1beta1.MachineImageFlavor) {
	listed := filled
	if len(listed) == 0 {
		listed = []v1beta1.MachineImageFlavor{{}}
	}
	carried := sets.New[string]()
	flavors := make([]v1beta1.Capabilities, 0, len(listed))
	for i, flavor := range listed {
		c := r.renamed(flavor.Capabilities, fmt.Sprintf("%s.capabilityFlavors[%d]", pathOf(v), i))
		carried.Insert(slices.Collect(maps.Keys(c))...)
		flavors = append(flavors, c)
	}
	var all []v1beta1.MachineImageFlavor
	found := false
	for _, c := range flavors {
		variants := r.variants(c, v, carried)
		found = found || len(variants) > 0
		if len(variants) == 0 { // no image has it
			variants = append(variants, c)
		}
		for _, variant := range variants {
			if !slices.ContainsFunc(all, func(f v1beta1.MachineImageFlavor) bool { return reflect.DeepEqual(f.Capabilities, variant) }) {
				all = append(all, v1beta1.MachineImageFlavor{Capabilities: variant})
			}
		}
	}
	if len(r.names) > 0 && found || len(v.CapabilityFlavors) > 0 {
		v.CapabilityFlavors = all
	}
}

// variants returns what becomes of a flavor of core: one for each flavor of the provider config that corresponds to it (semantics S8).
// carried are the capabilities that core declares.
func (r *registration) variants(c v1beta1.Capabilities, v entries.Version, carried sets.Set[string]) (all []v1beta1.Capabilities) {
	set := r.set(c, v)
	for _, m := range r.mapped[v.ID] {
		if r.set(r.carried(m.was, carried), v) != set {
			continue
		}
		variant := v1beta1.Capabilities{}
		maps.Copy(variant, c)
		for _, name := range r.names {
			if _, declared := c[name]; !declared {
				variant[name] = m.is[name]
			}
		}
		all = append(all, variant)
	}
	return all
}

// set returns what a flavor of an image version supported that declares capabilities.
func (r *registration) set(c v1beta1.Capabilities, v entries.Version) capability.Set {
	set, _ := r.vocabulary.Flavor(c, profile.Undeclared(v.MachineImageVersion), nil)
	return set
}

// carried returns capabilities without the reserved ones that core did not carry: that are neither registered nor among some others.
func (r *registration) carried(c v1beta1.Capabilities, others sets.Set[string]) v1beta1.Capabilities {
	c = maps.Clone(c)
	maps.DeleteFunc(c, func(name string, _ v1beta1.CapabilityValues) bool {
		return strings.HasPrefix(name, capability.ReservedPrefix) && !others.Has(name) && !r.vocabulary.IsRegistered(name)
	})
	return c
}

// Unregister returns what a manifest becomes that does not register the reserved capabilities: flavors of the provider config declare
// them, unless they say what holds anyway, and nothing else does. Core's flavors that differ in nothing else become one. Of a
// NamespacedCloudProfile the Parent is the one that it has before. A manifest that registers none stays as it is. Errors are as those of
// [Forward].
func Unregister(cloud provider.Provider[any], input Input) (result Result, errs field.ErrorList, err error) {
	p, err := read(cloud, input)
	if err != nil {
		return Result{}, nil, err
	}
	r := &registration{document: p}
	for _, d := range capability.Reserved() {
		if registeredAs(p.capabilities, d.Name) != nil {
			r.names = append(r.names, d.Name)
		}
	}
	if len(p.errs) > 0 || len(r.names) == 0 {
		return p.result(nil)
	}
	p.rewrite(provider.FormatFlavors, func(provider.ImageVersion) bool { return true })
	r.vocabulary, _ = capability.Compile(p.capabilities, nil, cloud.Workers().Definitions()...)
	r.eachFlavor(r.leaveOut)
	for v := range entries.Versions(&p.spec) {
		r.strip(v)
	}
	for i := range p.spec.MachineTypes {
		r.freeMachineType(i)
	}
	p.spec.MachineCapabilities = slices.DeleteFunc(slices.Clone(p.spec.MachineCapabilities), func(c v1beta1.CapabilityDefinition) bool {
		return slices.Contains(r.names, texts.Canonical(c.Name))
	})
	return p.result(nil)
}

// leaveOut has a flavor of the provider config declare what it supported, and leave out what holds anyway.
func (r *registration) leaveOut(c v1beta1.Capabilities, version *v1beta1.MachineImageVersion) {
	for _, name := range r.names {
		values, declared := c[name]
		if as := registeredAs(r.capabilities, name); !declared && as.Name == name && name != capability.GPUSupport {
			values, declared = as.Values, true
		}
		switch {
		case !declared:
		case sets.New(values...).Equal(sets.New(undeclared(name, version)...)):
			delete(c, name)
		default:
			c[name] = values
		}
	}
}

// without returns capabilities without the reserved ones that are not registered any more.
func (r *registration) without(c v1beta1.Capabilities) v1beta1.Capabilities {
	c = maps.Clone(c)
	maps.DeleteFunc(c, func(name string, _ v1beta1.CapabilityValues) bool {
		return slices.Contains(r.names, texts.Canonical(name))
	})
	return c
}

// strip removes the reserved capabilities from the flavors of an image version of core.
func (r *registration) strip(v entries.Version) {
	var left []v1beta1.MachineImageFlavor
	seen := sets.New[capability.Set]()
	for _, flavor := range v.CapabilityFlavors {
		c := r.without(flavor.Capabilities)
		if set, _ := r.vocabulary.Set(c, nil); !seen.Has(set) {
			seen.Insert(set)
			left = append(left, v1beta1.MachineImageFlavor{Capabilities: c})
		}
	}
	if len(left) == 1 && len(left[0].Capabilities) == 0 {
		left = nil // which is what a version without flavors is
	}
	v.CapabilityFlavors = left
}

// freeMachineType removes the reserved capabilities from a machine type, and reports one that does not support all values.
func (r *registration) freeMachineType(i int) {
	t := &r.spec.MachineTypes[i]
	for _, name := range slices.Sorted(maps.Keys(t.Capabilities)) {
		as := registeredAs(r.capabilities, texts.Canonical(name))
		if as == nil || !slices.Contains(r.names, texts.Canonical(name)) {
			continue
		}
		supported := inWords(name, t.Capabilities[name])
		if slices.ContainsFunc(inWords(as.Name, as.Values), func(value string) bool { return !slices.Contains(supported, value) }) {
			r.fail(fmt.Sprintf("spec.machineTypes[%d].capabilities.%s", i, name),
				"machine type %s supports some values of %s only, which it cannot say once that is not registered; remove it here first", t.Name, name)
		}
	}
	if t.Capabilities = r.without(t.Capabilities); len(t.Capabilities) == 0 {
		t.Capabilities = nil
	}
}
