// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/openstack"
)

// A CloudProfile too large for etcd is an error in lint and a warning in admission; a size near the limit is a warning.
func TestSizeOfCloudProfile(t *testing.T) {
	for name, c := range map[string]struct{ size, errors, warnings int }{
		"small": {check.SizeLimit / 2, 0, 0},
		"near":  {check.SizeLimit - 1000, 0, 1},
		"above": {check.SizeLimit + 1000, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			profile := &v1beta1.CloudProfile{}
			profile.Spec.Type = openstack.Provider{}.Type()
			profile.Annotations = map[string]string{"large": strings.Repeat("x", c.size)}
			_, report := check.CloudProfile(openstack.Provider{}, profile)
			errs, warnings := len(report.Errors), len(report.Warnings)
			report = withSize(report, profile)
			if got := len(report.Errors) - errs; got != c.errors {
				t.Errorf("%d more errors, want %d: %v", got, c.errors, report.Errors)
			} else if got > 0 && !check.RuleSize.Escalates {
				t.Error("the catalogue does not say so")
			}
			if lost := warnings - len(report.Warnings); lost != c.errors {
				t.Errorf("%d warnings fewer, want %d", lost, c.errors)
			}
			said := 0
			for _, f := range report.Warnings {
				if f.Origin == check.RuleSize.Name {
					said++
				}
			}
			if said != c.warnings {
				t.Errorf("%d warnings about the size, want %d", said, c.warnings)
			}
		})
	}
}
