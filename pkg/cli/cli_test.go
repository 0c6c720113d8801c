// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
)

// result is what a run of the command left behind.
type result struct {
	status         int
	stdout, stderr string
}

// providers are those of the tests here; table are all of capkit's, for its examples. What the command answers for the former
// does not change when a cloud is added.
var (
	providers = []cli.Provider{cli.For(openstack.With(gardenerlib.Library{})), cli.For(local.Provider{})}
	table     = clouds.All()
)

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
	return lintFor(t, providers, stdin, args...)
}

// lintFor does so for some providers.
func lintFor(t *testing.T, providers []cli.Provider, stdin string, args ...string) report.Report {
	t.Helper()
	r := runFor(providers, stdin, append([]string{"lint", "-o", "json", "--allow-empty"}, args...)...)
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

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cloudProfile has an error and a warning; its last line may be followed by more regions. shoot is a Shoot of it.
func cloudProfile(t testing.TB) string { return read(t, "testdata/manifests/cloudprofile.yaml") }
func shoot(t testing.TB) string        { return read(t, "testdata/manifests/shoot.yaml") }

// parent and child are clean together.
func parent(t testing.TB) string { return read(t, "testdata/manifests/parent.yaml") }
func child(t testing.TB) string  { return read(t, "testdata/manifests/child.yaml") }

// joined returns one text with some manifests.
func joined(manifests ...string) string { return strings.Join(manifests, "---\n") }

// The root of the repository, and this package's files, wherever the test is.
var (
	testdata, _ = filepath.Abs("testdata")
	root        = filepath.Join(testdata, "../../..")
)

// patched returns a manifest with some changes: a merge patch or, if it is a list, a JSON patch.
func patched(t testing.TB, manifest, changes string) string {
	t.Helper()
	document, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.JSONToYAML(cases.Patched(t, document, []byte(changes)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// manifest returns a manifest that a case names, with the change that the case makes to it: a file of the case, one
// that its cases share, or one of testdata/manifests. A manifest that is changed is written out anew, any other one
// as it stands. It is empty for a name that no manifest has.
func manifest(c *cases.Case, name string) []byte {
	t := c.T()
	t.Helper()
	var text []byte
	if c.Has(name) {
		text = []byte(c.Text(name))
	} else if text, _ = os.ReadFile(filepath.Join(testdata, "manifests", name)); text == nil {
		return nil
	}
	if patch := strings.TrimSuffix(name, ".yaml") + ".patch.yaml"; c.Has(patch) {
		return []byte(patched(t, string(text), c.Text(patch)))
	}
	return text
}

// manifests writes the manifests that a case names in its file "input", and returns their paths.
func manifests(c *cases.Case) (paths []string) {
	t, folder := c.T(), c.T().TempDir()
	t.Helper()
	for _, name := range strings.Fields(c.Text("input")) {
		paths = append(paths, filepath.Join(folder, name))
		write(t, paths[len(paths)-1], string(manifest(c, name)))
	}
	return paths
}

// commands runs the commands of a case with some providers: one on each line of its file "run", in a folder with the
// manifests that they name. Its file "stdin" is standard input. In a command $name stands for a file of the case or
// for a folder of the repository, and "" for nothing. The result is how each command ends, and what it says.
func commands(providers []cli.Provider) func(c *cases.Case) string {
	return func(c *cases.Case) string {
		t, stdin := c.T(), ""
		t.Chdir(t.TempDir())
		if c.Has("stdin") {
			stdin = c.Text("stdin")
		}
		var all strings.Builder
		for line := range strings.Lines(c.Text("run")) {
			args := strings.Fields(os.Expand(line, func(name string) string {
				if c.Has(name) {
					return c.Text(name)
				}
				return map[string]string{
					"example": root + "/example", "docs": root + "/docs/examples", "guide": testdata + "/guide",
				}[name]
			}))
			for i, word := range args {
				args[i] = strings.ReplaceAll(word, `""`, "")
				name := word[strings.Index(word, "=")+1:] // of an option's value, or all of it
				if text := manifest(c, name); text != nil {
					write(t, name, string(text))
				}
			}
			r := runFor(providers, stdin, args...)
			all.WriteString(ended(r.status, r.stderr+r.stdout, root))
		}
		return all.String()
	}
}

// places renders what lint finds in files: the file and the rule, the field, and the line of text that it points to.
func places(t *testing.T, paths ...string) string {
	t.Helper()
	var places []string
	for _, f := range lint(t, "", paths...).Findings {
		line := strings.Split(read(t, f.File), "\n")[f.Line-1]
		places = append(places, fmt.Sprintf("%s: %s %s | %s",
			filepath.Base(f.File), f.Rule, f.Field, strings.TrimSpace(line)))
	}
	return cases.Fold(places...)
}

// ended renders the status of a command and what it has said, without the folder of its files.
func ended(status int, said, folder string) string {
	said = strings.TrimSuffix(strings.ReplaceAll(said, folder+"/", ""), "\n")
	return fmt.Sprintf("status %d\n%s", status, cases.Fold(strings.Split(said, "\n")...))
}

// golden compares output with a file in testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if cases.Update() {
		write(t, path, got)
	}
	if diff := cmp.Diff(read(t, path), got); diff != "" {
		t.Errorf("%s (run go test with -update after a change that is meant): %s", path, diff)
	}
}
