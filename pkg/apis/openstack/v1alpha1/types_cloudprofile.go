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

	// Constraints are the floating pools and load balancer providers that shoots may choose from. Only a
	// NamespacedCloudProfile, which takes them from its parent, has none.
	Constraints Constraints `json:"constraints,omitzero"`
	// DNSServers are the IP addresses of the DNS servers that the subnets which are created for shoots hand out to
	// machines. Empty: the subnets have none of their own, and OpenStack decides.
	// +optional
	DNSServers []string `json:"dnsServers,omitzero"`
	// DHCPDomain is the domain that the environment's DHCP server appends to the host names of machines, as in
	// nodes.example.com. Nil: none.
	// +optional
	DHCPDomain *string `json:"dhcpDomain,omitempty"`
	// KeystoneURL is the URL of the identity service, as in https://keystone.example.com/v3/, for every region that
	// keystoneURLs does not name. Nil: only regions in keystoneURLs can be used.
	// +optional
	KeystoneURL *string `json:"keystoneURL,omitempty"`
	// KeystoneCACert is the bundle of CA certificates, in PEM format, that the certificate of the identity service is
	// verified with; an entry of keystoneURLs may have another. Nil: the CAs of the system.
	// +optional
	KeystoneCACert *string `json:"keystoneCACert,omitempty"`
	// KeystoneForceInsecure switches the verification of the identity service's certificate off, in all regions: a man in the middle gets the
	// credentials of shoots. Nil: false.
	// +optional
	KeystoneForceInsecure *bool `json:"keystoneForceInsecure,omitempty"`
	// KeystoneURLs are the URLs of the identity service for single regions, each region once; they go before keystoneURL.
	// Empty: keystoneURL serves all regions.
	// +optional
	KeystoneURLs []KeystoneURL `json:"keystoneURLs,omitzero"`
	// MachineImages maps the machine image versions of the CloudProfile to images in OpenStack. Each image and version
	// that the CloudProfile offers must be here, with a reference for each of its flavors; in a NamespacedCloudProfile
	// those that it adds.
	MachineImages []MachineImages `json:"machineImages,omitzero"`
	// RequestTimeout is how long a request to the OpenStack API may take: a number with a unit, such as s or m, above
	// zero, as in 60s. Listing many load balancers may need more than usual. Nil: the default of the OpenStack client.
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
	// NodeVolumeAttachLimit is how many volumes may be attached to one node, at least 1; the scheduler places no more pods
	// with volumes there. Nil: 256.
	// +optional
	NodeVolumeAttachLimit *int32 `json:"nodeVolumeAttachLimit,omitempty"`
	// UseSNAT sets enable_snat on the routers that are created for shoots, so that machines without a floating IP reach
	// the internet. It has no effect on routers that exist already. Nil: the attribute is not set, and OpenStack decides.
	// +optional
	UseSNAT *bool `json:"useSNAT,omitempty"`
	// ServerGroupPolicies are the policies that a worker pool may choose for a server group of its own: affinity,
	// anti-affinity, soft-affinity, soft-anti-affinity. The quota of shoots' projects has to allow server groups. Empty:
	// worker pools cannot have server groups.
	// +optional
	ServerGroupPolicies []string `json:"serverGroupPolicies,omitzero"`
	// ResolvConfOptions are options, such as rotate or timeout:1, one in each entry, that are appended to /etc/resolv.conf
	// on machines, and again whenever systemd-resolved writes a new file. Empty: the file is not touched.
	// +optional
	ResolvConfOptions []string `json:"resolvConfOptions,omitzero"`
	// StorageClasses are the storage classes that a shoot gets, typically one for each volume type of the environment; at
	// most one is the default. Empty: the provider's own storage classes.
	// +optional
	StorageClasses []StorageClassDefinition `json:"storageClasses,omitzero"`
}

// Constraints limit what a shoot may choose.
type Constraints struct {
	// FloatingPools are the external networks that a shoot may take its floating IPs from. At least one is needed in a
	// CloudProfile. Name, region and domain together are unique. Their order has no effect.
	FloatingPools []FloatingPool `json:"floatingPools,omitzero"`
	// LoadBalancerProviders are the implementations that may serve a shoot's load balancers. At least one is needed in a
	// CloudProfile. If an entry names the shoot's region, the shoot chooses among those of its region; otherwise among
	// those without region. Name and region together are unique. Their order has no effect.
	LoadBalancerProviders []LoadBalancerProvider `json:"loadBalancerProviders,omitzero"`
}

// FloatingPool is an external network, or several, that have floating IPs, for the shoots of a region, of a domain, of
// both or of all. Entries that are more specific rule out those that are less, unless they are nonConstraining;
// docs/clouds/openstack.md says how a shoot's entry is found.
type FloatingPool struct {
	// Name is the name of the network, or a pattern for names: * alone, or a name with one * at its beginning or at its
	// end. Shoots name the network itself.
	Name string `json:"name"`
	// Region is the name of the region that this entry is for, as in spec.regions of the CloudProfile. Nil: every region.
	// +optional
	Region *string `json:"region,omitempty"`
	// Domain is the name of the keystone domain that this entry is for: the domainName in the credentials of shoots. Nil:
	// every domain.
	// +optional
	Domain *string `json:"domain,omitempty"`
	// DefaultFloatingSubnet is the name, or a pattern for the name, of the subnet of this network that a shoot gets whose
	// floatingPoolSubnetName is not set. Nil: OpenStack chooses.
	// +optional
	DefaultFloatingSubnet *string `json:"defaultFloatingSubnet,omitempty"`
	// NonConstraining makes this entry an addition: it rules out no other entry, and none rules it out. Nil: false, so
	// that less specific entries do not count for the shoots that this one is for.
	// +optional
	NonConstraining *bool `json:"nonConstraining,omitempty"`
	// LoadBalancerClasses are the load balancer classes of shoots that chose this network and have no classes of their
	// own. Classes of a shoot must use the networks of one of these. Empty: shoots may have any classes.
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

// LoadBalancerClass is a named choice of the networks that a load balancer's addresses come from. Names are unique, and
// so is each purpose.
type LoadBalancerClass struct {
	// Name is the value with which a Service of type LoadBalancer requests the class, in the annotation loadbalancer.openstack.org/class. A
	// class that is named default or private has that purpose as well.
	Name string `json:"name"`
	// Purpose gives the class a task beyond being asked for by name: default for load balancers that ask for no class,
	// private for those that are internal, vpn for the one of the shoot's VPN, which only a floating pool can have. Nil:
	// none.
	// +optional
	Purpose *string `json:"purpose,omitempty"`
	// FloatingSubnetID is the ID, a UUID, of the floating network's subnet that the public address comes from. It excludes
	// floatingSubnetTags and floatingSubnetName. Nil: not chosen by ID.
	// +optional
	FloatingSubnetID *string `json:"floatingSubnetID,omitempty"`
	// FloatingSubnetTags chooses that subnet by its tags: a list with commas in between, of which one is enough; a leading
	// ! takes subnets without them, a leading & those with all of them. It excludes floatingSubnetID and
	// floatingSubnetName. Nil: not chosen by tag.
	// +optional
	FloatingSubnetTags *string `json:"floatingSubnetTags,omitempty"`
	// FloatingSubnetName chooses that subnet by its name or by a pattern, such as public-*. It excludes floatingSubnetID
	// and floatingSubnetTags. Nil: not chosen by name.
	// +optional
	FloatingSubnetName *string `json:"floatingSubnetName,omitempty"`
	// FloatingNetworkID is the ID, a UUID, of the external network that the public address comes from. Nil: the shoot's
	// floating pool.
	// +optional
	FloatingNetworkID *string `json:"floatingNetworkID,omitempty"`
	// SubnetID is the ID, a UUID, of the subnet that the load balancer's private address comes from. Nil: the shoot's own
	// subnet.
	// +optional
	SubnetID *string `json:"subnetID,omitempty"`
}

// LoadBalancerProvider is an implementation of load balancers in OpenStack.
type LoadBalancerProvider struct {
	// Name is the name of the implementation in OpenStack, such as amphora, as shoots ask for it.
	Name string `json:"name"`
	// Region is the name of the region that this entry is for, as in spec.regions of the CloudProfile. Nil: every region
	// that has no entry of its own.
	// +optional
	Region *string `json:"region,omitempty"`
}

// KeystoneURL is the identity service of one region.
type KeystoneURL struct {
	// Region is the name of the region, as in spec.regions of the CloudProfile.
	Region string `json:"region"`
	// URL is the URL of the region's identity service, as in https://europe.example.com/v3/.
	URL string `json:"url"`
	// CACert is the bundle of CA certificates, in PEM format, that the certificate at url is verified with. Nil: that of
	// keystoneCACert.
	// +optional
	CACert *string `json:"caCert,omitempty"`
}

// MachineImages maps the versions of one machine image. Names are unique.
type MachineImages struct {
	// Name is the name of the machine image, as in spec.machineImages[].name of the CloudProfile.
	Name string `json:"name"`
	// Versions maps each version of the image that the CloudProfile offers.
	Versions []MachineImageVersion `json:"versions,omitzero"`
}

// MachineImageVersion maps one version of a machine image in one of two formats: either capabilityFlavors, or the legacy
// format with regions and image. Versions of one image may differ in their format.
type MachineImageVersion struct {
	// Version is the version, as in spec.machineImages[].versions[].version of the CloudProfile.
	Version string `json:"version"`
	// Image is, in the legacy format, the name of the image in regions that regions does not list. It serves amd64 only; IDs
	// are to be preferred. Nil: no image in such regions.
	// +optional
	Image *string `json:"image,omitempty"`
	// Regions are, in the legacy format, the image IDs by region and architecture. Empty: image serves all regions.
	// +optional
	Regions []RegionIDMapping `json:"regions,omitzero"`
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
	// Regions are the image IDs of this variant by region. Empty: image serves all regions.
	// +optional
	Regions []RegionIDMapping `json:"regions,omitzero"`
	// Image is the name of the image in regions that regions does not list. IDs are to be preferred. Nil: no image in such
	// regions.
	// +optional
	Image *string `json:"image,omitempty"`
}

// GetCapabilities returns the capabilities as written, without any default. The map belongs to the flavor.
func (f MachineImageFlavor) GetCapabilities() v1beta1.Capabilities { return f.Capabilities }

// RegionIDMapping names the image of one region.
type RegionIDMapping struct {
	// Name is the name of the region, as in spec.regions of the CloudProfile.
	Name string `json:"name"`
	// ID is the ID of the image in that region, most often a UUID.
	ID string `json:"id"`
	// Architecture is the CPU architecture of the image, amd64 or arm64, in the legacy format. Nil: amd64. In a capability
	// flavor the architecture is a capability; the field can be read there so that writing it can be reported.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
}

// StorageClassDefinition describes a storage class that is created in shoots.
type StorageClassDefinition struct {
	// Name is the name of the storage class, unique among these: lower case letters, digits, - and dots.
	Name string `json:"name"`
	// Default makes it the class of claims that name none; at most one class can be it. Nil: false.
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
