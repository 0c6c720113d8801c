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

// Registering a reserved capability changes the meaning of flavors that leave it out: they then have all its values
// (semantics S3). So their previous values are written.

// Uses returns the reserved capabilities that a manifest uses, by their names in the second text of GEP-0054, in the
// order of [capability.Reserved]. A manifest uses the capabilities that it registers, or that a machine type or
// flavor declares, by either name. It uses the update type if a version in core supports in-place updates.
// Capabilities of the first text only are left out. The result is nil if the manifest cannot be read.
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

// Register returns a manifest that registers reserved capabilities, by their names in the second text of GEP-0054 and with all
// of Gardener's values. It replaces names and values of the first text everywhere. Flavors of the provider config that leave
// out one of these capabilities get their previous values, and the core flavors then match those of the provider config. A
// manifest in the legacy format also registers the architecture, as with [Forward], and its image versions become flavors.
//
// uses are the capabilities that the profile and its NamespacedCloudProfiles use, see [Uses]; if empty, the manifest
// does not change. was is the previous vocabulary, of a NamespacedCloudProfile its parent's. Capabilities that the
// parent does not register do not change. Errors are as for Forward.
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
		p.registerImplied(p.withBelow(nil), func(_ *document, id provider.ImageVersion) bool { return all(id) })
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

// Together returns a request for several reserved capabilities: they may change an image together although none does alone.
func Together() []resolve.Template {
	return []resolve.Template{{Worker: capability.Worker{SecureBoot: true, UpdateStrategy: v1beta1.AutoInPlaceUpdate}}}
}

// registration is a manifest during the registration of reserved capabilities, or its reversal.
type registration struct {
	*document
	// names are the capabilities to register or unregister, by the second text.
	names []string
	// vocabulary is the previous one, with the architecture.
	vocabulary *capability.Vocabulary
	// mapped are the flavors of the provider config.
	mapped map[provider.ImageVersion][]mappedFlavor
	// unreplaced are the paths of flavors whose capability has no replacement in the second text.
	unreplaced []string
}

// mappedFlavor contains the capabilities that a flavor of the provider config declares before and after, by the second text.
type mappedFlavor struct{ was, is v1beta1.Capabilities }

// definition returns the definition of a reserved capability, which must exist.
func definition(name string) capability.Definition {
	all := capability.Reserved()
	return all[slices.IndexFunc(all, func(d capability.Definition) bool { return d.Name == name })]
}

// registeredAs returns the first entry that registers a reserved capability by either name; nil if there is none.
func registeredAs(capabilities []v1beta1.CapabilityDefinition, name string) *v1beta1.CapabilityDefinition {
	for i := range capabilities {
		if texts.Canonical(capabilities[i].Name) == name {
			return &capabilities[i]
		}
	}
	return nil
}

// isComplete reports whether a vocabulary registers a reserved capability by its name in the second text, with all of Gardener's values.
func isComplete(capabilities []v1beta1.CapabilityDefinition, name string) bool {
	as := registeredAs(capabilities, name)
	return as != nil && as.Name == name && !slices.ContainsFunc(definition(name).Values, func(value string) bool { return !slices.Contains(as.Values, value) })
}

// withoutNew returns a vocabulary in which the reserved capabilities are registered as before.
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

// registering returns a vocabulary that registers reserved capabilities, after all others. Registered ones keep their
// place and the order of their values.
func registering(capabilities []v1beta1.CapabilityDefinition, names []string) (all []v1beta1.CapabilityDefinition) {
	for _, c := range capabilities {
		name := texts.Canonical(c.Name)
		if registeredAs(all, name) != nil {
			continue // already registered by the other name
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

// inWords translates a capability's values to the second text. Values unknown to the first text do not change.
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

// added returns values followed by the others that it lacks.
func added(values []string, others ...string) []string {
	values = slices.Clone(values)
	for _, value := range others {
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// renamed translates capabilities to the second text. It reports values that the first text does not have.
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

// meaning returns the values that a flavor has of a reserved capability that it does not declare. version is nil if core lacks it.
func (r *registration) meaning(name string, version *v1beta1.MachineImageVersion) []string {
	if as := registeredAs(r.capabilities, name); as != nil && as.Name == name {
		return as.Values
	}
	return undeclared(name, version)
}

// undeclared returns a flavor's values of an unregistered reserved capability that it does not declare.
func undeclared(name string, version *v1beta1.MachineImageVersion) []string {
	values := profile.Undeclared(version)[name]
	if values == nil {
		return []string{definition(name).Undeclared}
	}
	return slices.DeleteFunc(definition(name).Values, func(value string) bool { return !slices.Contains(values, value) })
}

// flavors writes the values that flavors of the provider config had without declaring them.
func (r *registration) flavors() {
	r.eachFlavor(func(c v1beta1.Capabilities, version *v1beta1.MachineImageVersion) {
		for _, name := range r.names {
			if _, declared := c[name]; !declared {
				c[name] = r.meaning(name, version)
			}
		}
	})
}

// eachFlavor calls change to modify the declared capabilities of each flavor in the provider config. version is the
// version in core; nil if core does not list it.
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
				continue // the error has been reported
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

// core updates an image version's flavors in core to match those of the provider config. filled are the flavors after admission.
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
		if len(variants) == 0 { // no image has this flavor
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

// variants returns the replacements of a core flavor: one for each corresponding flavor of the provider config
// (semantics S8). carried are the capabilities that core declares.
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

// set returns the capabilities that an image version's flavor supported before, given its declaration.
func (r *registration) set(c v1beta1.Capabilities, v entries.Version) capability.Set {
	set, _ := r.vocabulary.Flavor(c, profile.Undeclared(v.MachineImageVersion), nil)
	return set
}

// carried removes the reserved capabilities that core did not carry: neither registered nor in others.
func (r *registration) carried(c v1beta1.Capabilities, others sets.Set[string]) v1beta1.Capabilities {
	c = maps.Clone(c)
	maps.DeleteFunc(c, func(name string, _ v1beta1.CapabilityValues) bool {
		return strings.HasPrefix(name, capability.ReservedPrefix) && !others.Has(name) && !r.vocabulary.IsRegistered(name)
	})
	return c
}

// Unregister returns a manifest that does not register the reserved capabilities. Only flavors of the provider config declare them
// then, except values that are the default. Core flavors that no longer differ are merged. The Parent of a NamespacedCloudProfile
// is the one before the migration. A manifest that registers none does not change. Errors are as for [Forward].
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

// leaveOut declares the values that a flavor of the provider config supported, and removes defaults.
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

// without removes the reserved capabilities that are no longer registered.
func (r *registration) without(c v1beta1.Capabilities) v1beta1.Capabilities {
	c = maps.Clone(c)
	maps.DeleteFunc(c, func(name string, _ v1beta1.CapabilityValues) bool {
		return slices.Contains(r.names, texts.Canonical(name))
	})
	return c
}

// strip removes the reserved capabilities from the core flavors of an image version.
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
		left = nil // one empty flavor is equivalent to none
	}
	v.CapabilityFlavors = left
}

// freeMachineType removes the reserved capabilities from a machine type. It reports a machine type that does not support all values.
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
