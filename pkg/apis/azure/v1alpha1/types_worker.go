// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkerConfig is what a user tells the Azure provider about one worker pool. It is
// spec.provider.workers[].providerConfig of a Shoot, and may be absent.
type WorkerConfig struct {
	metav1.TypeMeta `json:",inline"`

	// NodeTemplate tells the cluster autoscaler the resources of the pool's nodes, for scaling up from zero. Nil: all is
	// taken from the machine type.
	// +optional
	NodeTemplate *extensionsv1alpha1.NodeTemplate `json:"nodeTemplate,omitempty"`
	// DiagnosticsProfile configures whether the boot output of machines is kept. Nil: it is not.
	// +optional
	DiagnosticsProfile *DiagnosticsProfile `json:"diagnosticsProfile,omitempty"`
	// Volume has further settings of the boot disk. Nil: the usual.
	// +optional
	Volume *Volume `json:"volume,omitempty"`
	// DataVolumes say more about dataVolumes of the worker pool, by their names. Empty: nothing more.
	// +optional
	DataVolumes []DataVolume `json:"dataVolumes,omitzero"`
	// CapacityReservation takes the machines from capacity that is reserved. Nil: from what there is.
	// +optional
	CapacityReservation *CapacityReservation `json:"capacityReservation,omitempty"`
}

// DiagnosticsProfile configures whether and where the boot output of machines is kept.
type DiagnosticsProfile struct {
	// Enabled keeps it. Nil: false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// StorageURI is the URI of the storage account that it is kept in. Nil: one that Azure manages.
	// +optional
	StorageURI *string `json:"storageURI,omitempty"`
}

// Volume has further settings of the boot disk.
type Volume struct {
	// Caching is how the disk is cached: None, ReadOnly or ReadWrite. Nil: None.
	// +optional
	Caching *string `json:"caching,omitempty"`
}

// DataVolume has further settings of one of the worker pool's dataVolumes.
type DataVolume struct {
	// Name is the name of the data volume.
	Name string `json:"name"`
	// ImageRef is the image that the volume begins as a copy of. Nil: it begins empty.
	// +optional
	ImageRef *Image `json:"imageRef,omitempty"`
}

// CapacityReservation is reserved capacity.
type CapacityReservation struct {
	// CapacityReservationGroupID is the ID of the group of reservations in Azure. Nil: none.
	// +optional
	CapacityReservationGroupID *string `json:"capacityReservationGroupID,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkerStatus is what the Azure provider remembers about the worker pools of a shoot: status.providerStatus of a Worker.
// Users do not write it.
type WorkerStatus struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages are the images in use, or used until the last pool moved on. They keep a pool working whose version
	// is no longer in the CloudProfile. Empty: no pool has been reconciled.
	// +optional
	MachineImages []MachineImage `json:"machineImages,omitzero"`
	// VmoDependencies are the scale sets that were created for pools without zones, and must be deleted with them. Empty:
	// none.
	// +optional
	VmoDependencies []VmoDependency `json:"vmoDependencies,omitzero"`
}

// MachineImage is the image in Azure that was chosen for a machine image version.
type MachineImage struct {
	// Name is the name of the machine image in the CloudProfile.
	Name string `json:"name"`
	// Version is the version of the machine image in the CloudProfile.
	Version string `json:"version"`
	// AcceleratedNetworking says of an image of the legacy format that it has a driver for accelerated networking. Nil: false,
	// or the image is from a capability flavor.
	// +optional
	AcceleratedNetworking *bool `json:"acceleratedNetworking,omitempty"`
	// Architecture is the CPU architecture of an image of the legacy format. Nil: amd64, or the image is from a capability
	// flavor.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// Capabilities are the capabilities of the capability flavor that was chosen. Empty: the image is of the legacy
	// format, or its flavor declares none.
	// +optional
	Capabilities v1beta1.Capabilities `json:"capabilities,omitzero"`
	// SkipMarketplaceAgreement is that of the flavor or version.
	// +optional
	SkipMarketplaceAgreement *bool `json:"skipMarketplaceAgreement,omitempty"`

	Image `json:",inline"`
}

// VmoDependency is a scale set that was created for a worker pool.
type VmoDependency struct {
	// PoolName is the name of the worker pool.
	PoolName string `json:"poolName"`
	// ID is the ID of the scale set in Azure.
	ID string `json:"id"`
	// Name is the name of the scale set in Azure.
	Name string `json:"name"`
}
