// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ReservedPrefix is what the names of the capabilities begin with that Gardener keeps for itself (GEP-0054).
const ReservedPrefix = "gardener-"

// The reserved capabilities, and values of theirs (GEP-0054, semantics S3), by the names that the second text of the proposal has
// for them. [Reserved] has all values. GPUSupport is of the first text, and the second has nothing in its place.
const (
	BootType         = "gardener-boot-type"
	BootTypeSecure   = "secure"
	BootTypeStandard = "standard"

	UpdateType        = "gardener-update-type"
	UpdateTypeInPlace = "in-place"
	UpdateTypeRolling = "rolling"

	GPUSupport     = "gardener-gpuSupport"
	gpuSupportNone = "none"
)

// gpuTypes are the other values of GPUSupport: the types of GPU that an image can support.
var gpuTypes = []string{"nvidia", "amd", "intel"}

// GPUTypes returns the types of GPU that an image can support. The caller owns the result.
func GPUTypes() []string { return slices.Clone(gpuTypes) }

// The stable names of the rules about reserved capabilities.
const (
	// RuleReservedUnknown: a name begins with gardener- and is none of the reserved capabilities.
	RuleReservedUnknown = "reserved-capability-unknown"
	// RuleReservedValue: a reserved capability is declared with a value that it does not have.
	RuleReservedValue = "reserved-capability-value"
)

// Reserved returns the reserved capabilities, in the order of their priority. The caller owns the result.
func Reserved() []Definition {
	return []Definition{
		{Name: BootType, Values: []string{BootTypeStandard, BootTypeSecure}, Undeclared: BootTypeStandard},
		{Name: UpdateType, Values: []string{UpdateTypeRolling, UpdateTypeInPlace}, Undeclared: UpdateTypeRolling},
		{Name: GPUSupport, Values: append(slices.Clone(gpuTypes), gpuSupportNone), Undeclared: gpuSupportNone},
	}
}

// FirstText returns the definitions that the first text of GEP-0054 has for reserved capabilities which the second calls otherwise,
// in the order of [Reserved]. [Canonical] has the other names. The caller owns the result.
func FirstText() []Definition {
	return []Definition{
		{Name: bootTypeFirst, Values: []string{"secure", "standard"}, Undeclared: "standard"},
		{Name: updateTypeFirst, Values: []string{"inPlace", "rolling"}, Undeclared: "rolling"},
	}
}

// The names of the first text.
const (
	bootTypeFirst   = "gardener-bootType"
	updateTypeFirst = "gardener-updateType"
)

// otherText is what a capability of one text of GEP-0054 is in the other one.
type otherText struct {
	name   string
	values map[string]string
	// second is set if the other text is the second.
	second bool
}

// otherTexts are the reserved capabilities that have two names, by both.
var otherTexts = map[string]*otherText{
	bootTypeFirst:   {BootType, map[string]string{"secure": BootTypeSecure, "standard": BootTypeStandard}, true},
	updateTypeFirst: {UpdateType, map[string]string{"inPlace": UpdateTypeInPlace, "rolling": UpdateTypeRolling}, true},
	BootType:        {bootTypeFirst, map[string]string{BootTypeSecure: "secure", BootTypeStandard: "standard"}, false},
	UpdateType:      {updateTypeFirst, map[string]string{UpdateTypeInPlace: "inPlace", UpdateTypeRolling: "rolling"}, false},
}

// Canonical returns the name that the second text of GEP-0054 has for a capability, which stands for the feature. Any other name it
// returns as it is.
func Canonical(name string) string {
	if OfFirstText(name) {
		return otherTexts[name].name
	}
	return name
}

// OfFirstText reports whether a name is one that the second text of GEP-0054 has replaced.
func OfFirstText(name string) bool {
	other := otherTexts[name]
	return other != nil && other.second
}

// Translate returns a value of a reserved capability in the words of the other text of GEP-0054. It reports whether the capability
// has another name there, and has the value.
func Translate(name, value string) (string, bool) {
	if other := otherTexts[name]; other != nil {
		translated, found := other.values[value]
		return translated, found
	}
	return "", false
}

// Declared returns the values that capabilities declare for one, by that name or its other one, in the words of that name; those that it does
// not have in the other text are left out. It reports whether they declare it. The result may share the values of c.
func Declared(c v1beta1.Capabilities, name string) (values []string, declared bool) {
	values, declared = c[name]
	other := otherTexts[name]
	if other == nil {
		return values, declared
	}
	others, also := c[other.name]
	if !also {
		return values, declared
	}
	return append(slices.Clip(values), translated(other.name, others)...), true
}

// translated returns the values of a capability in the words of the other text, without those that it does not have.
func translated(name string, values []string) []string {
	result := make([]string, 0, len(values))
	for _, value := range values {
		if translated, found := Translate(name, value); found {
			result = append(result, translated)
		}
	}
	return result
}

// Worker are the properties of a worker pool that ask for reserved capabilities (GEP-0054, semantics S3). The zero
// Worker is a pool with none of them: it asks for a standard boot and rolling updates.
type Worker struct {
	// SecureBoot is set if machines boot with secure boot. The Shoot API of Gardener v1.150 has no such field.
	SecureBoot bool
	// UpdateStrategy of the pool; empty is AutoRollingUpdate.
	UpdateStrategy v1beta1.MachineUpdateStrategy
	// GPU is the type of the pool's GPU: nvidia, amd or intel. Any other asks for an image without GPU support. Nil:
	// nothing is requested. The Shoot API of Gardener v1.150 has no such field.
	GPU *string
}

// Requirements returns what the properties ask for, in the order of [Reserved]. at is the path of the worker, nil if
// it is in no manifest. The caller owns the result.
func (w Worker) Requirements(at *field.Path) []Requirement {
	boot := Requirement{Capability: BootType, Values: []string{BootTypeStandard}, Setting: "no secure boot", Implied: true}
	if w.SecureBoot {
		boot = Requirement{Capability: BootType, Values: []string{BootTypeSecure}, Setting: "secure boot"}
	}
	update := Requirement{
		Capability: UpdateType, Values: []string{UpdateTypeRolling}, Setting: "no update in place", Implied: true,
	}
	if helper.IsUpdateStrategyInPlace(&w.UpdateStrategy) {
		update.Values, update.Implied = []string{UpdateTypeInPlace}, false
		update.Setting = "update strategy " + string(w.UpdateStrategy)
	}
	if at != nil {
		update.Because = at.Child("updateStrategy")
	}
	requirements := []Requirement{boot, update}
	if w.GPU != nil {
		gpu := Requirement{Capability: GPUSupport, Values: []string{gpuSupportNone}, Setting: "GPU of type " + *w.GPU}
		if slices.Contains(gpuTypes, *w.GPU) {
			gpu.Values = []string{*w.GPU}
		}
		requirements = append(requirements, gpu)
	}
	return requirements
}
