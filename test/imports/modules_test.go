// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the lists of modules")

// goList runs go list in the root, without the workspace of this repository: as for somebody who requires its root module, and
// builds what images have.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS=linux")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	return slices.Compact(lines)
}

// Whoever embeds the packages that decide, or all that an extension may have of us, links the modules that testdata/*.txt lists; and
// gets into the graph of modules, besides these, what the tests of our packages need: no tool, and no test across packages.
func TestModulesOfAuthors(t *testing.T) {
	readDirectories(t)
	for name, packages := range map[string][]string{
		"decides": {"./pkg/provider", "./pkg/check", "./pkg/resolve", "./pkg/update", "./pkg/worker", "./pkg/render"},
		"all":     {"./cmd/..."},
	} {
		t.Run(name, func(t *testing.T) { compare(t, name, linked(t, packages...)) })
	}
	t.Run("tests", func(t *testing.T) { compare(t, "tests", onlyForTests(t)) })
}

// linked returns the modules of packages and of all that they import, the root module among them.
func linked(t *testing.T, packages ...string) []string {
	t.Helper()
	return goList(t, append([]string{"-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, packages...)...)
}

// onlyForTests returns the modules that go.mod requires directly, and nothing but tests imports.
func onlyForTests(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	needed := linked(t, "./pkg/...", "./cmd/...")
	var modules []string
	for _, required := range file.Require {
		if !required.Indirect && !slices.Contains(needed, required.Path) {
			modules = append(modules, required.Path)
		}
	}
	return modules
}

func compare(t *testing.T, name string, got []string) {
	t.Helper()
	file := filepath.Join("testdata", "modules-"+name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Fields(string(want)), got); diff != "" {
		t.Errorf("%s (run go test ./test/imports -update after a change that is meant): %s", file, diff)
	}
}

// Programs are the same whether they are built in the workspace, as tests do, or by the root module alone, as images do.
func TestTheWorkspaceChangesNoVersion(t *testing.T) {
	readDirectories(t)
	args := []string{"-deps", "-f", "{{with .Module}}{{.Path}}@{{.Version}}{{end}}", "./cmd/..."}
	alone := goList(t, args...)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	together := strings.Fields(string(out))
	slices.Sort(together)
	if diff := cmp.Diff(alone, slices.Compact(together)); diff != "" {
		t.Errorf("raise the versions in go.mod to those of test/go.mod and hack/go.mod: %s", diff)
	}
}
