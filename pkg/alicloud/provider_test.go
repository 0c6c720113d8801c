// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package alicloud_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/alicloud"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/test/cases"
)

func TestProvider(t *testing.T) {
	if err := provider.Check(alicloud.Provider{}); err != nil {
		t.Error(err)
	}
	if got := (alicloud.Provider{}).Type(); got != "alicloud" {
		t.Error(got)
	}
}

// What is read of a config: the flavors one to a line, with the path and the ID of each region; then what is reported.
func TestImages(t *testing.T) {
	cases.Run(t, "testdata/images.txtar", func(c *cases.Case) string {
		read, report := alicloud.Provider{}.Decode(&runtime.RawExtension{Raw: c.JSON("config.yaml")}, field.NewPath("config"))
		var lines []string
		for _, image := range read.Images {
			lines = append(lines, fmt.Sprintf("%s at %s", image.Name, image.Path))
			for _, version := range image.Versions {
				lines = append(lines, fmt.Sprintf("  %s legacy=%t at %s", version.Version, version.Legacy, version.Path))
				for _, flavor := range version.Flavors {
					lines = append(lines, fmt.Sprintf("    %v at %s", flavor.Capabilities, flavor.Path))
					for _, r := range flavor.Regional {
						lines = append(lines, fmt.Sprintf("      %s %s at %s", r.Region, r.Ref.ID, r.Path))
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
		_, report := consistency.ValidateCloudProfile(alicloud.Provider{}, profile)
		var lines []string
		for _, f := range append(report.Errors, report.Warnings...) {
			lines = append(lines, f.Origin+" "+f.String())
		}
		return strings.Join(lines, "\n")
	})
}

func TestValidateReference(t *testing.T) {
	for id, want := range map[string]string{
		"":                                      "error FieldValueRequired regions[0].id reference-missing",
		"m-":                                    "error FieldValueInvalid regions[0].id alicloud-image-id",
		"M-gw8iwwd6iqhi4cvkyjmg":                "error FieldValueInvalid regions[0].id alicloud-image-id",
		"m-gw8iwwd6 iqhi4cvkyjmg":               "error FieldValueInvalid regions[0].id alicloud-image-id",
		"m-gw8iwwd6iqhi4cvkyjmg\n":              "error FieldValueInvalid regions[0].id alicloud-image-id",
		"gardenlinux-1877":                      "error FieldValueInvalid regions[0].id alicloud-image-id",
		".vhd":                                  "error FieldValueInvalid regions[0].id alicloud-image-id",
		"images/a.vhd":                          "error FieldValueInvalid regions[0].id alicloud-image-id",
		"{{ .id }}":                             "error FieldValueInvalid regions[0].id alicloud-image-id",
		"m-gw8iwwd6iqhi4cvkyjmg":                "",
		"aliyun_3_x64_20G_alibase_20240528.vhd": "",
		"win2022_21H2_x64_dtc_zh-cn_40G_alibase_20231115.vhd": "",
	} {
		errs := finding.Of(alicloud.Provider{}.ValidateReference(alicloud.Image{ID: id}, field.NewPath("regions").Index(0)))
		if got := cases.Report(t, finding.Report{Errors: errs}); got != want {
			t.Errorf("%q: %q, not %q", id, got, want)
		}
	}
}

// Worker pools have no WorkerConfig: whatever stands there is the extension's, and nothing is asked for.
func TestWorkers(t *testing.T) {
	requirements, report := alicloud.Provider{}.Workers().Requirements(provider.Pool{
		Path: field.NewPath("w"), Config: &runtime.RawExtension{Raw: []byte(`{"kind": "WorkerConfig"}`)},
	})
	if len(requirements)+len(report.Errors)+len(report.Warnings)+len(alicloud.Provider{}.Workers().Definitions()) > 0 {
		t.Error(requirements, report)
	}
}
