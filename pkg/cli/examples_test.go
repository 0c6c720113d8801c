// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

const (
	examples = "../../example"
	broken   = examples + "/broken"
)

func TestExamplesAreClean(t *testing.T) {
	r := run(t, "", "lint", "--fail-on=warning", examples)
	if r.status != 0 || r.stdout != "" {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if want := "13 objects checked: no errors, no warnings\n"; r.stderr != want {
		t.Errorf("got %q, want %q", r.stderr, want)
	}
}

// Each broken example announces in its first line which rules it breaks, apart from the announcement by its name, and
// breaks exactly those.
func TestBrokenExamples(t *testing.T) {
	files, err := filepath.Glob(broken + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if diff := cmp.Diff(announced(t, file), rules(lint(t, "", file))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The same holds when the whole folder is given, where the objects of all files see each other.
func TestBrokenExamplesTogether(t *testing.T) {
	byFile := map[string][]report.Finding{}
	for _, f := range lint(t, "", broken).Findings {
		byFile[f.File] = append(byFile[f.File], f)
	}
	for file, findings := range byFile {
		if diff := cmp.Diff(announced(t, file), rules(report.Report{Findings: findings})); diff != "" {
			t.Error(file, diff)
		}
	}
	if len(byFile) != len(findable()) {
		t.Errorf("%d files with findings for %d rules", len(byFile), len(findable()))
	}
}

// findable returns the rules that lint can find.
func findable() []finding.Rule {
	return slices.DeleteFunc(cli.Rules(providers...), func(r finding.Rule) bool { return r.Online })
}

// announced returns the rules that the first line of a broken example names: "# rule, rule: what is wrong".
func announced(t *testing.T, file string) []string {
	t.Helper()
	line, _, _ := strings.Cut(read(t, file), "\n")
	names, _, found := strings.Cut(strings.TrimPrefix(line, "# "), ":")
	if !found {
		t.Fatalf("%s announces nothing: %q", file, line)
	}
	announced := strings.Split(names, ", ")
	slices.Sort(announced)
	return announced
}

func TestEveryRuleHasABrokenExample(t *testing.T) {
	var want, got []string
	for _, rule := range findable() {
		want = append(want, rule.Name+".yaml")
	}
	slices.Sort(want) // as files are
	entries, err := os.ReadDir(broken)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A rule's findings are all errors or all warnings, as the catalogue says.
func TestSeverities(t *testing.T) {
	for _, rule := range findable() {
		report := lint(t, "", filepath.Join(broken, rule.Name+".yaml"))
		for _, f := range report.Findings {
			if f.Rule == rule.Name && f.Severity != rule.Severity {
				t.Errorf("%s is a %s in the catalogue and a %s in lint", rule.Name, rule.Severity, f.Severity)
			}
		}
	}
}
