// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// VolumeTooSmall returns the minimum size that a worker pool's volume falls short of: the machine type's minimum for the volume type, or
// the volume type's own. It returns nil if the volume is large enough, or has no valid size.
//
// It is the rule of validateVolumeSize (plugin/pkg/shoot/validator).
func VolumeTooSmall(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker) *resource.Quantity {
	if worker.Volume == nil || worker.Volume.Type == nil {
		return nil
	}
	size, err := resource.ParseQuantity(worker.Volume.VolumeSize)
	if err != nil {
		return nil
	}
	tooSmall := func(minimum *resource.Quantity) bool { return minimum != nil && size.Cmp(*minimum) < 0 }
	for i := range profile.MachineTypes {
		t := &profile.MachineTypes[i]
		if t.Name == worker.Machine.Type && t.Storage != nil && t.Storage.Type == *worker.Volume.Type && tooSmall(t.Storage.MinSize) {
			return t.Storage.MinSize
		}
	}
	for i := range profile.VolumeTypes {
		if t := &profile.VolumeTypes[i]; t.Name == *worker.Volume.Type && tooSmall(t.MinSize) {
			return t.MinSize
		}
	}
	return nil
}
