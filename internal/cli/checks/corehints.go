// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/words"
)

// capabilityHint says how to repair what core says about the capabilities in a CloudProfile, to be put behind that. It is empty
// for everything else.
func capabilityHint(profile *v1beta1.CloudProfile, err *field.Error) string {
	value, _ := err.BadValue.(string)
	switch {
	case err.Type == field.ErrorTypeForbidden && strings.HasSuffix(err.Detail, "without global definition"):
		return "; register them in spec.machineCapabilities first"
	case err.Type == field.ErrorTypeRequired && err.Field == "spec.machineCapabilities.architecture":
		return "; add - {name: architecture, values: [amd64, arm64]} to spec.machineCapabilities"
	case err.Type == field.ErrorTypeInvalid && strings.HasPrefix(err.Detail, "all Kubernetes versions must match the regex"):
		return "; write a full version such as 1.33.2"
	case err.Type == field.ErrorTypeNotSupported && namesCapabilities(err.Field):
		var known []string
		for _, c := range profile.Spec.MachineCapabilities {
			known = append(known, c.Name)
		}
		return cmp.Or(words.DidYouMean(words.Closest(value, known)), "; register "+value+" in spec.machineCapabilities, or leave it out")
	}
	return ""
}

// namesCapabilities reports whether core says at a path that a capability is not registered; of its values it says so below.
func namesCapabilities(path string) bool {
	inType := strings.HasPrefix(path, "spec.machineTypes[") && strings.HasSuffix(path, "].capabilities")
	of, flavor, inFlavor := strings.Cut(path, "].capabilityFlavors[")
	return inType || inFlavor && strings.HasPrefix(of, "spec.machineImages[") && !strings.Contains(flavor, ".")
}
