// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/provider"
)

// Regional runs testdata/images.txtar for a provider with regional references. A result lists the decoded flavors, one per line with the
// path and reference of each region, and then the findings.
func Regional[R any](t *testing.T, cloud provider.Provider[R], text func(R) string) {
	t.Helper()
	cases.Run(t, "testdata/images.txtar", func(c *cases.Case) string {
		read, report := cloud.Decode(&runtime.RawExtension{Raw: c.JSON("config.yaml")}, field.NewPath("config"))
		var lines []string
		add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
		for _, image := range read.Images {
			add("%s at %s", image.Name, image.Path)
			for _, version := range image.Versions {
				add("  %s legacy=%t at %s", version.Version, version.Legacy, version.Path)
				for _, flavor := range version.Flavors {
					add("    %v at %s", flavor.Capabilities, flavor.Path)
					for _, r := range flavor.Regional {
						add("      %s %s at %s", r.Region, text(r.Ref), r.Path)
					}
				}
			}
		}
		return strings.Join(append(lines, cases.Report(c.T(), report.Sorted())), "\n")
	})
}

// Profiles runs testdata/profiles.txtar: invalid profiles with all their findings.
func Profiles[R any](t *testing.T, cloud provider.Provider[R]) {
	t.Helper()
	cases.Run(t, "testdata/profiles.txtar", func(c *cases.Case) string {
		profile := &v1beta1.CloudProfile{}
		c.Decode("profile.yaml", profile)
		_, report := check.CloudProfile(cloud, profile)
		var lines []string
		for _, f := range append(report.Errors, report.Warnings...) {
			lines = append(lines, f.Origin+" "+f.String())
		}
		return strings.Join(lines, "\n")
	})
}

// Workers runs testdata/workers.txtar: the requests of a worker pool with a config, and the findings about it.
func Workers(t *testing.T, workers provider.Workers) {
	t.Helper()
	cases.Run(t, "testdata/workers.txtar", func(c *cases.Case) string {
		pool := provider.Pool{Path: field.NewPath("w"), Config: &runtime.RawExtension{Raw: c.JSON("config.yaml")}}
		requirements, report := workers.Requirements(pool)
		var got []string
		for _, r := range requirements {
			got = append(got, fmt.Sprintf("%s %v because of %s at %s", r.Capability, r.Values, r.Setting, r.Because))
		}
		return strings.Join(append(got, cases.Report(c.T(), report.Sorted())), "\n")
	})
}
