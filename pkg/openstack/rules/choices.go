// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// keystone checks that the Shoot's region has an identity service. Nothing can be created in a region without one.
func (s *subject) keystone() {
	region := s.Shoot.Spec.Region
	if _, found := lookup.Keystone(s.config, region); found {
		return
	}
	var served []string
	for _, r := range s.Profile.Regions {
		if _, found := lookup.Keystone(s.config, r.Name); found {
			served = append(served, r.Name)
		}
	}
	choose := "have"
	switch len(served) {
	case 0:
	case 1:
		choose = "choose region " + served[0] + ", or have"
	default:
		choose = "choose one of the regions " + words.Few(served) + ", or have"
	}
	s.Found(ruleRegionWithoutKeystone, field.ErrorTypeNotSupported, field.NewPath("spec", "region"), region,
		"the profile has no identity service for region %s, so that nothing can be created there; "+
			"%s one added for it in keystoneURLs of the profile", region, choose)
}

func (s *subject) loadBalancerProvider() {
	if s.controlPlane == nil || !validation.IsOneName(s.controlPlane.LoadBalancerProvider) {
		return
	}
	name := strings.TrimSpace(s.controlPlane.LoadBalancerProvider)
	has := lookup.LoadBalancerProviders(s.config.Constraints.LoadBalancerProviders, s.Shoot.Spec.Region)
	if name == "" || !slices.Contains(has, name) {
		at := controlPlanePath.Child("loadBalancerProvider")
		s.notAmong(ruleLoadBalancerProvider, at, name, has, "load balancer provider", s.inRegion())
	}
}

func (s *subject) floatingPool() {
	if s.infrastructure == nil || !validation.IsOneName(s.infrastructure.FloatingPoolName) {
		return
	}
	pools, region := s.config.Constraints.FloatingPools, s.Shoot.Spec.Region
	name, at := strings.TrimSpace(s.infrastructure.FloatingPoolName), infrastructurePath.Child("floatingPoolName")
	allowed := s.domains.where(func(domain string) bool {
		return name != "" && lookup.FloatingPool(pools, name, region, domain) != nil
	})
	if len(allowed) > 0 {
		s.dependsOnDomain(at, name, fmt.Sprintf("floating pool %s is allowed in region %s", name, region), allowed, s.domains)
		return
	}
	var has []string
	for _, domain := range s.domains {
		has = append(has, lookup.FloatingPools(pools, region, domain)...)
	}
	slices.Sort(has)
	place := s.inRegion()
	if s.Scope != nil && len(lookup.Domains(pools, region)) > 0 {
		place += " for the domain of the Shoot's credentials" // the domain itself must not be shown
	}
	s.notAmong(ruleFloatingPool, at, name, has, "floating pool", place)
}

func (s *subject) inRegion() string { return "in region " + s.Shoot.Spec.Region }

// notAmong reports that the profile has no such thing in a place, with its choices. Without a name, it reports that one is required.
func (s *subject) notAmong(rule finding.Rule, at *field.Path, name string, has []string, thing, place string) {
	has = validation.Choices(has)
	switch {
	case len(has) == 0 && name == "":
		s.Found(validation.RuleSettingMissing, field.ErrorTypeRequired, at, nil,
			"write the name of a %s; but the profile has none %s, ask its operator for one", thing, place)
	case len(has) == 0:
		s.Found(rule, field.ErrorTypeNotSupported, at, name,
			"the profile has no %s %s, so not %s; ask its operator for one", thing, place, name)
	case name == "":
		validation.NotAmong(&s.Report, validation.RuleSettingMissing, at, name, has, "write the name of a "+thing)
	default:
		detail := fmt.Sprintf("the profile has no %s %s %s", thing, name, place)
		validation.NotAmong(&s.Report, rule, at, name, has, detail)
	}
}

// domains are the possible domains of a Shoot. If its domain is unknown, these are all domains with floating pools in the profile. A
// synthetic last one represents all others.
type domains []string

func domainsOf(config *v1alpha1.CloudProfileConfig, q provider.ShootQuestion) domains {
	if q.Scope != nil {
		return domains{*q.Scope}
	}
	named := lookup.Domains(config.Constraints.FloatingPools, q.Shoot.Spec.Region)
	return append(named, strings.Join(named, "")+"?")
}

func (d domains) where(test func(domain string) bool) domains {
	return slices.DeleteFunc(slices.Clone(d), func(domain string) bool { return !test(domain) })
}

// of describes the domains d among all.
func (d domains) of(all domains) string {
	if others := all[len(all)-1]; !slices.Contains(d, others) {
		return "domain " + words.Few(d)
	}
	return "domains other than " + words.Few(all.where(func(domain string) bool { return !slices.Contains(d, domain) }))
}

// dependsOnDomain warns that a value is right for some domains only, if the Shoot's domain is unknown.
func (s *subject) dependsOnDomain(at *field.Path, value any, what string, right, among domains) {
	if len(right) < len(among) {
		s.Found(ruleFloatingPoolDomain, field.ErrorTypeInvalid, at, value,
			"%s only for credentials of %s, and the domain of the Shoot's credentials is not known here; "+
				"capkit lint --domain NAME checks it", what, right.of(s.domains))
	}
}

// loadBalancerClasses checks that the floating pool allows the networks of classes. A floating pool without classes allows all.
func (s *subject) loadBalancerClasses() {
	if s.infrastructure == nil || s.controlPlane == nil {
		return
	}
	pool := func(domain string) *v1alpha1.FloatingPool {
		name := s.infrastructure.FloatingPoolName
		return lookup.FloatingPool(s.config.Constraints.FloatingPools, name, s.Shoot.Spec.Region, domain)
	}
	of := s.domains.where(func(domain string) bool { return pool(domain) != nil })
	if len(of) == 0 {
		s.uncheckedClasses()
		return
	}
	for i := range s.controlPlane.LoadBalancerClasses {
		if s.LeavesOut() {
			break
		}
		class, at := &s.controlPlane.LoadBalancerClasses[i], controlPlanePath.Child("loadBalancerClasses").Index(i)
		allowed := of.where(func(domain string) bool { return allows(pool(domain).LoadBalancerClasses, class) })
		if len(allowed) == 0 {
			s.Found(validation.RuleLoadBalancerClass, field.ErrorTypeNotSupported, at, networksOf(class), "%s",
				otherNetworks(class, s.infrastructure.FloatingPoolName, pool(of[0]).LoadBalancerClasses))
		} else {
			s.dependsOnDomain(at, networksOf(class), "the networks of this class are allowed", allowed, of)
		}
	}
}

// uncheckedClasses reports that classes cannot be checked because the profile lacks the Shoot's floating pool. The ratchet tolerates that
// in updates that do not change them. A Shoot without a floating pool gets another error for that.
func (s *subject) uncheckedClasses() {
	if s.infrastructure.FloatingPoolName == "" {
		return
	}
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

// allows reports whether a class uses the same networks as any of a floating pool's classes, or whether there are none.
func allows(classes []v1alpha1.LoadBalancerClass, class *v1alpha1.LoadBalancerClass) bool {
	return len(classes) == 0 || slices.ContainsFunc(classes, func(c v1alpha1.LoadBalancerClass) bool {
		return len(differences(class, &c)) == 0
	})
}

// otherNetworks describes how a class differs from the closest class of a floating pool, the first one if several are equally close.
func otherNetworks(class *v1alpha1.LoadBalancerClass, pool string, classes []v1alpha1.LoadBalancerClass) string {
	closest := slices.MinFunc(classes, func(a, b v1alpha1.LoadBalancerClass) int {
		return len(differences(class, &a)) - len(differences(class, &b))
	})
	others := ""
	if len(classes) > 1 {
		others = fmt.Sprintf(", or use the networks of one of its %d other classes", len(classes)-1)
	}
	return fmt.Sprintf(
		"load balancer class %s has %s, which floating pool %s does not allow; %s, as in its class %s%s",
		words.Quoted(class.Name), cmp.Or(strings.Trim(networksOf(class), "{}"), "no network of its own"), pool, strings.Join(differences(class, &closest), " and "),
		words.Quoted(closest.Name), others)
}

// classNetworks lists the fields of a class that identify networks, with a normal form for comparison.
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

// differences lists the changes that make a class use the networks of another one. It is empty if it already does.
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

// sortedTags sorts a list of tags. It keeps the prefix, which determines how they are combined.
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

// networksOf returns the networks of a load balancer class in the notation of operators.
func networksOf(class *v1alpha1.LoadBalancerClass) string {
	var fields []string
	for _, f := range classNetworks {
		if value := ptr.Deref(f.value(class), ""); value != "" {
			fields = append(fields, f.name+": "+value)
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
