// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capkit/capkit/pkg/cli"
)

// FuzzCommands passes any input to the commands, starting with the examples. They must not panic, must end with a valid status, must
// report known rules within the input, and must render without errors.
func FuzzCommands(f *testing.F) {
	for _, pattern := range []string{examples + "/*.yaml", broken + "/*.yaml", guide + "*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, file := range files {
			if filepath.Base(file) != "too-large.yaml" { // it takes each of 13 commands a second, which go test -fuzz treats as a hang
				f.Add(read(f, file))
			}
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
	newer, bank := read(f, root+"/docs/examples/newer-version.yaml"), read(f, examples+"/shoot-trusted-launch.yaml")
	f.Add(joined(newer, bank))
	for _, constraint := range []string{"", "x", "< 1.33.3"} {
		f.Add(joined(patched(f, newer, `[{op: add, path: /spec/machineImages/0/versions/1/kubeletVersionConstraint, value: "`+constraint+`"}]`), bank))
	}
	f.Add(joined(newer, patched(f, bank, `[{op: remove, path: /spec/provider/workers/0/machine/image}, `+
		`{op: add, path: /spec/provider/workers/1/kubernetes, value: {version: "1.33"}}]`)))
	f.Add(joined(read(f, examples+"/cloudprofile.yaml"), read(f, examples+"/shoot.yaml")))
	f.Add(read(f, workerProfile))
	f.Add(read(f, workerConfig))
	known := map[string]bool{}
	for _, rule := range cli.Rules(providers...) {
		known[rule.Name] = true
	}
	f.Fuzz(func(t *testing.T, input string) {
		for _, finding := range lint(t, input, "-").Findings {
			if !known[finding.Rule] || finding.Message == "" || finding.Line < 1 || finding.Column < 1 ||
				finding.Line > strings.Count(input, "\n")+strings.Count(input, "\r")+2 {
				t.Fatalf("%+v", finding)
			}
		}
		question := append(flavorQuestion, "-o", "json", "-")
		for _, command := range []string{"select", "explain"} {
			if r := run(t, input, append([]string{command}, question...)...); r.status == 0 && !json.Valid([]byte(r.stdout)) {
				t.Fatalf("%s: %s", command, r.stdout)
			}
			if r := run(t, input, command, "-"); r.status < 0 || r.status > 2 {
				t.Fatalf("%s: status %d", command, r.status)
			}
		}
		for _, args := range [][]string{{}, {"--no-webhook"}, {"--at=2030-02-01T00:00:00Z"}} {
			r := run(t, input, append([]string{"maintenance", "-o=json", "-"}, args...)...)
			if r.status == 0 && !json.Valid([]byte(r.stdout)) {
				t.Fatalf("maintenance %v: %s", args, r.stdout)
			}
		}
		for _, args := range [][]string{{"-", examples + "/cloudprofile.yaml"}, {examples + "/cloudprofile.yaml", "-"}} {
			r := run(t, input, append([]string{"plan", "-o=json"}, args...)...)
			if r.status < 2 && !json.Valid([]byte(r.stdout)) {
				t.Fatalf("plan %v: %s", args, r.stdout)
			}
		}
		ofConfig := append([]string{"select", "-o=json", "--worker-config=-"}, ofWorker("1.0.0", "medium")...)
		if r := run(t, input, ofConfig...); r.status == 0 && !json.Valid([]byte(r.stdout)) {
			t.Fatalf("with a worker config: %s", r.stdout)
		}
		if r := run(t, input, "lint", "-o", "json", "--reserved-in-core", "--allow-empty", "-"); r.status > 1 || !json.Valid([]byte(r.stdout)) {
			t.Fatalf("with reserved names in core: status %d\n%s", r.status, r.stdout)
		}
		if rendered := run(t, input, "render", "-o", "json", "-"); rendered.status == 0 {
			if r := run(t, rendered.stdout, "lint", "-"); r.status != 0 {
				t.Fatalf("rendered with errors: %s\n%s", r.stdout, rendered.stdout)
			}
		}
	})
}
