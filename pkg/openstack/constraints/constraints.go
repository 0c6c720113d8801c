// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package constraints holds the rules of the OpenStack provider that are not about images: what a CloudProfileConfig may
// say, what a Shoot may have in its profile, and what credentials look like. It puts together what
// pkg/apis/openstack/validation says about single objects and what pkg/apis/openstack/lookup finds, for
// [consistency.Constraints] and [consistency.Extended].
package constraints

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/consistency"
)

// Of returns the constraints of a provider config, which must not be changed any more.
func Of(config *v1alpha1.CloudProfileConfig) consistency.Constraints {
	c := constraints{*config}
	c.config.MachineImages = nil // not needed, and most of it
	return c
}

type constraints struct{ config v1alpha1.CloudProfileConfig }

// CheckCloudProfile checks all of the config but its images.
func (c constraints) CheckCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) consistency.Report {
	regions := make([]string, 0, len(spec.Regions))
	for _, region := range spec.Regions {
		regions = append(regions, region.Name)
	}
	return report(validation.CloudProfileConfig(&c.config, regions, at))
}

// DependsOnDomain tells whether there are floating pools for single domains in the Shoot's region.
func (c constraints) DependsOnDomain(shoot *v1beta1.Shoot) bool {
	return len(lookup.Domains(c.config.Constraints.FloatingPools, shoot.Spec.Region)) > 0
}

func report(found validation.Findings) consistency.Report {
	return consistency.Report{Errors: found.Errors, Warnings: found.Warnings}
}

// Extension makes a provider an extended one that embeds it. The zero value is ready for use.
type Extension struct{}

var _ consistency.Extended = Extension{}

// Rules returns the catalogue.
func (Extension) Rules() []consistency.Rule {
	return slices.Concat(cloudProfileRules, shootRules, credentialRules)
}

// CheckCredentials checks the data of a Secret with credentials of OpenStack. The domain is their domainName.
func (Extension) CheckCredentials(data map[string][]byte, at *field.Path) (string, field.ErrorList) {
	return string(data[validation.DomainName]), validation.Credentials(data, at)
}
