// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/test/given"
)

// An update must not bring an error along that nobody sees because of an old one.
func TestRatchetLetsNothingHide(t *testing.T) {
	content, err := os.ReadFile("../../example/cloudprofile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	good := string(content)
	const (
		version = "      - version: 1877.5.0\n        capabilityFlavors:"
		arm     = "        - capabilities:\n            architecture: [arm64]\n            hypervisor: [virtualized]\n" +
			"          regions:\n          - name: europe\n            id: 1234-arm64-virt\n          - name: asia\n            id: 5678-arm64-virt\n"
		old = "            id: 1234-amd64-old"
	)
	defects := map[string][2]string{
		"an unknown field":       {version, strings.Replace(version, "\n", "\n        foo: bar\n", 1)},
		"another kind":           {"kind: CloudProfileConfig", "kind: CloudProfileConfigs"},
		"a value":                {"architecture: [amd64]\n            hypervisor: [baremetal]", "architecture: [amd64]\n            hypervisor: [metal]"},
		"a misspelt image field": {"      versions:\n" + version, "      version: x\n      versions:\n" + version},
	}
	for name, hides := range map[string]struct{ from, to string }{
		"a mapping removed": {arm, ""},
		"an ID removed":     {"id: 5678-arm64-virt", `id: ""`},
	} {
		for defect, d := range defects {
			if !strings.Contains(good, d[0]) || !strings.Contains(good, hides.from) {
				t.Fatalf("%s or %s is not in the example", defect, name)
			}
			before := strings.Replace(good, d[0], d[1], 1)
			after := strings.Replace(before, hides.from, hides.to, 1)
			if report := updatedTo(t, before, after); len(report.Errors) == 0 {
				t.Errorf("%s, and then %s: the update is admitted", defect, name)
			}
		}
	}
	// What has nothing to do with the old error is none of its business.
	for _, defect := range []string{"an unknown field", "a value"} {
		before := strings.Replace(good, defects[defect][0], defects[defect][1], 1)
		after := strings.Replace(before, old, old+"er", 1)
		if report := updatedTo(t, before, after); len(report.Errors) > 0 {
			t.Errorf("%s, and a change elsewhere: %v", defect, report.Errors)
		}
	}
}

func updatedTo(t *testing.T, before, after string) finding.Report {
	t.Helper()
	old, updated := given.Decoded[v1beta1.CloudProfile](t, before), given.Decoded[v1beta1.CloudProfile](t, after)
	if _, report := check.CloudProfile(given.ImagesOnly{}, old); len(report.Errors) == 0 {
		t.Fatal("there was no error before")
	}
	return ratcheted(given.ImagesOnly{}, &updated.Spec, &old.Spec)
}
