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
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// checkFloatingPool checks whether the Shoot may choose its floating pool.
func checkFloatingPool(s *subject) validation.Findings {
	if s.infrastructure == nil || !validation.IsOneName(s.infrastructure.FloatingPoolName) {
		return validation.Findings{}
	}
	pools, region := s.config.Constraints.FloatingPools, s.Shoot.Spec.Region
	name, at := strings.TrimSpace(s.infrastructure.FloatingPoolName), infrastructurePath.Child("floatingPoolName")
	allowed := s.domains.where(func(domain string) bool {
		return name != "" && lookup.FloatingPool(pools, name, region, domain) != nil
	})
	switch len(allowed.names) {
	case len(s.domains.names):
		return validation.Findings{}
	case 0:
		return failed(s.noFloatingPool(name, at))
	}
	what := fmt.Sprintf("floating pool %s is allowed in region %s", name, region)
	return dependsOnDomain(at, name, what, allowed, s.domains)
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
