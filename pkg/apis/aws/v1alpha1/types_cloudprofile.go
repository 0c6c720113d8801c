// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CloudProfileConfig is what an operator tells the AWS extension: which Amazon Machine Image (AMI) boots for a machine image
// version. It is the spec.providerConfig of a CloudProfile, and of a NamespacedCloudProfile that brings images.
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages maps the machine image versions of the CloudProfile to AMIs. Each image and version that the
	// CloudProfile offers must be here, with a reference for each of its flavors; in a NamespacedCloudProfile those that it
	// adds.
	MachineImages []MachineImages `json:"machineImages,omitzero"`
}

// MachineImages maps the versions of one machine image. Names are unique.
type MachineImages struct {
	// Name is the name of the machine image, as in spec.machineImages[].name of the CloudProfile.
	Name string `json:"name"`
	// Versions maps each version of the image that the CloudProfile offers.
	Versions []MachineImageVersion `json:"versions,omitzero"`
}

// MachineImageVersion maps one version of a machine image in one of two formats: either capabilityFlavors, or the legacy
// format with regions. Versions of one image may differ in their format.
type MachineImageVersion struct {
	// Version is the version, as in spec.machineImages[].versions[].version of the CloudProfile.
	Version string `json:"version"`
	// Regions are, in the legacy format, the AMIs by region and architecture. Empty: the version has capabilityFlavors.
	// +optional
	Regions []RegionAMIMapping `json:"regions,omitzero"`
	// CapabilityFlavors are the variants of this version, which differ in the machines they boot on. Each corresponds
	// to one entry of capabilityFlavors in the CloudProfile. Empty: the version has the legacy format.
	// +optional
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors,omitzero"`
}

// MachineImageFlavor is one variant of a machine image version.
type MachineImageFlavor struct {
	// Regions are the AMIs of this variant by region; at least one.
	Regions []RegionAMIMapping `json:"regions,omitzero"`
	// Capabilities say which machines this variant boots on: capability names with lists of values. A capability that
	// is not listed counts as listed with all values it has in spec.machineCapabilities of the CloudProfile. Empty: it
	// boots on every machine.
	// +optional
	Capabilities v1beta1.Capabilities `json:"capabilities,omitzero"`
}

// GetCapabilities returns the capabilities as written, without any default. The map belongs to the flavor.
func (f MachineImageFlavor) GetCapabilities() v1beta1.Capabilities { return f.Capabilities }

// RegionAMIMapping names the AMI of one region.
type RegionAMIMapping struct {
	// Name is the name of the region, as in spec.regions of the CloudProfile.
	Name string `json:"name"`
	// AMI is the ID of the image in that region, as in ami-034fd8c3f4026eb39. An AMI belongs to one region.
	AMI string `json:"ami"`
	// Architecture is the CPU architecture of the image, amd64 or arm64, in the legacy format. Nil: amd64. In a capability
	// flavor the architecture is a capability; the field can be read there so that writing it can be reported.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
}
