// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerrules"
)

// Library is for tests of updates without maintenance by Gardener: it decides which machine types core accepts, and panics on any other
// call. Tests with maintenance are in module test, and use package gardenerlib.
type Library struct{ gardenerrules.Library }

// SupportsCapabilities reports whether a flavor shares a value with the machine type for each capability in the vocabulary. An undeclared
// capability has all its values. A version without core flavors supports every machine type.
func (Library) SupportsCapabilities(
	machine v1beta1.Capabilities, version *v1beta1.MachineImageVersion, vocabulary []v1beta1.CapabilityDefinition,
) bool {
	of := func(c v1beta1.Capabilities, def v1beta1.CapabilityDefinition) []string {
		if values, declared := c[def.Name]; declared {
			return values
		}
		return def.Values
	}
	fits := func(flavor v1beta1.MachineImageFlavor) bool {
		return !slices.ContainsFunc(vocabulary, func(def v1beta1.CapabilityDefinition) bool {
			has := of(flavor.Capabilities, def)
			return !slices.ContainsFunc(of(machine, def), func(value string) bool { return slices.Contains(has, value) })
		})
	}
	return len(version.CapabilityFlavors) == 0 || slices.ContainsFunc(version.CapabilityFlavors, fits)
}
