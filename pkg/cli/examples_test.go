// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/finding"
)

// lifecycles enables the feature gate for the broken example of a rule about lifecycles.
const lifecycles = "--feature-gates=VersionClassificationLifecycle=true"

const (
	examples = "../../example"
	broken   = examples + "/broken"
)

func TestExamplesAreClean(t *testing.T) {
	r := runFor(table, "", "lint", "--fail-on=warning", examples)
	if r.status != 0 || r.stdout != "" {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if want := fmt.Sprintf("%d objects checked: no errors, no warnings\n", objectsBelow(t, examples)); r.stderr != want {
		t.Errorf("got %q, want %q", r.stderr, want)
	}
}

// objectsBelow counts the objects in the files of a folder, except those that .capkitignore excludes.
func objectsBelow(t *testing.T, folder string) (objects int) {
	t.Helper()
	left := []string{"broken", "cloudprofile-guide.yaml", "shoot-in-place.yaml", "cloudprofile-lifecycle.yaml", "extension.yaml", "controller-registration.yaml"}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(left, entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case filepath.Ext(path) == ".yaml" && !slices.Contains(left, entry.Name()):
			objects += strings.Count("\n"+read(t, path), "\napiVersion: ")
		}
		return nil
	})
	if err != nil || objects < 13 {
		t.Fatalf("%d objects in %s: %v", objects, folder, err)
	}
	return objects
}

// Each rule that lint can find has a broken example. Its first line announces rules, and the example breaks exactly those, with the
// severity in the catalogue. The same is true if the whole folder is checked, where the objects of all files see each other.
func TestBrokenExamples(t *testing.T) {
	var files []string
	catalogue := map[string]finding.Rule{}
	for _, rule := range cli.Rules(table...) {
		catalogue[rule.Name] = rule
		if rule.Object == "" {
			t.Errorf("%s is about nothing", rule.Name)
		}
		if rule.InManifests() {
			files = append(files, filepath.Join(broken, rule.Name+".yaml"))
		}
	}
	slices.Sort(files)
	found, err := filepath.Glob(broken + "/*")
	if diff := cmp.Diff(files, found); diff != "" || err != nil {
		t.Error(diff, err)
	}
	together := map[string][]report.Finding{}
	for _, f := range lintFor(t, table, "", append([]string{lifecycles}, files...)...).Findings { // in a folder, files without an object would be skipped
		together[f.File] = append(together[f.File], f)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want := announced(t, file)
			alone := lintFor(t, table, "", lifecycles, file)
			if diff := cmp.Diff(want, rules(alone)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want, rules(report.Report{Findings: together[file]})); diff != "" {
				t.Errorf("together with the others: %s", diff)
			}
			for _, f := range alone.Findings {
				rule := catalogue[f.Rule]
				if f.Severity != rule.Severity {
					t.Errorf("%s is a %s in the catalogue and a %s in lint", f.Rule, rule.Severity, f.Severity)
				}
				general := rule.Object == finding.ObjectAny || rule.Object == finding.ObjectFile
				if !general && f.Object.Kind != rule.Object {
					t.Errorf("%s is about a %s in the catalogue and a %s in lint", f.Rule, rule.Object, f.Object.Kind)
				}
			}
		})
	}
}

// announced returns the rules in the first line of a broken example: "# rule, rule: description".
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

// A worker pool with a request for something that its profile does not offer boots an ordinary image. The output claims neither that the
// request is met, nor that the image fails it.
func TestExplainWhatCountsForNothing(t *testing.T) {
	r := runFor(table, "", "explain", broken+"/worker-request-ignored.yaml")
	if r.status != 0 {
		t.Fatalf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	contains(t, r.stdout, "nvidia (gpu.acceleratorType: nvidia-*), which is ignored\n",
		"      fits; for this worker pool: {architecture: [amd64]}\n")
}
