// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CloudProfileConfig is what an operator tells the OpenStack provider about one OpenStack environment: where its API
// is, which networks and load balancers shoots may use, and which image boots for a machine image version. It is the
// spec.providerConfig of a CloudProfile. A NamespacedCloudProfile may have one as well, with machineImages only.
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Constraints are the floating pools and load balancer providers that shoots may choose from. Absent: none, as in
	// a NamespacedCloudProfile, which takes them from its parent.
	Constraints Constraints `json:"constraints,omitzero"`
	// DNSServers are the IP addresses of the DNS servers given to the subnets that are created for shoots. Empty: the
	// subnets get whatever OpenStack hands out.
	// +optional
	DNSServers []string `json:"dnsServers,omitzero"`
	// DHCPDomain is the domain that the environment's DHCP server appends to the host names of machines. Nil: none.
	// +optional
	DHCPDomain *string `json:"dhcpDomain,omitempty"`
	// KeystoneURL is the URL of the identity service for every region that KeystoneURLs does not name. Nil: each region
	// in use must be in KeystoneURLs.
	// +optional
	KeystoneURL *string `json:"keystoneURL,omitempty"`
	// KeystoneCACert is the bundle of CA certificates, in PEM format, that the certificate at KeystoneURL is verified
	// with. Nil: the CAs of the system.
	// +optional
	KeystoneCACert *string `json:"keystoneCACert,omitempty"`
	// KeystoneForceInsecure switches the verification of the identity service's certificate off. Nil: false.
	// +optional
	KeystoneForceInsecure *bool `json:"keystoneForceInsecure,omitempty"`
	// KeystoneURLs are the URLs of the identity service for single regions; they go before KeystoneURL. Empty:
	// KeystoneURL serves all regions.
	// +optional
	KeystoneURLs []KeystoneURL `json:"keystoneURLs,omitzero"`
	// MachineImages maps the machine image versions of the CloudProfile to images in OpenStack. Each image and version
	// that the CloudProfile offers must be here, with a reference for each of its flavors.
	MachineImages []MachineImages `json:"machineImages,omitzero"`
	// RequestTimeout is how long a request to the OpenStack API may take; it is written with a unit, as in 60s. Listing
	// many load balancers may need more than usual. Nil: the default of the OpenStack client.
	// +optional
	RequestTimeout *metav1.Duration `json:"requestTimeout,omitempty"`
	// RescanBlockStorageOnResize makes the Cinder CSI driver ask the kernel to read the size of a volume again after
	// the volume was resized in use. Some hypervisors, mostly those based on VMware, do not announce the new size. Nil:
	// false.
	// +optional
	RescanBlockStorageOnResize *bool `json:"rescanBlockStorageOnResize,omitempty"`
	// IgnoreVolumeAZ makes the scheduler ignore the availability zone of volumes. It is needed where zones of volumes
	// and zones of machines have different names, since no node is in the zone of the volume then. Nil: false.
	// +optional
	IgnoreVolumeAZ *bool `json:"ignoreVolumeAZ,omitempty"`
	// NodeVolumeAttachLimit is how many volumes may be attached to one node at most; the scheduler places no more. Nil:
	// 256.
	// +optional
	NodeVolumeAttachLimit *int32 `json:"nodeVolumeAttachLimit,omitempty"`
	// UseSNAT sets enable_snat on the router of a shoot, if Gardener creates and manages that router. Nil: the
	// attribute is not set, so that OpenStack decides.
	// +optional
	UseSNAT *bool `json:"useSNAT,omitempty"`
	// ServerGroupPolicies are the policies, such as anti-affinity, that a worker pool may choose for a server group of
	// its own. Empty: worker pools cannot have server groups.
	// +optional
	ServerGroupPolicies []string `json:"serverGroupPolicies,omitzero"`
	// ResolvConfOptions are options, such as rotate or timeout:1, that are appended to /etc/resolv.conf on machines;
	// they are appended again whenever systemd-resolved writes a new file. Empty: the file is not touched.
	// +optional
	ResolvConfOptions []string `json:"resolvConfOptions,omitzero"`
	// StorageClasses are the storage classes that a shoot gets, typically one for each volume type of the environment.
	// Empty: the provider's own storage classes.
	// +optional
	StorageClasses []StorageClassDefinition `json:"storageClasses,omitzero"`
}

// Constraints limit what a shoot may choose.
type Constraints struct {
	// FloatingPools are the external networks that a shoot may take its floating IPs from. At least one is needed in a
	// CloudProfile.
	FloatingPools []FloatingPool `json:"floatingPools,omitzero"`
	// LoadBalancerProviders are the implementations that may serve a shoot's load balancers. At least one is needed in
	// a CloudProfile. If any entry names a region, a shoot in that region chooses among those of its region;
	// otherwise it chooses among those without region. Name and region together are unique.
	LoadBalancerProviders []LoadBalancerProvider `json:"loadBalancerProviders,omitzero"`
}

// FloatingPool is an external network that has floating IPs. For a shoot, entries of its own region and domain go
// before those without; within these the name that matches best wins.
type FloatingPool struct {
	// Name is the name of the network, or a pattern: * alone, or * at the beginning or at the end of a name, but not
	// within.
	Name string `json:"name"`
	// Region is the OpenStack region this entry is for. Nil: every region without an entry of its own.
	// +optional
	Region *string `json:"region,omitempty"`
	// Domain is the keystone domain this entry is for. Nil: every domain without an entry of its own.
	// +optional
	Domain *string `json:"domain,omitempty"`
	// DefaultFloatingSubnet is the name, or a pattern for the name, of the subnet of this network that a shoot gets if
	// it names none. Nil: OpenStack chooses.
	// +optional
	DefaultFloatingSubnet *string `json:"defaultFloatingSubnet,omitempty"`
	// NonConstraining makes this entry an addition to the entries that would be chosen without it, rather than a
	// replacement for less specific ones. Nil: false.
	// +optional
	NonConstraining *bool `json:"nonConstraining,omitempty"`
	// LoadBalancerClasses are the load balancer classes of shoots that chose this network and have no classes of their
	// own. Empty: the provider derives a default one.
	// +optional
	LoadBalancerClasses []LoadBalancerClass `json:"loadBalancerClasses,omitzero"`
}

// Purposes of a load balancer class.
const (
	// LoadBalancerClassPurposeDefault marks the class of load balancers for which no class is asked.
	LoadBalancerClassPurposeDefault = "default"
	// LoadBalancerClassPurposePrivate marks the class of load balancers that are reachable from inside only.
	LoadBalancerClassPurposePrivate = "private"
	// LoadBalancerClassPurposeVPN marks the class of the load balancer that the shoot's VPN uses.
	LoadBalancerClassPurposeVPN = "vpn"
)

// LoadBalancerClass is a named choice of the networks that a load balancer's addresses come from.
type LoadBalancerClass struct {
	// Name is the name that a Service of type LoadBalancer asks for.
	Name string `json:"name"`
	// Purpose gives the class a task beyond being asked for by name: default, private or vpn. Nil: none.
	// +optional
	Purpose *string `json:"purpose,omitempty"`
	// FloatingSubnetID is the ID of the floating network's subnet that the public address comes from. It excludes
	// FloatingSubnetTags and FloatingSubnetName. Nil: not chosen by ID.
	// +optional
	FloatingSubnetID *string `json:"floatingSubnetID,omitempty"`
	// FloatingSubnetTags chooses that subnet by its tags: a list with commas in between, where a leading ! excludes.
	// It excludes FloatingSubnetID and FloatingSubnetName. Nil: not chosen by tag.
	// +optional
	FloatingSubnetTags *string `json:"floatingSubnetTags,omitempty"`
	// FloatingSubnetName chooses that subnet by its name or by a pattern. It excludes FloatingSubnetID and
	// FloatingSubnetTags. Nil: not chosen by name.
	// +optional
	FloatingSubnetName *string `json:"floatingSubnetName,omitempty"`
	// FloatingNetworkID is the ID of the external network that the public address comes from. Nil: the shoot's floating
	// pool.
	// +optional
	FloatingNetworkID *string `json:"floatingNetworkID,omitempty"`
	// SubnetID is the ID of the subnet that the load balancer's private address comes from. Nil: the shoot's own
	// subnet.
	// +optional
	SubnetID *string `json:"subnetID,omitempty"`
}

// LoadBalancerProvider is an implementation of load balancers in OpenStack.
type LoadBalancerProvider struct {
	// Name is the name of the implementation in OpenStack, such as haproxy or amphora.
	Name string `json:"name"`
	// Region is the OpenStack region this entry is for. Nil: every region that has no entry of its own.
	// +optional
	Region *string `json:"region,omitempty"`
}

// KeystoneURL is the identity service of one region.
type KeystoneURL struct {
	// Region is the name of the OpenStack region.
	Region string `json:"region"`
	// URL is the URL of the region's identity service.
	URL string `json:"url"`
	// CACert is the bundle of CA certificates, in PEM format, that the certificate at URL is verified with. Nil:
	// keystoneCACert.
	// +optional
	CACert *string `json:"caCert,omitempty"`
}

// MachineImages maps the versions of one machine image.
type MachineImages struct {
	// Name is the name of the machine image, as in spec.machineImages[].name of the CloudProfile.
	Name string `json:"name"`
	// Versions maps each version of the image that the CloudProfile offers.
	Versions []MachineImageVersion `json:"versions,omitzero"`
}

// MachineImageVersion maps one version of a machine image in one of two formats: either capabilityFlavors, or the old
// format with regions and image. Versions of one image may differ in their format.
type MachineImageVersion struct {
	// Version is the version, as in spec.machineImages[].versions[].version of the CloudProfile.
	Version string `json:"version"`
	// Image is, in the old format, the name of the image in regions that Regions does not list. It serves amd64 only;
	// IDs are to be preferred. Nil: no image in such regions.
	// +optional
	Image *string `json:"image,omitempty"`
	// Regions are, in the old format, the image IDs by region and architecture. Empty: Image serves all regions.
	// +optional
	Regions []RegionIDMapping `json:"regions,omitzero"`
	// CapabilityFlavors are the variants of this version, which differ in the machines they boot on. Each corresponds
	// to one entry of capabilityFlavors in the CloudProfile. Empty: the version has the old format.
	// +optional
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors,omitzero"`
}

// MachineImageFlavor is one variant of a machine image version.
type MachineImageFlavor struct {
	// Capabilities say which machines this variant boots on: capability names with lists of values. A capability that
	// is not listed counts as listed with all values it has in spec.machineCapabilities of the CloudProfile; so empty
	// means every machine.
	// +optional
	Capabilities v1beta1.Capabilities `json:"capabilities,omitzero"`
	// Regions are the image IDs of this variant by region. Empty: Image serves all regions.
	// +optional
	Regions []RegionIDMapping `json:"regions,omitzero"`
	// Image is the name of the image in regions that Regions does not list. Nil: no image in such regions.
	// +optional
	Image *string `json:"image,omitempty"`
}

// GetCapabilities returns the capabilities as written, without any default. The map belongs to the flavor.
func (f MachineImageFlavor) GetCapabilities() v1beta1.Capabilities {
	return f.Capabilities
}

// RegionIDMapping names the image of one region.
type RegionIDMapping struct {
	// Name is the name of the OpenStack region.
	Name string `json:"name"`
	// ID is the ID of the image in that region.
	ID string `json:"id"`
	// Architecture is the CPU architecture of the image, amd64 or arm64, in the old format. Nil: amd64. In a capability
	// flavor the architecture is a capability; the field can be read there so that writing it can be reported.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
}

// StorageClassDefinition describes a storage class that is created in shoots.
type StorageClassDefinition struct {
	// Name is the name of the storage class.
	Name string `json:"name"`
	// Default makes it the class of claims that name none. Nil: false.
	// +optional
	Default *bool `json:"default,omitempty"`
	// Provisioner is the name of the driver that creates the volumes. Nil: cinder.csi.openstack.org.
	// +optional
	Provisioner *string `json:"provisioner,omitempty"`
	// Parameters are passed to the driver; the parameter type names a volume type of OpenStack. Empty: none.
	// +optional
	Parameters map[string]string `json:"parameters,omitzero"`
	// Annotations are added to the storage class. Empty: none.
	// +optional
	Annotations map[string]string `json:"annotations,omitzero"`
	// Labels are added to the storage class. Empty: none.
	// +optional
	Labels map[string]string `json:"labels,omitzero"`
	// ReclaimPolicy says what happens to a volume when its claim is gone: Delete or Retain. Nil: Delete, the default
	// of Kubernetes.
	// +optional
	ReclaimPolicy *string `json:"reclaimPolicy,omitempty"`
	// VolumeBindingMode says when a volume is created: Immediate, or WaitForFirstConsumer, that is once a pod uses the
	// claim. Nil: Immediate, the default of Kubernetes.
	// +optional
	VolumeBindingMode *string `json:"volumeBindingMode,omitempty"`
}
