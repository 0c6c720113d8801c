// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/testing/cases"
)

const (
	workerProfile = "testdata/manifests/worker-profile.yaml"
	workerConfig  = "testdata/manifests/worker-config.yaml"
)

// ofWorker returns the arguments of a question about the profile for worker capabilities.
func ofWorker(version, machineType string, more ...string) []string {
	question := []string{workerProfile, "--image=gardenlinux", "--region=europe"}
	return append(append(question, "--version="+version, "--machine-type="+machineType), more...)
}

// The output and exit status of commands.
func TestCommands(t *testing.T) {
	for _, archive := range []string{
		"questions", "guides", "select", "unread", "worker-configs", "worker-shoots", "maintenance", "left-to-gardener", "versions", "machine-types-only",
		"lifecycles", "migrate-reserved", "registration",
	} {
		t.Run(archive, func(t *testing.T) { cases.Run(t, "testdata/"+archive+".txtar", commands(providers)) })
	}
}

func TestSelectFormats(t *testing.T) {
	refused := []string{guide + "openstack-new-repaired.yaml", "--image=gardenlinux", "--version=1877.5.0", "--machine-type=bare_8_16", "--region=asia"}
	for name, args := range map[string][]string{
		"found":               asking(examples + "/cloudprofile.yaml"),
		"refused":             refused,
		"shoot":               {examples + "/shoot.yaml", examples + "/cloudprofile.yaml"},
		"worker-in-place":     ofWorker("2.0.0", "medium", "--secure-boot", "--update-strategy=AutoInPlaceUpdate"),
		"worker-machine":      ofWorker("1.0.0", "old", "--worker-config="+workerConfig),
		"worker-gpu":          ofWorker("2.0.0", "medium", "--gpu=amd"),
		"worker-unregistered": asking(examples+"/cloudprofile.yaml", "--worker-config="+workerConfig),
	} {
		for _, command := range []string{"select", "explain"} {
			for _, format := range []string{"text", "json", "yaml"} {
				if format == "yaml" && strings.HasPrefix(name, "worker-") {
					continue // it has nothing new
				}
				t.Run(command+" "+name+" "+format, func(t *testing.T) {
					r := run(t, "", append([]string{command, "-o", format}, args...)...)
					if want := map[string]string{"refused": "note: region asia is not in the profile, which has europe-1\n"}[name]; r.stderr != want {
						t.Error(r.stderr)
					}
					golden(t, command+"-"+name+"."+format, r.stdout)
				})
			}
		}
	}
}

func TestWorkerConfigThatIsNotUTF8(t *testing.T) {
	r := run(t, "a\xff", append([]string{"select"}, ofWorker("1.0.0", "medium", "--worker-config=-")...)...)
	if r.status != 1 || !strings.HasSuffix(r.stderr, "[syntax]\n") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
}

// A worker pool with in-place updates is advised only versions whose support core declares, because Gardener refuses all others, whatever
// their flavors declare.
func TestAdviceForUpdatesInPlace(t *testing.T) {
	text := strings.NewReplacer(
		"    - version: 2150.4.0\n      inPlaceUpdates:", "    - version: 2150.5.0\n    - version: 2150.3.0\n    - version: 2150.4.0\n      inPlaceUpdates:",
		"      versions:\n      - version: 2150.4.0\n", `      versions:
      - version: 2150.5.0
        capabilityFlavors:
        - {capabilities: {architecture: [amd64], gardener-update-type: [rolling, in-place]}, regions: [{name: europe, id: "5"}]}
      - {version: 2150.3.0, regions: [{name: europe, id: "3"}]}
      - version: 2150.4.0
`, "          version: 2150.4.0\n", "          version: 2150.3.0\n").Replace(read(t, root+"/docs/examples/in-place/folded.yaml"))
	for args, want := range map[string]string{
		"lint --feature-gates=InPlaceNodeUpdates=true -": "it has [rolling]; would work: version 2150.4.0 [worker-request-unmet]",
		"select --shoot archive -":                       "Would work:\n  version 2150.4.0\n",
	} {
		if r := run(t, text, strings.Fields(args)...); r.status != 1 || !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "2150.5.0") {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// What a misspelt machine type cannot boot is reported once for many versions and regions. JSON has each of them.
func TestSelectSaysOnceWhatAllLack(t *testing.T) {
	args := []string{"select", "--image=gardenlinux", "--machine-type=medium_4_9", examples + "/cloudprofile.yaml"}
	r := run(t, "", args...)
	if r.status != 1 || strings.Count(r.stdout, "no image") != 2 { // the versions differ in what would work
		t.Errorf("%+v", r)
	}
	contains(t, r.stdout, "gardenlinux@1877.5.0 on medium_4_9 in europe: no image\n  machine type medium_4_9 is not in the profile\n",
		"  machine type bare_8_16\nThe same for gardenlinux@1877.5.0 on medium_4_9 in asia\ngardenlinux@1592.9.0 on medium_4_9 in europe: no image\n")
	if n := strings.Count(run(t, "", append(args, "-o=json")...).stdout, `"error": `); n != 4 {
		t.Errorf("%d of 4 in JSON", n)
	}
}
