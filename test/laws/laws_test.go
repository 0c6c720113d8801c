// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package laws tests laws that hold for every cloud, with the examples of each. A cloud that is added to the table is tested, too.
package laws

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
	"github.com/capkit/capkit/pkg/resolve"
)

const root = "../.."

// each runs a test for every cloud in the table.
func each(t *testing.T, test func(t *testing.T, cloud cli.Provider)) {
	for _, cloud := range clouds.All() {
		t.Run(cloud.Type(), func(t *testing.T) { test(t, cloud) })
	}
}

// configKind returns the kind of a cloud's CloudProfileConfig.
func configKind(cloud cli.Provider) schema.GroupVersionKind {
	group := cloud.Type() + ".provider.extensions.gardener.cloud"
	if cloud.Type() == "gdch" {
		group = "gdch.provider.extensions.gardener.gdc.goog"
	}
	return schema.GroupVersionKind{Group: group, Version: "v1alpha1", Kind: "CloudProfileConfig"}
}

// All examples, and configs with every field set, survive a round trip in either format.
func TestRoundTrips(t *testing.T) {
	each(t, func(t *testing.T, cloud cli.Provider) {
		folders := []string{root + "/example"}
		if complete := filepath.Join(root, "pkg/apis", cloud.Type()); exists(complete) {
			folders = append(folders, complete)
		}
		providertest.Laws(t, cloud, providertest.Configs(t, configKind(cloud), folders...)...)
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A reference of another cloud is an error, not a panic.
func TestForeignReferences(t *testing.T) {
	each(t, func(t *testing.T, cloud cli.Provider) {
		foreign := struct{ Name string }{"another"}
		version := imageselector.Version[any]{Version: "1", Flavors: []imageselector.Flavor[any]{
			{Regional: []imageselector.Regional[any]{{Ref: foreign}}}, {Global: &imageselector.Global[any]{Ref: foreign}},
		}}
		for i := range version.Flavors {
			alone := version
			alone.Flavors = version.Flavors[i : i+1]
			if _, err := cloud.Encode(alone, provider.FormatFlavors); err == nil {
				t.Error("it is encoded")
			}
		}
		if errs := cloud.ValidateReference(foreign, field.NewPath("a")); len(errs) != 1 || errs[0].Type != field.ErrorTypeInternal {
			t.Error(errs)
		}
	})
}

// profiles returns a cloud's example CloudProfiles, valid and broken.
func profiles(t *testing.T, cloud cli.Provider) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for _, pattern := range []string{"*.yaml", "*/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, "example", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, document := range strings.Split(string(text), "\n---\n") {
				profile := &v1beta1.CloudProfile{}
				raw, err := yaml.YAMLToJSON([]byte(document))
				if err == nil && json.Unmarshal(raw, profile) == nil && profile.Kind == "CloudProfile" && profile.Spec.Type == cloud.Type() {
					found[fmt.Sprint(file, "#", i)] = raw
				}
			}
		}
	}
	if len(found) < 3 && cloud.Type() != "local" { // local has only one example
		t.Errorf("%d CloudProfiles", len(found))
	}
	return found
}

// The order of lists does not matter, except in the vocabulary, where it is the order of preference, and between otherwise
// equal flavors. The same worker pools boot the same images, or none, and the same rules are broken.
func TestOrderCountsForNothing(t *testing.T) {
	each(t, func(t *testing.T, cloud cli.Provider) {
		for name, raw := range profiles(t, cloud) {
			answers, rules := resolved(t, cloud, raw)
			for seed := range uint64(8) {
				shuffled, broken := resolved(t, cloud, shuffle(t, raw, rand.New(rand.NewPCG(seed, 1))))
				if diff := cmp.Diff(answers, shuffled); diff != "" {
					t.Fatalf("%s, shuffled with seed %d: %s", name, seed, diff)
				}
				if diff := cmp.Diff(rules, broken); diff != "" {
					t.Fatalf("%s, shuffled with seed %d: %s", name, seed, diff)
				}
			}
		}
	})
}

// resolved returns the image for each combination of image version, machine type and region in a profile, and the number of
// findings by rule.
func resolved(t *testing.T, cloud cli.Provider, raw []byte) (answers map[string]string, broken map[string]int) {
	t.Helper()
	object := &v1beta1.CloudProfile{}
	if err := json.Unmarshal(raw, object); err != nil {
		t.Fatal(err)
	}
	profile, report := check.CloudProfile(cloud, object)
	answers, broken = map[string]string{}, map[string]int{}
	for _, f := range slices.Concat(report.Errors, report.Warnings) {
		broken[f.Origin]++
	}
	if len(report.Errors) > 0 { // of two entries for the same key, the last one may win
		return nil, broken
	}
	for _, image := range object.Spec.MachineImages {
		for _, version := range image.Versions {
			for _, machineType := range object.Spec.MachineTypes {
				for _, region := range object.Spec.Regions {
					pool := provider.Pool{Image: image.Name, Version: version.Version, MachineType: machineType.Name, Region: region.Name}
					found := resolve.Explain(profile, pool)
					answer, err := json.Marshal(found.Reference)
					if err != nil {
						t.Fatal(err)
					}
					if found.Decision.Ambiguous {
						answer = []byte("the first of several that are the same")
					}
					answers[fmt.Sprint(pool.Image, pool.Version, pool.MachineType, pool.Region)] = fmt.Sprint(found.Err == nil, string(answer))
				}
			}
		}
	}
	return answers, broken
}

// ordered are the lists whose order expresses a preference.
var ordered = []string{"machineCapabilities", "values"}

// shuffle returns a manifest with its lists of objects in random order.
func shuffle(t *testing.T, raw []byte, r *rand.Rand) []byte {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	var walk func(name string, value any)
	walk = func(name string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				walk(name, member)
			}
		case []any:
			for _, entry := range value {
				walk(name, entry)
			}
			if len(value) > 0 && reflect.TypeOf(value[0]).Kind() == reflect.Map && !slices.Contains(ordered, name) {
				r.Shuffle(len(value), func(i, k int) { value[i], value[k] = value[k], value[i] })
			}
		}
	}
	walk("", object)
	shuffled, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return shuffled
}

// Whatever is missing in an example's config, nothing panics, and every finding has a path.
func TestPartsOfConfigs(t *testing.T) {
	each(t, func(t *testing.T, cloud cli.Provider) {
		for name, raw := range profiles(t, cloud) {
			object := &v1beta1.CloudProfile{}
			if err := json.Unmarshal(raw, object); err != nil {
				t.Fatal(err)
			}
			if object.Spec.ProviderConfig == nil {
				continue
			}
			without(t, object.Spec.ProviderConfig.Raw, func(config []byte) {
				object.Spec.ProviderConfig = &runtime.RawExtension{Raw: config}
				_, report := check.CloudProfile(cloud, object)
				for _, f := range slices.Concat(report.Errors, report.Warnings) {
					if f.Origin == "" || f.Detail == "" || f.Type == field.ErrorTypeInternal || !fieldpath.Above("spec", f.Field) {
						t.Errorf("%s: %s\n%s", name, f, config)
					}
				}
			})
		}
	})
}

// without calls do with copies of a document in which one member is missing or null, for each member.
func without(t *testing.T, raw []byte, do func([]byte)) {
	t.Helper()
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return // some broken examples are not JSON
	}
	try := func() {
		changed, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		do(changed)
	}
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				delete(value, name)
				try()
				value[name] = nil
				try()
				value[name] = member
				walk(member)
			}
		case []any:
			for i, entry := range value {
				value[i] = nil
				try()
				value[i] = entry
				walk(entry)
			}
		}
	}
	walk(root)
}

// A NamespacedCloudProfile is rendered with all images of its own and its parent's, and the result has no findings.
func TestRendering(t *testing.T) {
	each(t, func(t *testing.T, cloud cli.Provider) {
		folder := filepath.Join(root, "example", cloud.Type())
		switch {
		case cloud.Type() == "openstack": // older than the folders
			folder = filepath.Join(root, "example")
		case cloud.Type() == "local": // it has no such example; pkg/cli renders one
			return
		}
		parent, child := read(t, filepath.Join(folder, "cloudprofile.yaml")), read(t, filepath.Join(folder, "namespacedcloudprofile.yaml"))
		rendered := run(t, parent+"\n---\n"+child, "render", "-")
		want := append(references(t, cloud, parent), references(t, cloud, child)...)
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(references(t, cloud, rendered)))); diff != "" {
			t.Errorf("%s\n%s", diff, rendered)
		}
		run(t, rendered, "lint", "--fail-on=warning", "-")
	})
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run returns the output of a command that has to succeed.
func run(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if status := cli.Run(append([]string{"capkit"}, args...), strings.NewReader(stdin), &stdout, &stderr, clouds.All()...); status != 0 {
		t.Fatalf("%v: status %d\n%s%s", args, status, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// references returns the image versions of a profile with their references, in either format.
func references(t *testing.T, cloud cli.Provider, manifest string) []string {
	t.Helper()
	var object struct {
		Spec struct {
			ProviderConfig runtime.RawExtension `json:"providerConfig"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(manifest), &object); err != nil {
		t.Fatal(err)
	}
	config, report := cloud.Decode(&object.Spec.ProviderConfig, field.NewPath("config"))
	if len(report.Errors) > 0 || len(config.Images) == 0 {
		t.Fatalf("%d images, %v", len(config.Images), report.Errors)
	}
	var found []string
	for _, image := range config.Images {
		for _, version := range image.Versions {
			for i := range version.Flavors {
				f := &version.Flavors[i]
				for _, r := range f.Regional {
					found = append(found, fmt.Sprint(image.Name, version.Version, r.Region, r.Ref))
				}
				if f.Global != nil {
					found = append(found, fmt.Sprint(image.Name, version.Version, f.Global.Ref))
				}
			}
		}
	}
	return found
}
