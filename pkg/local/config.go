// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ConfigKind is the kind of a [CloudProfileConfig].
var ConfigKind = schema.GroupVersionKind{Group: "local.provider.extensions.gardener.cloud", Version: "v1alpha1", Kind: "CloudProfileConfig"}

// CloudProfileConfig is the spec.providerConfig of a CloudProfile of type local, and of a NamespacedCloudProfile that brings images.
// It has the wire format of Gardener's provider local.
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages maps the machine image versions of the CloudProfile to container images.
	MachineImages []MachineImages `json:"machineImages"`
	// LoadBalancer is about load balancers, which are containers, too.
	LoadBalancer LoadBalancer `json:"loadBalancer"`
}

// MachineImages maps the versions of one machine image. Names are unique.
type MachineImages struct {
	// Name is the name of the machine image, as in the CloudProfile.
	Name string `json:"name"`
	// Versions maps each version of the image that the CloudProfile offers.
	Versions []MachineImageVersion `json:"versions"`
}

// MachineImageVersion maps one version of a machine image: in the legacy format with an image, or with capabilityFlavors.
type MachineImageVersion struct {
	// Version is the version, as in the CloudProfile.
	Version string `json:"version"`
	// Image is, in the legacy format, the container image, for every architecture. Empty: the version has capabilityFlavors.
	Image string `json:"image,omitempty"`
	// CapabilityFlavors are the variants of this version. Empty: the version has the legacy format.
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors"`
}

// MachineImageFlavor is one variant of a machine image version.
type MachineImageFlavor struct {
	// Image is the container image.
	Image string `json:"image"`
	// Capabilities say which machines this variant boots on. Empty: it boots on every machine.
	Capabilities v1beta1.Capabilities `json:"capabilities,omitempty"`
}

// LoadBalancer says how load balancers are made.
type LoadBalancer struct {
	// Image is the container image of the proxy that serves as one.
	Image string `json:"image"`
}
