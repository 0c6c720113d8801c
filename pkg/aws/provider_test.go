// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/wire"
	"github.com/capkit/capkit/pkg/aws"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

func TestProvider(t *testing.T) {
	if err := provider.Check(aws.Provider{}); err != nil {
		t.Error(err)
	}
	if got := (aws.Provider{}).Type(); got != "aws" {
		t.Error(got)
	}
}

func TestImages(t *testing.T) {
	wire.Regional(t, aws.Provider{}, func(image aws.Image) string { return image.AMI })
}

func TestProfiles(t *testing.T) { wire.Profiles(t, aws.Provider{}) }

func TestValidateReference(t *testing.T) {
	for ami, want := range map[string]string{
		"":                       "error FieldValueRequired regions[0].ami reference-missing",
		"ami-":                   "error FieldValueInvalid regions[0].ami aws-ami",
		"ami-1234":               "error FieldValueInvalid regions[0].ami aws-ami",
		"ami-034fd8c3f4026eb3":   "error FieldValueInvalid regions[0].ami aws-ami",
		"ami-034fd8c3f4026eb399": "error FieldValueInvalid regions[0].ami aws-ami",
		"AMI-034fd8c3f4026eb39":  "error FieldValueInvalid regions[0].ami aws-ami",
		"ami-034FD8C3F4026EB39":  "error FieldValueInvalid regions[0].ami aws-ami",
		" ami-32d1474b":          "error FieldValueInvalid regions[0].ami aws-ami",
		"ami-32d1474b\n":         "error FieldValueInvalid regions[0].ami aws-ami",
		"gardenlinux":            "error FieldValueInvalid regions[0].ami aws-ami",
		"{{ .ami }}":             "error FieldValueInvalid regions[0].ami aws-ami",
		"ami-32d1474b":           "",
		"ami-034fd8c3f4026eb39":  "",
	} {
		errs := finding.Of(aws.Provider{}.ValidateReference(aws.Image{AMI: ami}, field.NewPath("regions").Index(0)))
		if got := cases.Report(t, finding.Report{Errors: errs}); got != want {
			t.Errorf("%q: %q, not %q", ami, got, want)
		}
	}
}

func TestWorkers(t *testing.T) { wire.Workers(t, aws.Provider{}.Workers()) }

// Pools without settings boot the same images as before, and a profile need not register a capability for pools with settings.
func TestNothingIsRefusedUntilItIsRegistered(t *testing.T) {
	requirements, report := aws.Provider{}.Workers().Requirements(provider.Pool{Path: field.NewPath("w")})
	if len(requirements)+len(report.Errors)+len(report.Warnings) > 0 {
		t.Error(requirements, report)
	}
	got := map[string]bool{}
	for _, d := range (aws.Provider{}).Workers().Definitions() {
		got[d.Name] = d.OnlyIfRegistered
	}
	if diff := cmp.Diff(map[string]bool{aws.AMDSEVSNP: true, aws.EFA: true, aws.IMDS: true}, got); diff != "" {
		t.Error(diff)
	}
}
