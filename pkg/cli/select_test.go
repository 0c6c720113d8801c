// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"

	"github.com/capkit/capkit/test/cases"
)

// What keeps a Shoot from an answer is a finding of select, at its place.
func TestSelectSaysWhyAShootHasNoAnswer(t *testing.T) {
	cases.Run(t, "testdata/select.txtar", func(c *cases.Case) string {
		paths := manifests(c)
		selected, explained := run(c.T(), "", append([]string{"select"}, paths...)...), run(c.T(), "", append([]string{"explain"}, paths...)...)
		if selected.status != explained.status || selected.stderr != explained.stderr {
			c.T().Errorf("explain: status %d: %s", explained.status, explained.stderr)
		}
		return ended(selected.status, selected.stderr, paths)
	})
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
