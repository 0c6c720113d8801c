// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worlds

import (
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
)

// Reserving is a world's use of the reserved capabilities that are in both texts of GEP-0054.
type Reserving struct {
	// Registered are the capabilities in the vocabulary, by the names of the second text.
	Registered []v1beta1.CapabilityDefinition
	// FirstText means that the world uses the names of the first text.
	FirstText bool
}

// reserved returns these capabilities, by the names of the second text.
func reserved() []capability.Definition {
	return slices.DeleteFunc(capability.Reserved(), func(d capability.Definition) bool { return d.Name == capability.GPUSupport })
}

// Reserve draws the reserved capabilities that flavors declare, which of them are registered, and under which names.
func (w *World) Reserve(t *rapid.T) {
	for _, name := range slices.Sorted(maps.Keys(w.Versions)) {
		v := w.Versions[name]
		v.Flavors = slices.Clone(v.Flavors)
		for i := range v.Flavors {
			declared := maps.Clone(v.Flavors[i].Capabilities)
			for _, d := range reserved() {
				if values := rapid.SampledFrom([][]string{nil, nil, d.Values[:1], d.Values[1:], d.Values}).Draw(t, d.Name); values != nil {
					declared[d.Name] = values
				}
			}
			v.Flavors[i].Capabilities = declared
		}
		w.Versions[name] = v
	}
	w.Register(t)
}

// Register draws which reserved capabilities are registered, and under which names.
func (w *World) Register(t *rapid.T) {
	w.Registered = nil
	w.FirstText = rapid.IntRange(0, 2).Draw(t, "first text") == 0
	for _, d := range reserved() {
		if values := rapid.SampledFrom([][]string{nil, nil, d.Values, d.Values, d.Values[:1]}).Draw(t, "registers "+d.Name); values != nil {
			w.Registered = append(w.Registered, v1beta1.CapabilityDefinition{Name: d.Name, Values: values})
		}
	}
}

// vocabulary returns the vocabulary of the world.
func (r *Reserving) vocabulary() []v1beta1.CapabilityDefinition {
	all := slices.Clone(Vocabulary)
	for _, d := range r.Registered {
		written := r.written(v1beta1.Capabilities{d.Name: d.Values})
		for name, values := range written {
			all = append(all, v1beta1.CapabilityDefinition{Name: name, Values: values})
		}
	}
	return all
}

// written returns capabilities under the names that the world uses.
func (r *Reserving) written(c v1beta1.Capabilities) v1beta1.Capabilities {
	if !r.FirstText {
		return c
	}
	all := maps.Clone(c)
	for _, first := range capability.FirstText() {
		name := texts.Canonical(first.Name)
		values, declared := c[name]
		if !declared {
			continue
		}
		delete(all, name)
		all[first.Name] = texts.TranslateAll(name, values)
	}
	return all
}

// flavors returns flavors as in the provider config, and as in core, which omits unregistered capabilities.
func (r *Reserving) flavors(all []v1alpha1.MachineImageFlavor) (mapped []v1alpha1.MachineImageFlavor, core []v1beta1.MachineImageFlavor) {
	for _, f := range all {
		carried := maps.Clone(f.Capabilities)
		maps.DeleteFunc(carried, func(name string, _ v1beta1.CapabilityValues) bool {
			return strings.HasPrefix(name, capability.ReservedPrefix) &&
				!slices.ContainsFunc(r.Registered, func(d v1beta1.CapabilityDefinition) bool { return d.Name == name })
		})
		f.Capabilities = r.written(f.Capabilities)
		mapped, core = append(mapped, f), append(core, v1beta1.MachineImageFlavor{Capabilities: r.written(carried)})
	}
	return mapped, core
}
