// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// domains are those that a Shoot may be of: one if it is known, or else all those that the profile has floating pools for,
// and last one that stands for all others.
type domains struct {
	names []string
	known bool
}

func domainsOf(config *v1alpha1.CloudProfileConfig, q provider.ShootQuestion) domains {
	if q.Scope != nil {
		return domains{[]string{*q.Scope}, true}
	}
	named := lookup.Domains(config.Constraints.FloatingPools, q.Shoot.Spec.Region)
	return domains{append(named, strings.Join(named, "")+"?"), false}
}

// where returns those for which a test is true.
func (d domains) where(test func(domain string) bool) domains {
	return domains{slices.DeleteFunc(slices.Clone(d.names), func(domain string) bool { return !test(domain) }), d.known}
}

// of says which of all domains these are.
func (d domains) of(all domains) string {
	others := all.names[len(all.names)-1]
	if !slices.Contains(d.names, others) {
		return "domain " + few(d.names)
	}
	without := all.where(func(domain string) bool { return !slices.Contains(d.names, domain) })
	return "domains other than " + few(without.names)
}

// dependsOnDomain warns that what was written is right for some domains only, and that of the Shoot is not known.
func dependsOnDomain(at *field.Path, value any, what string, right, all domains) validation.Findings {
	return warned(finding.New(RuleFloatingPoolDomain, field.ErrorTypeInvalid, at, value, fmt.Sprintf(
		"%s only for credentials of %s, and of which domain those of the Shoot are is not known here; capkit lint --domain NAME checks it", what, right.of(all))))
}

// checkFloatingPool checks whether the Shoot may choose its floating pool.
func checkFloatingPool(s *subject) validation.Findings {
	if s.infrastructure == nil || !validation.IsOneName(s.infrastructure.FloatingPoolName) {
		return validation.Findings{}
	}
	pools, region := s.config.Constraints.FloatingPools, s.Shoot.Spec.Region
	name, at := strings.TrimSpace(s.infrastructure.FloatingPoolName), infrastructurePath.Child("floatingPoolName")
	allowed := s.domains.where(func(domain string) bool { return name != "" && lookup.FloatingPool(pools, name, region, domain) != nil })
	switch len(allowed.names) {
	case len(s.domains.names):
		return validation.Findings{}
	case 0:
		return failed(s.noFloatingPool(name, at))
	}
	return dependsOnDomain(at, name, fmt.Sprintf("floating pool %s is allowed in region %s", name, region), allowed, s.domains)
}

// noFloatingPool says which floating pools there are instead of one, in the Shoot's region and for its domain.
func (s *subject) noFloatingPool(name string, at *field.Path) finding.Finding {
	var has []string
	for _, domain := range s.domains.names {
		has = append(has, lookup.FloatingPools(s.config.Constraints.FloatingPools, s.Shoot.Spec.Region, domain)...)
	}
	slices.Sort(has)
	place := "in region " + s.Shoot.Spec.Region
	if s.domains.known && len(lookup.Domains(s.config.Constraints.FloatingPools, s.Shoot.Spec.Region)) > 0 {
		place += " for the domain of the Shoot's credentials" // which is not to be shown
	}
	return notAmong(RuleFloatingPool, at, name, has, "floating pool", place)
}

// notAmong says that the profile does not have a thing of this name in a place, and what it has there; or, if none is
// named, that one has to be.
func notAmong(rule string, at *field.Path, name string, has []string, thing, place string) finding.Finding {
	if name == "" {
		rule = validation.OriginSettingMissing
	}
	has = validation.Choices(has)
	switch {
	case len(has) == 0 && name == "":
		return finding.New(rule, field.ErrorTypeRequired, at, nil, fmt.Sprintf("write the name of a %s; but the profile has none %s, ask its operator for one", thing, place))
	case len(has) == 0:
		return finding.New(rule, field.ErrorTypeNotSupported, at, name, fmt.Sprintf("the profile has no %s %s, so not %s; ask its operator for one", thing, place, name))
	case name == "":
		return validation.NotAmong(rule, at, name, has, fmt.Sprintf("write the name of a %s", thing))
	}
	return validation.NotAmong(rule, at, name, has, fmt.Sprintf("the profile has no %s %s %s", thing, name, place))
}

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
	return failed(notAmong(RuleLoadBalancerProvider, controlPlanePath.Child("loadBalancerProvider"), name, has, "load balancer provider", "in region "+region))
}

// few joins names for a message, which gets no longer than this.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func orEmpty(name string) string {
	if name == "" {
		return `""`
	}
	return name
}
