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

// domains are those that a Shoot may be of: one if it is known, or else all those that the profile has floating pools
// for, and last one that stands for all others.
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
		"%s only for credentials of %s, and of which domain those of the Shoot are is not known here; "+
			"capkit lint --domain NAME checks it", what, right.of(all))))
}
