// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"testing"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
)

func TestLine(t *testing.T) {
	for want, files := range map[string][]string{
		"capkit lint a/b-1.yaml":        {"a/b-1.yaml", "a/b-1.yaml"},
		"capkit lint - -A":              {manifest.Stdin, "-", input.ClusterFile},
		`capkit lint 'a b' 'it'\''s' c`: {"a b", "it's", "c"},
		"capkit lint ''":                {""},
		"capkit lint lint capkit":       {"lint", "capkit", "lint"},
	} {
		if got := command.Line("capkit lint", nil, files...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	got := command.Line("kubectl capkit lint", []string{"--no-config", "--provider-file=a b"}, "c")
	if got != "kubectl capkit lint --no-config '--provider-file=a b' c" {
		t.Error(got)
	}
}

func TestInShell(t *testing.T) {
	for file, want := range map[string]string{
		"a/B-1_c.yaml": "a/B-1_c.yaml", "-a.yaml": "./-a.yaml", "a b": "'a b'", "it's": `'it'\''s'`, "$(a)": "'$(a)'", "~": "'~'", "grün": "'grün'", "": "''",
		"a\nb": "'a\nb'", "-- b": "'./-- b'",
	} {
		if got := command.InShell(file); got != want {
			t.Errorf("%q becomes %s, not %s", file, got, want)
		}
	}
}
