// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"slices"

	"github.com/gardener/gardener/pkg/api"
	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/controller/namespacedcloudprofile"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
)

// Merge returns what Gardener's controller writes into the status of a NamespacedCloudProfile, its parent being as the
// API server has it. The provider config is the parent's; changing it is left to others. Architectures, which Gardener
// lists in an order that changes from run to run, are sorted. The result shares no memory with the objects.
func Merge(object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile) *v1beta1.CloudProfileSpec {
	merged := object.DeepCopy() // MergeCloudProfiles lets the two share memory
	namespacedcloudprofile.MergeCloudProfiles(merged, SyncArchitectures(parent))
	spec := &merged.Status.CloudProfileSpec
	for i := range spec.MachineImages {
		for k := range spec.MachineImages[i].Versions {
			slices.Sort(spec.MachineImages[i].Versions[k].Architectures)
		}
	}
	return spec
}

// SyncArchitectures returns a copy of a CloudProfile in which the deprecated fields for architectures agree with the
// capabilities, as the API server has it that writes the one from the other.
func SyncArchitectures(object *v1beta1.CloudProfile) *v1beta1.CloudProfile {
	object = object.DeepCopy()
	var spec core.CloudProfileSpec
	if api.Scheme.Convert(&object.Spec, &spec, nil) != nil {
		return object
	}
	gardenerutils.SyncArchitectureCapabilityFields(spec, core.CloudProfileSpec{})
	_ = api.Scheme.Convert(&spec, &object.Spec, nil) // as it went one way, it goes the other
	return object
}
