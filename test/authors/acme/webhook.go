// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
)

// ValidateCloudProfile is what a validating webhook does with a CloudProfile that is created.
func ValidateCloudProfile(profile *v1beta1.CloudProfile) (warnings []string, err error) {
	_, report := consistency.CheckCloudProfile(Provider{}, profile)
	for _, warning := range report.Warnings {
		warnings = append(warnings, warning.Field+": "+warning.Detail)
	}
	if len(report.Errors) > 0 {
		kind := v1beta1.SchemeGroupVersion.WithKind("CloudProfile").GroupKind()
		return warnings, apierrors.NewInvalid(kind, profile.Name, report.Errors)
	}
	return warnings, nil
}

// ValidateShoot is what a validating webhook does with a Shoot that is created. The profile is compiled once, whatever
// the number of worker pools.
func ValidateShoot(shoot *v1beta1.Shoot, spec *v1beta1.CloudProfileSpec) error {
	profile, _ := consistency.Compile(Provider{}, spec, field.NewPath("spec"))
	var errs field.ErrorList
	for i := range shoot.Spec.Provider.Workers {
		at := field.NewPath("spec", "provider", "workers").Index(i)
		answer := profile.ResolvePool(consistency.PoolOf(&shoot.Spec.Provider.Workers[i], shoot.Spec.Region, at))
		if answer.Err != nil {
			errs = append(errs, answer.Err)
		}
	}
	return errs.ToAggregate()
}
