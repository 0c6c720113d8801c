// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// In reservedProfile core's flavors declare what those of the provider config declare.
func reservedProfile(t *testing.T) string {
	t.Helper()
	return replaced(t, read(t, workerProfile), "        minVersionForUpdate: 1.0.0\n      capabilityFlavors:\n      - architecture: [amd64]\n", `        minVersionForUpdate: 1.0.0
      capabilityFlavors:
      - architecture: [amd64]
      - architecture: [amd64]
        gardener-bootType: [secure, standard]
      - architecture: [amd64]
        gardener-bootType: [secure]
        gardener-gpuSupport: [nvidia]
`)
}

// coreSays returns what core says about a manifest, as lines of text, without and with --reserved-in-core.
func coreSays(t *testing.T, manifest string) (today, later []string) {
	t.Helper()
	for _, says := range []struct {
		lines *[]string
		args  []string
	}{{&today, nil}, {&later, []string{"--reserved-in-core"}}} {
		for _, f := range lint(t, manifest, append(says.args, "-")...).Findings {
			if f.Rule == "gardener-core" {
				*says.lines = append(*says.lines, f.Field+": "+f.Message)
			}
		}
	}
	return today, later
}

func TestReservedInCore(t *testing.T) {
	registered := func(t *testing.T, name, values string) string {
		t.Helper()
		return replaced(t, reservedProfile(t), "    values: [enabled, disabled]\n", "    values: [enabled, disabled]\n  - name: "+name+"\n    values: "+values+"\n")
	}
	const (
		flavor  = "spec.machineImages[0].versions[1].capabilityFlavors"
		refused = `Forbidden: the "gardener-" prefix is reserved for Gardener-core capabilities`
	)
	for name, tc := range map[string]struct {
		manifest string
		today    int
		later    []string
	}{
		"core flavors":   {reservedProfile(t), 3, nil},
		"registered":     {registered(t, "gardener-bootType", "[secure, standard]"), 2, nil},
		"none of them":   {read(t, workerProfile), 0, nil},
		"a machine type": {replaced(t, read(t, workerProfile), "openstack-trustedLaunch: [disabled]\n", "openstack-trustedLaunch: [disabled]\n      gardener-bootType: [standard]\n"), 1, nil},
		"registered bare": {registered(t, "gardener-bootType", "[]"), 6, []string{
			`spec.machineCapabilities.gardener-bootType: Required value: capability values must not be empty`,
			flavor + `[1].gardener-bootType[0]: Unsupported value: "secure"`, flavor + `[1].gardener-bootType[1]: Unsupported value: "standard"`,
			flavor + `[2].gardener-bootType[0]: Unsupported value: "secure"`,
		}},
		"registered with less": {registered(t, "gardener-bootType", "[standard]"), 4, []string{
			flavor + `[1].gardener-bootType[0]: Unsupported value: "secure": supported values: "standard"`,
			flavor + `[2].gardener-bootType[0]: Unsupported value: "secure": supported values: "standard"`,
		}},
		"another name": {registered(t, "gardener-foo", "[a]"), 4, []string{"spec.machineCapabilities[2].name: " + refused}},
		"another name in a flavor": {replaced(t, reservedProfile(t), "gardener-gpuSupport: [nvidia]\n", "gardener-foo: [a]\n"), 3, []string{
			flavor + `[2]: Unsupported value: "gardener-foo": supported values: "architecture", "gardener-bootType", "gardener-gpuSupport", "gardener-updateType", "openstack-trustedLaunch"`,
		}},
		"another value": {replaced(t, reservedProfile(t), "gardener-gpuSupport: [nvidia]\n", "gardener-gpuSupport: [voodoo]\n"), 3, []string{
			flavor + `[2].gardener-gpuSupport[0]: Unsupported value: "voodoo": supported values: "amd", "intel", "none", "nvidia"`,
		}},
		"what else core demands": {replaced(t, reservedProfile(t), "      - architecture: [amd64]\n        gardener-bootType: [secure]\n", "      - gardener-bootType: [secure]\n"), 4, []string{
			flavor + `[2].architecture: Required value: must specify one architecture explicitly as multiple architectures are defined in spec.machineCapabilities`,
		}},
		"a profile that happens to use the disguise": {strings.ReplaceAll(registered(t, "gardener.0.bootType", "[secure, standard]"), "gardener-bootType", "gardener.0.bootType"), 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			today, later := coreSays(t, tc.manifest)
			if len(today) != tc.today {
				t.Errorf("today %q", today)
			}
			if diff := cmp.Diff(tc.later, later); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Who registers one of Gardener's own reads that this is not needed; of another name with the prefix that would be wrong.
func TestHintWhereAReservedNameIsRegistered(t *testing.T) {
	const hint = "; leave it out: gardener-bootType is known without being registered, and declared on flavors of the provider config only"
	for name, want := range map[string]string{"gardener-bootType": hint, "gardener-foo": ""} {
		profile := replaced(t, read(t, workerProfile), "    values: [enabled, disabled]\n", "    values: [enabled, disabled]\n  - name: "+name+"\n    values: [secure, standard]\n")
		today, _ := coreSays(t, profile)
		if diff := cmp.Diff([]string{`spec.machineCapabilities[2].name: Forbidden: the "gardener-" prefix is reserved for Gardener-core capabilities` + want}, today); diff != "" {
			t.Error(diff)
		}
	}
}

// A profile without a vocabulary stays one.
func TestReservedInCoreNeedsAVocabulary(t *testing.T) {
	legacy := replaced(t, read(t, examples+"/cloudprofile-legacy.yaml"), "  machineTypes:\n", "  machineTypes:\n  - name: x\n    cpu: \"1\"\n    gpu: \"0\"\n    memory: 1Gi\n    capabilities: {gardener-bootType: [secure]}\n")
	today, later := coreSays(t, legacy)
	if diff := cmp.Diff(today, later); diff != "" || len(today) == 0 {
		t.Error(today, diff)
	}
}

func TestReservedInCoreOfNamespacedCloudProfiles(t *testing.T) {
	own := strings.ReplaceAll(childProfile, "      - architecture: [amd64]\n", "      - architecture: [amd64]\n        gardener-bootType: [secure]\n")
	own = replaced(t, own, "            architecture: [amd64]\n          regions", "            architecture: [amd64]\n            gardener-bootType: [secure]\n          regions")
	registering := replaced(t, parentProfile, "    values: [amd64, arm64]\n", "    values: [amd64, arm64]\n  - name: gardener-bootType\n    values: [secure, standard]\n")
	machine := replaced(t, childProfile, "    capabilities:\n      architecture: [amd64]\n", "    capabilities:\n      architecture: [amd64]\n      gardener-bootType: [x]\n")
	const unsupported = `spec.machineTypes[0].capabilities.gardener-bootType[0]: Unsupported value: "x": supported values: "secure", "standard"`
	for name, tc := range map[string]struct {
		manifest string
		today    int
		later    []string
	}{
		"core flavors":             {parentProfile + own, 1, nil},
		"registered by the parent": {registering + own, 1, nil},
		"value of a machine type":  {parentProfile + machine, 1, []string{unsupported}},
		"value, name registered":   {registering + machine, 1, []string{unsupported}},
		"without the parent":       {own, 0, nil},
		"name that is not among them": {parentProfile + strings.ReplaceAll(own, "gardener-bootType", "gardener-foo"), 1, []string{
			`spec.machineImages[0].versions[1].capabilityFlavors[0]: Unsupported value: "gardener-foo": supported values: "architecture", "gardener-bootType", "gardener-gpuSupport", "gardener-updateType"`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			today, later := coreSays(t, tc.manifest)
			if len(today) != tc.today {
				t.Errorf("today %q", today)
			}
			if diff := cmp.Diff(tc.later, later); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is rendered with the option is right with the option.
func TestRenderReservedInCore(t *testing.T) {
	registering := replaced(t, parentProfile, "    values: [amd64, arm64]\n", "    values: [amd64, arm64]\n  - name: gardener-bootType\n    values: [secure, standard]\n")
	if r := run(t, registering+childProfile, "render", "-"); r.status != 1 || r.stdout != "" {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	r := run(t, registering+childProfile, "render", "--reserved-in-core", "-")
	if r.status != 0 || strings.Count(r.stdout, "gardener-bootType") != 1 {
		t.Fatalf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	if found := rules(lint(t, r.stdout, "--reserved-in-core", "-")); len(found) > 0 {
		t.Error(found)
	}
}

// The option changes nothing that does not have to do with reserved names.
func TestReservedInCoreChangesNothingElse(t *testing.T) {
	for _, path := range []string{examples, broken, guide} {
		today, later := lint(t, "", path), lint(t, "", "--reserved-in-core", path)
		if diff := cmp.Diff(len(today.Findings), len(later.Findings)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		for _, f := range later.Findings {
			if strings.Contains(f.Message+f.Field, "gardener.") && !strings.Contains(f.Message, "gardener.cloud") {
				t.Error(f)
			}
		}
		if !slices.Equal(rules(today), rules(later)) {
			t.Error(rules(today), rules(later))
		}
	}
}
