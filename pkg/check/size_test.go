// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
)

// Near the limit of what can be stored there is a warning, above it an error.
func TestSizeOfACloudProfile(t *testing.T) {
	const limit = 3 << 19
	for _, c := range []struct {
		size     int
		warnings string
	}{
		{limit/4*3 - 100, ""},
		{limit / 4 * 3, "the CloudProfile has 1152 KiB, which comes near the 1536 KiB that can be stored"},
		{limit - 1000, "the CloudProfile has 1535 KiB, which comes near the 1536 KiB that can be stored"},
		{limit + 2000, "the CloudProfile has 1537 KiB, which is above the 1536 KiB that can be stored"},
	} {
		profile := &v1beta1.CloudProfile{}
		profile.Spec.Type = "openstack"
		profile.Annotations = map[string]string{"a": ""}
		profile.Annotations["a"] = strings.Repeat("x", c.size-profile.Size())
		_, report := check.CloudProfile(openstack.Provider{}, profile)
		if got := aboutSize(report.Errors); got != "" {
			t.Errorf("%d bytes: error %q", c.size, got)
		}
		if got := aboutSize(report.Warnings); !strings.HasPrefix(got, c.warnings) || got != "" && c.warnings == "" {
			t.Errorf("%d bytes: warning %q", c.size, got)
		}
	}
}

func aboutSize(findings finding.List) string {
	for _, f := range findings {
		if f.Origin == "cloudprofile-size" {
			return f.Detail
		}
	}
	return ""
}
