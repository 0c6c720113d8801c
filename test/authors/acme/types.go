// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CloudProfileConfig is what stands under spec.providerConfig of a CloudProfile.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	MachineImages []MachineImage `json:"machineImages"`
	// MachineTypes say of spec.machineTypes what core has no field for. A NamespacedCloudProfile may have them, too.
	MachineTypes []MachineType `json:"machineTypes,omitempty"`
	// MaxMachines is how many machines a Shoot can have. Nil: any number.
	MaxMachines *int32 `json:"maxMachines,omitempty"`
}

// MachineImage is one of spec.machineImages.
type MachineImage struct {
	Name     string                `json:"name"`
	Versions []MachineImageVersion `json:"versions"`
}

// MachineImageVersion has regions in the legacy format, or flavors in the new one.
type MachineImageVersion struct {
	Version           string               `json:"version"`
	Regions           []RegionTemplate     `json:"regions,omitempty"`
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors,omitempty"`
}

// MachineImageFlavor is one image artifact, in every region to which it was copied.
type MachineImageFlavor struct {
	Capabilities v1beta1.Capabilities `json:"capabilities,omitempty"`
	Regions      []RegionTemplate     `json:"regions"`
}

// RegionTemplate is an image in one region. What comes after the template is for the legacy format only.
type RegionTemplate struct {
	Name string `json:"name"`
	Template
	Architecture *string `json:"architecture,omitempty"`
	// FastNetwork says that the image has a driver for the fast network.
	FastNetwork bool `json:"fastNetwork,omitempty"`
}

// Template refers to an image in one region. As JSON it is what capkit select prints.
type Template struct {
	ID string `json:"template"`
	// LicenseAccepted says that nobody has to accept the license of the image any more. Machines are created with it.
	LicenseAccepted bool `json:"licenseAccepted,omitempty"`
}

// MachineType is what acme has to know about one of spec.machineTypes.
type MachineType struct {
	Name string `json:"name"`
	// MaxVolumes is how many data volumes such a machine can have.
	MaxVolumes int `json:"maxVolumes"`
}

// configKind is the one kind that the extension reads.
var configKind = schema.GroupVersionKind{
	Group: "acme.provider.extensions.gardener.cloud", Version: "v1alpha1", Kind: "CloudProfileConfig",
}

// WorkerConfig is what stands under providerConfig of a worker pool.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type WorkerConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Confidential asks for machines whose memory is encrypted. Nil: not asked for.
	Confidential *Confidential `json:"confidential,omitempty"`
}

// Confidential is the worker pool's wish for machines whose memory is encrypted.
type Confidential struct {
	// Enabled asks for them. False: the pool takes images that can run in such a machine, and images that cannot.
	Enabled bool `json:"enabled"`
}

// WorkerStatus is what the worker controller writes into status.providerStatus of a Worker.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type WorkerStatus struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages are what the worker pools boot.
	MachineImages []BootedImage `json:"machineImages,omitempty"`
}

// BootedImage is an image that worker pools boot.
type BootedImage struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Template
	Architecture string               `json:"architecture,omitempty"`
	Capabilities v1beta1.Capabilities `json:"capabilities,omitempty"`
	// Implied is what fastNetwork said of an image in the legacy format.
	Implied v1beta1.Capabilities `json:"implied,omitempty"`
}

// MachineSpec is the providerSpec of a machine class.
type MachineSpec struct {
	Template
	MachineType string `json:"machineType"`
	Zone        string `json:"zone"`
}
