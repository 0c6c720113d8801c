// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package reserved

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli/gardener"
)

// Validate is [gardener.Validate] of a Gardener that accepts the reserved capabilities.
func Validate(object runtime.Object) field.ErrorList {
	d := disguiseFor(object)
	return d.reveal(gardener.Validate(d.put(object)))
}

// ValidateNamespaced is [gardener.ValidateNamespaced] of a Gardener that accepts the reserved capabilities. Where an
// error that ignore is asked about has one of their names, it is still the replaced one.
func ValidateNamespaced(
	object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, ignore func(*field.Error) bool,
) field.ErrorList {
	d := disguiseFor(object, parent)
	return d.reveal(gardener.ValidateNamespaced(d.namespaced(object), d.cloudProfile(parent), ignore))
}

// Is reports whether a name is that of a reserved capability.
func Is(name string) bool {
	return slices.ContainsFunc(capability.Reserved(), func(d capability.Definition) bool { return d.Name == name })
}

// disguise is what the prefix of the reserved capabilities is replaced with, so that validation which refuses the
// prefix lets them pass. Other names with the prefix keep it.
type disguise string

// disguiseFor returns a disguise that occurs in none of the objects.
func disguiseFor(objects ...runtime.Object) disguise {
	text, _ := json.Marshal(objects) // what has been read can be written
	for i := 0; ; i++ {
		if d := fmt.Sprintf("gardener.%d.", i); !strings.Contains(string(text), d) {
			return disguise(d)
		}
	}
}

// put returns an object in disguise. The object is not changed.
func (d disguise) put(object runtime.Object) runtime.Object {
	switch o := object.(type) {
	case *v1beta1.CloudProfile:
		return d.cloudProfile(o)
	case *v1beta1.NamespacedCloudProfile:
		return d.namespaced(o)
	}
	return object
}

// cloudProfile returns a CloudProfile in disguise. If it registers capabilities, those reserved ones are appended that
// it does not: they are known all the same. No index of what is written changes by that.
func (d disguise) cloudProfile(object *v1beta1.CloudProfile) *v1beta1.CloudProfile {
	object = object.DeepCopy()
	d.images(object.Spec.MachineImages)
	d.machineTypes(object.Spec.MachineTypes)
	definitions := object.Spec.MachineCapabilities
	if len(definitions) == 0 {
		return object
	}
	for i := range definitions {
		definitions[i].Name = d.name(definitions[i].Name)
	}
	for _, r := range capability.Reserved() {
		name := d.name(r.Name)
		if !slices.ContainsFunc(definitions, func(def v1beta1.CapabilityDefinition) bool { return def.Name == name }) {
			definitions = append(definitions, v1beta1.CapabilityDefinition{Name: name, Values: r.Values})
		}
	}
	object.Spec.MachineCapabilities = definitions
	return object
}

// namespaced returns a NamespacedCloudProfile in disguise.
func (d disguise) namespaced(object *v1beta1.NamespacedCloudProfile) *v1beta1.NamespacedCloudProfile {
	object = object.DeepCopy()
	d.images(object.Spec.MachineImages)
	d.machineTypes(object.Spec.MachineTypes)
	return object
}

func (d disguise) images(images []v1beta1.MachineImage) {
	for i := range images {
		for k := range images[i].Versions {
			for f := range images[i].Versions[k].CapabilityFlavors {
				flavor := &images[i].Versions[k].CapabilityFlavors[f]
				flavor.Capabilities = d.capabilities(flavor.Capabilities)
			}
		}
	}
}

func (d disguise) machineTypes(types []v1beta1.MachineType) {
	for i := range types {
		types[i].Capabilities = d.capabilities(types[i].Capabilities)
	}
}

func (d disguise) capabilities(c v1beta1.Capabilities) v1beta1.Capabilities {
	if c == nil {
		return nil
	}
	disguised := make(v1beta1.Capabilities, len(c))
	for name, values := range c {
		disguised[d.name(name)] = values
	}
	return disguised
}

func (d disguise) name(name string) string {
	if Is(name) {
		return string(d) + strings.TrimPrefix(name, capability.ReservedPrefix)
	}
	return name
}

// reveal puts the names back into what the validation says.
func (d disguise) reveal(errs field.ErrorList) field.ErrorList {
	back := func(text string) string { return strings.ReplaceAll(text, string(d), capability.ReservedPrefix) }
	for _, err := range errs {
		err.Field, err.Detail = back(err.Field), gardener.SortLists(back(err.Detail))
		if value, isText := err.BadValue.(string); isText {
			err.BadValue = back(value)
		}
	}
	return errs
}
