// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// checkKeystone checks that the Shoot's region has an identity service, without which nothing can be created there.
func checkKeystone(s *subject) validation.Findings {
	region := s.Shoot.Spec.Region
	if _, found := lookup.Keystone(s.config, region); found {
		return validation.Findings{}
	}
	at := field.NewPath("spec", "region")
	return failed(finding.New(RuleRegionWithoutKeystone, field.ErrorTypeNotSupported, at, region, fmt.Sprintf(
		"the profile has no identity service for region %s, so that nothing can be created there; "+
			"choose another region, or ask its operator for one", region)))
}
