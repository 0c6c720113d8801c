// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkerStatus is what the AliCloud extension remembers about the worker pools of a shoot: status.providerStatus of a Worker.
// Users do not write it.
type WorkerStatus struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages are the images in use, or used until the last pool moved on. They keep a pool working whose version
	// is no longer in the CloudProfile. Empty: no pool has been reconciled.
	// +optional
	MachineImages []MachineImage `json:"machineImages,omitzero"`
}

// MachineImage is the image that was chosen for a machine image version.
type MachineImage struct {
	// Name is the name of the machine image in the CloudProfile.
	Name string `json:"name"`
	// Version is the version of the machine image in the CloudProfile.
	Version string `json:"version"`
	// ID is the ID of the image in the region of the shoot.
	ID string `json:"id"`
	// Encrypted says that the image is the encrypted copy of the one in the CloudProfile, made for worker pools whose root
	// volume is encrypted. Nil: false.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
	// Capabilities are the capabilities of the capability flavor that was chosen. Empty: the image is of the legacy
	// format, or its flavor declares none.
	// +optional
	Capabilities v1beta1.Capabilities `json:"capabilities,omitzero"`
}
