// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// The manifests in testdata/guide are those of Gardener's operator guides, as they stand there.
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
			"warning machine-type-without-image 29", "warning image-name-fallback 53", "warning region-unknown 55",
			"warning region-uncovered 58", "warning region-unknown 61",
		},
		"openstack-new.yaml": {"error core-flavor-wrapped 26", "error core-flavor-wrapped 29", "error core-flavor-wrapped 32"},
		"openstack-new-repaired.yaml": {
			"warning machine-type-without-image 33", "warning machine-type-without-image 44", "warning machine-type-without-image 55",
			"warning region-uncovered 80", "warning region-unknown 84", "warning region-unknown 86",
			"warning region-uncovered 88", "warning region-uncovered 94",
		},
	} {
		if diff := cmp.Diff(want, lines(lint(t, "", guide+file))); diff != "" {
			t.Error(file, diff)
		}
	}
}

// With the spec's only region renamed to the one that the mappings name, the guide's warnings about regions are gone.
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
	f := lint(t, "", guide+"openstack-new.yaml").Findings[1]
	if f.Field != "spec.machineImages[0].versions[0].capabilityFlavors[1].capabilities" || f.Line != 29 || f.Column != 9 {
		t.Errorf("%+v", f)
	}
	contains(t, f.Message, `"capabilities:"`, "- {architecture: [amd64], hypervisor: [baremetal]}")
}

// question is what the guides' examples ask, and reference what is selected.
func reference(t *testing.T, manifest string, question ...string) any {
	t.Helper()
	r := run(t, manifest, append(append([]string{"select", "-o", "json"}, question...), "-")...)
	answer := decoded[struct {
		Reference map[string]any
		Error     string
	}](t, r)
	if (answer.Error != "") != (r.status == 1) {
		t.Errorf("status %d with error %q", r.status, answer.Error)
	}
	if answer.Error != "" {
		return answer.Error
	}
	for _, value := range answer.Reference {
		return value
	}
	return nil
}

func TestSelectOnTheOpenStackGuide(t *testing.T) {
	manifest := read(t, guide+"openstack-new-repaired.yaml")
	question := []string{"--image=gardenlinux", "--version=1877.5.0", "--machine-type=bare_8_16"}
	if got := reference(t, manifest, append(question, "--region=europe")...); got != "1234-amd64-bare" {
		t.Error(got)
	}
	refusal := fmt.Sprint(reference(t, manifest, append(question, "--region=asia")...))
	contains(t, refusal, "{architecture: [amd64], hypervisor: [baremetal]} has no image in region asia, only in europe",
		"would work: machine type medium_4_8")
}

func TestTieBreakOfTheGuide(t *testing.T) {
	manifest := read(t, guide+"local-tie-break.yaml")
	question := []string{"--image=ubuntu", "--version=1.0.0", "--machine-type=general-medium", "--region=local"}
	const registered, supported = "values: [NVMe, SCSI]", "storageAccess: [NVMe, SCSI]"
	for name, tc := range map[string]struct{ manifest, want string }{
		"as it stands":     {manifest, "registry.example/flavor-a"},
		"values reordered": {strings.Replace(manifest, registered, "values: [SCSI, NVMe]", 1), "registry.example/flavor-b"},
		"machine narrowed": {strings.Replace(manifest, supported, "storageAccess: [SCSI]", 1), "registry.example/flavor-b"},
	} {
		if got := reference(t, tc.manifest, question...); got != tc.want {
			t.Errorf("%s: got %v, want %s", name, got, tc.want)
		}
	}
}

// The complete example says which flavor each machine type gets.
func TestCompleteExampleOfTheGuide(t *testing.T) {
	manifest := read(t, guide+"local-complete.yaml")
	for machine, want := range map[string]string{
		"general-medium": "registry.example/node-amd64-virtual:v1.0.0",
		"metal-medium":   "registry.example/node-amd64-metal:v1.0.0",
		"arm-medium":     "registry.example/node-arm64-virtual:v1.0.0",
	} {
		if got := reference(t, manifest, "--image=local", "--version=1.0.0", "--machine-type="+machine, "--region=local"); got != want {
			t.Errorf("%s: got %v, want %s", machine, got, want)
		}
	}
}

// The flag stands for the architecture of the pool: it counts where the machine type names none, and must agree with the
// machine type otherwise.
func TestArchitectureOfThePool(t *testing.T) {
	manifest := read(t, examples+"/cloudprofile-legacy.yaml")
	for _, tc := range []struct{ machine, architecture, want string }{
		{"medium_4_8", "", "5678-amd64"}, {"medium_4_8", "arm64", "5678-arm64"},
		{"medium_4_8_arm", "", "5678-arm64"}, {"medium_4_8_arm", "arm64", "5678-arm64"},
		{"medium_4_8_arm", "amd64", "the pool asks for amd64, and machine type medium_4_8_arm has architecture [arm64]; would work: machine type medium_4_8"},
	} {
		got := reference(t, manifest, "--image=coreos", "--version=2135.6.0", "--region=asia", "--machine-type="+tc.machine, "--architecture="+tc.architecture)
		if got != tc.want {
			t.Errorf("%+v: got %v", tc, got)
		}
	}
}
