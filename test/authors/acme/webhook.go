// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
)

// ValidateCloudProfile is what a validating webhook does with a CloudProfile that is created.
func ValidateCloudProfile(profile *v1beta1.CloudProfile) (warnings []string, err error) {
	_, report := check.CloudProfile(Provider{}, profile)
	return respond("CloudProfile", profile.Name, report)
}

// ValidateCloudProfileUpdate is what it does with one that is changed. Errors that old has already become warnings.
func ValidateCloudProfileUpdate(updated, old *v1beta1.CloudProfile) (warnings []string, err error) {
	stored, _ := profile.Compile(Provider{}, &old.Spec, field.NewPath("spec"))
	_, report := check.CloudProfileUpdate(stored, updated, old)
	return respond("CloudProfile", updated.Name, report)
}

// ValidateShoot is what a validating webhook does with a Shoot that is created. The profile was compiled when a Shoot
// needed this version of it for the first time.
func ValidateShoot(shoot *v1beta1.Shoot, compiled *profile.Profile[Template]) (warnings []string, err error) {
	return respond("Shoot", shoot.Name, check.Shoot(compiled, shoot, nil))
}

func respond(kind, name string, report finding.Report) (warnings []string, err error) {
	for _, warning := range report.Warnings {
		warnings = append(warnings, warning.Field+": "+warning.Detail)
	}
	if len(report.Errors) > 0 {
		return warnings, apierrors.NewInvalid(v1beta1.SchemeGroupVersion.WithKind(kind).GroupKind(), name, report.Errors.Errors())
	}
	return warnings, nil
}
