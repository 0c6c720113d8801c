// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/utils/validation/features"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

const (
	// OriginLoadBalancerClass is the rule that a Shoot's load balancer classes are such as its floating pool allows.
	OriginLoadBalancerClass = "load-balancer-class-not-allowed"
	// OriginFeatureGate is the rule about feature gates of the cloud controller manager.
	OriginFeatureGate = "feature-gate"
	// OriginShareNetworkMissing is the rule that shared file systems need a share network.
	OriginShareNetworkMissing = "share-network-missing"
)

// ControlPlaneConfig checks a ControlPlaneConfig. networks are those of the Shoot's InfrastructureConfig; nil if they are
// not known, so that nothing is said about what needs one. version is the Shoot's Kubernetes version, empty if it leaves the
// choice to Gardener; then feature gates of all versions will do. Whether there is a load balancer provider is not looked
// at, since only the profile knows which there are.
func ControlPlaneConfig(config *v1alpha1.ControlPlaneConfig, networks *v1alpha1.Networks, version string, at *field.Path) Findings {
	classes := at.Child("loadBalancerClasses")
	var found Findings
	found.oneName(OriginValueFormat, config.LoadBalancerProvider, at.Child("loadBalancerProvider"), "load balancer provider")
	found.Add(LoadBalancerClasses(config.LoadBalancerClasses, classes))
	for i, class := range config.LoadBalancerClasses {
		if text(class.Purpose) == v1alpha1.LoadBalancerClassPurposeVPN {
			found.fail(OriginLoadBalancerClass, field.ErrorTypeForbidden, classes.Index(i).Child("purpose"), *class.Purpose,
				"the load balancer of the VPN is the operator's: only a floating pool of the CloudProfile can have a class for it; remove the purpose")
		}
	}
	if config.Zone != nil && *config.Zone != "" {
		found.warn(OriginSettingDeprecated, field.ErrorTypeForbidden, at.Child("zone"), *config.Zone, "zone %s has no effect; remove it", quote(*config.Zone))
	}
	if ccm := config.CloudControllerManager; ccm != nil {
		found.featureGates(ccm.FeatureGates, version, at.Child("cloudControllerManager", "featureGates"))
	}
	if s := config.Storage; s != nil && s.CSIManila != nil && s.CSIManila.Enabled && networks != nil && !hasShareNetwork(networks) {
		found.warn(OriginShareNetworkMissing, field.ErrorTypeInvalid, at.Child("storage", "csiManila", "enabled"), true,
			"the driver can create no shares without a share network; write networks.shareNetwork.enabled: true in the infrastructureConfig")
	}
	return found
}

func hasShareNetwork(networks *v1alpha1.Networks) bool {
	return networks.ShareNetworkID != nil || networks.ShareNetwork != nil && networks.ShareNetwork.Enabled
}

// anyVersion is one by which a feature gate can be looked up that need not be of it.
const anyVersion = "1.0.0"

// featureGates checks feature gates as Gardener does. What is wrong with the version Gardener itself reports.
func (f *Findings) featureGates(gates map[string]bool, version string, at *field.Path) {
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		if f.Full() {
			return
		}
		value := gates[name]
		if _, err := features.IsFeatureGateSupported(name, anyVersion); err != nil {
			f.fail(OriginFeatureGate, field.ErrorTypeInvalid, at.Key(name), value, "Kubernetes has no feature gate %s; mind upper and lower case", quote(name))
			continue
		}
		for _, err := range features.ValidateFeatureGates(map[string]bool{name: value}, version, at) {
			if err.Type == field.ErrorTypeForbidden {
				f.fail(OriginFeatureGate, err.Type, at.Key(name), value, "feature gate %s: %s; remove it", name, err.Detail)
			}
		}
	}
}
