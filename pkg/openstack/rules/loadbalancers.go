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

// loadBalancerClasses checks whether the Shoot's load balancer classes use networks that its floating pool allows. A
// floating pool without classes allows all.
func (s *subject) loadBalancerClasses() {
	if s.infrastructure == nil || s.controlPlane == nil {
		return
	}
	pool := func(domain string) *v1alpha1.FloatingPool {
		name := s.infrastructure.FloatingPoolName
		return lookup.FloatingPool(s.config.Constraints.FloatingPools, name, s.Shoot.Spec.Region, domain)
	}
	of := s.domains.where(func(domain string) bool { return pool(domain) != nil })
	if len(of.names) == 0 {
		s.uncheckedClasses()
		return
	}
	for i := range s.controlPlane.LoadBalancerClasses {
		if validation.Full(&s.Report) {
			break
		}
		class, at := &s.controlPlane.LoadBalancerClasses[i], controlPlanePath.Child("loadBalancerClasses").Index(i)
		allowed := of.where(func(domain string) bool { return allows(pool(domain).LoadBalancerClasses, class) })
		if len(allowed.names) == 0 {
			s.Found(validation.RuleLoadBalancerClass, field.ErrorTypeNotSupported, at, networksOf(class), "%s",
				otherNetworks(class, pool(of.names[0]).LoadBalancerClasses))
		} else {
			s.dependsOnDomain(at, networksOf(class), "the networks of this class are allowed", allowed, of)
		}
	}
}

// uncheckedClasses reports the classes of a Shoot whose floating pool the profile does not have, so that they cannot be
// compared with any. While nothing about them changes an update is excused for that.
func (s *subject) uncheckedClasses() {
	classes := s.controlPlane.LoadBalancerClasses
	networks := make([]string, 0, len(classes))
	for i := range classes {
		networks = append(networks, networksOf(&classes[i]))
	}
	if len(classes) > 0 {
		s.Found(validation.RuleLoadBalancerClass, field.ErrorTypeInvalid, controlPlanePath.Child("loadBalancerClasses"),
			strings.Join(networks, ", "), "which networks the classes may use depends on the floating pool, "+
				"which the profile does not have; see floatingPoolName")
	}
}

// allows reports whether a class uses the same networks as one of the classes of a floating pool, if it has any.
func allows(classes []v1alpha1.LoadBalancerClass, class *v1alpha1.LoadBalancerClass) bool {
	return len(classes) == 0 || slices.ContainsFunc(classes, func(c v1alpha1.LoadBalancerClass) bool {
		return len(differences(class, &c)) == 0
	})
}

// otherNetworks says in what a class differs from the one of the floating pool that is closest to it, the first of
// several.
func otherNetworks(class *v1alpha1.LoadBalancerClass, classes []v1alpha1.LoadBalancerClass) string {
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
	return fmt.Sprintf(
		"the floating pool does not allow the networks of load balancer class %s; to use those of its class %s, %s%s",
		finding.Quoted(class.Name), finding.Quoted(closest.Name), strings.Join(least, " and "), others)
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
