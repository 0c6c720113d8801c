// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControlPlaneConfig is what a user tells the OpenStack provider about the parts of a shoot's control plane that talk to
// OpenStack. It is spec.provider.controlPlaneConfig of a Shoot, which needs one. All of it can be changed.
type ControlPlaneConfig struct {
	metav1.TypeMeta `json:",inline"`

	// LoadBalancerProvider is the name of the implementation that serves the shoot's load balancers. It must be one that
	// the CloudProfileConfig has for the shoot's region.
	LoadBalancerProvider string `json:"loadBalancerProvider"`
	// LoadBalancerClasses are the classes that Services of type LoadBalancer can ask for. If the shoot's floating pool has
	// classes in the CloudProfileConfig, each must use the same networks as one of them. The purpose vpn is reserved for
	// those. Empty: those of the floating pool.
	// +optional
	LoadBalancerClasses []LoadBalancerClass `json:"loadBalancerClasses,omitzero"`
	// Zone is deprecated and has no effect. Nil: it is not set.
	// +optional
	Zone *string `json:"zone,omitempty"`
	// CloudControllerManager is about the cloud controller manager. Nil: its defaults.
	// +optional
	CloudControllerManager *CloudControllerManagerConfig `json:"cloudControllerManager,omitempty"`
	// Storage is about the storage drivers. Nil: Cinder only.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
}

// CloudControllerManagerConfig is about the cloud controller manager.
type CloudControllerManagerConfig struct {
	// FeatureGates switches feature gates of Kubernetes on and off: names with true or false. Empty: the defaults of the
	// shoot's Kubernetes version.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitzero"`
}

// Storage is about the storage drivers of a shoot.
type Storage struct {
	// CSIManila is about the driver for shared file systems. Nil: it is not deployed.
	// +optional
	CSIManila *CSIManila `json:"csiManila,omitempty"`
}

// CSIManila is about the driver for shared file systems.
type CSIManila struct {
	// Enabled deploys the driver, which needs a share network: networks.shareNetwork.enabled in the InfrastructureConfig.
	// Absent: false.
	// +optional
	Enabled bool `json:"enabled"`
}
