// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package alicloud_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/wire"
	"github.com/capkit/capkit/pkg/alicloud"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

func TestProvider(t *testing.T) {
	if err := provider.Check(alicloud.Provider{}); err != nil {
		t.Error(err)
	}
	if got := (alicloud.Provider{}).Type(); got != "alicloud" {
		t.Error(got)
	}
}

func TestImages(t *testing.T) {
	wire.Regional(t, alicloud.Provider{}, func(image alicloud.Image) string { return image.ID })
}

func TestProfiles(t *testing.T) { wire.Profiles(t, alicloud.Provider{}) }

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

// Worker pools have no WorkerConfig: its content is the extension's, and requests nothing.
func TestWorkers(t *testing.T) {
	requirements, report := alicloud.Provider{}.Workers().Requirements(provider.Pool{
		Path: field.NewPath("w"), Config: &runtime.RawExtension{Raw: []byte(`{"kind": "WorkerConfig"}`)},
	})
	if len(requirements)+len(report.Errors)+len(report.Warnings)+len(alicloud.Provider{}.Workers().Definitions()) > 0 {
		t.Error(requirements, report)
	}
}
