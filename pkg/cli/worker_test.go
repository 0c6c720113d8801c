// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/test/cases"
)

const (
	workerProfile = "testdata/worker/cloudprofile.yaml"
	workerConfig  = "testdata/worker/workerconfig.yaml"
)

// ofWorker is a question about the profile for worker capabilities.
func ofWorker(command, version, machineType string, more ...string) []string {
	return append([]string{command, workerProfile, "--image=gardenlinux", "--region=europe", "--version=" + version, "--machine-type=" + machineType}, more...)
}

// written writes a file for a single test.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWorkerFlagsDecide(t *testing.T) {
	for name, tc := range map[string]struct {
		version, machineType string
		flags                []string
		want                 string
	}{
		"nothing asked for":                {"2.0.0", "medium", nil, " on medium in europe boots id plain-2\n"},
		"trusted launch":                   {"1.0.0", "medium", []string{"--worker-config=" + workerConfig}, "(trustedLaunch.enabled: true) boots id trusted\n"},
		"trusted launch, and another type": {"1.0.0", "old", []string{"--worker-config=" + workerConfig}, "machine type medium\n"},
		"secure boot":                      {"2.0.0", "medium", []string{"--secure-boot"}, "(secure boot) boots id signed-2\n"},
		"no secure boot":                   {"2.0.0", "medium", []string{"--secure-boot=false"}, " on medium in europe boots id plain-2\n"},
		"rolling updates":                  {"1.0.0", "medium", []string{"--update-strategy=AutoRollingUpdate"}, " on medium in europe boots id plain\n"},
		"updates in place":                 {"2.0.0", "medium", []string{"--update-strategy=AutoInPlaceUpdate"}, "boots id plain-2\n"},
		"manual updates in place":          {"1.0.0", "medium", []string{"--update-strategy=ManualInPlaceUpdate"}, "Would work:\n  version 2.0.0\n"},
		"GPU":                              {"2.0.0", "medium", []string{"--gpu=nvidia", "--secure-boot"}, "(secure boot, GPU of type nvidia) boots id nvidia-2\n"},
		"GPU of another type":              {"2.0.0", "medium", []string{"--gpu=voodoo"}, "(GPU of type voodoo) boots id plain-2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, "", ofWorker("select", tc.version, tc.machineType, tc.flags...)...)
			if !strings.HasSuffix(r.stdout, tc.want) {
				t.Errorf("got %s%s, want %s", r.stdout, r.stderr, tc.want)
			}
		})
	}
}

func TestWorkerFormats(t *testing.T) {
	config := "--worker-config=" + workerConfig
	for name, args := range map[string][]string{
		"in-place": ofWorker("", "2.0.0", "medium", "--secure-boot", "--update-strategy=AutoInPlaceUpdate"),
		"machine":  ofWorker("", "1.0.0", "old", config),
		"gpu":      ofWorker("", "2.0.0", "medium", "--gpu=amd"),
		"unregistered": {"", examples + "/cloudprofile.yaml", "--image=gardenlinux", "--region=europe",
			"--version=1877.5.0", "--machine-type=medium_4_8", config},
	} {
		for _, command := range []string{"select", "explain"} {
			for _, format := range []string{"text", "json"} {
				t.Run(command+" "+name+" "+format, func(t *testing.T) {
					r := run(t, "", append([]string{command, "-o", format}, args[1:]...)...)
					if r.stderr != "" {
						t.Error(r.stderr)
					}
					golden(t, command+"-worker-"+name+"."+format, r.stdout)
				})
			}
		}
	}
}

// Machine type and worker pool can exclude a flavor together, though it goes with each of them.
func TestExcludedByMachineAndWorker(t *testing.T) {
	profile := patched(t, read(t, workerProfile), `
- op: replace
  path: /spec/machineImages/0/versions/0/capabilityFlavors/1/openstack-trustedLaunch
  value: [enabled, disabled]
- op: replace
  path: /spec/providerConfig/machineImages/0/versions/0/capabilityFlavors/1/capabilities/openstack-trustedLaunch
  value: [enabled, disabled]
`)
	args := []string{"--image=gardenlinux", "--region=europe", "--version=1.0.0", "--machine-type=old", "--worker-config=" + workerConfig, "-"}
	text := run(t, profile, append([]string{"explain"}, args...)...).stdout
	want := "out by the machine type and worker pool together: it has openstack-trustedLaunch [enabled, disabled], the machine type [disabled], " +
		"the worker pool asks for [enabled]\n"
	contains(t, text, want)
	var by []string
	for _, r := range decoded[answer](t, run(t, profile, append([]string{"select", "-o=json"}, args...)...)).Rejected {
		by = append(by, r.ExcludedBy)
	}
	if diff := cmp.Diff([]string{"worker", "machine-and-worker", "machine"}, by); diff != "" {
		t.Error(diff)
	}
}

const goodConfig = "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\nkind: WorkerConfig\n"

// notKnown is the refusal of a worker pool whose config has errors.
func notKnown(fault string) string {
	return ": no image\n  the worker's providerConfig has errors, so it is not known what it asks for: " + fault
}

// What is wrong in a worker config is found at its place, and the question is answered if there is something to ask.
func TestWorkerConfigWithErrors(t *testing.T) {
	asked := func(t *testing.T, path string) string {
		t.Helper()
		r := run(t, "", ofWorker("select", "1.0.0", "medium", "--worker-config="+path)...)
		return ended(r.status, r.stderr+r.stdout, []string{path})
	}
	cases.Run(t, "testdata/worker-configs.txtar", func(c *cases.Case) string { return asked(c.T(), manifests(c)[0]) })
	t.Run("text, not UTF8", func(t *testing.T) {
		if got := asked(t, written(t, "c.yaml", "a\xff")); !strings.HasPrefix(got, "status 1\n") || !strings.HasSuffix(got, "[syntax]\n") {
			t.Error(got)
		}
	})
}

// Where it is not known what a worker pool asks for, no command promises an image in any format.
func TestNoPromiseWithoutAWorkerConfig(t *testing.T) {
	misspelt := "--worker-config=" + written(t, "c.yaml", goodConfig+"trustedLaunch: {enable: true}\n")
	for _, command := range []string{"select", "explain"} {
		args := ofWorker(command, "1.0.0", "medium", misspelt)
		text := run(t, "", args...).stdout
		if strings.Contains(text, "boots") || strings.Contains(text, "fits") || !strings.Contains(text, notKnown("unknown field")) {
			t.Error(text)
		}
		r := run(t, "", append(args, "-o=json")...)
		a := decoded[answer](t, r)
		if r.status != 1 || a.Reference != nil || a.Error == "" || len(a.Rejected) != 1 ||
			a.Rejected[0].Reason != "worker-config" || a.Rejected[0].Message != a.Error {
			t.Errorf("status %d: %s", r.status, r.stdout)
		}
	}
	text := run(t, "", ofWorker("explain", "1.0.0", "medium", misspelt)...).stdout
	contains(t, text, "  openstack-trustedLaunch   enabled, disabled   enabled, disabled     not known\n")
	// What is wrong otherwise is said all the same.
	contains(t, run(t, "", ofWorker("select", "1.0.0", "huge", misspelt)...).stdout, "machine type huge is not in the profile")
}

func TestRequestedIsAlwaysThere(t *testing.T) {
	for _, args := range [][]string{
		append([]string{"select", examples + "/cloudprofile.yaml"}, flavorQuestion...), ofWorker("explain", "1.0.0", "medium"), ofWorker("select", "1.0.0", "huge"),
	} {
		var implied []string
		for _, r := range decoded[answer](t, run(t, "", append(args, "-o=json")...)).Requested {
			if r.Implied {
				implied = append(implied, r.Capability)
			}
		}
		if diff := cmp.Diff([]string{"gardener-bootType", "gardener-updateType"}, implied); diff != "" {
			t.Errorf("%v: %s", args, diff)
		}
	}
}

// What a flavor supports by leaving it out decides comparisons, so it is shown.
func TestExplainWhatNobodyAsksFor(t *testing.T) {
	text := run(t, "", ofWorker("explain", "1.0.0", "medium")...).stdout
	contains(t, text,
		"fits; for this worker pool: {architecture: [amd64]}, and openstack-trustedLaunch [enabled, disabled] while nobody asks for it\n",
		"fits; for this worker pool: {architecture: [amd64], openstack-trustedLaunch: [enabled]}\n",
		"the second most preferred value of openstack-trustedLaunch is disabled against nothing -> A\n",
	)
	text = run(t, "", ofWorker("explain", "1.0.0", "old")...).stdout
	contains(t, text, "{architecture: [amd64]}, and openstack-trustedLaunch [disabled] while nobody asks for it\n")
	text = run(t, "", ofWorker("explain", "1.0.0", "medium", "--worker-config="+workerConfig)...).stdout
	if strings.Contains(text, "while nobody asks") {
		t.Error(text)
	}
	profile := patched(t, read(t, workerProfile), `[{op: add, path: /spec/machineCapabilities/-, value: {name: gardener-gpuSupport, values: [nvidia, none]}}]`)
	text = run(t, profile, append(slices.Delete(ofWorker("explain", "1.0.0", "medium"), 1, 2), "-")...).stdout
	const both = ", and gardener-gpuSupport [nvidia, none], openstack-trustedLaunch [enabled, disabled] while nobody asks for them\n"
	contains(t, text, both)
}

func TestWorkerConfigFromStandardInput(t *testing.T) {
	asJSON := `{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "WorkerConfig", "trustedLaunch": {"enabled": true}}`
	for _, config := range []string{read(t, workerConfig), asJSON} {
		r := run(t, config, ofWorker("select", "1.0.0", "medium", "--worker-config=-")...)
		if r.status != 0 || !strings.HasSuffix(r.stdout, "boots id trusted\n") {
			t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
		}
	}
	if r := run(t, "", ofWorker("select", "1.0.0", "medium", "--worker-config=-")...); r.status != 1 || !strings.HasPrefix(r.stderr, "<stdin>:1:1: error:") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}

func TestWorkerFlagsThatMeanNothing(t *testing.T) {
	question := ofWorker("select", "1.0.0", "medium")
	shoots := []string{"select", examples + "/shoot.yaml", examples + "/cloudprofile.yaml"}
	for name, tc := range map[string]struct {
		args   []string
		stderr string
	}{
		"unknown update strategy":         {append(question, "--update-strategy=Auto"), "use AutoRollingUpdate, AutoInPlaceUpdate or ManualInPlaceUpdate"},
		"empty update strategy":           {append(question, "--update-strategy="), `unknown --update-strategy ""`},
		"empty GPU":                       {append(question, "--gpu="), "--gpu is empty"},
		"empty worker config":             {append(question, "--worker-config="), "--worker-config is empty"},
		"worker config that is not there": {append(question, "--worker-config=nowhere.yaml"), "nowhere.yaml: no such file"},
		"directory":                       {append(question, "--worker-config="+examples), "is a directory"},
		"standard input twice":            {append(question, "--worker-config=-", "-"), "standard input is a FILE already"},
		"no question":                     {[]string{"select", workerProfile, "--secure-boot"}, "--machine-type, --region missing"},
		"worker config for Shoots":        {append(shoots, "--worker-config="+workerConfig), "--worker-config goes with a question by flags: a Shoot's"},
		"secure boot for Shoots":          {append(shoots, "--secure-boot"), "--secure-boot goes with a question by flags: a Shoot's"},
		"no secure boot for Shoots":       {append(shoots, "--secure-boot=false"), "--secure-boot goes with a question by flags: a Shoot's"},
		"update strategy for Shoots":      {append(shoots, "--update-strategy=AutoRollingUpdate"), "--update-strategy goes with a question by flags: a Shoot's"},
		"GPU for Shoots":                  {append(shoots, "--gpu=amd"), "--gpu goes with a question by flags: a Shoot's"},
		"provider whose workers ask nothing": {[]string{
			"select", examples + "/cloudprofile-local.yaml", "--image=local", "--version=1.0.0", "--machine-type=arm-medium", "--region=local",
			"--worker-config=" + workerConfig,
		},
			"--worker-config changes nothing: worker pools of provider local ask"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := run(t, "", tc.args...); r.status != 2 || r.stdout != "" || !strings.Contains(r.stderr, tc.stderr) {
				t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
			}
		})
	}
	const note = "note: images support GPUs of the types nvidia, amd, intel, so "
	for gpu, want := range map[string]string{"voodoo": "\n", "NVIDIA": "; did you mean nvidia?\n", "Amd": "; did you mean amd?\n"} {
		if r := run(t, "", append(question, "--gpu="+gpu)...); r.stderr != note+gpu+" asks for one without GPU support"+want {
			t.Error(r.stderr)
		}
	}
}

// With Shoots among the files a question by flags is answered, and not the Shoots' questions.
func TestWorkerFlagsBesideShoots(t *testing.T) {
	r := run(t, shoot(t), ofWorker("select", "1.0.0", "medium", "--worker-config="+workerConfig, "-")...)
	if r.status != 0 || strings.Contains(r.stdout, "shop") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}

func TestShootsThatAskForCapabilities(t *testing.T) {
	cases.Run(t, "testdata/worker-shoots.txtar", func(c *cases.Case) string {
		paths := manifests(c)
		r := run(c.T(), "", append([]string{"select", workerProfile}, paths...)...)
		return ended(r.status, r.stderr+r.stdout, paths)
	})
}

// Provider local reads no providerConfig of workers, so nothing in it is in doubt.
func TestWorkerConfigThatNobodyReads(t *testing.T) {
	const local = `apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: shop, namespace: garden-demo}
spec:
  cloudProfile: {kind: CloudProfile, name: local}
  region: local
  provider:
    type: local
    workers:
    - name: web
      machine: {type: arm-medium, image: {name: local, version: 1.0.0}}
      providerConfig: {a: 1, a: 2}
`
	r := run(t, local, "select", examples+"/cloudprofile-local.yaml", "-")
	if r.status != 1 || !strings.Contains(r.stdout, " boots ") || !strings.Contains(r.stderr, "[duplicate-key]") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}

// A pool may leave its image, or the version, to Gardener.
func TestSelectWithoutImageOrVersion(t *testing.T) {
	for without, want := range map[string]string{
		"/image":         "garden-demo/shop, worker pool web: no image named, on medium in europe: no image\n",
		"/image/version": "garden-demo/shop, worker pool web: gardenlinux, no version named, on medium in europe: no image\n",
	} {
		manifest := patched(t, shoot(t), "- {op: remove, path: /spec/provider/workers/0/machine"+without+"}")
		for _, command := range []string{"select", "explain"} {
			if r := run(t, manifest, command, workerProfile, "-"); r.status != 1 || !strings.Contains(r.stdout, want) {
				t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
			}
		}
	}
}

// What a pool asks for beside that which its answer is about is not lost: as findings at their place, or as notes.
func TestRequestsThatTheAnswerIsNotAbout(t *testing.T) {
	profile := patched(t, read(t, workerProfile), `
- {op: replace, path: /spec/machineCapabilities/1/values, value: [disabled]}
- {op: add, path: /spec/machineCapabilities/-, value: {name: gardener-bootType, values: [standard]}}
`)
	args := []string{"select", "-", "--image=gardenlinux", "--region=europe", "--version=1.0.0", "--secure-boot", "--worker-config=" + workerConfig}
	r := run(t, profile, append(args, "--machine-type=medium")...)
	if r.status != 1 || !strings.HasPrefix(r.stderr, workerConfig+":3:1: error: trustedLaunch.enabled: true asks for ") ||
		!strings.Contains(r.stdout, "  secure boot asks for ") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	r = run(t, profile, append(args, "--machine-type=unknown")...)
	if r.status != 1 || !strings.Contains(r.stderr, "\nnote: secure boot asks for gardener-bootType [secure]") ||
		!strings.Contains(r.stdout, "  machine type unknown is not in the profile\n") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}

// Who has nothing to do with worker capabilities does not read of them.
func TestExplainOrdinaryPools(t *testing.T) {
	for _, profile := range []string{"cloudprofile.yaml", "cloudprofile-legacy.yaml", "cloudprofile-mixed.yaml"} {
		r := run(t, "", append([]string{"explain", examples + "/" + profile}, flavorQuestion...)...)
		if r.stdout == "" || strings.Contains(r.stdout, "gardener-") || strings.Contains(r.stdout, "worker pool") {
			t.Errorf("%s: %s%s", profile, r.stdout, r.stderr)
		}
	}
}

func TestCompletionOfWorkerFlags(t *testing.T) {
	for flag, want := range map[string]string{
		"--update-strategy": "AutoRollingUpdate\nAutoInPlaceUpdate\nManualInPlaceUpdate\n:4\n",
		"--gpu":             "nvidia\namd\nintel\n:4\n",
		"--worker-config":   "yaml\nyml\njson\n:8\n",
	} {
		for _, command := range []string{"select", "explain"} {
			if r := run(t, "", "__complete", command, flag, ""); r.stdout != want {
				t.Errorf("%s %s: %q", command, flag, r.stdout)
			}
		}
	}
}
