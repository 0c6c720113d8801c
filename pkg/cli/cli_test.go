// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/test/cases"
)

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

// answer is what select and explain print as JSON for a worker pool, as far as tests look at it.
type answer struct {
	Pool, Error   string
	Reference     map[string]string
	Requested     []capability.Requirement
	Rejected      []struct{ Reason, ExcludedBy, Message string }
	RollingUpdate []provider.Rolling
}

// decoded returns what a run has printed as JSON.
func decoded[T any](t *testing.T, r result) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.stdout), &value); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	return value
}

// contains reports each of some texts that is not in another one.
func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
}

// lint returns the report of the lint command as its JSON has it.
func lint(t *testing.T, stdin string, args ...string) report.Report {
	t.Helper()
	r := run(t, stdin, append([]string{"lint", "-o", "json"}, args...)...)
	report := decoded[report.Report](t, r)
	if want := min(report.Summary.Errors, 1); r.status != want {
		t.Errorf("status %d with %d errors", r.status, report.Summary.Errors)
	}
	return report
}

// rules returns the distinct rules of a report, sorted.
func rules(r report.Report) []string {
	var names []string
	for _, f := range r.Findings {
		names = append(names, f.Rule)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// cloudProfile has an error and a warning; its last line may be followed by more regions. shoot is a Shoot of it.
func cloudProfile(t testing.TB) string { return read(t, "testdata/manifests/cloudprofile.yaml") }
func shoot(t testing.TB) string        { return read(t, "testdata/manifests/shoot.yaml") }

// parent and child are clean together.
func parent(t testing.TB) string { return read(t, "testdata/manifests/parent.yaml") }
func child(t testing.TB) string  { return read(t, "testdata/manifests/child.yaml") }

// joined returns one text with some manifests.
func joined(manifests ...string) string { return strings.Join(manifests, "---\n") }

// patched returns a manifest with some changes: a merge patch or, if it is a list, a JSON patch.
func patched(t testing.TB, manifest, changes string) string {
	t.Helper()
	document, err := yaml.YAMLToJSON([]byte(manifest))
	patch, wrong := yaml.YAMLToJSON([]byte(changes))
	if err = errors.Join(err, wrong); err == nil && patch[0] != '[' {
		document, err = jsonpatch.MergePatch(document, patch)
	} else if err == nil {
		var list jsonpatch.Patch
		if list, err = jsonpatch.DecodePatch(patch); err == nil {
			document, err = list.Apply(document)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.JSONToYAML(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// manifests writes the manifests that a case names in its file "input", and returns their paths. A manifest that the case patches
// is written out anew, any other one as it stands.
func manifests(c *cases.Case) (paths []string) {
	t, folder := c.T(), c.T().TempDir()
	t.Helper()
	for _, name := range strings.Fields(c.Text("input")) {
		content := []byte(c.Text(name))
		if c.Has(strings.TrimSuffix(name, ".yaml") + ".patch.yaml") {
			var err error
			if content, err = yaml.JSONToYAML(c.JSON(name)); err != nil {
				t.Fatal(err)
			}
		}
		paths = append(paths, filepath.Join(folder, name))
		if err := os.WriteFile(paths[len(paths)-1], content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// places renders what lint finds in files: the file and the rule, the field, and the line of text that it points to.
func places(t *testing.T, paths ...string) string {
	t.Helper()
	var places strings.Builder
	for _, f := range lint(t, "", paths...).Findings {
		line := strings.Split(read(t, f.File), "\n")[f.Line-1]
		fmt.Fprintf(&places, "%s: %s %s | %s\n", filepath.Base(f.File), f.Rule, f.Field, strings.TrimSpace(line))
	}
	return folded(places.String())
}

// ended renders the status of a command and what it has said, without the folder of its files.
func ended(status int, said string, paths []string) string {
	return fmt.Sprintf("status %d\n%s", status, folded(strings.ReplaceAll(said, filepath.Dir(paths[0])+"/", "")))
}

// folded breaks the lines of a text that are too long for an archive.
func folded(text string) string {
	var short strings.Builder
	for line := range strings.Lines(text) {
		for len(line) > 150 {
			i := strings.LastIndex(line[:150], " ")
			if i < 10 {
				break // there is nothing to break it at
			}
			short.WriteString(line[:i] + "\n")
			line = "      " + line[i+1:]
		}
		short.WriteString(line)
	}
	return short.String()
}

// golden compares output with a file in testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if cases.Update() {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, path), got); diff != "" {
		t.Errorf("%s (run go test with -update after a change that is meant): %s", path, diff)
	}
}
