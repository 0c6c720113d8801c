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

// WorkerConfig is what a user tells the OpenStack provider about one worker pool. It is
// spec.provider.workers[].providerConfig of a Shoot, and may be absent.
type WorkerConfig struct {
	metav1.TypeMeta `json:",inline"`

	// NodeTemplate tells the cluster autoscaler the resources of the pool's nodes, for scaling up from zero. Its capacity
	// has amounts of cpu, gpu, memory, storage, ephemeral-storage, pods or of resources with a domain in their name; those
	// that are absent are taken from the machine type. Its virtualCapacity has whole numbers of further resources, which
	// are no devices of a machine. Nil: all is taken from the machine type.
	// +optional
	NodeTemplate *extensionsv1alpha1.NodeTemplate `json:"nodeTemplate,omitempty"`
	// ServerGroup puts the pool's machines into a server group, which decides on which hosts they are. Changing it
	// replaces the machines, one after the other. Nil: no server group.
	// +optional
	ServerGroup *ServerGroup `json:"serverGroup,omitempty"`
	// MachineLabels are key value pairs that the pool's machines get in OpenStack, as metadata; they are not labels of
	// nodes. Names are unique. Empty: none beside those that Gardener sets.
	// +optional
	MachineLabels []MachineLabel `json:"machineLabels,omitzero"`
	// AdditionalSecurityGroups are the names of the security groups that the pool's machines get beside the shoot's own
	// one. They have to exist in the shoot's project. Adding or removing one replaces the machines, one after the other.
	// Empty: none.
	// +optional
	AdditionalSecurityGroups []string `json:"additionalSecurityGroups,omitzero"`
	// TrustedLaunch asks for machines with trusted launch, which needs an image that supports it
	// (docs/concepts/worker-capabilities.md). Switching it on or off replaces the machines, one after the other. Nil: not asked
	// for.
	// +optional
	TrustedLaunch *TrustedLaunch `json:"trustedLaunch,omitempty"`
}

// ServerGroup is the server group that a worker pool wants.
type ServerGroup struct {
	// Policy is the policy by which machines of the group are placed on hosts: anti-affinity for one host each, affinity
	// for one host for all, which needs a single zone; with soft- before it as far as there is room. It must be one of
	// serverGroupPolicies in the CloudProfileConfig.
	Policy string `json:"policy"`
}

// MachineLabel is a label of a machine in OpenStack.
type MachineLabel struct {
	// Name is the key of the label, of up to 255 characters. Keys with kubernetes.io-cluster- or kubernetes.io-role- in
	// them are Gardener's.
	Name string `json:"name"`
	// Value is the value of the label, of up to 255 characters. Absent: empty.
	// +optional
	Value string `json:"value"`
	// TriggerRollingOnUpdate says that adding or removing the label, or changing its value, replaces the machines, one after
	// the other, rather than updating them in place. Nil: false.
	// +optional
	TriggerRollingOnUpdate *bool `json:"triggerRollingOnUpdate,omitempty"`
}

// TrustedLaunch is the worker pool's wish for trusted launch.
type TrustedLaunch struct {
	// Enabled asks for trusted launch. False: the pool takes images with and without. Absent: false.
	// +optional
	Enabled bool `json:"enabled"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkerStatus is what the OpenStack provider remembers about the worker pools of a shoot: status.providerStatus of a
// Worker. Users do not write it.
type WorkerStatus struct {
	metav1.TypeMeta `json:",inline"`

	// MachineImages are the images in use, or used until the last pool moved on. They keep a pool working whose version
	// is no longer in the CloudProfile. Empty: no pool has been reconciled.
	// +optional
	MachineImages []MachineImage `json:"machineImages,omitzero"`
	// ServerGroupDependencies are the server groups that were created for pools, and must be deleted with them. Empty:
	// none.
	// +optional
	ServerGroupDependencies []ServerGroupDependency `json:"serverGroupDependencies,omitzero"`
}

// MachineImage is the image in OpenStack that was chosen for a machine image version.
type MachineImage struct {
	// Name is the name of the machine image in the CloudProfile.
	Name string `json:"name"`
	// Version is the version of the machine image in the CloudProfile.
	Version string `json:"version"`
	// Image is the name of the image in OpenStack. Nil: the image is known by ID.
	// +optional
	Image *string `json:"image,omitempty"`
	// ID is the ID of the image in OpenStack. Nil: the image is known by name.
	// +optional
	ID *string `json:"id,omitempty"`
	// Architecture is the CPU architecture of an image of the legacy format. Nil: amd64, or the image is from a capability
	// flavor.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// Capabilities are the capabilities of the capability flavor that was chosen. Empty: the image is of the legacy
	// format, or its flavor declares none.
	// +optional
	Capabilities v1beta1.Capabilities `json:"capabilities,omitzero"`
}

// ServerGroupDependency is a server group that was created for a worker pool.
type ServerGroupDependency struct {
	// PoolName is the name of the worker pool.
	PoolName string `json:"poolName"`
	// ID is the ID of the server group in OpenStack.
	ID string `json:"id"`
	// Name is the name of the server group in OpenStack.
	Name string `json:"name"`
}
