// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InfrastructureConfig is what a user tells the OpenStack provider about the networks of a shoot. It is
// spec.provider.infrastructureConfig of a Shoot, which needs one.
type InfrastructureConfig struct {
	metav1.TypeMeta `json:",inline"`

	// FloatingPoolName is the name of the external network that the shoot takes its floating IPs from: one name, not a
	// pattern. The CloudProfileConfig must allow it for the shoot's region and domain. It cannot be changed.
	FloatingPoolName string `json:"floatingPoolName"`
	// FloatingPoolSubnetName is the name, or a pattern for the name, of the subnet of this network that the router is
	// attached to. It cannot be set together with an existing router, and cannot be changed. Nil: the default of the
	// floating pool in the CloudProfileConfig, or else what OpenStack chooses.
	// +optional
	FloatingPoolSubnetName *string `json:"floatingPoolSubnetName,omitempty"`
	// Networks are the networks of the machines.
	Networks Networks `json:"networks,omitzero"`
}

// Networks says which networks, subnets and routers are created for a shoot, and which exist already. Either workers (or
// its deprecated name worker, with the same value if both are there), subnetPool or subnetId determines the addresses of
// machines.
type Networks struct {
	// Router is an existing router that the machines' subnet is attached to. It cannot be changed. Nil: a router is
	// created.
	// +optional
	Router *Router `json:"router,omitempty"`
	// Worker is the deprecated name of workers. Empty: workers or subnetPool say which addresses machines get.
	// +optional
	Worker string `json:"worker,omitzero"`
	// Workers is the CIDR of the subnet that the machines are in, as in 10.250.0.0/16. It lies within
	// spec.networking.nodes of the Shoot, does not overlap its pods and services, and cannot be changed. Empty: worker or
	// subnetPool say it.
	// +optional
	Workers string `json:"workers,omitzero"`
	// SubnetPool is a subnet pool of OpenStack that the subnet's CIDR is taken from. It cannot be changed. Nil: workers or
	// worker say the CIDR.
	// +optional
	SubnetPool *SubnetPool `json:"subnetPool,omitempty"`
	// ID is the ID of an existing network that the machines are attached to. It cannot be changed. Nil: a network is
	// created.
	// +optional
	ID *string `json:"id,omitempty"`
	// SubnetID is the ID of an existing subnet, of the network given by id, that the machines are in. It cannot be changed.
	// Nil: a subnet is created.
	// +optional
	SubnetID *string `json:"subnetId,omitempty"`
	// SecurityGroupID is the ID of an existing security group that the machines get; id is set, too. It cannot be changed.
	// Nil: a security group is created.
	// +optional
	SecurityGroupID *string `json:"securityGroupId,omitempty"`
	// ShareNetwork is about shared file systems such as NFS. It can be switched on later, and not off again. Nil: there are
	// none, unless shareNetworkId is set.
	// +optional
	ShareNetwork *ShareNetwork `json:"shareNetwork,omitempty"`
	// ShareNetworkID is the ID of an existing share network; id is set, too, and shareNetwork.enabled is not. It cannot be
	// changed. Nil: shareNetwork says whether one is created.
	// +optional
	ShareNetworkID *string `json:"shareNetworkId,omitempty"`
	// IPv6 gives the shoot IPv6 addresses beside those of IPv4, for which spec.networking.ipFamilies must have IPv6 as
	// well. It cannot be changed. Nil: IPv4 only.
	// +optional
	IPv6 *IPv6 `json:"ipv6,omitempty"`
}

// Router is an existing router.
type Router struct {
	// ID is the ID of the router in OpenStack.
	ID string `json:"id"`
}

// SubnetPool is a subnet pool of OpenStack.
type SubnetPool struct {
	// ID is the ID of the subnet pool in OpenStack.
	ID string `json:"id"`
	// PrefixLength is the length of the prefix of the subnet that is taken from the pool, in bits, from 1 to 32.
	PrefixLength int32 `json:"prefixLength"`
}

// ShareNetwork is the share network of a shoot, which Manila needs for shared file systems.
type ShareNetwork struct {
	// Enabled creates a share network. Absent: false.
	// +optional
	Enabled bool `json:"enabled"`
}

// IPv6 configures the source of a shoot's IPv6 addresses. Machines need some, so that subnetPoolID or nodeCIDR is set,
// unless networks.id names an existing network, which may have its own, or nodeSubnetId an existing subnet.
type IPv6 struct {
	// SubnetPoolID is the ID of an IPv6 subnet pool in OpenStack that the CIDRs which are not given are taken from. Nil:
	// nodeCIDR is given, or the existing network has IPv6 addresses.
	// +optional
	SubnetPoolID *string `json:"subnetPoolID,omitempty"`
	// NodeCIDR is the IPv6 CIDR of the machines. Nil: it is taken from the subnet pool, or is that of the existing network.
	// +optional
	NodeCIDR *string `json:"nodeCIDR,omitempty"`
	// NodeSubnetID is the ID of an existing IPv6 subnet that the machines are in; networks.subnetId, podCIDR and serviceCIDR
	// are set, too, and neither subnetPoolID nor nodeCIDR. Nil: an IPv6 subnet is created.
	// +optional
	NodeSubnetID *string `json:"nodeSubnetId,omitempty"`
	// PodCIDR is the IPv6 CIDR of the pods. Nil: that of spec.networking, or one from the subnet pool.
	// +optional
	PodCIDR *string `json:"podCIDR,omitempty"`
	// ServiceCIDR is the IPv6 CIDR of the services. Nil: that of spec.networking, or one from the subnet pool.
	// +optional
	ServiceCIDR *string `json:"serviceCIDR,omitempty"`
}
