// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// action is the part of action.yml that a runner needs.
type action struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Name, Shell, Run string
			WorkingDirectory     string `json:"working-directory"`
			Env                  map[string]string
		}
	}
}

// readAction decodes action.yml strictly, because the test would ignore unknown fields.
func readAction(t *testing.T) (a action) {
	t.Helper()
	var all map[string]any
	if err := yaml.Unmarshal(read(t, root, "action.yml"), &all); err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{"name", "description", "branding"} { // on the Marketplace
		if all[shown] == nil {
			t.Errorf("action.yml has no %s", shown)
		}
		delete(all, shown)
	}
	content, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(content, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// expression matches the references that a runner replaces in a value: to an input, or to an output of a step.
var expression = regexp.MustCompile(`\$\{\{ (inputs|steps)\.([a-z0-9-]+)(?:\.outputs\.([a-z-]+))? \}\}`)

// runner runs the steps of a composite action like GitHub's runner.
type runner struct {
	// inputs are the inputs of the workflow, folder is its checkout, and home the action's checkout.
	inputs       map[string]string
	folder, home string
	// system and machine are RUNNER_OS and RUNNER_ARCH.
	system, machine string
}

// run runs the steps until one fails, and returns their output, and the outputs of the action: also those of the step that failed.
func (r runner) run(t *testing.T) (log string, outputs map[string]string, err error) {
	t.Helper()
	a := readAction(t)
	for name := range r.inputs {
		if _, known := a.Inputs[name]; !known {
			t.Fatalf("the action has no input %s", name)
		}
	}
	steps := map[string]map[string]string{}
	evaluate := func(value string) string {
		value = expression.ReplaceAllStringFunc(value, func(found string) string {
			parts := expression.FindStringSubmatch(found)
			if parts[1] == "steps" {
				return steps[parts[2]][parts[3]]
			}
			input, known := a.Inputs[parts[2]]
			if !known {
				t.Errorf("there is no input %s", parts[2])
			}
			if given, is := r.inputs[parts[2]]; is {
				return given
			}
			return input.Default
		})
		if strings.Contains(value, "${{") {
			t.Errorf("the test cannot say what %s is", value)
		}
		return value
	}
	temp := t.TempDir()
	path := "/usr/bin:/bin"
	var all bytes.Buffer
	for i, step := range a.Runs.Steps {
		if a.Runs.Using != "composite" || step.Shell != "bash" || strings.Contains(step.Run, "${{") {
			t.Fatalf("step %s: its shell is %s; a value in a script would be run", step.Name, step.Shell)
		}
		script, files := filepath.Join(temp, fmt.Sprintf("%d.sh", i)), filepath.Join(temp, fmt.Sprint(i))
		for name, content := range map[string]string{script: step.Run, files + ".path": "", files + ".output": ""} {
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		bash := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", script)
		bash.Dir = filepath.Join(r.folder, evaluate(step.WorkingDirectory))
		bash.Env = []string{
			"PATH=" + path, "HOME=" + temp, "GITHUB_ACTION_PATH=" + r.home, "RUNNER_TEMP=" + temp, "RUNNER_OS=" + r.system, "RUNNER_ARCH=" + r.machine,
			"GITHUB_PATH=" + files + ".path", "GITHUB_OUTPUT=" + files + ".output",
		}
		for name, value := range step.Env {
			bash.Env = append(bash.Env, name+"="+evaluate(value))
		}
		bash.Stdout, bash.Stderr = &all, &all
		err = bash.Run()
		for line := range strings.Lines(string(read(t, files+".path"))) {
			path = strings.TrimSpace(line) + ":" + path
		}
		steps[step.ID] = map[string]string{}
		for line := range strings.Lines(string(read(t, files+".output"))) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			steps[step.ID][name] = value
		}
		if err != nil {
			break
		}
	}
	outputs = map[string]string{}
	for name, output := range a.Outputs {
		outputs[name] = evaluate(output.Value)
	}
	return all.String(), outputs, err
}

// workflow returns the runner of a workflow whose checkout has the examples, and whose release is on a test server.
func workflow(t *testing.T, inputs map[string]string) runner {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix("/v1.2.3/", http.FileServer(http.Dir(packed))))
	t.Cleanup(server.Close)
	home, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"releases": server.URL, "version": "1.2.3"}
	maps.Copy(all, inputs)
	machine := map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
	return runner{inputs: all, folder: unpacked, home: home, system: "Linux", machine: machine}
}

func TestAction(t *testing.T) {
	const broken = "example/broken/provider-flavor-missing.yaml"
	for name, tc := range map[string]struct {
		inputs map[string]string
		well   bool
		want   string
		file   string
	}{
		"what is right": {map[string]string{"paths": "example/cloudprofile.yaml\nexample/shoot.yaml\n"}, true, "objects checked: no errors", ""},
		"what is wrong, as annotations": {
			map[string]string{"paths": broken}, false, "::error title=provider-flavor-missing,file=" + broken + ",line=28", "",
		},
		"another severity, and more flags": {
			map[string]string{"paths": "example/cloudprofile.yaml", "fail-on": "never", "args": "--gardener-version v1.149.3\n--domain demo"}, false, "--fail-on", "",
		},
		"a file for code scanning": {map[string]string{"paths": broken, "format": "sarif"}, false, "1 error", "capkit.sarif"},
		"another command in another folder": {
			map[string]string{"command": "select", "paths": "shoot.yaml\ncloudprofile.yaml", "working-directory": "example", "format": "json", "output": "answer.json"},
			true, "", "example/answer.json",
		},
		"a name that a shell would run": {map[string]string{"paths": "$(touch ran); `touch ran`"}, false, "no such file", ""},
		"no command":                    {map[string]string{"command": "none"}, true, "capkit version 1.2.3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := workflow(t, tc.inputs)
			log, outputs, err := r.run(t)
			if (err == nil) != tc.well || !strings.Contains(log, tc.want) {
				t.Errorf("%v, without %q: %s", err, tc.want, log)
			}
			if !strings.Contains(log, "capkit version 1.2.3+") || outputs["version"] != "1.2.3" {
				t.Errorf("%s: %v", log, outputs)
			}
			if _, err := os.Stat(filepath.Join(r.folder, "ran")); err == nil {
				t.Error("a path was run")
			}
			if !filepath.IsAbs(outputs["file"]) && outputs["file"] != "" || !strings.HasSuffix(outputs["file"], tc.file) {
				t.Errorf("the next step, in whatever folder, gets %q", outputs["file"])
			} else if tc.file != "" && !json.Valid(read(t, outputs["file"])) {
				t.Errorf("%s is no JSON", tc.file)
			}
		})
	}
}

// An archive with a wrong checksum is not unpacked, and the error tells the workflow's author what would work.
func TestActionInstallsNothingElse(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for name, tc := range map[string]struct {
		change func(*runner)
		want   string
	}{
		"another checksum": {func(r *runner) { r.inputs["sha256"] = sum }, ", and not " + sum + ": nothing of it is run"},
		"an archive that was changed": {func(r *runner) {
			tampered := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
				name := filepath.Base(request.URL.Path)
				content, err := os.ReadFile(filepath.Join(packed, name))
				if err == nil && name != "SHA256SUMS" {
					content = append(content, 0)
				}
				_, _ = io.Copy(w, bytes.NewReader(content))
			}))
			t.Cleanup(tampered.Close)
			r.inputs["releases"] = tampered.URL
		}, ": nothing of it is run"},
		"a release that there is not": {func(r *runner) { r.inputs["version"] = "1.2.4" }, "is 1.2.4 a release?"},
		"no version":                  {func(r *runner) { r.inputs["version"] = "newest" }, `version "newest" is no version: write it like 0.1.0`},
		"a path as version":           {func(r *runner) { r.inputs["version"] = "../v1.2.3" }, "is no version"},
		"another system":              {func(r *runner) { r.system = "Windows" }, "there is no archive for Windows on X64: run the job on Linux or macOS"},
		"another machine":             {func(r *runner) { r.machine = "ARM" }, "there is no archive for Linux on ARM"},
		"the action of no release": {func(r *runner) {
			r.inputs["version"], r.home = "", t.TempDir()
			if err := errors.Join(os.CopyFS(filepath.Join(r.home, "hack", "action"), os.DirFS(filepath.Join(root, "hack", "action"))),
				os.WriteFile(filepath.Join(r.home, "VERSION"), []byte("1.2.3-dev\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}, "this commit is not a release, but on the way to 1.2.3-dev: use capkit/capkit@vX.Y.Z, or set the input version"},
	} {
		t.Run(name, func(t *testing.T) {
			r := workflow(t, nil)
			r.machine = "X64" // it has an archive, or a checksum
			if runtime.GOARCH == "arm64" {
				r.machine = "ARM64"
			}
			tc.change(&r)
			log, outputs, err := r.run(t)
			if err == nil || outputs["version"] != "" || strings.Contains(log, "capkit version") {
				t.Errorf("it is installed: %s", log)
			}
			if !strings.Contains(log, "::error title=capkit::") || !strings.Contains(log, tc.want) {
				t.Errorf("not said: %q, but: %s", tc.want, log)
			}
		})
	}
}

// The action of a release installs that release.
func TestActionOfARelease(t *testing.T) {
	r := workflow(t, map[string]string{"version": "", "command": "none"})
	r.home = t.TempDir()
	if err := errors.Join(os.CopyFS(filepath.Join(r.home, "hack", "action"), os.DirFS(filepath.Join(root, "hack", "action"))),
		os.WriteFile(filepath.Join(r.home, "VERSION"), []byte("1.2.3\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if log, outputs, err := r.run(t); err != nil || outputs["version"] != "1.2.3" {
		t.Errorf("%v: %s", err, log)
	}
}
