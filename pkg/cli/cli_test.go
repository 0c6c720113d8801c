// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// result is what a run of the command left behind.
type result struct {
	status         int
	stdout, stderr string
}

// providers are those of capkit.
var providers = []cli.Provider{cli.For(openstack.Provider{}), cli.For(local.Provider{})}

// run runs the command with the given standard input.
func run(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return runFor(providers, stdin, args...)
}

// runFor runs the command of some providers with the given standard input.
func runFor(providers []cli.Provider, stdin string, args ...string) result {
	var stdout, stderr bytes.Buffer
	status := cli.Run(append([]string{"capkit"}, args...), strings.NewReader(stdin), &stdout, &stderr, providers...)
	return result{status, stdout.String(), stderr.String()}
}

// lint returns the report of the lint command as its JSON has it.
func lint(t *testing.T, stdin string, args ...string) cli.Report {
	t.Helper()
	r := run(t, stdin, append([]string{"lint", "-o", "json"}, args...)...)
	var report cli.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	if want := min(report.Summary.Errors, 1); r.status != want {
		t.Errorf("status %d with %d errors", r.status, report.Summary.Errors)
	}
	return report
}

// rules returns the distinct rules of a report, sorted.
func rules(r cli.Report) []string {
	var names []string
	for _, f := range r.Findings {
		names = append(names, f.Rule)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// golden compares output with a file in testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, path), got); diff != "" {
		t.Errorf("%s (run go test with -update after a change that is meant): %s", path, diff)
	}
}
