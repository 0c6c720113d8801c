// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/alicloud"
	"github.com/capkit/capkit/pkg/aws"
	"github.com/capkit/capkit/pkg/azure"
	"github.com/capkit/capkit/pkg/gcp"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

var openStack = provider.Untyped(openstack.Provider{})

// raw returns a manifest as JSON, and tree decodes it.
func raw(t *testing.T, text string) json.RawMessage {
	t.Helper()
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return converted
}

func tree(t *testing.T, raw json.RawMessage) (tree map[string]any) {
	t.Helper()
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

func read(t *testing.T, file string) json.RawMessage {
	t.Helper()
	text, err := os.ReadFile("../../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n---\n")
	return raw(t, first)
}

// Registering is idempotent, adds only the architecture, and can be reverted; so can flavors. Arguments are not modified.
func TestForwardAndBack(t *testing.T) {
	for file, cloud := range map[string]provider.Provider[any]{
		"example/cloudprofile-legacy.yaml":          openStack,
		"example/aws/cloudprofile-legacy.yaml":      provider.Untyped(aws.Provider{}),
		"example/gcp/cloudprofile-legacy.yaml":      provider.Untyped(gcp.Provider{}),
		"example/azure/cloudprofile-legacy.yaml":    provider.Untyped(azure.Provider{}),
		"example/alicloud/cloudprofile-legacy.yaml": provider.Untyped(alicloud.Provider{}),
	} {
		legacy := read(t, file)
		written := slices.Clone(legacy)
		step := func(input json.RawMessage, options transform.Options) json.RawMessage {
			t.Helper()
			r, errs, err := transform.Forward(cloud, transform.Input{Raw: input}, options)
			if err != nil || len(errs) > 0 || len(r.Kept) > 0 {
				t.Fatalf("%s: %v, %v, %v", file, r.Kept, errs, err)
			}
			return r.Raw
		}
		registered := step(legacy, transform.Options{})
		is := tree(t, registered)
		spec := is["spec"].(map[string]any)
		if vocabulary := edit.Items(spec["machineCapabilities"]); len(vocabulary) != 1 {
			t.Errorf("%s: %v", file, vocabulary)
		}
		delete(spec, "machineCapabilities")
		if diff := cmp.Diff(tree(t, legacy), is); diff != "" {
			t.Errorf("%s: more than the architecture: %s", file, diff)
		}
		if diff := cmp.Diff(tree(t, registered), tree(t, step(registered, transform.Options{}))); diff != "" {
			t.Errorf("%s: once more: %s", file, diff)
		}
		flavors := step(registered, transform.Options{ProviderConfig: true})
		if diff := cmp.Diff(tree(t, flavors), tree(t, step(legacy, transform.Options{ProviderConfig: true}))); diff != "" {
			t.Errorf("%s: in one step: %s", file, diff)
		}
		if diff := cmp.Diff(tree(t, flavors), tree(t, step(flavors, transform.Options{ProviderConfig: true}))); diff != "" {
			t.Errorf("%s: flavors once more: %s", file, diff)
		}
		back, errs, err := transform.Back(cloud, transform.Input{Raw: registered})
		if diff := cmp.Diff(tree(t, legacy), tree(t, back.Raw)); err != nil || len(errs) > 0 || diff != "" {
			t.Errorf("%s: back: %v, %v, %s", file, errs, err, diff)
		}
		if string(legacy) != string(written) {
			t.Errorf("%s: the manifest is changed", file)
		}
	}
}

// An image without an architecture gets flavors, also in core, if there are several architectures, and none if there is one.
func TestArchitecturesThatImagesDoNotSay(t *testing.T) {
	const profile = `{spec: {type: local, regions: [{name: local}], machineTypes: [{name: a}, {name: b, architecture: arm64}], machineImages: [
		{name: linux, versions: [{version: 1.0.0, architectures: [arm64, amd64]}]}], providerConfig: {
		apiVersion: local.provider.extensions.gardener.cloud/v1alpha1, kind: CloudProfileConfig,
		machineImages: [{name: linux, versions: [{version: 1.0.0, image: "node:1"}]}]}}}`
	flat := strings.ReplaceAll(profile, "\t", " ")
	for name, c := range map[string]struct {
		text, values string
		flavors      int
	}{
		"both": {flat, `["amd64","arm64"]`, 2},
		"amd64": {
			strings.NewReplacer(", architecture: arm64", "", ", architectures: [arm64, amd64]", "").Replace(flat), `["amd64"]`, 0,
		},
		"arm64": {strings.NewReplacer("{name: a}, ", "", "[arm64, amd64]", "[arm64]").Replace(flat), `["arm64"]`, 0},
	} {
		r, errs, err := transform.Forward(provider.Untyped(local.Provider{}), transform.Input{Raw: raw(t, c.text)}, transform.Options{})
		if err != nil || len(errs) > 0 {
			t.Fatal(errs, err)
		}
		var p v1beta1.CloudProfile
		if err := json.Unmarshal(r.Raw, &p); err != nil {
			t.Fatal(err)
		}
		values, err := json.Marshal(p.Spec.MachineCapabilities[0].Values)
		if flavors := p.Spec.MachineImages[0].Versions[0].CapabilityFlavors; err != nil || string(values) != c.values || len(flavors) != c.flavors {
			t.Errorf("%s: %s, %v", name, values, flavors)
		}
		if count := strings.Count(string(p.Spec.ProviderConfig.Raw), `"image":"node:1"`); count != max(c.flavors, 1) {
			t.Errorf("%s: %s", name, p.Spec.ProviderConfig.Raw)
		}
	}
}

// A NamespacedCloudProfile cannot register what the fields of its versions say, so its parent does.
func TestImpliedBelow(t *testing.T) {
	const spec = `machineImages: [{name: a, versions: [{version: %[1]s}]}], providerConfig: {apiVersion: azure.provider.extensions.gardener.cloud/v1alpha1,
kind: CloudProfileConfig, machineImages: [{name: a, versions: [{version: %[1]s, urn: "a:b:c:d", acceleratedNetworking: %[2]t}]}]}`
	profile := raw(t, fmt.Sprintf("{spec: {"+spec+"}}", "1.0.0", false))
	own := raw(t, fmt.Sprintf("{spec: {parent: {kind: CloudProfile, name: azure}, "+spec+"}}", "2.0.0", true))
	for _, below := range [][]json.RawMessage{nil, {own}} {
		r, errs, err := transform.Forward(provider.Untyped(azure.Provider{}), transform.Input{Raw: profile, Below: below}, transform.Options{ProviderConfig: true})
		if registers := strings.Contains(string(r.Raw), `{"name":"azure-networking","values":["accelerated","basic"]}`); err != nil || len(errs) > 0 ||
			registers != (below != nil) {
			t.Errorf("%s: %v, %v", r.Raw, errs, err)
		}
	}
}

var fold = &transform.Fold{Suffix: "-baremetal", Capability: "hypervisor", Value: "baremetal", Plain: "virtualized"}

// Versions in use are kept with their path; others are removed.
func TestFold(t *testing.T) {
	input := transform.Input{Raw: read(t, "docs/examples/suffixes.yaml"), Used: func(image, version string) []string {
		if image == "gardenlinux" && version == "1592.9.0-baremetal" {
			return []string{"Shoot a/b"}
		}
		return nil
	}}
	r, errs, err := transform.Forward(openStack, input, transform.Options{Fold: fold, MachineTypes: []string{"bare_*"}})
	if err != nil || len(errs) > 0 {
		t.Fatal(errs, err)
	}
	kept := []transform.Kept{{"gardenlinux", "1592.9.0-baremetal", []string{"Shoot a/b"}, "spec.machineImages[0].versions[3]"}}
	if diff := cmp.Diff(kept, r.Kept); diff != "" {
		t.Error(diff)
	}
	var p v1beta1.CloudProfile
	if err := json.Unmarshal(r.Raw, &p); err != nil {
		t.Fatal(err)
	}
	var versions []string
	for _, v := range p.Spec.MachineImages[0].Versions {
		versions = append(versions, v.Version)
	}
	if diff := cmp.Diff([]string{"1877.5.0", "1592.9.0", "1592.9.0-baremetal"}, versions); diff != "" {
		t.Error(diff)
	}
	vocabulary := []v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "hypervisor", Values: []string{"virtualized", "baremetal"}},
	}
	if diff := cmp.Diff(vocabulary, p.Spec.MachineCapabilities); diff != "" {
		t.Error(diff)
	}
	for i, want := range []string{"virtualized", "baremetal"} {
		if got := p.Spec.MachineTypes[i].Capabilities["hypervisor"]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v", p.Spec.MachineTypes[i].Name, got)
		}
	}
	var before v1beta1.CloudProfile
	if err := json.Unmarshal(input.Raw, &before); err != nil {
		t.Fatal(err)
	}
	formerly := transform.Options{Fold: fold, MachineTypes: []string{"bare_*"}}.Formerly(openStack, &before.Spec, &p.Spec)
	for _, c := range []struct {
		version, machineType, want string
		counts                     bool
	}{
		{"1877.5.0", "medium_4_8", "1877.5.0", true}, {"1877.5.0", "bare_8_16", "1877.5.0-baremetal", true},
		{"1877.5.0-baremetal", "bare_8_16", "1877.5.0-baremetal", false}, {"1592.9.0-baremetal", "bare_8_16", "1592.9.0-baremetal", true},
		{"1592.9.0", "bare_8_16", "1592.9.0-baremetal", true}, {"3.0.0", "bare_8_16", "3.0.0", true},
	} {
		got, counts := formerly(resolve.Combination{Image: "gardenlinux", Version: c.version, MachineType: c.machineType, Region: "europe"})
		if got != c.want || counts != c.counts {
			t.Errorf("%s on %s was %s, %t", c.version, c.machineType, got, counts)
		}
	}
	if (transform.Options{}).Formerly(openStack, &before.Spec, &p.Spec) != nil {
		t.Error("without a fold, names stay")
	}
}

// Parts that cannot be migrated are errors at their paths.
func TestErrors(t *testing.T) {
	suffixes, flavors := read(t, "docs/examples/suffixes.yaml"), read(t, "example/cloudprofile.yaml")
	folded, _, err := transform.Forward(openStack, transform.Input{Raw: suffixes, Used: func(string, string) []string { return []string{"Shoot a/b"} }},
		transform.Options{Fold: fold})
	if err != nil {
		t.Fatal(err)
	}
	changed := json.RawMessage(strings.Replace(string(folded.Raw), `"id":"1234-amd64-bare"`, `"id":"another"`, 1))
	forward := func(input json.RawMessage) field.ErrorList {
		_, errs, err := transform.Forward(openStack, transform.Input{Raw: input}, transform.Options{Fold: fold})
		if err != nil {
			t.Fatal(err)
		}
		return errs
	}
	back := func(input json.RawMessage) field.ErrorList {
		_, errs, err := transform.Back(openStack, transform.Input{Raw: input})
		if err != nil {
			t.Fatal(err)
		}
		return errs
	}
	for name, c := range map[string]struct {
		errs     field.ErrorList
		at, want string
	}{
		"a flavor that is there with another image": {
			forward(changed), "spec.machineImages[0].versions[0]", "gardenlinux@1877.5.0 has a flavor with hypervisor [baremetal] already",
		},
		"a capability": {
			back(flavors), "spec.machineCapabilities[1]", "capability hypervisor says more than an architecture",
		},
	} {
		if len(c.errs) == 0 || c.errs[0].Field != c.at || c.errs[0].Origin != transform.Rule || !strings.Contains(c.errs[0].Detail, c.want) {
			t.Errorf("%s: %v", name, c.errs)
		}
	}
	for _, broken := range []string{"", "[]", `{"spec": {"machineImages": 1}}`} {
		if _, _, err := transform.Forward(openStack, transform.Input{Raw: json.RawMessage(broken)}, transform.Options{}); err == nil {
			t.Errorf("%q is migrated", broken)
		}
		if _, _, err := transform.Back(openStack, transform.Input{Raw: json.RawMessage(broken)}); err == nil {
			t.Errorf("%q is migrated back", broken)
		}
	}
}

func TestParseFold(t *testing.T) {
	for text, want := range map[string]*transform.Fold{
		"-baremetal=hypervisor:baremetal,virtualized": fold,
		"-inplace=gardener-update-type:in-place":      {Suffix: "-inplace", Capability: "gardener-update-type", Value: "in-place", Plain: "rolling"},
		"-a=gardener-boot-type:secure,no":             nil, "-a=gardener-bootType:secure": nil, "-a=gardener-x:y": nil, "-a=gardener-boot-type:": nil,
		"-gen2=generation:gen2": {Suffix: "-gen2", Capability: "generation", Value: "gen2", Plain: transform.StandardPlain},
		"":                      nil, "-a": nil, "-a=b": nil, "-a=b:": nil, "=b:c": nil, "-a=:c": nil, "-a=b:c,": nil, "-a=b:c,d,e": nil,
		"-a=b:c,c": nil, "-a=b:standard": nil, "-a=architecture:arm64": nil,
	} {
		got, err := transform.ParseFold(text)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want != nil) || err != nil && !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("%q: %v, %s", text, err, diff)
		}
	}
	for version, want := range map[string]string{"1.0.0-baremetal": "1.0.0", "1.0.0": "", "-baremetal": "", "1.0.0-baremetal-x": ""} {
		if plain, folds := fold.Folds(version); folds != (want != "") || folds && plain != want {
			t.Errorf("%s: %q, %t", version, plain, folds)
		}
	}
}
