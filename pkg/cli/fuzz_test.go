// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
)

// FuzzCommands feeds the commands any input, beginning with the examples: no panic, a status that means something,
// findings of known rules within the input, and no errors in what is rendered.
func FuzzCommands(f *testing.F) {
	for _, pattern := range []string{examples + "/*.yaml", broken + "/*.yaml", guide + "*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Add(joined(cloudProfile(f), shoot(f)))
	f.Add(
		joined(patched(f, cloudProfile(f), `[{op: replace, path: /spec/regions/0/name, value: 5}]`), patched(f, shoot(f), `spec: {cloudProfile: {kind: Profile}}`)),
	)
	childShoot := patched(f, shoot(f), `spec: {cloudProfile: {kind: NamespacedCloudProfile, name: team}}`)
	for _, child := range []string{
		child(f), patched(f, child(f), `spec: {providerConfig: null}`),
		patched(f, child(f), `[{op: remove, path: /spec/machineImages/0/versions/1/capabilityFlavors}]`),
	} {
		f.Add(joined(parent(f), child, childShoot))
	}
	for _, path := range []string{workerProfile, workerConfig} {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	known := map[string]bool{}
	for _, rule := range cli.Rules(providers...) {
		known[rule.Name] = true
	}
	f.Fuzz(func(t *testing.T, input string) {
		status, stdout := fuzzRun(input, "lint", "-o", "json", "-")
		var report report.Report
		if err := json.Unmarshal(stdout, &report); err != nil {
			t.Fatalf("status %d: %v", status, err)
		}
		if status != min(report.Summary.Errors, 1) {
			t.Fatalf("status %d with %d errors", status, report.Summary.Errors)
		}
		for _, finding := range report.Findings {
			if !known[finding.Rule] || finding.Message == "" || finding.Line < 1 || finding.Column < 1 ||
				finding.Line > strings.Count(input, "\n")+strings.Count(input, "\r")+2 {
				t.Fatalf("%+v", finding)
			}
		}
		question := append(flavorQuestion, "-o", "json", "-")
		for _, command := range []string{"select", "explain"} {
			if status, stdout := fuzzRun(input, append([]string{command}, question...)...); status == 0 && !json.Valid(stdout) {
				t.Fatalf("%s: %s", command, stdout)
			}
			if status, _ := fuzzRun(input, command, "-"); status < 0 || status > 2 {
				t.Fatalf("%s: status %d", command, status)
			}
		}
		if status, stdout := fuzzRun(input, ofWorker("select", "1.0.0", "medium", "-o=json", "--worker-config=-")...); status == 0 && !json.Valid(stdout) {
			t.Fatalf("with a worker config: %s", stdout)
		}
		if status, stdout := fuzzRun(input, "lint", "-o", "json", "--reserved-in-core", "-"); status > 1 || !json.Valid(stdout) {
			t.Fatalf("with reserved names in core: status %d\n%s", status, stdout)
		}
		if status, rendered := fuzzRun(input, "render", "-o", "json", "-"); status == 0 {
			if status, stdout := fuzzRun(string(rendered), "lint", "-"); status != 0 {
				t.Fatalf("rendered with errors: %s\n%s", stdout, rendered)
			}
		}
	})
}

func fuzzRun(input string, args ...string) (int, []byte) {
	var stdout, stderr bytes.Buffer
	status := cli.Run(append([]string{"capkit"}, args...), strings.NewReader(input), &stdout, &stderr,
		cli.For(openstack.Provider{}), cli.For(local.Provider{}))
	return status, stdout.Bytes()
}
