// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// checkLoadBalancerProvider checks whether the Shoot may choose its load balancer provider.
func checkLoadBalancerProvider(s *subject) validation.Findings {
	if s.controlPlane == nil || !validation.IsOneName(s.controlPlane.LoadBalancerProvider) {
		return validation.Findings{}
	}
	name, region := strings.TrimSpace(s.controlPlane.LoadBalancerProvider), s.Shoot.Spec.Region
	has := lookup.LoadBalancerProviders(s.config.Constraints.LoadBalancerProviders, region)
	if name != "" && slices.Contains(has, name) {
		return validation.Findings{}
	}
	at := controlPlanePath.Child("loadBalancerProvider")
	return failed(notAmong(RuleLoadBalancerProvider, at, name, has, "load balancer provider", "in region "+region))
}

// checkLoadBalancerClasses checks whether the Shoot's load balancer classes use networks that its floating pool allows.
// A floating pool without classes allows all.
func checkLoadBalancerClasses(s *subject) validation.Findings {
	var found validation.Findings
	if s.infrastructure == nil || s.controlPlane == nil {
		return found
	}
	pools, name := s.config.Constraints.FloatingPools, s.infrastructure.FloatingPoolName
	pool := func(domain string) *v1alpha1.FloatingPool {
		return lookup.FloatingPool(pools, name, s.Shoot.Spec.Region, domain)
	}
	of := s.domains.where(func(domain string) bool { return pool(domain) != nil })
	if len(of.names) == 0 {
		return s.uncheckedClasses()
	}
	for i := range s.controlPlane.LoadBalancerClasses {
		if found.Full() {
			break
		}
		class, at := &s.controlPlane.LoadBalancerClasses[i], controlPlanePath.Child("loadBalancerClasses").Index(i)
		allowed := of.where(func(domain string) bool { return allows(pool(domain).LoadBalancerClasses, class) })
		switch len(allowed.names) {
		case len(of.names):
		case 0:
			found.Add(failed(otherNetworks(class, pool(of.names[0]).LoadBalancerClasses, at)))
		default:
			const what = "the networks of this class are allowed"
			found.Add(dependsOnDomain(at, networksOf(class), what, allowed, s.domains))
		}
	}
	return found
}

// uncheckedClasses reports the classes of a Shoot whose floating pool the profile does not have, so that they cannot be
// compared with any. While nothing about them changes an update is excused for that.
func (s *subject) uncheckedClasses() validation.Findings {
	classes := s.controlPlane.LoadBalancerClasses
	if len(classes) == 0 {
		return validation.Findings{}
	}
	networks := make([]string, 0, len(classes))
	for i := range classes {
		networks = append(networks, networksOf(&classes[i]))
	}
	at := controlPlanePath.Child("loadBalancerClasses")
	const detail = "which networks the classes may use depends on the floating pool, which the profile does not have; " +
		"see floatingPoolName"
	return failed(
		finding.New(validation.OriginLoadBalancerClass, field.ErrorTypeInvalid, at, strings.Join(networks, ", "), detail))
}

// allows reports whether a class uses the same networks as one of the classes of a floating pool, if it has any.
func allows(classes []v1alpha1.LoadBalancerClass, class *v1alpha1.LoadBalancerClass) bool {
	return len(classes) == 0 || slices.ContainsFunc(classes, func(c v1alpha1.LoadBalancerClass) bool {
		return len(differences(class, &c)) == 0
	})
}

// otherNetworks says in what a class differs from the one of the floating pool that is closest to it, the first of
// several.
func otherNetworks(
	class *v1alpha1.LoadBalancerClass, classes []v1alpha1.LoadBalancerClass, at *field.Path,
) finding.Finding {
	closest, least := &classes[0], differences(class, &classes[0])
	for i := range classes {
		if d := differences(class, &classes[i]); len(d) < len(least) {
			closest, least = &classes[i], d
		}
	}
	others := ""
	if len(classes) > 1 {
		others = fmt.Sprintf(", or use the networks of one of its %d other classes", len(classes)-1)
	}
	detail := fmt.Sprintf(
		"the floating pool does not allow the networks of load balancer class %s; to use those of its class %s, %s%s",
		finding.Quoted(class.Name), finding.Quoted(closest.Name), strings.Join(least, " and "), others)
	return finding.New(validation.OriginLoadBalancerClass, field.ErrorTypeNotSupported, at, networksOf(class), detail)
}

// classNetworks are the fields of a class that say which networks it uses, with the form in which their values are
// compared.
var classNetworks = []struct {
	name  string
	value func(*v1alpha1.LoadBalancerClass) *string
	form  func(string) string
}{
	{"floatingSubnetID", func(c *v1alpha1.LoadBalancerClass) *string { return c.FloatingSubnetID }, strings.ToLower},
	{"floatingSubnetTags", func(c *v1alpha1.LoadBalancerClass) *string { return c.FloatingSubnetTags }, sortedTags},
	{"floatingSubnetName", func(c *v1alpha1.LoadBalancerClass) *string { return c.FloatingSubnetName }, strings.Clone},
	{"floatingNetworkID", func(c *v1alpha1.LoadBalancerClass) *string { return c.FloatingNetworkID }, strings.ToLower},
	{"subnetID", func(c *v1alpha1.LoadBalancerClass) *string { return c.SubnetID }, strings.ToLower},
}

// differences says what to change in a class so that it uses the networks of another one; nothing if it does.
func differences(class, other *v1alpha1.LoadBalancerClass) []string {
	var changes []string
	for _, f := range classNetworks {
		is, want := ptr.Deref(f.value(class), ""), ptr.Deref(f.value(other), "")
		switch {
		case f.form(is) == f.form(want):
		case want == "":
			changes = append(changes, "remove "+f.name)
		default:
			changes = append(changes, "write "+f.name+": "+want)
		}
	}
	return changes
}

// sortedTags brings tags into an order. What stands before them says how they count.
func sortedTags(tags string) string {
	list := strings.TrimLeft(strings.TrimSpace(tags), "!&")
	before := strings.TrimSuffix(strings.TrimSpace(tags), list)
	sorted := strings.Split(list, ",")
	for i := range sorted {
		sorted[i] = strings.TrimSpace(sorted[i])
	}
	slices.Sort(sorted)
	return before + strings.Join(slices.Compact(sorted), ",")
}

// networksOf returns the networks that a load balancer class uses, as an operator writes them.
func networksOf(class *v1alpha1.LoadBalancerClass) string {
	var fields []string
	for _, f := range classNetworks {
		if value := ptr.Deref(f.value(class), ""); value != "" {
			fields = append(fields, f.name+": "+value)
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
