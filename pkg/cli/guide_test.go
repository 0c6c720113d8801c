// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// testdata/guide has the manifests of Gardener's operator guides, unchanged.
const guide = "testdata/guide/"

// lines renders findings as severity, rule and line.
func lines(r report.Report) []string {
	var lines []string
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%s %s %d", f.Severity, f.Rule, f.Line))
	}
	return lines
}

func TestGuides(t *testing.T) {
	for file, want := range map[string][]string{
		"local-complete.yaml":  nil,
		"local-tie-break.yaml": nil,
		"openstack-legacy.yaml": {
			"warning version-expired 11", "warning machine-type-without-image 29", "warning image-name-fallback 53", "warning region-unknown 55",
			"warning region-uncovered 58", "warning region-unknown 61",
		},
		"openstack-new.yaml": {
			"warning version-expired 20", "error core-flavor-wrapped 26", "error core-flavor-wrapped 29", "error core-flavor-wrapped 32",
			"warning region-unknown 87", "warning region-unknown 89",
		},
		"openstack-new-repaired.yaml": {
			"warning version-expired 20", "warning region-unknown 84", "warning region-unknown 86",
		},
	} {
		if diff := cmp.Diff(want, lines(lint(t, "", guide+file))); diff != "" {
			t.Error(file, diff)
		}
	}
}

// With the spec's only region renamed to the mapped one, the guide's warnings about regions disappear.
func TestGuideWithItsRegionRepaired(t *testing.T) {
	for _, file := range []string{"openstack-legacy.yaml", "openstack-new-repaired.yaml"} {
		manifest := strings.ReplaceAll(read(t, guide+file), "- name: europe-1\n", "- name: europe\n  - name: asia\n")
		for _, f := range lint(t, manifest, "-").Findings {
			if f.Severity != finding.SeverityWarning || f.Rule == "region-unknown" {
				t.Errorf("%s: %s %s", file, f.Rule, f.Message)
			}
		}
	}
}

func TestWrappedFlavorNamesKeyLineAndRightForm(t *testing.T) {
	f := lint(t, "", guide+"openstack-new.yaml").Findings[2]
	if f.Field != "spec.machineImages[0].versions[0].capabilityFlavors[1].capabilities" || f.Line != 29 || f.Column != 9 {
		t.Errorf("%+v", f)
	}
	contains(t, f.Message, `"capabilities:"`, "- {architecture: [amd64], hypervisor: [baremetal]}")
}
