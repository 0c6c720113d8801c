// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/utils/ptr"

func init() { localSchemeBuilder.Register(RegisterDefaults) }

// SetDefaults_MachineImage says of an image of a worker status that it is not encrypted, unless that is written.
func SetDefaults_MachineImage(obj *MachineImage) {
	if obj.Encrypted == nil {
		obj.Encrypted = ptr.To(false)
	}
}
