// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"regexp"
	"strings"
	"testing"
)

// No command changes its answer, for any date, once a profile's versions have lifecycles, or once it has dates again.
func TestLifecyclesChangeNoAnswer(t *testing.T) {
	for name, files := range map[string][2]string{
		"newer-version": {root + "/docs/examples/newer-version.yaml", examples + "/shoot-trusted-launch.yaml"},
		"update":        {root + "/docs/examples/update.yaml", examples + "/shoot.yaml"},
		"full":          {examples + "/cloudprofile-full.yaml", examples + "/shoot-full.yaml"},
		"example":       {examples + "/cloudprofile.yaml", examples + "/shoot.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			profile := strings.Replace(read(t, files[0]), "classification: deprecated",
				"classification: deprecated\n      expirationDate: \"2036-05-31T00:00:00Z\"", 1)
			inFolder(t, map[string]string{"profile.yaml": profile, "shoot.yaml": read(t, files[1])})
			answers := func() (all []result) {
				for _, line := range []string{
					"lint", "select", "maintenance", "report -o json", "maintenance --at 2030-01-30", "maintenance --at 2030-02-01",
					"maintenance --at 2036-06-01 -o json", "maintenance --at 2037-04-01", "maintenance --at 2029-01-01 --until 2038-01-01",
				} {
					all = append(all, run(t, "", append(strings.Fields(line), lifecycles, "profile.yaml", "shoot.yaml")...))
				}
				return all
			}
			was := answers()
			for _, flags := range []string{"--lifecycle", "--lifecycle --back"} {
				before := read(t, "profile.yaml")
				write(t, "before.yaml", before)
				r := run(t, "", append(strings.Fields("migrate -w "+flags), lifecycles, "profile.yaml")...)
				if r.status != 0 || read(t, "profile.yaml") == before {
					t.Fatalf("%s: status %d, %s", flags, r.status, r.stderr)
				}
				for i, is := range answers() {
					// Line numbers change, but nothing else.
					if is.status != was[i].status || placeless(is.stdout) != placeless(was[i].stdout) {
						t.Errorf("%s: status %d, %s\nand it was %d, %s", flags, is.status, is.stdout, was[i].status, was[i].stdout)
					}
				}
				r = run(t, "", "plan", lifecycles, "before.yaml", "profile.yaml", "shoot.yaml")
				if r.status != 0 || !strings.Contains(r.stdout, "written in another way, and mean") || strings.Contains(r.stdout, "\n\n") {
					t.Errorf("%s: status %d, %s", flags, r.status, r.stdout)
				}
			}
			const byDefault = "      classification: supported\n" // the way back writes the default
			if got := read(t, "profile.yaml"); strings.ReplaceAll(got, byDefault, "") != strings.ReplaceAll(profile, byDefault, "") {
				t.Errorf("there and back it is another one:\n%s", got)
			}
		})
	}
}

var linesOfProfile = regexp.MustCompile(`profile\.yaml:\d+:\d+|"line": \d+,|"column": \d+,?`)

// placeless removes line numbers from a text.
func placeless(text string) string { return linesOfProfile.ReplaceAllString(text, "profile.yaml") }
