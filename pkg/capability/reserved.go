// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability/texts"
)

// ReservedPrefix is the prefix of Gardener's own capabilities (GEP-0054).
const ReservedPrefix = "gardener-"

// The reserved capabilities and some of their values (GEP-0054, semantics S3), by their names in the proposal's second text. [Reserved] has
// all values. GPUSupport is from the first text, and has no replacement in the second.
const (
	BootType         = texts.BootType
	bootTypeSecure   = texts.Secure
	bootTypeStandard = texts.Standard

	UpdateType        = texts.UpdateType
	UpdateTypeInPlace = texts.InPlace
	UpdateTypeRolling = texts.Rolling

	GPUSupport     = "gardener-gpuSupport"
	gpuSupportNone = "none"
)

// gpuTypes are the values of GPUSupport except none: the types of GPU that an image can support.
var gpuTypes = []string{"nvidia", "amd", "intel"}

// GPUTypes returns the types of GPU that an image can support. The caller owns the result.
func GPUTypes() []string { return slices.Clone(gpuTypes) }

// The stable names of the rules about reserved capabilities.
const (
	// RuleReservedUnknown: a name begins with gardener- and is not a reserved capability.
	RuleReservedUnknown = "reserved-capability-unknown"
	// RuleReservedValue: a reserved capability is declared with a value that it does not have.
	RuleReservedValue = "reserved-capability-value"
)

// Reserved returns the reserved capabilities, by priority. The caller owns the result.
func Reserved() []Definition {
	return []Definition{
		{Name: BootType, Values: []string{bootTypeStandard, bootTypeSecure}, Undeclared: bootTypeStandard},
		{Name: UpdateType, Values: []string{UpdateTypeRolling, UpdateTypeInPlace}, Undeclared: UpdateTypeRolling},
		{Name: GPUSupport, Values: append(slices.Clone(gpuTypes), gpuSupportNone), Undeclared: gpuSupportNone},
	}
}

// FirstText returns the definitions in the first text of GEP-0054 for reserved capabilities that the second text renames, in the order of
// [Reserved]. [texts.Canonical] returns their new names. The caller owns the result.
func FirstText() []Definition {
	return []Definition{
		{Name: texts.BootTypeOfFirst, Values: []string{texts.Secure, texts.Standard}, Undeclared: texts.Standard},
		{Name: texts.UpdateTypeOfFirst, Values: []string{texts.InPlaceOfFirst, texts.Rolling}, Undeclared: texts.Rolling},
	}
}

// Worker holds the properties of a worker pool that request reserved capabilities (GEP-0054, semantics S3). The zero Worker requests a
// standard boot and rolling updates.
type Worker struct {
	// SecureBoot is set if machines boot with secure boot. The Shoot API of Gardener v1.150 has no such field.
	SecureBoot bool
	// UpdateStrategy of the pool; empty means AutoRollingUpdate.
	UpdateStrategy v1beta1.MachineUpdateStrategy
	// GPU is the type of the pool's GPU: nvidia, amd or intel. Any other type requests an image without GPU support. Nil: nothing is
	// requested. The Shoot API of Gardener v1.150 has no such field.
	GPU *string
}

// Requirements returns the requests of the properties, in the order of [Reserved]. at is the path of the worker, nil if it is in no
// manifest. The caller owns the result.
func (w Worker) Requirements(at *field.Path) []Requirement {
	boot := Requirement{Capability: BootType, Values: []string{bootTypeStandard}, Setting: "no secure boot", Implied: true}
	if w.SecureBoot {
		boot = Requirement{Capability: BootType, Values: []string{bootTypeSecure}, Setting: "secure boot"}
	}
	update := Requirement{
		Capability: UpdateType, Values: []string{UpdateTypeRolling}, Setting: "no update in place", Implied: true,
	}
	if w.UpdateStrategy == v1beta1.AutoInPlaceUpdate || w.UpdateStrategy == v1beta1.ManualInPlaceUpdate {
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
