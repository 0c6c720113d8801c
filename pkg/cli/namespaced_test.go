// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parentProfile is clean, and ends with its provider config.
const parentProfile = `apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata:
  name: openstack
spec:
  type: openstack
  regions: [{name: europe, zones: [{name: europe-1a}]}]
  kubernetes:
    versions:
    - version: 1.33.2
    - version: 1.32.7
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
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    keystoneURL: https://keystone.example.com/v3/
    constraints: {floatingPools: [{name: fp-pool-1}], loadBalancerProviders: [{name: haproxy}]}
    machineImages:
    - name: gardenlinux
      versions:
      - version: 1877.5.0
        capabilityFlavors:
        - capabilities:
            architecture: [amd64]
          regions: [{name: europe, id: img-1}]
`

// childProfile is clean together with parentProfile, and ends with its provider config.
const childProfile = `---
apiVersion: core.gardener.cloud/v1beta1
kind: NamespacedCloudProfile
metadata:
  name: team
  namespace: garden-demo
spec:
  parent:
    kind: CloudProfile
    name: openstack
  machineTypes:
  - name: large
    cpu: "16"
    gpu: "0"
    memory: 32Gi
    capabilities:
      architecture: [amd64]
  machineImages:
  - name: gardenlinux
    versions:
    - version: 1877.5.0
      expirationDate: "2037-12-31T00:00:00Z"
    - version: 2000.1.0
      cri: [{name: containerd}]
      capabilityFlavors:
      - architecture: [amd64]
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    machineImages:
    - name: gardenlinux
      versions:
      - version: 2000.1.0
        capabilityFlavors:
        - capabilities:
            architecture: [amd64]
          regions: [{name: europe, id: img-2}]
`

const (
	coreFlavors   = "      capabilityFlavors:\n      - architecture: [amd64]\n"
	childMetadata = "  name: team\n  namespace: garden-demo\n"
	deleted       = "  deletionTimestamp: \"2026-01-01T00:00:00Z\"\n"
)

// childShoot is a Shoot of childProfile with what that brings.
func childShoot(t *testing.T) string {
	t.Helper()
	s := replaced(t, shoot, "    kind: CloudProfile\n    name: openstack\n", "    kind: NamespacedCloudProfile\n    name: team\n")
	return "---\n" + replaced(t, replaced(t, s, "type: medium", "type: large"), "version: 1877.5.0", "version: 2000.1.0")
}

// withoutConfig returns a profile without its provider config.
func withoutConfig(profile string) string {
	return profile[:strings.Index(profile, "  providerConfig:")]
}

func TestLintNamespacedCloudProfile(t *testing.T) {
	child := func(part, by string) string { return parentProfile + replaced(t, childProfile, part, by) }
	for name, tc := range map[string]struct {
		manifest string
		want     []string
	}{
		"clean":                             {parentProfile + childProfile + childShoot(t), nil},
		"clean, the child first":            {strings.TrimPrefix(childProfile, "---\n") + "---\n" + parentProfile, nil},
		"clean, with nothing of its own":    {parentProfile + childProfile[:strings.Index(childProfile, "  machineTypes:")], nil},
		"flavors left to the provider's":    {replaced(t, parentProfile, coreFlavors, "") + replaced(t, childProfile, coreFlavors, "") + childShoot(t), nil},
		"flavors that do not follow either": {replaced(t, parentProfile, coreFlavors, "      architectures: [arm64]\n"), []string{"provider-flavor-missing 25 spec.machineImages[0].versions[0]", "gardener-core 25 spec.machineImages[0].versions[0].capabilityFlavors", "provider-flavor-unexpected 37 spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0]"}},
		"override without an expiration date, which only admission demands": {
			child("      expirationDate: \"2037-12-31T00:00:00Z\"\n", ""),
			[]string{"gardener-core 61 spec.machineImages[0].versions[0].expirationDate"},
		},
		"override with flavors, said once": {
			child("      expirationDate: \"2037-12-31T00:00:00Z\"\n", "      expirationDate: \"2037-12-31T00:00:00Z\"\n"+coreFlavors),
			[]string{"namespaced-version-inherited 63 spec.machineImages[0].versions[0].capabilityFlavors"},
		},
		"override with architectures, which admission takes for flavors, said once": {
			child("      expirationDate: \"2037-12-31T00:00:00Z\"\n", "      expirationDate: \"2037-12-31T00:00:00Z\"\n      architectures: [amd64]\n"),
			[]string{"namespaced-version-inherited 63 spec.machineImages[0].versions[0].architectures"},
		},
		"override with a classification": {
			child("      expirationDate: \"2037-12-31T00:00:00Z\"\n", "      expirationDate: \"2037-12-31T00:00:00Z\"\n      classification: deprecated\n"),
			[]string{"gardener-core 63 spec.machineImages[0].versions[0].classification"},
		},
		"a Kubernetes version that the parent lacks": {
			child("  machineTypes:\n", "  kubernetes:\n    versions: [{version: 1.30.1, expirationDate: \"2037-12-31T00:00:00Z\"}]\n  machineTypes:\n"),
			[]string{"gardener-core 52 spec.kubernetes.versions"},
		},
		"an expiration date for the latest Kubernetes version": {
			child("  machineTypes:\n", "  kubernetes:\n    versions: [{version: 1.33.2, expirationDate: \"2037-12-31T00:00:00Z\"}]\n  machineTypes:\n"),
			[]string{"gardener-core 52 spec.kubernetes.versions[].expirationDate"},
		},
		"a capability that the parent does not register": {
			child("      architecture: [amd64]\n  machineImages:", "      architecture: [amd64]\n      storage: [fast]\n  machineImages:"),
			[]string{"gardener-core 56 spec.machineTypes[0].capabilities"},
		},
		"an image that core refuses when merged": {
			child("      - architecture: [amd64]\n  providerConfig:", "      - {architecture: [amd64], storage: [fast]}\n  providerConfig:"),
			[]string{"gardener-core 66 spec.machineImages[0].versions[1].capabilityFlavors[0]"},
		},
		"the object itself is wrong": {
			child("cpu: \"16\"", "cpu: \"-1\""), []string{"gardener-core 53 spec.machineTypes[0].cpu"},
		},
		"a flavor without an image": {
			child("      - architecture: [amd64]\n  providerConfig:", "      - architecture: [amd64]\n      - architecture: [arm64]\n  providerConfig:"),
			[]string{"provider-flavor-missing 67 spec.machineImages[0].versions[1].capabilityFlavors[1]"},
		},
		"a parent with errors of its own": {
			replaced(t, parentProfile, "1.32.7", "1.33.2") + childProfile, []string{"gardener-core 11 spec.kubernetes.versions[1].version"},
		},
		"a parent of an unknown provider": {
			replaced(t, parentProfile, "type: openstack", "type: stackit") + replaced(t, childProfile, "      expirationDate: \"2037-12-31T00:00:00Z\"\n", "") + childShoot(t),
			[]string{"provider-unknown 6 spec.type", "gardener-core 61 spec.machineImages[0].versions[0].expirationDate"},
		},
		"a parent that cannot be read": {
			replaced(t, parentProfile, "cpu: \"4\"", "cpu: [4]") + childProfile + childShoot(t),
			[]string{"field-type 17 spec.machineTypes[0].cpu", "profile-unreadable 87 spec.cloudProfile.name"},
		},
		"a parent that is not there": {
			childProfile + childShoot(t), []string{"profile-missing 10 spec.parent.name", "pool-not-checked 47 spec.cloudProfile.name"},
		},
		"no parent, but a status": {
			childProfile + "status:\n  cloudProfileSpec:\n" + indented(strings.SplitAfterN(parentProfile, "spec:\n", 2)[1]) + childShoot(t),
			[]string{"profile-missing 10 spec.parent.name", "unknown-machine-type 99 spec.provider.workers[0].machine.type"},
		},
		"a status that is older than the manifest": {
			parentProfile + childProfile + "status:\n  cloudProfileSpec:\n" + indented(strings.SplitAfterN(parentProfile, "spec:\n", 2)[1]) + childShoot(t), nil,
		},
		"a kind of parent that there is not": {
			child("    kind: CloudProfile\n    name", "    kind: Profile\n    name") + childShoot(t),
			[]string{"gardener-core 49 spec.parent.kind", "profile-unreadable 87 spec.cloudProfile.name"},
		},
		"a child that is being deleted, with a Shoot that is not": {
			parentProfile + replaced(t, withoutConfig(childProfile), childMetadata, childMetadata+deleted) + childShoot(t),
			[]string{"unknown-version 95 spec.provider.workers[0].machine.image.version"},
		},
		"a child that is being deleted, with a config that nobody can merge": {
			parentProfile + replaced(t, childProfile, childMetadata, childMetadata+deleted)[:strings.Index(childProfile, "    machineImages:\n")+len(deleted)] + "    machineImages: 5\n" + childShoot(t),
			[]string{"profile-unreadable 81 spec.cloudProfile.name"},
		},
		"a Shoot with what neither has": {
			parentProfile + childProfile + replaced(t, childShoot(t), "type: large", "type: huge"),
			[]string{"unknown-machine-type 102 spec.provider.workers[0].machine.type"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, places(t, tc.manifest)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
