// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// ControlPlaneConfig checks a ControlPlaneConfig. networks are those of the Shoot's InfrastructureConfig; nil if they
// are not known, so that nothing is said about what needs one. version is the Shoot's Kubernetes version, empty if it
// leaves the choice to Gardener; then feature gates of all versions will do. gates knows them; nil: nothing is said about
// feature gates. Whether there is a load balancer provider is not looked at, since only the profile knows which there are.
func ControlPlaneConfig(
	config *v1alpha1.ControlPlaneConfig, networks *v1alpha1.Networks, version string, gates FeatureGates, at *field.Path,
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
	if ccm := config.CloudControllerManager; ccm != nil && gates != nil {
		f.featureGates(gates, ccm.FeatureGates, version, at.Child("cloudControllerManager", "featureGates"))
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

// FeatureGates knows the feature gates of Kubernetes. Package gardenerlib asks Gardener's code for them.
type FeatureGates interface {
	// KnowsFeatureGate reports whether some version of Kubernetes has a feature gate.
	KnowsFeatureGate(name string) bool
	// ValidateFeatureGate returns what is wrong with a feature gate that is set in a version of Kubernetes: Forbidden if that cannot
	// be; the detail says why. An empty version stands for any.
	ValidateFeatureGate(name string, value bool, version string, at *field.Path) field.ErrorList
}

// meantGate asks for the feature gate that differs from an unknown one in the case of its letters, if there is one.
func meantGate(gates FeatureGates, name string) string {
	tries := []string{"AllAlpha", "AllBeta"}
	if first, size := utf8.DecodeRuneInString(name); size > 0 {
		tries = append(tries, string(unicode.ToUpper(first))+name[size:])
	}
	for _, meant := range tries {
		if gates.KnowsFeatureGate(meant) && strings.EqualFold(meant, name) {
			return words.Question(meant)
		}
	}
	return "mind upper and lower case"
}

// featureGates checks feature gates as Gardener does. What is wrong with the version Gardener itself reports.
func (f *findings) featureGates(known FeatureGates, gates map[string]bool, version string, at *field.Path) {
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		if f.LeavesOut() {
			return
		}
		value := gates[name]
		if !known.KnowsFeatureGate(name) {
			f.Found(ruleFeatureGate, field.ErrorTypeInvalid, at.Key(name), value,
				"Kubernetes has no feature gate %s; %s", quote(name), meantGate(known, name))
			continue
		}
		for _, err := range known.ValidateFeatureGate(name, value, version, at) {
			if err.Type == field.ErrorTypeForbidden {
				f.Found(ruleFeatureGate, err.Type, at.Key(name), value, "feature gate %s: %s; remove it", name, err.Detail)
			}
		}
	}
}

// purposes are those of load balancer classes, each of which one class at most can have.
var purposes = []string{
	v1alpha1.LoadBalancerClassPurposeDefault,
	v1alpha1.LoadBalancerClassPurposePrivate,
	v1alpha1.LoadBalancerClassPurposeVPN,
}

// loadBalancerClasses checks the load balancer classes of a floating pool or of a Shoot, which stand at the path at.
// Of a Shoot it does not say that the purpose vpn is not for Shoots, nor which classes the profile allows.
func loadBalancerClasses(classes []v1alpha1.LoadBalancerClass, at *field.Path) finding.Report {
	var f findings
	names, claims := seen[string]{}, seen[string]{}
	for i := range classes {
		if f.LeavesOut() {
			break
		}
		class, path := &classes[i], at.Index(i)
		f.openStackName(class.Name, path.Child("name"), "load balancer class")
		again := f.sameName(names, class.Name, path, "load balancer class")
		f.supported(class.Purpose, path.Child("purpose"), purposes...)
		// A class that is named default or private has that purpose, too. A name that is there twice is reported already.
		purpose := ptr.Deref(class.Purpose, "")
		if n := class.Name; n != purpose && !again && n != v1alpha1.LoadBalancerClassPurposeVPN {
			f.claim(class, n, path.Child("name"), claims)
		}
		f.claim(class, purpose, path.Child("purpose"), claims)
		f.floatingSubnet(class, path)
		f.openStackID(class.FloatingNetworkID, path.Child("floatingNetworkID"), "network")
		f.openStackID(class.SubnetID, path.Child("subnetID"), "subnet")
	}
	return f.Report
}

// claim demands that no other class has a purpose, if it is one. A second class for the VPN does no harm.
func (f *findings) claim(class *v1alpha1.LoadBalancerClass, purpose string, at *field.Path, claims seen[string]) {
	if !slices.Contains(purposes, purpose) {
		return
	}
	switch before := claims.before(purpose, at); {
	case before == nil:
	case purpose == v1alpha1.LoadBalancerClassPurposeVPN:
		f.Found(ruleEntryRepeated, field.ErrorTypeDuplicate, at, purpose,
			"load balancer class %s would be the second %s class, after %s, and one is enough; "+
				"remove the purpose from one of the two", quote(class.Name), purpose, before)
	default:
		first, byName := strings.CutSuffix(before.String(), ".name")
		is, change := "has that purpose", "remove the purpose there"
		if byName {
			is, change = "is one already, by its name", "rename that class"
		}
		here := "remove purpose: " + purpose + " here"
		if fieldpath.Last(at) == "name" {
			here = "rename this class"
		}
		f.Found(rulePurposeDuplicate, field.ErrorTypeDuplicate, at, purpose,
			"load balancer class %s is a second %s class, because %s %s; %s, or %s",
			class.Name, purpose, strings.TrimSuffix(first, ".purpose"), is, here, change)
	}
}

// floatingSubnet checks the three ways to choose a subnet of the floating network, which exclude each other.
func (f *findings) floatingSubnet(class *v1alpha1.LoadBalancerClass, at *field.Path) {
	var chosen *field.Path
	choose := func(value *string, at *field.Path) {
		switch {
		case value == nil:
		case chosen == nil:
			chosen = at
		default:
			f.Found(ruleSettingsExclusive, field.ErrorTypeForbidden, at, *value, "the floating subnet is chosen by %s already; "+
				"keep one of floatingSubnetID, floatingSubnetTags and floatingSubnetName", chosen)
		}
	}
	id, tags, name := at.Child("floatingSubnetID"), at.Child("floatingSubnetTags"), at.Child("floatingSubnetName")
	choose(class.FloatingSubnetID, id)
	f.openStackID(class.FloatingSubnetID, id, "subnet")
	choose(class.FloatingSubnetTags, tags)
	f.subnetTags(class.FloatingSubnetTags, tags)
	choose(class.FloatingSubnetName, name)
	f.notEmpty(class.FloatingSubnetName, name)
}

// subnetTags checks a list of tags with commas in between. A leading ! asks for subnets without them, & with all.
func (f *findings) subnetTags(tags *string, at *field.Path) {
	if !f.notEmpty(tags, at) {
		return
	}
	list := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(*tags), "!"), "&")
	empty := func(tag string) bool { return strings.TrimSpace(tag) == "" }
	if slices.ContainsFunc(strings.Split(list, ","), empty) {
		f.Found(ruleValueFormat, field.ErrorTypeInvalid, at, *tags,
			"a tag in %s is empty; write tags with one comma between any two, as in public,eu", quote(*tags))
	}
}
