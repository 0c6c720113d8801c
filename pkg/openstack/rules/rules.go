// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package rules holds the rules of the OpenStack provider that are not about images: what a CloudProfileConfig may
// say, what a Shoot may have in its profile, and what credentials look like. It puts together what
// pkg/apis/openstack/validation says about single objects and what pkg/apis/openstack/lookup finds, for
// [provider.Validator] and the other interfaces of that package. Start reading at shoot.go, which lists what a Shoot
// is checked for: worker pools in workers.go, what is chosen in a region in choices.go and loadbalancers.go. What an
// update may change is in update.go, and catalogue.go describes the rules.
package rules

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// Of returns the rules over a provider config, which must not be changed any more.
func Of(config *v1alpha1.CloudProfileConfig) provider.Validator {
	c := rules{*config}
	c.config.MachineImages = nil // not needed, and most of it
	return c
}

type rules struct{ config v1alpha1.CloudProfileConfig }

// ValidateCloudProfile checks all of the config but its images.
func (c rules) ValidateCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report {
	regions := make([]string, 0, len(spec.Regions))
	for _, region := range spec.Regions {
		regions = append(regions, region.Name)
	}
	return validation.CloudProfileConfig(&c.config, regions, at)
}

// NeedsScope reports whether there are floating pools for single domains in the Shoot's region.
func (c rules) NeedsScope(shoot *v1beta1.Shoot) bool {
	return len(lookup.Domains(c.config.Constraints.FloatingPools, shoot.Spec.Region)) > 0
}

// Extension gives a provider that embeds it the abilities that are not about images. The zero value is ready for use.
type Extension struct{}

var (
	_ provider.ScopedValidator      = rules{}
	_ provider.RuleDescriber        = Extension{}
	_ provider.ShootUpdateValidator = Extension{}
	_ provider.CredentialsValidator = Extension{}
)

// ValidateCredentials checks the data of a Secret with credentials of OpenStack. The scope is their domain, domainName.
func (Extension) ValidateCredentials(data map[string][]byte, at *field.Path) (string, field.ErrorList) {
	return validation.Credentials(data, at)
}
