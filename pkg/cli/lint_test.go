// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cloudProfile is clean as it stands; its last line may be followed by more regions.
const cloudProfile = `apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata:
  name: openstack
spec:
  type: openstack
  machineCapabilities:
  - name: architecture
    values: [amd64, arm64]
  machineTypes:
  - name: medium
    cpu: "4"
    gpu: "0"
    memory: 8Gi
    capabilities:
      architecture: [amd64]
  machineImages:
  - name: gardenlinux
    versions:
    - version: 1877.5.0
      capabilityFlavors:
      - architecture: [amd64]
      - architecture: [arm64]
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    keystoneURL: https://keystone.example.com/v3/
    machineImages:
    - name: gardenlinux
      versions:
      - version: 1877.5.0
        capabilityFlavors:
        - capabilities:
            architecture: [amd64]
          image: gardenlinux-amd64
    constraints:
      {floatingPools: [{name: fp-pool-1}], loadBalancerProviders: [{name: haproxy}]}
  kubernetes: {versions: [{version: 1.33.2}]}
  regions:
  - {name: europe, zones: [{name: europe-1a}]}
`

const shoot = `apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata:
  name: shop
  namespace: garden-demo
spec:
  cloudProfile:
    kind: CloudProfile
    name: openstack
  region: europe
  credentialsBindingName: openstack
  kubernetes:
    version: 1.33.2
  networking: {type: cilium, nodes: 10.250.0.0/16}
  provider:
    type: openstack
    infrastructureConfig: {apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: InfrastructureConfig, floatingPoolName: fp-pool-1, networks: {workers: 10.250.0.0/16}}
    controlPlaneConfig: {apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: ControlPlaneConfig, loadBalancerProvider: haproxy}
    workers:
    - name: web
      minimum: 1
      maximum: 1
      machine:
        type: medium
        image:
          name: gardenlinux
          version: 1877.5.0
      volume:
        {type: default, size: 20Gi}
      zones: [europe-1a]
`

// places renders findings as rule, line and field.
func places(t *testing.T, manifest string) []string {
	t.Helper()
	var places []string
	for _, f := range lint(t, manifest, "-").Findings {
		places = append(places, fmt.Sprintf("%s %d %s", f.Rule, f.Line, f.Field))
	}
	return places
}

// replaced returns a text with a part of it replaced, which must be there.
func replaced(t *testing.T, text, part, by string) string {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Fatalf("%q is not in the text", part)
	}
	return strings.Replace(text, part, by, 1)
}

func TestLintFindsEverythingAtItsPlace(t *testing.T) {
	clean := replaced(t, replaced(t, cloudProfile, "      - architecture: [arm64]\n", ""), "image: gardenlinux-amd64", "regions: [{name: europe, id: img-1}]")
	ncp := "apiVersion: core.gardener.cloud/v1beta1\nkind: NamespacedCloudProfile\nmetadata: {name: team, namespace: garden-demo}\nspec:\n  parent: {kind: CloudProfile, name: openstack}\n"
	ncpShoot := replaced(t, replaced(t, shoot, "kind: CloudProfile", "kind: NamespacedCloudProfile"), "name: openstack", "name: team")
	for name, tc := range map[string]struct {
		manifest string
		want     []string
	}{
		"clean":           {clean, nil},
		"clean with more": {clean + "---\n" + shoot + "---\n" + ncp, nil},
		"unknown field of core": {
			replaced(t, clean, "  regions:\n", "  region: europe\n  regions:\n"), []string{"unknown-field 38 spec.region"},
		},
		"unknown field of the provider config": {
			replaced(t, clean, "regions: [{name: europe, id: img-1}]", "regions: [{name: europe, ID: img-1}]"),
			[]string{"unknown-field 34 spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0].regions[0].ID"},
		},
		"a number where an ID belongs, and nothing about what follows from it": {
			replaced(t, clean, "id: img-1", "id: 1234"),
			[]string{"field-type 34 spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0].regions[0].id"},
		},
		"wrong types in core and everything else still checked": {
			replaced(t, clean, "cpu: \"4\"", "cpu: [4]") + "---\n" + replaced(t, clean, "name: openstack", "name: other") + "  - name: europe\n",
			[]string{"field-type 12 spec.machineTypes[0].cpu", "gardener-core 80 spec.regions[1].name"},
		},
		"wrong apiVersion": {
			replaced(t, clean, "core.gardener.cloud/v1beta1", "core.gardener.cloud/v1"), []string{"object-kind 1 apiVersion"},
		},
		"wrong kind": {
			replaced(t, clean, "kind: CloudProfile\n", "kind: Cloudprofile\n"), []string{"object-kind 2 kind"},
		},
		"wrong kind in the provider config": {
			replaced(t, clean, "kind: CloudProfileConfig", "kind: CloudProfile"), []string{"provider-config-kind 25 spec.providerConfig.kind"},
		},
		"neither kind nor apiVersion in the provider config": {
			replaced(t, clean, "    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\n    kind: CloudProfileConfig\n", ""),
			[]string{"provider-config-kind 23 spec.providerConfig.apiVersion", "provider-config-kind 23 spec.providerConfig.kind"},
		},
		"provider config that is null": {
			clean[:strings.Index(clean, "  providerConfig:")] + "  providerConfig: null\n" + clean[strings.Index(clean, "  kubernetes:"):],
			[]string{"provider-config-missing 23 spec.providerConfig"},
		},
		"several at once, in the order of the file": {
			replaced(t, replaced(t, cloudProfile, "[amd64, arm64]", "[amd64, arm64, amd64]"), "          image:", "          regions: [{name: europe, id: x}, {name: europe, id: ''}]\n          image:"),
			[]string{
				"capability-value-duplicate 9 spec.machineCapabilities[0].values[2]",
				"provider-flavor-missing 23 spec.machineImages[0].versions[0].capabilityFlavors[1]",
				"region-duplicate 35 spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0].regions[1].name",
				"reference-missing 35 spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0].regions[1].id",
			},
		},
		"two objects of one name": {
			clean + "---\n" + clean, []string{"object-duplicate 44 metadata.name"},
		},
		"a name in two namespaces": {
			clean + "---\n" + shoot + "---\n" + replaced(t, shoot, "garden-demo", "garden-other"), nil,
		},
		"namespace left to the client": {
			clean + "---\n" + replaced(t, shoot, "  namespace: garden-demo\n", "") + "---\n" + replaced(t, ncp, ", namespace: garden-demo", ""), nil,
		},
		"profile of a Shoot missing": {shoot, []string{"profile-missing 9 spec.cloudProfile.name"}},
		"profile without a kind": {
			clean + "---\n" + replaced(t, replaced(t, shoot, "    kind: CloudProfile\n", ""), "type: medium", "type: large"),
			[]string{"unknown-machine-type 63 spec.provider.workers[0].machine.type"},
		},
		"by the older field": {
			replaced(t, shoot, "  cloudProfile:\n    kind: CloudProfile\n    name: openstack\n", "  cloudProfileName: elsewhere\n"),
			[]string{"profile-missing 7 spec.cloudProfileName"},
		},
		"parent missing": {ncp, []string{"profile-missing 5 spec.parent.name"}},
		"namespaced profile of a Shoot missing": {
			clean + "---\n" + ncpShoot, []string{"profile-missing 49 spec.cloudProfile.name"},
		},
		"unknown machine type": {
			clean + "---\n" + replaced(t, shoot, "type: medium", "type: large"),
			[]string{"unknown-machine-type 64 spec.provider.workers[0].machine.type"},
		},
		"nothing fits": {
			replaced(t, clean, "      architecture: [amd64]\n", "      architecture: [arm64]\n") + "---\n" + shoot,
			[]string{"machine-type-without-image 11 spec.machineTypes[0]", "no-image-fits 64 spec.provider.workers[0].machine.type"},
		},
		"a Shoot that is being deleted": {
			clean + "---\n" + replaced(t, replaced(t, shoot, "type: medium", "type: large"), "  name: shop\n", "  name: shop\n  deletionTimestamp: \"2026-01-01T00:00:00Z\"\n"), nil,
		},
		"profiles that are being deleted, with a Shoot that is not": {
			replaced(t, replaced(t, cloudProfile, "  name: openstack\n", "  name: openstack\n  deletionTimestamp: \"2026-01-01T00:00:00Z\"\n"), "- {name: europe,", "- {name: europe, zones: [{name: europe-1a}]}\n  - {name: europe,") +
				"---\n" + replaced(t, replaced(t, ncp, "name: openstack", "name: gone"), "name: team", "name: team, deletionTimestamp: \"2026-01-01T00:00:00Z\"") +
				"---\n" + replaced(t, shoot, "type: medium", "type: large"),
			[]string{"unknown-machine-type 73 spec.provider.workers[0].machine.type"},
		},
		"image left to Gardener": {
			clean + "---\n" + replaced(t, shoot, "        image:\n          name: gardenlinux\n          version: 1877.5.0\n", ""), nil,
		},
		"image left to Gardener, and a machine type that there is not": {
			clean + "---\n" + replaced(t, replaced(t, shoot, "        image:\n          name: gardenlinux\n          version: 1877.5.0\n", ""), "type: medium", "type: large"),
			[]string{"unknown-machine-type 64 spec.provider.workers[0].machine.type"},
		},
		"a word for a version": {
			clean + "---\n" + replaced(t, shoot, "version: 1877.5.0", "version: latest"), []string{"unknown-version 67 spec.provider.workers[0].machine.image.version"},
		},
		"a version that the provider config lacks": {
			replaced(t, clean, "      - version: 1877.5.0\n        capabilityFlavors:", "      - version: 1877.6.0\n        capabilityFlavors:") + "---\n" + shoot,
			[]string{"provider-version-missing 20 spec.machineImages[0].versions[0]", "provider-version-unused 30 spec.providerConfig.machineImages[0].versions[0]", "unknown-version 67 spec.provider.workers[0].machine.image.version"},
		},
		"another region": {
			clean + "---\n" + replaced(t, shoot, "region: europe", "region: mars"), []string{"unknown-region 50 spec.region"},
		},
		"another architecture": {
			clean + "---\n" + replaced(t, shoot, "        type: medium\n", "        type: medium\n        architecture: arm64\n"),
			[]string{"pool-architecture-mismatch 65 spec.provider.workers[0].machine.architecture"},
		},
		"part of the version left to Gardener": {
			clean + "---\n" + replaced(t, shoot, "version: 1877.5.0", "version: \"1877\""), nil,
		},
		"rendered NamespacedCloudProfile": {
			clean + "---\n" + ncp + "status:\n  cloudProfileSpec:\n" + indented(strings.SplitAfterN(clean, "spec:\n", 2)[1]) + "---\n" +
				replaced(t, ncpShoot, "type: medium", "type: large"),
			[]string{"unknown-machine-type 106 spec.provider.workers[0].machine.type"},
		},
		"list": {
			"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimRight(cloudProfile, "\n"), "\n", "\n  ") + "\n",
			[]string{
				"provider-flavor-missing 26 spec.machineImages[0].versions[0].capabilityFlavors[1]",
				"image-name-fallback 38 spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0].image",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, places(t, tc.manifest)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What keeps a Shoot from an answer is a finding of select, at its place.
func TestSelectSaysWhyAShootHasNoAnswer(t *testing.T) {
	unread := replaced(t, cloudProfile, "  regions:\n  - {name: europe, zones: [{name: europe-1a}]}\n", "  regions: 5\n")
	for name, tc := range map[string]struct {
		manifest, want string
		status         int
	}{
		"a kind that there is not":     {unread + "---\n" + replaced(t, shoot, "kind: CloudProfile", "kind: Profile"), "names no CloudProfile or NamespacedCloudProfile [profile-missing]", 1},
		"no profile":                   {cloudProfile + "---\n" + replaced(t, shoot, "  cloudProfile:\n    kind: CloudProfile\n    name: openstack\n", ""), "names no CloudProfile or NamespacedCloudProfile [profile-missing]", 1},
		"a profile that is unreadable": {unread + "---\n" + shoot, "[profile-unreadable]", 1},
		"a provider that is unknown":   {replaced(t, cloudProfile, "type: openstack", "type: stackit") + "---\n" + shoot, "not stackit [provider-unknown]", 1},
		"another region":               {cloudProfile + "---\n" + replaced(t, shoot, "region: europe", "region: mars"), "region mars is not in the profile, which has europe [unknown-region]", 1},
		"a profile with errors":        {cloudProfile + "---\n" + shoot, "note: CloudProfile openstack has 1 error", 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range []string{"select", "explain"} {
				if r := run(t, tc.manifest, command, "-"); r.status != tc.status || !strings.Contains(r.stderr, tc.want) {
					t.Errorf("%s: status %d\n%s%s", command, r.status, r.stdout, r.stderr)
				}
			}
		})
	}
}

func indented(text string) string {
	return "  " + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n  "), "  ")
}

// Input that is meant to hurt gets one clear finding, and what stands beside it is still checked.
func TestHostileInput(t *testing.T) {
	bomb := "x:\n- &a [" + strings.Repeat("x,", 50) + "]\n"
	for c := 'b'; c < 'm'; c++ {
		bomb += fmt.Sprintf("- &%c [%s]\n", c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 50))
	}
	for name, tc := range map[string]struct{ manifest, want string }{
		"alias bomb":         {"apiVersion: v1\nkind: A\n" + bomb, "too-large"},
		"deep nesting":       {"apiVersion: v1\nkind: A\nx: " + strings.Repeat("[", 100000), "too-large"},
		"deep nesting, JSON": {`{"a":` + strings.Repeat(`{"a":`, 100000), "too-large"},
		"binary":             {"\x00\x01\x02", "syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			report := lint(t, tc.manifest+"\n---\n"+cloudProfile, "-")
			if got := rules(report); got[len(got)-1] != tc.want && got[0] != tc.want {
				t.Errorf("got %v, want %s among them", got, tc.want)
			}
		})
	}
	t.Run("100 MB", func(t *testing.T) {
		report := lint(t, strings.Repeat("# nothing but comments\n", 100<<20/23), "-")
		if diff := cmp.Diff([]string{"too-large"}, rules(report)); diff != "" {
			t.Error(diff)
		}
	})
}

// A profile that is missing may be in what could not be read, and then the message says where.
func TestMissingProfileMayBeUnread(t *testing.T) {
	const given = "is not among the inputs: give its manifest as well"
	broken := replaced(t, cloudProfile, "type: openstack", "type: [openstack")
	known := replaced(t, cloudProfile, "type: openstack", "type: .inf") // which JSON cannot say, while the rest is read
	for name, tc := range map[string]struct{ manifest, want string }{
		"no YAML":                {broken, "repair <stdin>:6, if its manifest is there"},
		"a value that cannot be": {known, "repair <stdin>:6, if its manifest is there"},
		"of another name":        {replaced(t, known, "name: openstack", "name: other"), given},
		"of another kind":        {replaced(t, known, "kind: CloudProfile", "kind: Seed"), given},
		"a key twice in another": {replaced(t, replaced(t, cloudProfile, "name: openstack", "name: other"), "spec:\n", "kind: CloudProfile\nspec:\n"), given},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range []string{"lint", "select"} {
				r := run(t, tc.manifest+"---\n"+shoot, command, "-")
				if r.status != 1 || !strings.Contains(r.stdout+r.stderr, tc.want) {
					t.Errorf("%s: status %d, %s%s", command, r.status, r.stdout, r.stderr)
				}
			}
		})
	}
}
