// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Minimum is the least size of a volume.
type Minimum struct {
	Size resource.Quantity
	// OfMachineType reports whether the machine type demands it, and not the volume type.
	OfMachineType bool
}

// VolumeTooSmall returns the minimum that the volume of a worker pool with some machine type falls short of: the machine type's minimum for
// the volume type, or the volume type's own. It returns nil if the volume is large enough, or has no valid size. The volume may be nil.
//
// It is the rule of validateVolumeSize (plugin/pkg/shoot/validator).
func VolumeTooSmall(profile *v1beta1.CloudProfileSpec, machineType string, volume *v1beta1.Volume) *Minimum {
	if volume == nil || volume.Type == nil {
		return nil
	}
	size, err := resource.ParseQuantity(volume.VolumeSize)
	if err != nil {
		return nil
	}
	tooSmall := func(minimum *resource.Quantity) bool { return minimum != nil && size.Cmp(*minimum) < 0 }
	for i := range profile.MachineTypes {
		t := &profile.MachineTypes[i]
		if t.Name == machineType && t.Storage != nil && t.Storage.Type == *volume.Type && tooSmall(t.Storage.MinSize) {
			return &Minimum{t.Storage.MinSize.DeepCopy(), true}
		}
	}
	for i := range profile.VolumeTypes {
		if t := &profile.VolumeTypes[i]; t.Name == *volume.Type && tooSmall(t.MinSize) {
			return &Minimum{t.MinSize.DeepCopy(), false}
		}
	}
	return nil
}
