// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/testing/cases"
)

// rendered returns the output of render, which must be clean.
func rendered(t *testing.T, manifest string) string {
	t.Helper()
	r := run(t, manifest, "render", "-")
	if r.status != 0 || r.stderr != "" {
		t.Fatalf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	return r.stdout
}

// mapped returns the versions in the provider config of a rendered profile, image by image.
func mapped(t *testing.T, profile string) []string {
	t.Helper()
	var parsed v1beta1.CloudProfile
	unmarshal(t, profile, &parsed)
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

// The rules of another Gardener are named, as by every command that has the flag.
func TestRenderNotes(t *testing.T) {
	r := run(t, "", "render", "--gardener-version=v1.999", examples+"/namespacedcloudprofile.yaml", examples+"/cloudprofile.yaml")
	if r.status != 0 || !strings.HasPrefix(r.stderr, "note: Gardener v1.999 is newer than the newest one that is known") {
		t.Errorf("%+v", r)
	}
}

// The result of render is a clean CloudProfile with the same answers as its NamespacedCloudProfile. A profile that admission would refuse
// is not rendered, not even partially.
func TestRender(t *testing.T) {
	question := []string{"--image=gardenlinux", "--version=2000.1.0", "--machine-type=large", "--region=europe"}
	cases.Run(t, "testdata/render.txtar", func(c *cases.Case) string {
		t, paths := c.T(), manifests(c)
		r := run(t, "", append([]string{"render"}, paths...)...)
		if r.status != 0 {
			if r.stdout != "" || strings.Contains(r.stderr, ": warning: ") {
				t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
			}
			return ended(r.status, r.stderr, filepath.Dir(paths[0]))
		}
		if diff := cmp.Diff(rules(lint(t, "", paths...)), rules(lint(t, r.stdout, "-"))); diff != "" || r.stderr != "" {
			t.Errorf("%s\n%s%s", diff, r.stdout, r.stderr)
		}
		for _, command := range []string{"select", "explain"} {
			asked := append([]string{command}, question...)
			if of, by := run(t, r.stdout, append(asked, "-")...), run(t, "", append(asked, paths...)...); of != by {
				t.Error(cmp.Diff(of.stdout+of.stderr, by.stdout+by.stderr))
			} else if of.status != 0 && strings.Contains(r.stdout, "2000.1.0") {
				t.Error(of.stdout)
			}
		}
		versions := strings.Count(r.stdout, "version: 2000.1.0\n") // in core and in the provider config
		return fmt.Sprintf("%s\n2000.1.0 is there %d times\n%s", strings.Join(mapped(t, r.stdout), "\n"), versions, places(t, paths...))
	})
}

// A version that the parent gains later stays the profile's own in the status, although admission would refuse to create such a profile.
func TestRenderReplacesAVersionOfTheParent(t *testing.T) {
	gained := patched(t, parent(t), `
- {op: replace, path: /spec/machineImages/0/versions/0/version, value: 2000.1.0}
- {op: replace, path: /spec/providerConfig/machineImages/0/versions/0/version, value: 2000.1.0}
`)
	child := patched(t, child(t), `
- {op: remove, path: /spec/machineImages/0/versions/0}
`)
	profile := rendered(t, joined(gained, child))
	const want = `gardenlinux {"capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},"regions":[{"id":"img-2","name":"europe"}]}],"version":"2000.1.0"}`
	if diff := cmp.Diff([]string{want}, mapped(t, profile)); diff != "" {
		t.Error(diff)
	}
	// With the rendered profile as the parent, rendering changes nothing.
	again := patched(t, profile, `metadata: {name: openstack}`)
	if diff := cmp.Diff(profile, rendered(t, joined(again, child))); diff != "" {
		t.Error(diff)
	}
}

// Errors in other inputs are reported, and do not affect the result.
func TestRenderBesideOthers(t *testing.T) {
	alone := rendered(t, joined(parent(t), child(t)))
	r := run(t, joined(parent(t), "spec: [\n", child(t)), "render", "-")
	if r.status != 1 || r.stdout != alone || !strings.Contains(r.stderr, "[syntax]") {
		t.Errorf("status %d\n%s%s", r.status, r.stderr, cmp.Diff(alone, r.stdout))
	}
}

// Gardener lists architectures in random order.
func TestRenderIsTheSameOnEveryRun(t *testing.T) {
	const arm = "- {op: add, path: /spec/machineImages/0/versions/%d/capabilityFlavors/-, value: {architecture: [arm64]}}\n" + `
- op: add
  path: /spec/providerConfig/machineImages/0/versions/0/capabilityFlavors/-
  value: {capabilities: {architecture: [arm64]}, regions: [{name: europe, id: img-arm}]}`
	child := patched(t, child(t), fmt.Sprintf(arm, 1))
	for name, manifest := range map[string]string{
		"capabilities":  joined(patched(t, parent(t), fmt.Sprintf(arm, 0)), child),
		"legacy parent": joined(read(t, "testdata/manifests/legacy-parent.yaml"), child),
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
	cases.Run(t, "testdata/render-local.txtar", func(c *cases.Case) string {
		r := run(c.T(), "", append([]string{"render"}, manifests(c)...)...)
		if r.status != 0 || r.stderr != "" {
			c.T().Fatal(r.stderr)
		}
		return strings.Join(mapped(c.T(), r.stdout), "\n")
	})
}
