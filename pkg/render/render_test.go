// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/render"
)

// rendered renders an object, and also returns the resulting config. Rendering must be idempotent.
func rendered[R any](
	t given.Fatal, cloud provider.Provider[R], capabilities []v1beta1.CapabilityDefinition,
	object *v1beta1.NamespacedCloudProfile, base *runtime.RawExtension,
) ([]render.Change, *runtime.RawExtension, error) {
	before, untouched := object.DeepCopy(), base.DeepCopy()
	changes, err := render.Config(cloud, capabilities, object, base)
	if !reflect.DeepEqual(before, object) || !reflect.DeepEqual(untouched, base) {
		t.Fatalf("an argument was changed")
	}
	if err != nil && changes != nil {
		t.Fatalf("%v, and yet %v", err, lines(changes))
	}
	merged, mergedErr := render.Merged(cloud, capabilities, object, base)
	if err != nil {
		if mergedErr == nil || mergedErr.Error() != err.Error() {
			t.Fatalf("%v, and in one go: %v", err, mergedErr)
		}
		return nil, nil, err
	}
	result, err := render.Apply(changes, base)
	if err != nil {
		t.Fatalf("%v\n%s", err, lines(changes))
	}
	if mergedErr != nil || !reflect.DeepEqual(merged, result) {
		t.Fatalf("%s\nand in one go: %v\n%s", result.Raw, mergedErr, merged.Raw)
	}
	if again, err := render.Config(cloud, capabilities, object, result); err != nil || len(again) > 0 {
		t.Fatalf("rendered again: %v %v\n%s\n%s", err, lines(again), object.Spec.ProviderConfig.Raw, result.Raw)
	}
	return changes, result, nil
}

// lines returns one line for each change.
func lines(changes []render.Change) []string {
	var lines []string
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf("%s %s %s", c.Op, c.Path, c.Value))
	}
	return lines
}

// Merging compares only the names of images and versions.
func TestRenderConfig(t *testing.T) {
	cases.Run(t, "testdata/render.txtar", func(c *cases.Case) string {
		object := &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{
			ProviderConfig: &runtime.RawExtension{Raw: c.JSON("own.yaml")},
		}}
		var base *runtime.RawExtension
		if c.Has("base.yaml") {
			base = &runtime.RawExtension{Raw: c.JSON("base.yaml")}
		}
		changes, _, err := rendered(c.T(), local.Provider{}, nil, object, base)
		if err != nil {
			c.T().Fatal(err)
		}
		return strings.Join(lines(changes), "\n")
	})
}

func TestRenderConfigRefuses(t *testing.T) {
	cases.Run(t, "testdata/render-refuses.txtar", func(c *cases.Case) string {
		object := &v1beta1.NamespacedCloudProfile{}
		object.Spec.ProviderConfig = &runtime.RawExtension{Raw: c.JSON("own.yaml")}
		_, _, err := rendered(c.T(), local.Provider{}, nil, object, &runtime.RawExtension{Raw: c.JSON("base.yaml")})
		if err == nil {
			c.T().Fatal("it is merged")
		}
		return err.Error()
	})
}

// A change of an entry cannot be applied to a missing config.
func TestApplyToNothing(t *testing.T) {
	changes := []render.Change{{Op: "add", Path: "/machineImages/-", Value: json.RawMessage("{}")}}
	for _, config := range []*runtime.RawExtension{nil, {}, {Raw: []byte("null")}} {
		if got, err := render.Apply(changes, config); err == nil {
			t.Errorf("%v: %v", config, got)
		}
	}
}

// Entries that the object does not define keep their bytes, and its own entries are copied verbatim.
func TestRenderConfigKeepsBytes(t *testing.T) {
	const kept = "{ \"version\":\"1\",\n  \"factor\": 1.50e0, \"big\": 12345678901234567890, \"text\": \"<&\\u00e9>\" }"
	own := `{"machineImages":[{"name":"a","versions":[{"version":"2", "factor": 1.50e0, "text": "<&>"}]},{"name":"b", "unknown": [ ]}]}`
	object := &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{ProviderConfig: &runtime.RawExtension{Raw: []byte(own)}}}
	// The parent repeats the second version, so the list is rewritten.
	base := &runtime.RawExtension{Raw: []byte(`{"more": [ 1 ], "machineImages":[{"name":"a","versions":[` + kept + `,{"version":"2"},{"version":"2"}]}]}`)}
	changes, err := render.Config(local.Provider{}, nil, object, base)
	want := []render.Change{
		{Op: "replace", Path: "/machineImages/0/versions", Value: json.RawMessage("[" + kept + `,{"version":"2", "factor": 1.50e0, "text": "<&>"}]`)},
		{Op: "add", Path: "/machineImages/-", Value: json.RawMessage(`{"name":"b", "unknown": [ ]}`)},
	}
	if diff := gocmp.Diff(lines(want), lines(changes)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A number that differs only as an integer of 64 bits replaces that of the parent.
func TestRenderConfigComparesNumbers(t *testing.T) {
	config := func(project string) *runtime.RawExtension {
		return &runtime.RawExtension{Raw: []byte(`{"machineImages":[{"name":"a","versions":[{"version":"1","project":` + project + `}]}]}`)}
	}
	for _, project := range []string{"9007199254740992", "9007199254740993"} {
		object := &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{ProviderConfig: config(project)}}
		_, got, err := rendered(t, local.Provider{}, nil, object, config("9007199254740992"))
		if err != nil || string(got.Raw) != string(config(project).Raw) {
			t.Errorf("%s: %s, %v", project, got.Raw, err)
		}
	}
}

// renderProfiles renders a version whose format differs from the parent's.
func renderProfiles[R any](t *testing.T, cloud provider.Provider[R], archive string) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		var capabilities []v1beta1.CapabilityDefinition
		c.Decode("capabilities.yaml", &capabilities)
		base := &runtime.RawExtension{Raw: []byte(`{"machineImages":[]}`)}
		changes, _, err := rendered(c.T(), cloud, capabilities, given.NamespacedOf(c), base)
		if err != nil {
			c.T().Fatal(err)
		}
		var images []struct{ Versions []json.RawMessage }
		if err := json.Unmarshal(changes[0].Value, &images); err != nil || len(images) != 1 || len(images[0].Versions) != 1 {
			c.T().Fatal(err, lines(changes))
		}
		// One line for each flavor, and one for its regions.
		return strings.NewReplacer(`{"capabilities":`, "\n  {\"capabilities\":", `},"regions":`, "},\n   \"regions\":").Replace(string(images[0].Versions[0]))
	})
}

func TestRenderConfigConverts(t *testing.T) {
	renderProfiles(t, given.ImagesOnly{}, "testdata/render-converts.txtar")
}

func TestRenderConfigConvertsForTheLocalProvider(t *testing.T) {
	renderProfiles(t, local.Provider{}, "testdata/render-converts-local.txtar")
}

// below draws a NamespacedCloudProfile of the local provider.
func below(t *rapid.T) *v1beta1.NamespacedCloudProfile {
	spec := given.DrawSpec(t)
	return &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{
		MachineTypes: spec.MachineTypes, MachineImages: spec.MachineImages, ProviderConfig: spec.ProviderConfig,
	}}
}

// Rendering is idempotent, and keeps the order of the parent's images.
func TestRenderingTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent, object := given.DrawSpec(t), below(t)
		base := parent.ProviderConfig
		if rapid.IntRange(0, 5).Draw(t, "no base") == 0 {
			base = nil
		}
		changes, result, err := rendered(t, local.Provider{}, parent.MachineCapabilities, object, base)
		if err != nil {
			t.Fatal(err)
		}
		if names, first := imageNames(t, result), imageNames(t, base); base != nil && !strings.HasPrefix(names, first) {
			t.Fatalf("%s was %s", names, first)
		}
		for _, change := range changes {
			var image, version int
			_, err := fmt.Sscanf(change.Path, "/machineImages/%d/versions/%d", &image, &version)
			if err == nil && sameJSON(change.Value, versionAt(t, base, image, version)) {
				t.Fatalf("%s is replaced by what is there", change.Path)
			}
		}
	})
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func versionAt(t *rapid.T, config *runtime.RawExtension, image, version int) json.RawMessage {
	var c struct {
		MachineImages []struct{ Versions []json.RawMessage }
	}
	if err := json.Unmarshal(config.Raw, &c); err != nil {
		t.Fatal(err)
	}
	return c.MachineImages[image].Versions[version]
}

// Profiles without errors render to objects without errors.
func TestRenderedProfilesAreSound(t *testing.T) {
	sound, converted := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		parent := &v1beta1.CloudProfileSpec{
			Type: "openstack", Regions: []v1beta1.Region{{Name: "europe"}, {Name: "asia"}},
			ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig"}`)},
		}
		if rapid.Bool().Draw(t, "capabilities") {
			parent.MachineCapabilities = []v1beta1.CapabilityDefinition{
				{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "net", Values: []string{"fast", "slow"}},
			}
		}
		above, _ := profile.Compile(given.ImagesOnly{}, parent, field.NewPath("spec"))
		for range 4 {
			object := &v1beta1.NamespacedCloudProfile{Spec: drawOwnVersion(t)}
			if _, report := check.NamespacedCloudProfile(above, object); len(report.Errors) > 0 {
				continue
			}
			sound++
			_, config, err := rendered(t, given.ImagesOnly{}, parent.MachineCapabilities, object, parent.ProviderConfig)
			if err != nil {
				t.Fatal(err)
			}
			result := parent.DeepCopy()
			result.ProviderConfig = config
			result.MachineImages = gardenerrules.Merge(&object.Spec, &v1beta1.CloudProfileSpec{MachineCapabilities: parent.MachineCapabilities}).MachineImages
			if _, report := profile.Compile(given.ImagesOnly{}, result, field.NewPath("spec")); len(report.Errors) > 0 {
				t.Fatalf("%v\n%s\n%s", report.Errors, object.Spec.ProviderConfig.Raw, config.Raw)
			}
			flavors := []byte("capabilityFlavors")
			if bytes.Contains(object.Spec.ProviderConfig.Raw, flavors) != bytes.Contains(config.Raw, flavors) {
				converted++
			}
		}
	})
	if sound < 5 || converted < 1 {
		t.Errorf("%d sound, %d converted", sound, converted)
	}
}

// drawOwnVersion draws a NamespacedCloudProfile with one image version, where core and provider config have independent formats.
func drawOwnVersion(t *rapid.T) v1beta1.NamespacedCloudProfileSpec {
	version := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1"}}
	entry := given.Object{"version": "1"}
	inCore, inConfig := rapid.Bool().Draw(t, "core in the new format"), rapid.Bool().Draw(t, "config in the new format")
	var flavors, regions given.List
	for _, architecture := range []string{"amd64", "arm64"} {
		for _, net := range []string{"", "fast", "slow"} {
			if rapid.IntRange(0, 2).Draw(t, "there") > 0 {
				continue
			}
			capabilities := v1beta1.Capabilities{"architecture": {architecture}}
			if net != "" {
				capabilities["net"] = v1beta1.CapabilityValues{net}
			}
			version.CapabilityFlavors = append(version.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: capabilities})
			if net == "" {
				version.Architectures = append(version.Architectures, architecture)
			}
			flavor := given.Object{"capabilities": capabilities}
			if rapid.Bool().Draw(t, "by name") {
				flavor["image"], entry["image"] = "x", "x"
			} else {
				flavor["regions"] = given.List{given.Object{"name": "europe", "id": architecture}}
				regions = append(regions, given.Object{"name": "europe", "id": architecture, "architecture": architecture})
			}
			flavors = append(flavors, flavor)
		}
	}
	if inCore {
		version.Architectures = nil
	} else {
		version.CapabilityFlavors = nil
	}
	if inConfig {
		entry = given.Object{"version": "1", "capabilityFlavors": flavors}
	} else if len(regions) > 0 {
		entry["regions"] = regions
	}
	return v1beta1.NamespacedCloudProfileSpec{
		MachineImages: []v1beta1.MachineImage{{Name: "own", Versions: []v1beta1.MachineImageVersion{version}}},
		ProviderConfig: given.Raw(t, given.Object{
			"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
			"machineImages": given.List{given.Object{"name": "own", "versions": given.List{entry}}},
		}),
	}
}

func imageNames(t *rapid.T, config *runtime.RawExtension) string {
	if config == nil {
		return ""
	}
	var c struct{ MachineImages []struct{ Name string } }
	if err := json.Unmarshal(config.Raw, &c); err != nil {
		t.Fatal(err)
	}
	var names strings.Builder
	for _, image := range c.MachineImages {
		names.WriteString(image.Name + " ")
	}
	return names.String()
}

// FuzzRenderConfig merges arbitrary bytes into arbitrary bytes. core is the object's spec without its provider config, plus the machine
// capabilities of its parent.
func FuzzRenderConfig(f *testing.F) {
	// Bytes that YAML would not preserve.
	own := [][]byte{[]byte(`{`), []byte(`{"machineImages":[{"name":"b","versions":[{"version":"1"},{"version":"1","x":[1.50,"\u003c"]}]}]}`)}
	for _, core := range given.Seeds(f, "testdata/seeds/render-core.txtar") {
		for _, own := range append(given.Seeds(f, "testdata/seeds/render-own.txtar"), own...) {
			for _, base := range append(given.Seeds(f, "testdata/seeds/render-base.txtar"), nil) {
				f.Add(core, own, base)
			}
		}
	}
	f.Fuzz(func(t *testing.T, core, own, base []byte) {
		var spec struct {
			v1beta1.NamespacedCloudProfileSpec `json:",inline"`
			MachineCapabilities                []v1beta1.CapabilityDefinition `json:"machineCapabilities"`
		}
		if json.Unmarshal(core, &spec) != nil {
			return
		}
		spec.ProviderConfig = &runtime.RawExtension{Raw: own}
		object := &v1beta1.NamespacedCloudProfile{Spec: spec.NamespacedCloudProfileSpec}
		_, _, _ = rendered(t, local.Provider{}, spec.MachineCapabilities, object, &runtime.RawExtension{Raw: base})
		_, _, _ = rendered(t, given.ImagesOnly{}, spec.MachineCapabilities, object, &runtime.RawExtension{Raw: base})
	})
}

// The legacy format cannot express worker capabilities, so a version with them is not converted to it.
func TestRenderConfigWithWorkerCapabilities(t *testing.T) {
	renderProfiles(t, given.ImagesOnly{}, "testdata/render-converts-worker-capabilities.txtar")
}
