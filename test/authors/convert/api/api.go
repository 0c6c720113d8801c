// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package api has the types that an extension in the shape of that for AWS has already, as far as images need them. A conversion to
// capkit does not change them.
package api

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Type is the provider type.
const Type = "aws"

// GroupVersion is that of all kinds.
var GroupVersion = schema.GroupVersion{Group: "aws.provider.extensions.gardener.cloud", Version: "v1alpha1"}

// CloudProfileConfig is what stands under spec.providerConfig of a CloudProfile and of a NamespacedCloudProfile.
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	MachineImages []MachineImages `json:"machineImages"`
}

// MachineImages is one image with its versions.
type MachineImages struct {
	Name     string                `json:"name"`
	Versions []MachineImageVersion `json:"versions"`
}

// MachineImageVersion has regions in the legacy format, or flavors in the new one.
type MachineImageVersion struct {
	Version           string               `json:"version"`
	Regions           []RegionAMIMapping   `json:"regions,omitempty"`
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors,omitempty"`
}

// MachineImageFlavor is one image artifact, in every region to which it was copied.
type MachineImageFlavor struct {
	Capabilities v1beta1.Capabilities `json:"capabilities,omitempty"`
	Regions      []RegionAMIMapping   `json:"regions"`
}

// GetCapabilities is for the gardener library.
func (f MachineImageFlavor) GetCapabilities() v1beta1.Capabilities { return f.Capabilities }

// RegionAMIMapping is the AMI in one region. The architecture is for the legacy format only.
type RegionAMIMapping struct {
	Name         string  `json:"name"`
	AMI          string  `json:"ami"`
	Architecture *string `json:"architecture,omitempty"`
}

// WorkerStatus is what stands under status.providerStatus of a Worker.
type WorkerStatus struct {
	metav1.TypeMeta `json:",inline"`

	MachineImages []MachineImage `json:"machineImages,omitempty"`
}

// MachineImage is an image that worker pools boot.
type MachineImage struct {
	Name         string               `json:"name"`
	Version      string               `json:"version"`
	AMI          string               `json:"ami"`
	Architecture *string              `json:"architecture,omitempty"`
	Capabilities v1beta1.Capabilities `json:"capabilities,omitempty"`
}
