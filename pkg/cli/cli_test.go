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

// result is the exit status and output of a run of the command.
type result struct {
	status         int
	stdout, stderr string
}

// providers are the providers in these tests; table has all of capkit's, for its examples. Adding a cloud does not change the answers for
// the former.
var (
	providers = []cli.Provider{cli.For(openstack.With(gardenerlib.Library{})), cli.For(local.Provider{})}
	table     = clouds.All()
)

// run runs the command with the given standard input.
func run(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return runFor(providers, stdin, args...)
}

// runFor runs the command of these providers with the given standard input.
func runFor(providers []cli.Provider, stdin string, args ...string) result {
	var stdout, stderr bytes.Buffer
	status := cli.Run(append([]string{"capkit"}, args...), strings.NewReader(stdin), &stdout, &stderr, providers...)
	return result{status, stdout.String(), stderr.String()}
}

// decoded decodes the JSON output of a run.
func decoded[T any](t *testing.T, r result) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.stdout), &value); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	return value
}

// contains reports the wanted texts that are missing in text.
func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
}

// lint returns the JSON report of the lint command.
func lint(t *testing.T, stdin string, args ...string) report.Report {
	t.Helper()
	return lintFor(t, providers, stdin, args...)
}

// lintFor does the same as lint for other providers.
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

// cloudProfile returns a profile with an error and a warning, whose last line may be followed by more regions. shoot returns a Shoot of it.
func cloudProfile(t testing.TB) string { return read(t, "testdata/manifests/cloudprofile.yaml") }
func shoot(t testing.TB) string        { return read(t, "testdata/manifests/shoot.yaml") }

// parent and child return manifests that are clean together.
func parent(t testing.TB) string { return read(t, "testdata/manifests/parent.yaml") }
func child(t testing.TB) string  { return read(t, "testdata/manifests/child.yaml") }

// joined joins manifests into one text.
func joined(manifests ...string) string { return strings.Join(manifests, "---\n") }

// The root of the repository and the files of this package, independent of the working directory.
var (
	testdata, _ = filepath.Abs("testdata")
	root        = filepath.Join(testdata, "../../..")
)

// patched returns a manifest after changes: a JSON patch if they are a list, otherwise a merge patch.
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

// manifest returns a manifest by the name that a case uses, after the case's change: its own file, a shared file, or a file of
// testdata/manifests. A changed manifest is re-encoded, others keep their text. The result is nil for other names.
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

// manifests writes the manifests in a case's file "input" to files, and returns their paths.
func manifests(c *cases.Case) (paths []string) {
	t, folder := c.T(), c.T().TempDir()
	t.Helper()
	for _, name := range strings.Fields(c.Text("input")) {
		paths = append(paths, filepath.Join(folder, name))
		write(t, paths[len(paths)-1], string(manifest(c, name)))
	}
	return paths
}

// commands runs the commands of a case for some providers, one for each line of its file "run", in a folder with the manifests that they
// name. Its file "stdin" is standard input. In a command, $name stands for the text of a case's file or a folder of the repository, and
// "" for an empty text. The result is the exit status and output of each command.
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
				name := word[strings.Index(word, "=")+1:] // an option's value, or the whole word
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

// places renders lint's findings in files: the file and rule, the field, and the line of text.
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

// ended renders the exit status and output of a command, without the folder of its files.
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
