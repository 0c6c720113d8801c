// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CloudProfileConfig is what an operator tells the GCP provider: which image boots for a machine image version. It is the
// spec.providerConfig of a CloudProfile or NamespacedCloudProfile.
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages maps the machine image versions of the profile to images of Compute Engine. Each image and version
	// that the CloudProfile offers must be here, with an image for each of its flavors; in a NamespacedCloudProfile those
	// that it adds.
	MachineImages []MachineImages `json:"machineImages,omitzero"`
}

// MachineImages maps the versions of one machine image. Names are unique.
type MachineImages struct {
	// Name is the name of the machine image, as in spec.machineImages[].name of the CloudProfile.
	Name string `json:"name"`
	// Versions maps each version of the image that the CloudProfile offers. In the legacy format there may be several entries
	// of one version, one for each architecture.
	Versions []MachineImageVersion `json:"versions,omitzero"`
}

// MachineImageVersion maps one version of a machine image in one of two formats: either capabilityFlavors, or the legacy
// format with image and architecture. Versions of one image may differ in their format.
type MachineImageVersion struct {
	// Version is the version, as in spec.machineImages[].versions[].version of the CloudProfile.
	Version string `json:"version"`
	// Image is, in the legacy format, the path of the image in Compute Engine, as in
	// projects/my-project/global/images/my-image. It boots in every region. Beside capabilityFlavors it is ignored, and
	// may be there as an empty text.
	// +optional
	Image *string `json:"image,omitempty"`
	// Architecture is, in the legacy format, the CPU architecture of the image: amd64 or arm64. Nil: amd64.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// CapabilityFlavors are the variants of this version, which differ in the machines they boot on. Each corresponds
	// to one entry of capabilityFlavors in the CloudProfile. Empty: the version has the legacy format.
	// +optional
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors,omitzero"`
}

// MachineImageFlavor is one variant of a machine image version.
type MachineImageFlavor struct {
	// Capabilities say which machines this variant boots on: capability names with lists of values. A capability that
	// is not listed counts as listed with all values it has in spec.machineCapabilities of the CloudProfile. Empty: it
	// boots on every machine.
	// +optional
	Capabilities v1beta1.Capabilities `json:"capabilities,omitzero"`
	// Image is the path of the image in Compute Engine, as in projects/my-project/global/images/my-image. It boots in
	// every region.
	Image string `json:"image"`
}

// GetCapabilities returns the capabilities as written, without any default. The map belongs to the flavor.
func (f MachineImageFlavor) GetCapabilities() v1beta1.Capabilities { return f.Capabilities }
