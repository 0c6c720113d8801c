// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// purposes are those of load balancer classes, each of which one class at most can have.
var purposes = []string{
	v1alpha1.LoadBalancerClassPurposeDefault,
	v1alpha1.LoadBalancerClassPurposePrivate,
	v1alpha1.LoadBalancerClassPurposeVPN,
}

// LoadBalancerClasses checks the load balancer classes of a floating pool or of a Shoot, which stand at the path at. Of a
// Shoot it does not say that the purpose vpn is not for Shoots, nor which classes the profile allows.
func LoadBalancerClasses(classes []v1alpha1.LoadBalancerClass, at *field.Path) Findings {
	var found Findings
	names, claims := seen[string]{}, seen[string]{}
	for i := range classes {
		if found.Full() {
			return found
		}
		class, path := &classes[i], at.Index(i)
		found.openStackName(class.Name, path.Child("name"), "load balancer class")
		before, first := names.first(class.Name, path)
		if !first && class.Name != "" {
			found.fail(OriginEntryDuplicate, field.ErrorTypeDuplicate, path.Child("name"), class.Name,
				"%s is a load balancer class named %s already; rename or remove one of the two", before, class.Name)
		}
		found.supported(class.Purpose, path.Child("purpose"), purposes...)
		found.claim(class, path, claims, first)
		found.floatingSubnet(class, path)
		found.openStackID(class.FloatingNetworkID, path.Child("floatingNetworkID"), "network")
		found.openStackID(class.SubnetID, path.Child("subnetID"), "subnet")
	}
	return found
}

// claim demands that no other class has the purpose of this one; a second one for the VPN does no harm. A class that is
// named default or private has that purpose by its name, too. Of two classes of one name this says nothing, since that is
// reported already.
func (f *Findings) claim(class *v1alpha1.LoadBalancerClass, at *field.Path, claims seen[string], first bool) {
	claim := func(purpose string, path *field.Path) {
		before, alone := claims.first(purpose, path)
		switch {
		case alone:
		case purpose == v1alpha1.LoadBalancerClassPurposeVPN:
			f.warn(OriginEntryRepeated, field.ErrorTypeDuplicate, path, purpose,
				"load balancer class %s would be the second %s one, after %s, and one is enough; remove the purpose from one of the two", quote(class.Name), purpose, before)
		default:
			f.fail(OriginPurposeDuplicate, field.ErrorTypeDuplicate, path, purpose,
				"load balancer class %s would be the second %s one, after %s; there can be one only", class.Name, purpose, before)
		}
	}
	purpose := ""
	if class.Purpose != nil {
		purpose = *class.Purpose
	}
	if named := class.Name; first && named != purpose &&
		(named == v1alpha1.LoadBalancerClassPurposeDefault || named == v1alpha1.LoadBalancerClassPurposePrivate) {
		claim(named, at.Child("name"))
	}
	for _, p := range purposes {
		if p == purpose {
			claim(purpose, at.Child("purpose"))
		}
	}
}

// floatingSubnet checks the three ways to choose a subnet of the floating network, which exclude each other.
func (f *Findings) floatingSubnet(class *v1alpha1.LoadBalancerClass, at *field.Path) {
	var chosen *field.Path
	for _, way := range []struct {
		value *string
		at    *field.Path
		check func(*string, *field.Path)
	}{
		{class.FloatingSubnetID, at.Child("floatingSubnetID"), func(id *string, at *field.Path) { f.openStackID(id, at, "subnet") }},
		{class.FloatingSubnetTags, at.Child("floatingSubnetTags"), f.subnetTags},
		{class.FloatingSubnetName, at.Child("floatingSubnetName"), func(name *string, at *field.Path) { f.notEmpty(name, at) }},
	} {
		if way.value == nil {
			continue
		}
		if chosen != nil {
			f.fail(OriginSettingsExclusive, field.ErrorTypeForbidden, way.at, *way.value,
				"the floating subnet is chosen by %s already; keep one of floatingSubnetID, floatingSubnetTags and floatingSubnetName", chosen)
		} else {
			chosen = way.at
		}
		way.check(way.value, way.at)
	}
}

// subnetTags checks a list of tags with commas in between. A leading ! asks for subnets without them, a leading & for
// those that have all of them.
func (f *Findings) subnetTags(tags *string, at *field.Path) {
	if !f.notEmpty(tags, at) {
		return
	}
	list := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(*tags), "!"), "&")
	for tag := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(tag) == "" {
			f.fail(OriginValueFormat, field.ErrorTypeInvalid, at, *tags, "a tag in %s is empty; write tags with one comma between any two, as in public,eu", quote(*tags))
			return
		}
	}
}
