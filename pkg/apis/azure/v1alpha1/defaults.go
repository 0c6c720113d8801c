// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/utils/ptr"
)

func init() { localSchemeBuilder.Register(RegisterDefaults) }

// SetDefaults_MachineImageVersion sets the architecture of a version of the legacy format to amd64. It leaves a version with
// capability flavors alone, where the architecture is a capability.
func SetDefaults_MachineImageVersion(obj *MachineImageVersion) {
	if len(obj.CapabilityFlavors) == 0 && obj.Architecture == nil {
		obj.Architecture = ptr.To(constants.ArchitectureAMD64)
	}
}
