// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/test/cases"
)

func TestLintFindsEverythingAtItsPlace(t *testing.T) {
	cases.Run(t, "testdata/lint.txtar", func(c *cases.Case) string { return places(c.T(), manifests(c)...) })
}

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

// Input that is meant to hurt gets one clear finding, and what stands beside it is still checked.
func TestHostileInput(t *testing.T) {
	bomb := "x:\n- &a [" + strings.Repeat("x,", 50) + "]\n"
	for c := 'b'; c < 'm'; c++ {
		bomb += fmt.Sprintf("- &%c [%s]\n", c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 50))
	}
	for name, tc := range map[string]struct{ manifest, want string }{
		"alias bomb":         {"apiVersion: v1\nkind: A\n" + bomb, "too-large"},
		"deep nesting":       {"apiVersion: v1\nkind: A\nx: " + strings.Repeat("[", 100000), "too-large"},
		"deep nesting, JSON": {`{"a":` + strings.Repeat(`{"a":`, 100000), "too-large"},
		"binary":             {"\x00\x01\x02", "syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			report := lint(t, joined(tc.manifest+"\n", cloudProfile(t)), "-")
			if got := rules(report); got[len(got)-1] != tc.want && got[0] != tc.want {
				t.Errorf("got %v, want %s among them", got, tc.want)
			}
		})
	}
	t.Run("100 MB", func(t *testing.T) {
		report := lint(t, strings.Repeat("# nothing but comments\n", 100<<20/23), "-")
		if diff := cmp.Diff([]string{"too-large"}, rules(report)); diff != "" {
			t.Error(diff)
		}
	})
}

// A profile that is missing may be in what could not be read, and then the message says where.
func TestMissingProfileMayBeUnread(t *testing.T) {
	cases.Run(t, "testdata/unread.txtar", func(c *cases.Case) string {
		paths := manifests(c)
		var both strings.Builder
		for _, command := range []string{"lint", "select"} {
			r := run(c.T(), "", append([]string{command}, paths...)...)
			about := regexp.MustCompile(`(?m)^.*\[profile-missing\]$`).FindString(r.stdout + r.stderr)
			both.WriteString(command + " ends with " + ended(r.status, about, paths) + "\n")
		}
		return both.String()
	})
}
