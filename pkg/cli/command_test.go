// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
)

var flavorQuestion = []string{"--image=gardenlinux", "--version=1877.5.0", "--machine-type=medium_4_8", "--region=europe"}

// asking returns the arguments of a command with a question by flags.
func asking(args ...string) []string { return append(args, flavorQuestion...) }

func TestExitStatus(t *testing.T) {
	profile, missing := examples+"/cloudprofile.yaml", broken+"/provider-flavor-missing.yaml"
	unused, namespaced := broken+"/provider-image-unused.yaml", examples+"/namespacedcloudprofile.yaml"
	const several = "--profile, one of openstack-full, openstack-legacy, local, openstack-mixed, openstack-trusted-launch, openstack, garden-demo/team"
	for name, tc := range map[string]struct {
		args   []string
		status int
		stderr string
	}{
		"clean":               {[]string{"lint", profile}, 0, "1 object checked: no errors, no warnings"},
		"error":               {[]string{"lint", missing}, 1, "1 error"},
		"warning":             {[]string{"lint", unused}, 0, "1 warning"},
		"warning that counts": {[]string{"lint", "--fail-on=warning", unused}, 1, "1 warning"},
		"selected":            {asking("select", profile), 0, ""},
		"none fits": {
			append([]string{"select", profile}, "--image=gardenlinux", "--version=1", "--machine-type=medium_4_8", "--region=europe"), 1, "",
		},
		"explained":                   {asking("explain", profile), 0, ""},
		"no file":                     {[]string{"lint"}, 2, "no FILE given"},
		"file that does not exist":    {[]string{"lint", "nowhere.yaml", "nowhere.json"}, 2, "nowhere.json"},
		"unknown flag":                {[]string{"lint", "--colour", profile}, 2, "--colour"},
		"unknown format":              {[]string{"lint", "-o", "xml", profile}, 2, "json, junit, sarif, text, yaml"},
		"format that select lacks":    {asking("select", "-o", "sarif", profile), 2, "json, text, yaml"},
		"unknown --fail-on":           {[]string{"lint", "--fail-on=info", profile}, 2, "error or warning"},
		"no domain":                   {[]string{"lint", "--domain=", profile}, 2, "--domain is empty: name the domain, or leave the flag out"},
		"a domain":                    {[]string{"lint", "--domain", "demo", profile}, 0, "no errors, no warnings"},
		"domain of a question":        {asking("select", "--domain=demo", profile), 2, "unknown flag: --domain"},
		"unknown --order":             {asking("select", "--order=best", profile), 2, "gep33 or gardener"},
		"unknown command":             {[]string{"selct", profile}, 2, "capkit: Did you mean this?\ncapkit: select\n"},
		"half a question":             {[]string{"select", "--image=gardenlinux", "--region=europe", profile}, 2, "--version, --machine-type missing"},
		"no profile":                  {asking("select", examples+"/namespacedcloudprofile.yaml", "--profile=x"), 2, "CloudProfile x is not among the inputs"},
		"several profiles":            {asking("select", examples), 2, several},
		"the profile that is named":   {asking("select", examples, "--profile=openstack"), 0, ""},
		"profile of unknown provider": {asking("select", broken+"/provider-unknown.yaml"), 2, "local, openstack"},
		"profile that cannot be read": {asking("select", broken+"/field-type.yaml"), 1, "expected a list of strings"},
		"profile of a namespace":      {asking("select", examples, "--profile=garden-demo/team"), 0, ""},
		"profile by its bare name":    {asking("explain", examples, "--profile=team"), 0, ""},
		"profile without its parent": {
			asking("select", namespaced), 2, "CloudProfile openstack, is not among the inputs, and there is no status.cloudProfileSpec",
		},
		"profile with its parent": {
			[]string{"select", namespaced, profile, "--image=gardenlinux", "--version=2000.1.0", "--machine-type=large_16_32", "--region=europe"}, 0, "",
		},
		"no profile of that namespace": {
			asking("select", namespaced, "--profile=garden-demo/x"), 2, "NamespacedCloudProfile garden-demo/x is not among the inputs, which have garden-demo/team",
		},
		"rendered":                    {[]string{"render", namespaced, profile}, 0, ""},
		"rendered, the one named":     {[]string{"render", "--profile=garden-demo/team", examples}, 0, ""},
		"rendered, the one of a name": {[]string{"render", "--profile=team", examples}, 0, ""},
		"nothing to render":           {[]string{"render", profile}, 2, "no NamespacedCloudProfile among the inputs"},
		"nothing of that name": {
			[]string{"render", "--profile=x", namespaced}, 2, "NamespacedCloudProfile x is not among the inputs, which have garden-demo/team",
		},
		"several to render": {
			[]string{"render", broken + "/namespaced-format.yaml", namespaced}, 2, "say --profile, one of garden-demo/namespaced-format, garden-demo/team",
		},
		"render without the parent":   {[]string{"render", namespaced}, 1, "CloudProfile openstack is not among the inputs"},
		"render something broken":     {[]string{"render", broken + "/namespaced-format.yaml"}, 1, "[namespaced-format]"},
		"render in an unknown format": {[]string{"render", "-o", "sarif", namespaced}, 2, "json, text, yaml"},
		"shoot without its profile":   {[]string{"select", examples + "/shoot.yaml"}, 1, "CloudProfile openstack is not among the inputs"},
		"profile for a Shoot":         {[]string{"select", examples + "/shoot.yaml", profile, "--profile=openstack"}, 2, "a Shoot names its profile itself"},
		"profile with errors":         {asking("select", missing), 0, "note: CloudProfile provider-flavor-missing has 1 error"},
		"region that the profile lacks": {
			append([]string{"select", examples + "/cloudprofile-local.yaml"}, "--image=local", "--version=1.0.0", "--machine-type=arm-medium", "--region=mars"), 0,
			"note: region mars is not in the profile, which has local",
		},
		"completion":                   {[]string{"completion", "bash"}, 0, ""},
		"help":                         {[]string{"help", "lint"}, 0, ""},
		"version":                      {[]string{"--version"}, 0, ""},
		"standard input without input": {[]string{"lint", "-"}, 0, "no objects checked"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, "", tc.args...)
			if r.status != tc.status || !strings.Contains(r.stderr, tc.stderr) {
				t.Errorf("status %d, want %d\nstdout: %s\nstderr: %s", r.status, tc.status, r.stdout, r.stderr)
			}
			if tc.status == 2 && r.stdout != "" {
				t.Errorf("on standard output although nothing was done: %s", r.stdout)
			}
		})
	}
}

// The program of a test does not say which Gardener is in it.
func TestVersion(t *testing.T) {
	text := "capkit version " + cli.Version + "\n"
	for args, want := range map[string]string{
		"--version": text, "version": text, "version -o yaml": "version: dev\n", "version -o json": "{\n  \"version\": \"dev\"\n}\n",
		"version -o sarif": "", "version now": "",
	} {
		if r := run(t, "", strings.Fields(args)...); r.stdout != want || (r.status == 2) != (want == "") {
			t.Errorf("%s: status %d: %q", args, r.status, r.stdout)
		}
	}
}

func TestKubectlPlugin(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := cli.Run([]string{"/usr/local/bin/kubectl-capkit", "lint"}, nil, &stdout, &stderr); status != 2 {
		t.Error(status)
	}
	if want := "kubectl capkit: no FILE given"; !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("%q", stderr.String())
	}
	stdout.Reset()
	cli.Run([]string{"kubectl-capkit", "lint", "--help"}, nil, &stdout, &stderr)
	contains(t, stdout.String(), "  kubectl capkit lint cloudprofile.yaml")
}

func TestCompletionOfChoices(t *testing.T) {
	r := run(t, "", "__complete", "lint", "--output", "")
	contains(t, r.stdout, "json\n", "junit\n", "sarif\n", "text\n", "yaml\n")
}

// A terminal is the only place for colour; a file is not one.
func TestNoColourInFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var stderr bytes.Buffer
	cli.Run([]string{"capkit", "lint", guide + "openstack-new.yaml"}, nil, file, &stderr, cli.For(local.Provider{}))
	if text := read(t, path); !strings.Contains(text, ": error: ") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}

// Gardener's validation ranges over maps, which shows where several names are unknown.
func TestOutputIsTheSameOnEveryRun(t *testing.T) {
	manifest := patched(t, cloudProfile(t), `
- {op: replace, path: /spec/machineImages/0/versions/0/capabilityFlavors/1, value: {architecture: [arm64], a: [x], b: [x], c: [x], d: [x]}}
- {op: replace, path: /spec/machineTypes/0/capabilities, value: {architecture: [x86], a: [x], b: [x], c: [x]}}
- {op: add, path: /spec/machineCapabilities/0/values/-, value: riscv64}
- {op: add, path: /spec/machineCapabilities/-, value: {name: e/, values: [""]}}
- {op: add, path: /spec/machineCapabilities/-, value: {name: f/, values: []}}
`)
	for _, args := range [][]string{{"lint", "-o", "json", broken}, {"lint", "-o", "json", "-"}, {"lint", "-o", "json", "--reserved-in-core", "-"}} {
		first := run(t, manifest, args...)
		if first.status != 1 {
			t.Errorf("status %d", first.status)
		}
		for range 20 {
			if again := run(t, manifest, args...); again != first {
				t.Fatal(cmp.Diff(first.stdout, again.stdout))
			}
		}
	}
}

// faulty is a provider with a mistake in what its workers ask for.
type faulty struct{ local.Provider }

type faultyConfig struct{ metav1.TypeMeta }

func (faulty) Workers() provider.Workers {
	return provider.WorkersOf(provider.WorkerConfig[faultyConfig]{
		Kind: schema.GroupVersionKind{Group: "local", Version: "v1", Kind: "WorkerConfig"},
		Capabilities: []capability.Definition{
			{Name: "aws-secureEnclave", Values: []string{"on"}}, {Name: "gardener-bootType", Values: []string{"secure"}},
		},
	})
}

func TestFaultyProviderIsFoundAtTheStart(t *testing.T) {
	for _, args := range [][]string{{"kubectl-capkit", "lint", workerProfile}, {"kubectl-capkit", "--help"}, {"kubectl-capkit"}} {
		var stdout, stderr bytes.Buffer
		status := cli.Run(args, nil, &stdout, &stderr, cli.For(faulty{}))
		lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
		if status != 2 || stdout.Len() > 0 || len(lines) != 2 {
			t.Errorf("status %d: %s%s", status, stdout.String(), stderr.String())
		}
		for _, line := range lines {
			if !strings.HasPrefix(line, "kubectl capkit: provider local: worker capability ") {
				t.Error(line)
			}
		}
	}
}
