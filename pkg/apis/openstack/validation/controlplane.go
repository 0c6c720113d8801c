// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/utils/validation/features"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
)

// ControlPlaneConfig checks a ControlPlaneConfig. networks are those of the Shoot's InfrastructureConfig; nil if they
// are not known, so that nothing is said about what needs one. version is the Shoot's Kubernetes version, empty if it
// leaves the choice to Gardener; then feature gates of all versions will do. Whether there is a load balancer
// provider is not looked at, since only the profile knows which there are.
func ControlPlaneConfig(
	config *v1alpha1.ControlPlaneConfig, networks *v1alpha1.Networks, version string, at *field.Path,
) finding.Report {
	var f findings
	f.oneName(ruleValueFormat, config.LoadBalancerProvider, at.Child("loadBalancerProvider"), "load balancer provider")
	classes := at.Child("loadBalancerClasses")
	f.Add(loadBalancerClasses(config.LoadBalancerClasses, classes))
	for i, class := range config.LoadBalancerClasses {
		if ptr.Deref(class.Purpose, "") == v1alpha1.LoadBalancerClassPurposeVPN {
			f.Found(RuleLoadBalancerClass, field.ErrorTypeForbidden, classes.Index(i).Child("purpose"), *class.Purpose,
				"the load balancer of the VPN is the operator's: only a floating pool of the CloudProfile can have a class "+
					"for it; remove the purpose")
		}
	}
	if zone := ptr.Deref(config.Zone, ""); zone != "" {
		f.Found(ruleSettingDeprecated, field.ErrorTypeForbidden, at.Child("zone"), zone,
			"zone %s has no effect; remove it", quote(zone))
	}
	if ccm := config.CloudControllerManager; ccm != nil {
		f.featureGates(ccm.FeatureGates, version, at.Child("cloudControllerManager", "featureGates"))
	}
	shares := config.Storage != nil && config.Storage.CSIManila != nil && config.Storage.CSIManila.Enabled
	if shares && networks != nil && networks.ShareNetworkID == nil && !createsShareNetwork(networks) {
		f.Found(ruleShareNetworkMissing, field.ErrorTypeInvalid, at.Child("storage", "csiManila", "enabled"), true,
			"the driver can create no shares without a share network; write networks.shareNetwork.enabled: true "+
				"in the infrastructureConfig")
	}
	return f.Report
}

func createsShareNetwork(networks *v1alpha1.Networks) bool {
	return networks.ShareNetwork != nil && networks.ShareNetwork.Enabled
}

// anyVersion is one by which a feature gate can be looked up that need not be of it.
const anyVersion = "1.0.0"

// featureGates checks feature gates as Gardener does. What is wrong with the version Gardener itself reports.
func (f *findings) featureGates(gates map[string]bool, version string, at *field.Path) {
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		if Full(&f.Report) {
			return
		}
		value := gates[name]
		if _, err := features.IsFeatureGateSupported(name, anyVersion); err != nil {
			f.Found(ruleFeatureGate, field.ErrorTypeInvalid, at.Key(name), value,
				"Kubernetes has no feature gate %s; mind upper and lower case", quote(name))
			continue
		}
		for _, err := range features.ValidateFeatureGates(map[string]bool{name: value}, version, at) {
			if err.Type == field.ErrorTypeForbidden {
				f.Found(ruleFeatureGate, err.Type, at.Key(name), value, "feature gate %s: %s; remove it", name, err.Detail)
			}
		}
	}
}
