// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package files

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// git applies diffs of random changes, finds each hunk at its line, and produces the intended files.
func TestDiffs(t *testing.T) {
	folder, r := t.TempDir(), rand.New(rand.NewPCG(18, 9))
	becomes := map[string]string{}
	var diffs strings.Builder
	for i := range 300 {
		name := filepath.Join(folder, fmt.Sprintf("%d.yaml", i))
		before, after := randomChange(r)
		if err := os.WriteFile(name, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		becomes[name] = after
		diffs.WriteString(Diff(filepath.Base(name), filepath.Base(name), before, after))
	}
	git := exec.CommandContext(t.Context(), "git", "apply", "--verbose", "--whitespace=nowarn", "-")
	git.Dir, git.Stdin = folder, strings.NewReader(diffs.String())
	git.Env = append(os.Environ(), "LC_ALL=C", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if said, err := git.CombinedOutput(); err != nil || strings.Contains(string(said), "Hunk") {
		t.Errorf("%v: %.2000s", err, said)
	}
	for name, want := range becomes {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// In a large change, unchanged lines are still recognized.
func TestLongDiff(t *testing.T) {
	var before, after strings.Builder
	for i := range 500 {
		fmt.Fprintf(&before, "- name: m%d\n  usable: true\n", i)
		fmt.Fprintf(&after, "- name: m%d\n  usable: true\n  architecture: amd64\n", i)
	}
	diff := Diff("a.yaml", "a.yaml", before.String(), after.String())
	if removed := strings.Count(diff, "\n-"); removed != 0 || strings.Count(diff, "\n+ ") != 500 {
		t.Errorf("%d lines are removed: %.2000s", removed, diff)
	}
}

// A diff quotes file names as git does.
func TestNamesInDiffs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.yaml", "a b.yaml", "a b\x01.yaml"} {
		for side, text := range map[string]string{"a": "1\n", "b": "2\n"} {
			if err := errors.Join(os.MkdirAll(side, 0o750), os.WriteFile(filepath.Join(side, name), []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		git := exec.CommandContext(t.Context(), "git", "diff", "--no-index", "--no-prefix", filepath.Join("a", name), filepath.Join("b", name))
		git.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		said, _ := git.Output() // the exit status says that they differ
		if diff := Diff(name, name, "1\n", "2\n"); !strings.Contains(string(said), diff) {
			t.Errorf("%q, not as in %q", diff, said)
		}
	}
}

// randomChange returns two texts with repeated lines. The second has lines added, removed and replaced.
func randomChange(r *rand.Rand) (before, after string) {
	line := func() string { return fmt.Sprintf("- %d%s", r.IntN(40), []string{"\n", "\n", "\r\n"}[r.IntN(3)]) }
	for range 1 + r.IntN(120) {
		was := line()
		before += was
		switch r.IntN(12) {
		case 0:
			after += line()
		case 1:
			after += was + line() + line()
		case 2:
		default:
			after += was
		}
	}
	if before, after = before+"end", after+"end"; r.IntN(2) == 0 {
		before += "\n"
	}
	if r.IntN(2) == 0 {
		after += "\n"
	}
	return before, after
}
