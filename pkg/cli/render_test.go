// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/cli"
)

// legacyParent and legacyChild say the same as parentProfile and childProfile, in the legacy format.
func legacyParent(t *testing.T) string {
	t.Helper()
	p := replaced(t, parentProfile, "  machineCapabilities:\n  - name: architecture\n    values: [amd64, arm64]\n", "")
	p = replaced(t, replaced(t, p, "    capabilities:\n      architecture: [amd64]\n", ""), coreFlavors, "")
	return replaced(t, p, "        capabilityFlavors:\n        - capabilities:\n            architecture: [amd64]\n          regions:", "        regions:")
}

func legacyChild(t *testing.T) string {
	t.Helper()
	c := replaced(t, childProfile, "    capabilities:\n      architecture: [amd64]\n", "    architecture: amd64\n")
	c = replaced(t, c, coreFlavors, "      architectures: [amd64]\n")
	return replaced(t, c, "        capabilityFlavors:\n        - capabilities:\n            architecture: [amd64]\n          regions:", "        regions:")
}

// rendered returns what render prints, which must be all there is to say.
func rendered(t *testing.T, manifest string) string {
	t.Helper()
	r := run(t, manifest, "render", "-")
	if r.status != 0 || r.stderr != "" {
		t.Fatalf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	return r.stdout
}

// mapped returns the versions that the provider config of a rendered profile maps, image by image.
func mapped(t *testing.T, profile string) []string {
	t.Helper()
	var parsed cli.Rendered
	if err := yaml.Unmarshal([]byte(profile), &parsed); err != nil {
		t.Fatal(err)
	}
	var config struct {
		MachineImages []struct {
			Name     string            `json:"name"`
			Versions []json.RawMessage `json:"versions"`
		} `json:"machineImages"`
	}
	if err := json.Unmarshal(parsed.Spec.ProviderConfig.Raw, &config); err != nil {
		t.Fatal(err)
	}
	var mapped []string
	for _, image := range config.MachineImages {
		for _, version := range image.Versions {
			mapped = append(mapped, image.Name+" "+string(version))
		}
	}
	return mapped
}

func TestRenderFormats(t *testing.T) {
	files := []string{examples + "/namespacedcloudprofile.yaml", examples + "/cloudprofile.yaml"}
	for _, format := range []string{"text", "json", "yaml"} {
		r := run(t, "", append([]string{"render", "-o", format}, files...)...)
		if r.status != 0 || r.stderr != "" {
			t.Errorf("status %d: %s", r.status, r.stderr)
		}
		golden(t, "render."+format, r.stdout)
	}
}

// A rendered profile is a CloudProfile like others: clean, and with the answers that its NamespacedCloudProfile gives.
func TestRenderedProfileIsACloudProfile(t *testing.T) {
	question := []string{"-", "--image=gardenlinux", "--version=2000.1.0", "--machine-type=large", "--region=europe"}
	for name, manifest := range map[string]string{
		"capabilities": parentProfile + childProfile, "legacy": legacyParent(t) + legacyChild(t),
		"legacy child": parentProfile + legacyChild(t), "legacy parent": legacyParent(t) + childProfile,
	} {
		t.Run(name, func(t *testing.T) {
			if found := places(t, manifest); found != nil {
				t.Error(found)
			}
			profile := rendered(t, manifest)
			if found := places(t, profile); found != nil {
				t.Errorf("%s\n%s", found, profile)
			}
			for _, command := range []string{"select", "explain"} {
				of, by := run(t, profile, append([]string{command}, question...)...), run(t, manifest, append([]string{command}, question...)...)
				if of.status != 0 || of != by {
					t.Error(cmp.Diff(of.stdout+of.stderr, by.stdout+by.stderr))
				}
			}
		})
	}
}

func TestRenderProviderConfig(t *testing.T) {
	const (
		flavors      = `"capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},"regions":`
		inherited    = `gardenlinux {` + flavors + `[{"id":"img-1","name":"europe"}]}],"version":"1877.5.0"}`
		own          = `gardenlinux {` + flavors + `[{"id":"img-2","name":"europe"}]}],"version":"2000.1.0"}`
		oldInherited = `gardenlinux {"regions":[{"id":"img-1","name":"europe"}],"version":"1877.5.0"}`
		oldOwn       = `gardenlinux {"regions":[{"architecture":"amd64","id":"img-2","name":"europe"}],"version":"2000.1.0"}`
	)
	two := "  - name: ubuntu\n    updateStrategy: major\n    versions:\n    - version: 1.0.0\n      cri: [{name: containerd}]\n      capabilityFlavors:\n      - architecture: [amd64]\n"
	mapping := "    - name: ubuntu\n      versions:\n      - version: 1.0.0\n        capabilityFlavors:\n        - capabilities:\n            architecture: [amd64]\n          image: ubuntu\n"
	for name, tc := range map[string]struct {
		manifest string
		want     []string
	}{
		"a version is added after the parent's":  {parentProfile + childProfile, []string{inherited, own}},
		"an image is added after the parent's":   {parentProfile + replaced(t, replaced(t, childProfile, "  providerConfig:\n", two+"  providerConfig:\n"), "    machineImages:\n", "    machineImages:\n"+mapping), []string{inherited, own, `ubuntu {"capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},"image":"ubuntu"}],"version":"1.0.0"}`}},
		"nothing is added":                       {parentProfile + childProfile[:strings.Index(childProfile, "    - version: 2000.1.0")], []string{inherited}},
		"the legacy format becomes the new":      {parentProfile + legacyChild(t), []string{inherited, own}},
		"the new format becomes the legacy":      {legacyParent(t) + childProfile, []string{oldInherited, oldOwn}},
		"the legacy format stays":                {legacyParent(t) + legacyChild(t), []string{oldInherited, `gardenlinux {"regions":[{"id":"img-2","name":"europe"}],"version":"2000.1.0"}`}},
		"core flavors that follow are filled in": {replaced(t, parentProfile, coreFlavors, "") + replaced(t, childProfile, coreFlavors, ""), []string{inherited, own}},
	} {
		t.Run(name, func(t *testing.T) {
			profile := rendered(t, tc.manifest)
			if diff := cmp.Diff(tc.want, mapped(t, profile)); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(tc.manifest, "2000.1.0") && strings.Count(profile, "version: 2000.1.0\n") != 2 {
				t.Errorf("no core version:\n%s", profile)
			}
		})
	}
}

// A version that the parent gains later is the profile's own in the status. Admission refuses to create such a profile, and
// so it is one that is being deleted here, about which lint is silent.
func TestRenderReplacesAVersionOfTheParent(t *testing.T) {
	gained := replaced(t, replaced(t, parentProfile, "1877.5.0", "2000.1.0"), "- version: 1877.5.0", "- version: 2000.1.0")
	child := replaced(t, replaced(t, childProfile, childMetadata, childMetadata+deleted), "    - version: 1877.5.0\n      expirationDate: \"2037-12-31T00:00:00Z\"\n", "")
	profile := rendered(t, gained+child)
	want := []string{`gardenlinux {"capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},"regions":[{"id":"img-2","name":"europe"}]}],"version":"2000.1.0"}`}
	if diff := cmp.Diff(want, mapped(t, profile)); diff != "" {
		t.Error(diff)
	}
	// The rendered profile as the parent: nothing is left to change.
	again := replaced(t, profile, "name: team", "name: openstack")
	if diff := cmp.Diff(profile, rendered(t, again+child)); diff != "" {
		t.Error(diff)
	}
}

// Gardener lists architectures in an order that changes from run to run.
func TestRenderIsTheSameOnEveryRun(t *testing.T) {
	flavors := "      - architecture: [amd64]\n      - architecture: [arm64]\n"
	both := replaced(t, parentProfile, "      - architecture: [amd64]\n", flavors) + "        - capabilities: {architecture: [arm64]}\n          regions: [{name: europe, id: img-3}]\n" +
		replaced(t, childProfile, "      - architecture: [amd64]\n", flavors) + "        - capabilities: {architecture: [arm64]}\n          regions: [{name: europe, id: img-4}]\n"
	for name, manifest := range map[string]string{
		"capabilities": both, "legacy parent": legacyParent(t) + both[strings.Index(both, "---\n"):],
	} {
		first := rendered(t, manifest)
		for range 20 {
			if diff := cmp.Diff(first, rendered(t, manifest)); diff != "" {
				t.Fatal(name, diff)
			}
		}
	}
}

func TestRenderOfProviderLocal(t *testing.T) {
	local := strings.NewReplacer("type: openstack", "type: local", "openstack.provider", "local.provider", "    keystoneURL: https://keystone.example.com/v3/\n", "",
		"    constraints: {floatingPools: [{name: fp-pool-1}], loadBalancerProviders: [{name: haproxy}]}\n", "",
		"regions: [{name: europe, id: img-1}]", "image: node:1", "regions: [{name: europe, id: img-2}]", "image: node:2")
	for name, tc := range map[string]struct{ manifest, want string }{
		"capabilities":  {parentProfile + childProfile, `gardenlinux {"capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},"image":"node:2"}],"version":"2000.1.0"}`},
		"legacy child":  {parentProfile + legacyChild(t), `gardenlinux {"capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},"image":"node:2"}],"version":"2000.1.0"}`},
		"legacy parent": {legacyParent(t) + childProfile, `gardenlinux {"image":"node:2","version":"2000.1.0"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := mapped(t, rendered(t, local.Replace(tc.manifest)))
			if len(got) != 2 || got[1] != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// What admission would refuse is not rendered, not even in part.
func TestRenderRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ manifest, want string }{
		"a child with errors":          {parentProfile + replaced(t, childProfile, "id: img-2", "ID: img-2"), "[unknown-field]"},
		"a parent with errors":         {replaced(t, parentProfile, "id: img-1", "id: ''") + childProfile, "[reference-missing]"},
		"a parent that is not there":   {childProfile, "[profile-missing]"},
		"a parent that cannot be read": {replaced(t, parentProfile, "cpu: \"4\"", "cpu: [4]") + childProfile, "[field-type]"},
		"a child that cannot be read":  {parentProfile + replaced(t, childProfile, "cpu: \"16\"", "cpu: [16]"), "[field-type]"},
		"a provider that is unknown":   {replaced(t, parentProfile, "type: openstack", "type: stackit") + childProfile, "not stackit [provider-unknown]"},
		"a deleted child of no parent": {replaced(t, childProfile, childMetadata, childMetadata+deleted), "[profile-missing]"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, tc.manifest, "render", "-")
			if r.status != 1 || r.stdout != "" || !strings.Contains(r.stderr, tc.want) || strings.Contains(r.stderr, ": warning: ") {
				t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
			}
		})
	}
	unmergeable := parentProfile + replaced(t, withoutConfig(childProfile), childMetadata, childMetadata+deleted) + "  providerConfig: {machineImages: 5}\n"
	if r := run(t, unmergeable, "render", "-"); r.status != 2 || r.stdout != "" || !strings.Contains(r.stderr, "team cannot be rendered: spec.providerConfig: machineImages: not a list") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}
