// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/test/cases"
)

func TestHowWorkerCapabilitiesAreRegistered(t *testing.T) {
	cases.Run(t, "testdata/worker-definitions.txtar", func(c *cases.Case) string {
		var def v1beta1.CapabilityDefinition
		c.Decode("capability.yaml", &def)
		s := coreSpec([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, def}, nil)
		_, report := check.CloudProfile(workingWith(v1beta1.Capabilities{}), &v1beta1.CloudProfile{Spec: *s})
		report.Warnings = slices.DeleteFunc(report.Warnings, func(f finding.Finding) bool { return !strings.HasPrefix(f.Origin, "worker-capability-") })
		checkFindings(c.T(), report.Errors)
		checkFindings(c.T(), report.Warnings)
		got := plainly(report.Errors)
		for _, line := range plainly(report.Warnings) {
			got = append(got, "warning "+line)
		}
		return cases.Fold(got...)
	})
}

// An image version that boots only for those who ask is none that Gardener should choose for others.
func TestVersionsOnlyOnRequest(t *testing.T) {
	checkWarnings(t, "testdata/only-on-request.txtar")
}
