// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the lists of modules")

// goIn runs the go command in a folder outside of this workspace, and returns its sorted output lines.
func goIn(t *testing.T, folder string, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=-mod=mod", "GONOSUMDB=*")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	return slices.Compact(lines)
}

// moduleFile is the output of go mod edit -json.
type moduleFile struct {
	Go      string
	Require []struct {
		Path, Version string
		Indirect      bool
	}
}

func fileOf(t *testing.T, folder string) (file moduleFile) {
	t.Helper()
	if err := json.Unmarshal([]byte(strings.Join(unsorted(t, folder), "\n")), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

func unsorted(t *testing.T, folder string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(out), "\n")
}

// modules lists the folders of the modules that others embed.
var modules = []string{".", "pkg/gardenerlib", "pkg/admission", "pkg/worker/kit", "internal/cli", "pkg/cli"}

// Each case is an extension that embeds packages of capkit, as a module of its own. testdata/module-*.txt has the resulting
// requirements, which contain no tools, and no test dependencies of ours.
func TestModulesOfAuthors(t *testing.T) {
	readDirectories(t)
	for name, imports := range map[string][]string{
		"decides":   {"pkg/provider", "pkg/provider/providertest", "pkg/check", "pkg/resolve", "pkg/update", "pkg/worker", "pkg/render", "pkg/namespaced"},
		"admission": {"pkg/admission"},
		"worker":    {"pkg/worker/kit", "pkg/worker/kit/command"},
		"command":   {"pkg/cli"},
	} {
		t.Run(name, func(t *testing.T) {
			file := embed(t, imports)
			var required []string
			for _, r := range file.Require {
				line := r.Path
				if strings.HasPrefix(r.Path, "github.com/gardener/gardener") {
					line += " " + r.Version
				}
				required = append(required, line)
			}
			slices.Sort(required)
			compare(t, name, append([]string{"go " + file.Go}, required...))
		})
	}
}

// embed creates a module with a program that imports packages of capkit, and returns its go.mod.
func embed(t *testing.T, imports []string) moduleFile {
	t.Helper()
	folder := t.TempDir()
	module := "module example.com/extension\n\ngo 1.26.0\n"
	var sums []byte
	for _, own := range modules {
		path, err := filepath.Abs(filepath.Join(root, own))
		if err != nil {
			t.Fatal(err)
		}
		module += fmt.Sprintf("\nreplace %s => %s\n", strings.TrimSuffix("github.com/capkit/capkit/"+strings.TrimPrefix(own, "."), "/"), path)
		sum, err := os.ReadFile(filepath.Join(path, "go.sum"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sum...)
	}
	program := "package main\n\n"
	for _, imported := range imports {
		program += fmt.Sprintf("import _ %q\n", "github.com/capkit/capkit/"+imported)
	}
	for name, content := range map[string]string{"go.mod": module, "go.sum": string(sums), "main.go": program + "\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	goIn(t, folder, "mod", "tidy")
	return fileOf(t, folder)
}

func compare(t *testing.T, name string, got []string) {
	t.Helper()
	file := filepath.Join("testdata", "module-"+name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(want)), "\n"), got); diff != "" {
		t.Errorf("%s (run go test ./test/imports -update after a change that is meant): %s", file, diff)
	}
}

// The root module supports the oldest Gardener that capkit supports, and requires no particular patch release of Go.
func TestTheRootModule(t *testing.T) {
	readDirectories(t)
	file := fileOf(t, root)
	if file.Go != "1.26.0" {
		t.Errorf("it demands go %s", file.Go)
	}
	for _, r := range file.Require {
		if strings.HasPrefix(r.Path, "github.com/gardener/") && (r.Path != "github.com/gardener/gardener/pkg/apis" || r.Version != "v1.145.0") {
			t.Errorf("it requires %s %s", r.Path, r.Version)
		}
	}
}

// Programs have the same dependencies in the workspace, where tests, archives and images build them, and in module cmd
// alone, as with go install.
func TestTheWorkspaceChangesNoVersion(t *testing.T) {
	readDirectories(t)
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}@{{.Version}}{{end}}", "./..."}
	folder := filepath.Join(root, "cmd")
	alone := goIn(t, folder, args...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	together := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(together)
	// In module cmd alone, the modules of this repository have a placeholder version.
	without := func(lines []string) []string {
		return slices.DeleteFunc(slices.Compact(lines), func(line string) bool { return strings.HasPrefix(line, "github.com/capkit/") })
	}
	if diff := cmp.Diff(without(alone), without(together)); diff != "" {
		t.Errorf("raise the versions in cmd/go.mod to those of test/go.mod and hack/go.mod: %s", diff)
	}
}
