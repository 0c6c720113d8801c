// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package validation has the rule that takes the place of one of Gardener's. Its file is compiled into Gardener's package of this name,
// where unexported names are Gardener's: it declares as few as it can.
package validation

import (
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// GardenerCapabilities are the capabilities that Gardener defines by GEP-0054, with their values. Operators register them in
// spec.machineCapabilities.
var GardenerCapabilities = map[string][]string{
	"gardener-boot-type":   {"standard", "secure"},
	"gardener-update-type": {"rolling", "in-place"},
}

// ValidateGardenerCapability validates the definition, at a path, of a capability whose name has Gardener's prefix: it has to be one
// that Gardener defines, with some of its values.
func ValidateGardenerCapability(definition core.CapabilityDefinition, path *field.Path) field.ErrorList {
	defined, known := GardenerCapabilities[definition.Name]
	if !known {
		return field.ErrorList{field.NotSupported(path.Child("name"), definition.Name, slices.Sorted(maps.Keys(GardenerCapabilities)))}
	}
	var errs field.ErrorList
	for i, value := range definition.Values {
		if !slices.Contains(defined, value) {
			errs = append(errs, field.NotSupported(path.Child("values").Index(i), value, defined))
		}
	}
	return errs
}
