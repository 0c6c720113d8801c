// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/testing/cases"
)

// coreSays returns the findings of core about manifests as lines of text, without and with --reserved-in-core.
func coreSays(t *testing.T, stdin string, paths ...string) (today, later []string) {
	t.Helper()
	says := func(args ...string) (lines []string) {
		for _, f := range lint(t, stdin, append(args, paths...)...).Findings {
			if f.Rule == "gardener-core" {
				lines = append(lines, f.Field+": "+f.Message)
			}
		}
		return lines
	}
	return says(), says("--reserved-in-core")
}

func TestReservedInCore(t *testing.T) {
	for _, archive := range []string{"testdata/reserved.txtar", "testdata/reserved-namespaced.txtar"} {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			cases.Run(t, archive, func(c *cases.Case) string {
				today, later := coreSays(c.T(), "", manifests(c)...)
				return fmt.Sprintf("errors today: %d\n%s", len(today), cases.Fold(later...))
			})
		})
	}
}

// The hint says that one of Gardener's own capabilities needs no registration. For other names with the prefix it would be wrong.
func TestHintWhereAReservedNameIsRegistered(t *testing.T) {
	const hint = "; remove this entry: gardener-bootType needs no registration; declare it on flavors of the provider config only"
	for name, want := range map[string]string{"gardener-bootType": hint, "gardener-foo": ""} {
		profile := patched(t, read(t, workerProfile), "- {op: add, path: /spec/machineCapabilities/-, value: {name: "+name+", values: [secure, standard]}}")
		today, _ := coreSays(t, profile, "-")
		const prefix = `spec.machineCapabilities[2].name: Forbidden: the "gardener-" prefix is reserved for Gardener-core capabilities`
		if diff := cmp.Diff([]string{prefix + want}, today); diff != "" {
			t.Error(diff)
		}
	}
}

// A value that Gardener does not define is reported once: by capkit's own rule, or by Gardener's message if the provider is unknown.
func TestReservedInCoreValues(t *testing.T) {
	profile := patched(t, read(t, workerProfile),
		"- {op: add, path: /spec/machineCapabilities/-, value: {name: gardener-update-type, values: [rolling, in-place, inPlace]}}")
	const at = "spec.machineCapabilities[2].values[2]"
	for cloud, want := range map[string]string{"openstack": "reserved-capability-value", "mycloud": "gardener-core"} {
		var got []string
		for _, f := range lint(t, strings.Replace(profile, "type: openstack", "type: "+cloud, 1), "--reserved-in-core", "-").Findings {
			if f.Field == at {
				got = append(got, f.Rule)
			}
		}
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Error(cloud, diff)
		}
	}
}

// The option does not add a vocabulary to a profile without one.
func TestReservedInCoreNeedsAVocabulary(t *testing.T) {
	legacy := patched(t, read(t, examples+"/cloudprofile-legacy.yaml"), `
- op: add
  path: /spec/machineTypes/0
  value: {name: x, cpu: "1", gpu: "0", memory: 1Gi, capabilities: {gardener-bootType: [secure]}}
`)
	today, later := coreSays(t, legacy, "-")
	if diff := cmp.Diff(today, later); diff != "" || len(today) == 0 {
		t.Error(today, diff)
	}
}

// A profile that is rendered with the option is valid with the option.
func TestRenderReservedInCore(t *testing.T) {
	registering := patched(t, parent(t), `[{op: add, path: /spec/machineCapabilities/-, value: {name: gardener-bootType, values: [secure, standard]}}]`)
	both := joined(registering, child(t))
	if r := run(t, both, "render", "-"); r.status != 1 || r.stdout != "" {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	r := run(t, both, "render", "--reserved-in-core", "-")
	if r.status != 0 || strings.Count(r.stdout, "gardener-bootType") != 1 {
		t.Fatalf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	if found := rules(lint(t, r.stdout, "--reserved-in-core", "-")); !slices.Equal(found, []string{"reserved-capability-first-text"}) {
		t.Error(found)
	}
}

// The option only affects reserved names.
func TestReservedInCoreChangesNothingElse(t *testing.T) {
	for _, path := range []string{examples, broken, guide} {
		today, later := lint(t, "", lifecycles, path), lint(t, "", lifecycles, "--reserved-in-core", path)
		for _, found := range []*report.Report{&today, &later} {
			found.Findings = slices.DeleteFunc(found.Findings, func(f report.Finding) bool { // these are for a later Gardener
				return strings.HasSuffix(f.File, "reserved-capability-incomplete.yaml") || strings.HasSuffix(f.File, "reserved-capability-silent.yaml")
			})
		}
		if diff := cmp.Diff(len(today.Findings), len(later.Findings)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		for _, f := range later.Findings {
			if strings.Contains(f.Message+f.Field, "gardener.") && !strings.Contains(f.Message, "gardener.cloud") {
				t.Error(f)
			}
		}
		if !slices.Equal(rules(today), rules(later)) {
			t.Error(rules(today), rules(later))
		}
	}
}
