// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// wrong is a manifest with errors, warnings, something of another kind and something that is no object.
func wrong(t *testing.T) string {
	t.Helper()
	return joined("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: elsewhere\n", "- not an object\n", cloudProfile(t)+"  - name: asia\n")
}

func TestLintFormats(t *testing.T) {
	for _, format := range []string{"text", "json", "yaml", "sarif", "junit"} {
		t.Run(format, func(t *testing.T) {
			r := run(t, wrong(t), "lint", "-o", format, "-")
			if r.status != 1 || r.stderr != "1 object checked: 2 errors, 1 warning; 1 manifest of other kinds skipped\n" {
				t.Errorf("status %d: %s", r.status, r.stderr)
			}
			golden(t, "lint."+format, r.stdout)
		})
	}
}

func TestJUnitFailsForWhatCounts(t *testing.T) {
	var suites junit.Testsuites
	if err := xml.Unmarshal([]byte(run(t, wrong(t), "lint", "-o", "junit", "--fail-on=warning", "-").stdout), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Failures != 3 {
		t.Errorf("%d failures", suites.Failures)
	}
}

func TestNothingFoundInEveryFormat(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		golden(t, "nothing."+format, run(t, "", "lint", "-o", format, "-").stdout)
	}
	if text := run(t, "", "lint", "-").stdout; text != "" {
		t.Errorf("text: %q", text)
	}
}

func TestSelectFormats(t *testing.T) {
	found := append([]string{examples + "/cloudprofile.yaml"}, flavorQuestion...)
	refused := []string{guide + "openstack-new-repaired.yaml", "--image=gardenlinux", "--version=1877.5.0", "--machine-type=bare_8_16", "--region=asia"}
	shoot := []string{examples + "/shoot.yaml", examples + "/cloudprofile.yaml"}
	for name, args := range map[string][]string{"found": found, "refused": refused, "shoot": shoot} {
		for _, command := range []string{"select", "explain"} {
			for _, format := range []string{"text", "json", "yaml"} {
				t.Run(command+" "+name+" "+format, func(t *testing.T) {
					r := run(t, "", append([]string{command, "-o", format}, args...)...)
					if want := map[string]string{"refused": "note: region asia is not in the profile, which has europe-1\n"}[name]; r.stderr != want {
						t.Error(r.stderr)
					}
					golden(t, command+"-"+name+"."+format, r.stdout)
				})
			}
		}
	}
}

func TestExplainShowsWhatTheOtherOrderPicks(t *testing.T) {
	args := []string{
		"explain", broken + "/preference-order-differs.yaml", "--image=gardenlinux", "--version=1877.5.0", "--machine-type=medium_4_8", "--region=europe",
	}
	gep33, gardener := run(t, "", args...).stdout, run(t, "", append(args, "--order=gardener")...).stdout
	golden(t, "explain-gep33.text", gep33)
	golden(t, "explain-gardener.text", gardener)
	if !strings.Contains(gep33, "With --order=gardener it would be flavor A.") || !strings.Contains(gardener, "With --order=gep33 it would be flavor B.") {
		t.Errorf("%s\n%s", gep33, gardener)
	}
}
