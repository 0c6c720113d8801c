// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Values of a WorkerConfig that an image has to support.
const (
	// AMDSEVSNPEnabled switches AMD SEV-SNP on.
	AMDSEVSNPEnabled = "enabled"
	// HTTPTokensRequired lets the metadata service of a machine answer requests of version 2 only.
	HTTPTokensRequired = "required"
	// HTTPTokensOptional lets the metadata service answer requests of both versions.
	HTTPTokensOptional = "optional"
	// NetworkInterfaceTypeEFA is an Elastic Fabric Adapter, which is an ordinary interface as well.
	NetworkInterfaceTypeEFA = "efa"
	// NetworkInterfaceTypeEFAOnly is an Elastic Fabric Adapter without an IP address.
	NetworkInterfaceTypeEFAOnly = "efa-only"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkerConfig is what a user tells the AWS extension about one worker pool. It is
// spec.provider.workers[].providerConfig of a Shoot, and may be absent.
type WorkerConfig struct {
	metav1.TypeMeta `json:",inline"`

	// NodeTemplate tells the cluster autoscaler the resources of the pool's nodes, for scaling up from zero. Nil: all is
	// taken from the machine type.
	// +optional
	NodeTemplate *extensionsv1alpha1.NodeTemplate `json:"nodeTemplate,omitempty"`
	// Volume has further settings of the root volume. Nil: none.
	// +optional
	Volume *Volume `json:"volume,omitempty"`
	// DataVolumes say more about single data volumes of the worker pool. Empty: nothing.
	// +optional
	DataVolumes []DataVolume `json:"dataVolumes,omitzero"`
	// IAMInstanceProfile is the instance profile of the machines. Nil: the one that Gardener creates.
	// +optional
	IAMInstanceProfile *IAMInstanceProfile `json:"iamInstanceProfile,omitempty"`
	// InstanceMetadataOptions are about the metadata service that machines can ask (IMDS). Nil: the extension decides.
	// +optional
	InstanceMetadataOptions *InstanceMetadataOptions `json:"instanceMetadataOptions,omitempty"`
	// CPUOptions are about the processors of the machines. Nil: as the machine type has them.
	// +optional
	CPUOptions *CPUOptions `json:"cpuOptions,omitempty"`
	// CapacityReservation selects the reserved capacity for machines. Nil: AWS decides.
	// +optional
	CapacityReservation *CapacityReservation `json:"capacityReservation,omitempty"`
	// NetworkInterfaces are the network interfaces of the machines. Empty: one, as usual.
	// +optional
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitzero"`
	// Placement selects the hosts of the machines. Nil: AWS decides.
	// +optional
	Placement *Placement `json:"placement,omitempty"`
	// InstanceMarketOptions say how the machines are bought. Nil: on demand.
	// +optional
	InstanceMarketOptions *InstanceMarketOptions `json:"instanceMarketOptions,omitempty"`
}

// Volume is what AWS knows of a volume beside its size and type.
type Volume struct {
	// IOPS is how many operations per second the volume is made for. Nil: the default of its type.
	// +optional
	IOPS *int32 `json:"iops,omitempty"`
	// Throughput is how many MiB per second the volume is made for. Nil: the default of its type.
	// +optional
	Throughput *int32 `json:"throughput,omitempty"`
}

// DataVolume is what AWS knows of a data volume.
type DataVolume struct {
	// Name is the name of the data volume in the worker pool.
	Name string `json:"name"`

	Volume `json:",inline"`

	// SnapshotID is the ID of a snapshot that the volume begins with, as in snap-0676786f3e288044c. Nil: it is empty.
	// +optional
	SnapshotID *string `json:"snapshotID,omitempty"`
}

// IAMInstanceProfile names an instance profile, in one of two ways.
type IAMInstanceProfile struct {
	// Name is the name of the profile. Nil: arn names it.
	// +optional
	Name *string `json:"name,omitempty"`
	// ARN is the Amazon Resource Name of the profile. Nil: name names it.
	// +optional
	ARN *string `json:"arn,omitempty"`
}

// InstanceMetadataOptions are about the metadata service.
type InstanceMetadataOptions struct {
	// HTTPTokens is required if the service is to answer requests of version 2 only, which carry a token, and optional if it
	// is to answer those of version 1 as well. With required an image is needed that knows version 2
	// (docs/clouds/aws.md). Nil: the extension decides.
	// +optional
	HTTPTokens *string `json:"httpTokens,omitempty"`
	// HTTPPutResponseHopLimit is how many hops away the service can be asked for a token, from 1 to 64. Nil: the extension
	// decides.
	// +optional
	HTTPPutResponseHopLimit *int32 `json:"httpPutResponseHopLimit,omitempty"`
}

// CPUOptions are about processors.
type CPUOptions struct {
	// CoreCount is how many cores a machine has. Nil: all of its type.
	// +optional
	CoreCount *int32 `json:"coreCount,omitempty"`
	// ThreadsPerCore is 1 to switch hyper-threading off. Nil: as the machine type has it.
	// +optional
	ThreadsPerCore *int32 `json:"threadsPerCore,omitempty"`
	// AMDSEVSNP is enabled for machines whose memory is encrypted by AMD SEV-SNP, which needs an image that supports it
	// (docs/clouds/aws.md), and disabled for others. Nil: disabled.
	// +optional
	AMDSEVSNP *string `json:"amdSevSnp,omitempty"`
}

// CapacityReservation selects the reserved capacity.
type CapacityReservation struct {
	// CapacityReservationPreference is open for any reservation that fits, none for no reservation, or
	// capacity-reservations-only. Nil: not said.
	// +optional
	CapacityReservationPreference *string `json:"capacityReservationPreference,omitempty"`
	// CapacityReservationID is the ID of one reservation. Nil: not said.
	// +optional
	CapacityReservationID *string `json:"capacityReservationId,omitempty"`
	// CapacityReservationResourceGroupARN is the Amazon Resource Name of a group of reservations. Nil: not said.
	// +optional
	CapacityReservationResourceGroupARN *string `json:"capacityReservationResourceGroupArn,omitempty"`
}

// NetworkInterface is a network interface of a machine, or one for each of several network cards.
type NetworkInterface struct {
	// NetworkCardIndex is the network card of the interface. Nil: the first one, or networkCardIndexRange says it.
	// +optional
	NetworkCardIndex *int64 `json:"networkCardIndex,omitempty"`
	// NetworkCardIndexRange stands for one such interface on each card of a range. Nil: there is one interface.
	// +optional
	NetworkCardIndexRange *IndexRange `json:"networkCardIndexRange,omitempty"`
	// DeviceIndex is the place of the interface on its card. Nil: 0.
	// +optional
	DeviceIndex *int64 `json:"deviceIndex,omitempty"`
	// Type is efa or efa-only for an Elastic Fabric Adapter, which needs an image with a driver for it
	// (docs/clouds/aws.md). Nil: an ordinary interface.
	// +optional
	Type *string `json:"type,omitempty"`
	// Description describes the interface in AWS. Nil: not at all.
	// +optional
	Description *string `json:"description,omitempty"`
	// SubnetID is the ID of the subnet of the interface. Nil: that of the machine.
	// +optional
	SubnetID *string `json:"subnetID,omitempty"`
}

// IndexRange is a range of network cards.
type IndexRange struct {
	// From is the first one.
	From int64 `json:"from"`
	// To is the last one.
	To int64 `json:"to"`
}

// Placement selects the hosts of machines.
type Placement struct {
	// GroupID is the ID of a placement group. Nil: none.
	// +optional
	GroupID *string `json:"groupId,omitempty"`
	// Tenancy is default, dedicated or host. Nil: default.
	// +optional
	Tenancy *string `json:"tenancy,omitempty"`
	// HostID is the ID of a dedicated host. Nil: none.
	// +optional
	HostID *string `json:"hostId,omitempty"`
	// PartitionNumber is the partition of the placement group. Nil: AWS decides.
	// +optional
	PartitionNumber *int64 `json:"partitionNumber,omitempty"`
	// Affinity determines whether a machine returns to its dedicated host: default or host. Nil: default.
	// +optional
	Affinity *string `json:"affinity,omitempty"`
}

// InstanceMarketOptions say how machines are bought.
type InstanceMarketOptions struct {
	// MarketType is spot or capacity-block.
	MarketType string `json:"marketType"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkerStatus is what the AWS extension remembers about the worker pools of a shoot: status.providerStatus of a Worker.
// Users do not write it.
type WorkerStatus struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages are the images in use, or used until the last pool moved on. They keep a pool working whose version
	// is no longer in the CloudProfile. Empty: no pool has been reconciled.
	// +optional
	MachineImages []MachineImage `json:"machineImages,omitzero"`
}

// MachineImage is the AMI that was chosen for a machine image version.
type MachineImage struct {
	// Name is the name of the machine image in the CloudProfile.
	Name string `json:"name"`
	// Version is the version of the machine image in the CloudProfile.
	Version string `json:"version"`
	// AMI is the ID of the image in the region of the shoot.
	AMI string `json:"ami"`
	// Architecture is the CPU architecture of an image of the legacy format. Nil: amd64, or the image is from a capability
	// flavor.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// Capabilities are the capabilities of the capability flavor that was chosen. Empty: the image is of the legacy
	// format, or its flavor declares none.
	// +optional
	Capabilities v1beta1.Capabilities `json:"capabilities,omitzero"`
}
