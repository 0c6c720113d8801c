// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/aws"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/test/cases"
)

func TestProvider(t *testing.T) {
	if err := provider.Check(aws.Provider{}); err != nil {
		t.Error(err)
	}
	if got := (aws.Provider{}).Type(); got != "aws" {
		t.Error(got)
	}
}

// What is read of a config: the flavors one to a line, with the path and the AMI of each region; then what is reported.
func TestImages(t *testing.T) {
	cases.Run(t, "testdata/images.txtar", func(c *cases.Case) string {
		read, report := aws.Provider{}.Decode(&runtime.RawExtension{Raw: c.JSON("config.yaml")}, field.NewPath("config"))
		var lines []string
		for _, image := range read.Images {
			lines = append(lines, fmt.Sprintf("%s at %s", image.Name, image.Path))
			for _, version := range image.Versions {
				lines = append(lines, fmt.Sprintf("  %s legacy=%t at %s", version.Version, version.Legacy, version.Path))
				for _, flavor := range version.Flavors {
					lines = append(lines, fmt.Sprintf("    %v at %s", flavor.Capabilities, flavor.Path))
					for _, r := range flavor.Regional {
						lines = append(lines, fmt.Sprintf("      %s %s at %s", r.Region, r.Ref.AMI, r.Path))
					}
				}
			}
		}
		return strings.Join(append(lines, cases.Report(c.T(), report.Sorted())), "\n")
	})
}

// Bad profiles, each with all that is wrong with it.
func TestProfiles(t *testing.T) {
	cases.Run(t, "testdata/profiles.txtar", func(c *cases.Case) string {
		profile := &v1beta1.CloudProfile{}
		c.Decode("profile.yaml", profile)
		_, report := consistency.ValidateCloudProfile(aws.Provider{}, profile)
		var lines []string
		for _, f := range append(report.Errors, report.Warnings...) {
			lines = append(lines, f.Origin+" "+f.String())
		}
		return strings.Join(lines, "\n")
	})
}

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

func TestWorkers(t *testing.T) {
	cases.Run(t, "testdata/workers.txtar", func(c *cases.Case) string {
		pool := provider.Pool{Path: field.NewPath("w"), Config: &runtime.RawExtension{Raw: c.JSON("config.yaml")}}
		requirements, report := aws.Provider{}.Workers().Requirements(pool)
		var got []string
		for _, r := range requirements {
			got = append(got, fmt.Sprintf("%s %v because of %s at %s", r.Capability, r.Values, r.Setting, r.Because))
		}
		return strings.Join(append(got, cases.Report(c.T(), report.Sorted())), "\n")
	})
}

// Whoever asks for nothing boots what it always did, and no profile has to register anything for those who ask.
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
