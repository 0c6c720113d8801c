// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CloudProfileConfig is what an operator tells the Azure provider: which image boots for a machine image version, what
// core has no field for in a machine type, and over how many domains machines without zones are spread. It is the
// spec.providerConfig of a CloudProfile. A NamespacedCloudProfile may have one as well, with machineImages and
// machineTypes only.
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	// CountUpdateDomains are the numbers of update domains by region, for Shoots with availability sets. Each region is
	// there once at most. A CloudProfile needs one entry at least, a NamespacedCloudProfile has none.
	CountUpdateDomains []DomainCount `json:"countUpdateDomains,omitzero"`
	// CountFaultDomains are the numbers of fault domains by region, for machines without zones. Each region is there once
	// at most. A CloudProfile needs one entry at least, a NamespacedCloudProfile has none.
	CountFaultDomains []DomainCount `json:"countFaultDomains,omitzero"`
	// MachineImages maps the machine image versions of the profile to images in Azure. Each image and version that the
	// CloudProfile offers must be here, with a reference for each of its flavors; in a NamespacedCloudProfile those that
	// it adds.
	MachineImages []MachineImages `json:"machineImages,omitzero"`
	// MachineTypes say of machine types in spec.machineTypes what core has no field for. Empty: none of them has
	// accelerated networking, unless the profile has capabilities, which say it then.
	// +optional
	MachineTypes []MachineType `json:"machineTypes,omitzero"`
	// CloudConfiguration is the instance of Azure that the profile is for. Nil: the one that the name of a region belongs
	// to, which is the public one for most.
	// +optional
	CloudConfiguration *CloudConfiguration `json:"cloudConfiguration,omitempty"`
}

// CloudConfiguration is one of the instances of Azure.
type CloudConfiguration struct {
	// Name is AzurePublic, AzureGovernment or AzureChina.
	// +optional
	Name string `json:"name"`
}

// DomainCount is a number of domains in one region.
type DomainCount struct {
	// Region is the name of the region, as in spec.regions of the CloudProfile.
	Region string `json:"region"`
	// Count is the number, zero or more.
	Count int32 `json:"count"`
}

// MachineType holds properties of a machine type that core has no fields for.
type MachineType struct {
	// Name is the name of the machine type, as in spec.machineTypes.
	Name string `json:"name"`
	// AcceleratedNetworking says that machines of the type can have accelerated networking. It counts in a profile without
	// capabilities; in others the machine type says it with its capability azure-networking. Nil: false.
	// +optional
	AcceleratedNetworking *bool `json:"acceleratedNetworking,omitempty"`
}

// MachineImages maps the versions of one machine image. Names are unique.
type MachineImages struct {
	// Name is the name of the machine image, as in spec.machineImages[].name of the CloudProfile.
	Name string `json:"name"`
	// Versions maps each version of the image that the CloudProfile offers. In the legacy format there may be several entries
	// of one version, which differ in architecture or acceleratedNetworking.
	Versions []MachineImageVersion `json:"versions,omitzero"`
}

// MachineImageVersion maps one version of a machine image in one of two formats: either capabilityFlavors, or the legacy
// format, which has all the other fields. Versions of one image may differ in their format.
type MachineImageVersion struct {
	// Version is the version, as in spec.machineImages[].versions[].version of the CloudProfile.
	Version string `json:"version"`
	// SkipMarketplaceAgreement is, in the legacy format, that of the image; see the flavor's field of this name.
	// +optional
	SkipMarketplaceAgreement *bool `json:"skipMarketplaceAgreement,omitempty"`
	// AcceleratedNetworking says, in the legacy format, that the image has a driver for accelerated networking: it implies
	// azure-networking [accelerated, basic], and its absence [basic]. Nil: false.
	// +optional
	AcceleratedNetworking *bool `json:"acceleratedNetworking,omitempty"`
	// Architecture is, in the legacy format, the CPU architecture of the image: amd64 or arm64. Nil: amd64.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// CapabilityFlavors are the variants of this version, which differ in the machines they boot on. Each corresponds
	// to one entry of capabilityFlavors in the CloudProfile. Empty: the version has the legacy format.
	// +optional
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors,omitzero"`

	Image `json:",inline"`
}

// MachineImageFlavor is one variant of a machine image version.
type MachineImageFlavor struct {
	// SkipMarketplaceAgreement says that nobody has to accept the terms of an image of the Marketplace, which urn names,
	// before machines are created. Nil: false, which is right for images that have terms.
	// +optional
	SkipMarketplaceAgreement *bool `json:"skipMarketplaceAgreement,omitempty"`
	// Capabilities say which machines this variant boots on: capability names with lists of values. A capability that
	// is not listed counts as listed with all values it has in spec.machineCapabilities of the CloudProfile. Empty: it
	// boots on every machine.
	// +optional
	Capabilities v1beta1.Capabilities `json:"capabilities,omitzero"`

	Image `json:",inline"`
}

// GetCapabilities returns the capabilities as written, without any default. The map belongs to the flavor.
func (f MachineImageFlavor) GetCapabilities() v1beta1.Capabilities { return f.Capabilities }

// Image names an image in Azure. One of its fields is set, which holds in every region.
type Image struct {
	// URN is the name of an image of the Marketplace: publisher:offer:sku:version. Nil: another field is set.
	// +optional
	URN *string `json:"urn,omitempty"`
	// ID is the ID of an image in a compute gallery of a subscription that the machines' subscription may read, as in
	// /subscriptions/<subscription>/resourceGroups/<group>/providers/Microsoft.Compute/galleries/<gallery>/images/<image>/versions/<version>,
	// or of a managed image. Nil: another field is set.
	// +optional
	ID *string `json:"id,omitempty"`
	// CommunityGalleryImageID is the ID of an image in a gallery that is public:
	// /CommunityGalleries/<gallery>/Images/<image>/Versions/<version>. Nil: another field is set.
	// +optional
	CommunityGalleryImageID *string `json:"communityGalleryImageID,omitempty"`
	// SharedGalleryImageID is the ID of an image in a gallery that is shared with subscriptions or tenants:
	// /SharedGalleries/<gallery>/Images/<image>/Versions/<version>. Nil: another field is set.
	// +optional
	SharedGalleryImageID *string `json:"sharedGalleryImageID,omitempty"`
}
