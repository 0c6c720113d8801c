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

// WorkerConfig is what a user tells the GCP provider about one worker pool. It is
// spec.provider.workers[].providerConfig of a Shoot, and may be absent.
type WorkerConfig struct {
	metav1.TypeMeta `json:",inline"`

	// GPU attaches graphics processors to the pool's machines. Nil: those that the machine type has by itself.
	// +optional
	GPU *GPU `json:"gpu,omitempty"`
	// Volume has settings of local disks and of encryption. Nil: the usual.
	// +optional
	Volume *Volume `json:"volume,omitempty"`
	// BootVolume has further settings of the boot disk. Nil: the usual.
	// +optional
	BootVolume *BootVolume `json:"bootVolume,omitempty"`
	// DataVolumes say more about dataVolumes of the worker pool, by their names. Empty: nothing more.
	// +optional
	DataVolumes []DataVolume `json:"dataVolumes,omitzero"`
	// MinCPUPlatform is the oldest generation of processors that the machines may have, as in Intel Haswell. Nil: any that
	// the machine type has.
	// +optional
	MinCPUPlatform *string `json:"minCpuPlatform,omitempty"`
	// ServiceAccount is who the machines are towards Google Cloud. Nil: that of the Shoot, or the default one of the project.
	// +optional
	ServiceAccount *ServiceAccount `json:"serviceAccount,omitempty"`
	// NodeTemplate tells the cluster autoscaler the resources of the pool's nodes, for scaling up from zero. Nil: all is
	// taken from the machine type.
	// +optional
	NodeTemplate *extensionsv1alpha1.NodeTemplate `json:"nodeTemplate,omitempty"`
}

// GPU are the graphics processors of each machine of a worker pool.
type GPU struct {
	// AcceleratorType is their type in Compute Engine, as in nvidia-tesla-t4.
	AcceleratorType string `json:"acceleratorType"`
	// Count is how many each machine has.
	Count int32 `json:"count"`
}

// Volume has further settings of the disks of machines.
type Volume struct {
	// LocalSSDInterface is how local disks, those of the volume type SCRATCH, are attached: NVME or SCSI. Nil: there are no
	// such disks.
	// +optional
	LocalSSDInterface *string `json:"interface,omitempty"`
	// Encryption encrypts the disks with a key of the customer. Nil: with a key of Google.
	// +optional
	Encryption *DiskEncryption `json:"encryption,omitempty"`
}

// DiskEncryption is the key that disks are encrypted with.
type DiskEncryption struct {
	// KmsKeyName is the path of the key in Cloud KMS. Nil: none, although the field has to be there.
	KmsKeyName *string `json:"kmsKeyName,omitempty"`
	// KmsKeyServiceAccount is the service account that may use the key. Nil: the service agent of Compute Engine.
	// +optional
	KmsKeyServiceAccount *string `json:"kmsKeyServiceAccount,omitempty"`
}

// BootVolume has further settings of the boot disk.
type BootVolume struct {
	DiskSettings `json:",inline"`
}

// DataVolume has further settings of one of the worker pool's dataVolumes.
type DataVolume struct {
	// Name is the name of the data volume.
	Name string `json:"name"`
	// SourceImage is the path of an image that the volume begins as a copy of. Nil: it begins empty.
	// +optional
	SourceImage *string `json:"sourceImage,omitempty"`

	DiskSettings `json:",inline"`
}

// DiskSettings are what can be chosen of some types of disks.
type DiskSettings struct {
	// ProvisionedIops are the operations each second that the disk is provided with. Nil: as many as usual for its size.
	// +optional
	ProvisionedIops *int64 `json:"provisionedIops,omitempty"`
	// ProvisionedThroughput are the MiB each second that the disk is provided with. Nil: as many as usual for its size.
	// +optional
	ProvisionedThroughput *int64 `json:"provisionedThroughput,omitempty"`
	// StoragePool is the pool that the disk is taken from. Nil: none.
	// +optional
	StoragePool *string `json:"storagePool,omitempty"`
}

// ServiceAccount is a service account that machines use.
type ServiceAccount struct {
	// Email is the address of the account.
	Email string `json:"email"`
	// Scopes are the URLs of what machines may do with it.
	Scopes []string `json:"scopes,omitzero"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkerStatus is what the GCP provider remembers about the worker pools of a shoot: status.providerStatus of a Worker.
// Users do not write it.
type WorkerStatus struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages are the images in use, or used until the last pool moved on. They keep a pool working whose version
	// is no longer in the CloudProfile. Empty: no pool has been reconciled.
	// +optional
	MachineImages []MachineImage `json:"machineImages,omitzero"`
}

// MachineImage is the image of Compute Engine that was chosen for a machine image version.
type MachineImage struct {
	// Name is the name of the machine image in the CloudProfile.
	Name string `json:"name"`
	// Version is the version of the machine image in the CloudProfile.
	Version string `json:"version"`
	// Image is the path of the image in Compute Engine.
	Image string `json:"image"`
	// Architecture is the CPU architecture of an image of the legacy format. Nil: amd64, or the image is from a capability
	// flavor.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// Capabilities are the capabilities of the capability flavor that was chosen. Empty: the image is of the legacy
	// format, or its flavor declares none.
	// +optional
	Capabilities v1beta1.Capabilities `json:"capabilities,omitzero"`
}
