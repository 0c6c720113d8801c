// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gcp"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/ratchet"
)

// excused returns the report after the ratchet.
func excused(report, before finding.Report, object, old any) finding.Report {
	return ratchet.Excuse(ratchet.Judged{Object: object, Report: report}, ratchet.Judged{Object: old, Report: before})
}

// A flavor is replaced by another one that the provider config also lacks: this is a new error.
func TestRatchetOfAnExchangedFlavor(t *testing.T) {
	ratchetProfiles(t, "testdata/ratchet-flavors.txtar")
}

// ratchetProfiles updates the CloudProfile of each case.
func ratchetProfiles(t *testing.T, archive string) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		old := given.SpecOf(c, "old.yaml")
		if got := ratcheted(given.ImagesOnly{}, old.DeepCopy(), old); len(got.Errors) > 0 {
			c.T().Errorf("nothing changed: %v", got.Errors)
		}
		return cases.Fold(given.Plainly(ratcheted(given.ImagesOnly{}, given.SpecOf(c, "new.yaml"), old).Errors)...)
	})
}

// Reordering the vocabulary changes how flavors are quoted, but not their errors.
func TestRatchetOfAReorderedVocabulary(t *testing.T) {
	reordered := profileNamed(t, "duplicates")
	slices.Reverse(reordered.MachineCapabilities)
	for _, def := range reordered.MachineCapabilities {
		slices.Reverse(def.Values)
	}
	got := ratcheted(given.ImagesOnly{}, reordered, profileNamed(t, "duplicates"))
	if len(got.Errors) > 0 || len(got.Warnings) < 4 {
		t.Error(got)
	}
}

// ratcheted checks an update of a CloudProfile.
func ratcheted[R any](cloud provider.Provider[R], updated, old *v1beta1.CloudProfileSpec) finding.Report {
	is, was := &v1beta1.CloudProfile{Spec: *updated}, &v1beta1.CloudProfile{Spec: *old}
	_, report := check.CloudProfile(cloud, is)
	_, before := check.CloudProfile(cloud, was)
	return excused(report, before, is, was)
}

func TestNothingNewIsNoError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := given.DrawSpec(t)
		if got := ratcheted(local.Provider{}, spec, spec.DeepCopy()); len(got.Errors) > 0 {
			t.Fatal(got.Errors)
		}
	})
}

func TestRatchetKeepsEveryFinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		is, was := &v1beta1.CloudProfile{Spec: *given.DrawSpec(t)}, &v1beta1.CloudProfile{Spec: *given.DrawSpec(t)}
		_, report := check.CloudProfile(local.Provider{}, is)
		_, before := check.CloudProfile(local.Provider{}, was)
		got := excused(report, before, is, was)
		all := func(lists ...finding.List) []string {
			var all []string
			for _, f := range slices.Concat(lists...) {
				all = append(all, f.Field+": "+strings.TrimPrefix(f.Detail, "older than this update: "))
			}
			slices.Sort(all)
			return all
		}
		told := all(got.Errors, got.Warnings)
		for _, text := range all(report.Errors, report.Warnings) {
			i, found := slices.BinarySearch(told, text)
			if !found {
				t.Fatalf("%s is not told any more", text)
			}
			told = slices.Delete(told, i, i+1)
		}
		silenced := all(report.Silenced)
		for _, text := range told { // silenced findings are reported if nothing else is refused
			if !slices.Contains(silenced, text) {
				t.Fatalf("%s was not there before", text)
			}
		}
		catalogue.Check(t, got.Errors)
		catalogue.Check(t, got.Warnings)
		for _, f := range got.Errors {
			if !slices.ContainsFunc(slices.Concat(report.Errors, report.Silenced), func(g finding.Finding) bool {
				return g.Error == f.Error
			}) {
				t.Fatalf("a warning became an error: %v", f)
			}
		}
	})
}

// Lists shift: no error is new because of the order of the new object's lists.
func TestOrderDoesNotMatterToRatchet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := unmixed(t, given.DrawSpec(t))
		updated := &v1beta1.CloudProfileSpec{}
		convert(t, shuffled(t, convert(t, old, new(any))), updated)
		if got := ratcheted(local.Provider{}, updated, old); len(got.Errors) > 0 {
			is, _ := json.Marshal(updated)
			was, _ := json.Marshal(old)
			t.Fatalf("%v\n%s\n%s", got.Errors, was, is)
		}
	})
}

// convert marshals a value to JSON and decodes it into another.
func convert[T any](t *rapid.T, value any, into T) T {
	raw, err := json.Marshal(value)
	if err == nil && string(raw) != "null" {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatal(err)
	}
	return into
}

func shuffled(t *rapid.T, value any) any {
	switch v := value.(type) {
	case *any:
		return shuffled(t, *v)
	case given.List:
		for i := range v {
			v[i] = shuffled(t, v[i])
		}
		if len(v) > 1 {
			return rapid.Permutation(v).Draw(t, "order")
		}
	case given.Object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key] = shuffled(t, v[key])
		}
	}
	return value
}

// unmixed gives each version one format, since legacy flavors are never written like others. It also removes repeated names, which the API
// server refuses.
func unmixed(t *rapid.T, spec *v1beta1.CloudProfileSpec) *v1beta1.CloudProfileSpec {
	config := given.Object{}
	convert(t, spec.ProviderConfig, &config)
	images, _ := config["machineImages"].(given.List)
	inFlavors := map[string]bool{}
	for _, image := range images {
		versions, _ := image.(given.Object)["versions"].(given.List)
		for _, version := range versions {
			flavors, _ := version.(given.Object)["capabilityFlavors"].(given.List)
			name := fmt.Sprint(image.(given.Object)["name"], version.(given.Object)["version"])
			if formerly, found := inFlavors[name]; found && formerly != (len(flavors) > 0) {
				version.(given.Object)["version"] = "of another format"
			} else {
				inFlavors[name] = len(flavors) > 0
			}
		}
	}
	spec.ProviderConfig = convert(t, config, &runtime.RawExtension{})
	seen := map[string]bool{}
	twice := func(name string) bool {
		defer func() { seen[name] = true }()
		return seen[name]
	}
	spec.MachineImages = slices.DeleteFunc(spec.MachineImages, func(i v1beta1.MachineImage) bool { return twice(i.Name) })
	for i := range spec.MachineImages {
		image := &spec.MachineImages[i]
		image.Versions = slices.DeleteFunc(image.Versions, func(v v1beta1.MachineImageVersion) bool { return twice(image.Name + "@" + v.Version) })
	}
	return spec
}

// An error about a version without an image stays the same while core lists fewer flavors for it, or none. It hides the flavors that lack
// a mapping, so core must not list more.
func TestRatchetOfAVersionWithoutAnImage(t *testing.T) {
	const one, both, none = "{name: gl, versions: [{version: 1.0.0, architectures: [amd64]}]}",
		"{name: gl, versions: [{version: 1.0.0, architectures: [amd64, arm64]}]}", ""
	for _, cloud := range []provider.Provider[any]{provider.Untyped(gcp.Provider{}), provider.Untyped(given.ImagesOnly{})} {
		spec := func(core string) *v1beta1.CloudProfileSpec {
			return &given.Decoded[v1beta1.CloudProfile](t, "spec: {type: "+cloud.Type()+", machineImages: ["+core+"], providerConfig: {apiVersion: "+
				cloud.Type()+".provider.extensions.gardener.cloud/v1alpha1, kind: CloudProfileConfig, machineImages: [{name: gl, versions: [{version: 1.0.0}]}]}}").Spec
		}
		for _, c := range []struct {
			old, updated string
			refused      bool
		}{{one, none, false}, {both, one, false}, {one, both, true}} {
			if got := ratcheted(cloud, spec(c.updated), spec(c.old)); (len(got.Errors) > 0) != c.refused {
				t.Errorf("%s, from %q to %q: %v", cloud.Type(), c.old, c.updated, got.Errors)
			}
		}
	}
}

// An update must not add an error that an old one hides.
func TestRatchetLetsNothingHide(t *testing.T) {
	content, err := os.ReadFile("../../example/cloudprofile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	good := string(content)
	const (
		version = "      - version: 1877.5.0\n        capabilityFlavors:"
		arm     = "        - capabilities:\n            architecture: [arm64]\n            hypervisor: [virtualized]\n" +
			"          regions:\n          - name: europe\n            id: 1234-arm64-virt\n          - name: asia\n            id: 5678-arm64-virt\n"
		old = "            id: 1234-amd64-old"
	)
	defects := map[string][2]string{
		"an unknown field":       {version, strings.Replace(version, "\n", "\n        foo: bar\n", 1)},
		"another kind":           {"kind: CloudProfileConfig", "kind: CloudProfileConfigs"},
		"a value":                {"architecture: [amd64]\n            hypervisor: [baremetal]", "architecture: [amd64]\n            hypervisor: [metal]"},
		"a misspelt image field": {"      versions:\n" + version, "      version: x\n      versions:\n" + version},
	}
	for name, hides := range map[string]struct{ from, to string }{
		"a mapping removed": {arm, ""},
		"an ID removed":     {"id: 5678-arm64-virt", `id: ""`},
	} {
		for defect, d := range defects {
			if !strings.Contains(good, d[0]) || !strings.Contains(good, hides.from) {
				t.Fatalf("%s or %s is not in the example", defect, name)
			}
			before := strings.Replace(good, d[0], d[1], 1)
			after := strings.Replace(before, hides.from, hides.to, 1)
			if report := updatedTo(t, before, after); len(report.Errors) == 0 {
				t.Errorf("%s, and then %s: the update is admitted", defect, name)
			}
		}
	}
	// Changes unrelated to the old error are not affected.
	for _, defect := range []string{"an unknown field", "a value"} {
		before := strings.Replace(good, defects[defect][0], defects[defect][1], 1)
		after := strings.Replace(before, old, old+"er", 1)
		if report := updatedTo(t, before, after); len(report.Errors) > 0 {
			t.Errorf("%s, and a change elsewhere: %v", defect, report.Errors)
		}
	}
}

func updatedTo(t *testing.T, before, after string) finding.Report {
	t.Helper()
	old, updated := given.Decoded[v1beta1.CloudProfile](t, before), given.Decoded[v1beta1.CloudProfile](t, after)
	if _, report := check.CloudProfile(given.ImagesOnly{}, old); len(report.Errors) == 0 {
		t.Fatal("there was no error before")
	}
	return ratcheted(given.ImagesOnly{}, &updated.Spec, &old.Spec)
}
