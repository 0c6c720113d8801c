// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/capkit/capkit/pkg/imageselector"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
)

// drawSpec draws a whole profile for the local provider with a bit of everything that can be wrong in it.
func drawSpec(t *rapid.T) *v1beta1.CloudProfileSpec {
	var defs []v1beta1.CapabilityDefinition
	if rapid.IntRange(0, 4).Draw(t, "legacy") > 0 {
		defs = drawDefinitions(t)
		if rapid.Bool().Draw(t, "arm64") {
			defs[0].Values = append(defs[0].Values, "arm64")
		}
		if rapid.IntRange(0, 5).Draw(t, "value twice") == 0 {
			defs[0].Values = append(defs[0].Values, "amd64")
		}
	}
	spec := &v1beta1.CloudProfileSpec{Type: "local", MachineCapabilities: defs, Regions: []v1beta1.Region{{Name: "local"}}}
	names, versions := rapid.SampledFrom([]string{"linux", "coreos", "flatcar"}), rapid.SampledFrom([]string{"1.0.0", "1.1.0", "10.0.0", "2"})
	for i := range rapid.IntRange(0, 3).Draw(t, "machine types") {
		mt := v1beta1.MachineType{Name: fmt.Sprintf("m%d", i), Capabilities: drawFlavors(t, defs, "machine")[0]}
		if rapid.Bool().Draw(t, "names architecture") {
			mt.Architecture = new(rapid.SampledFrom([]string{"amd64", "arm64", ""}).Draw(t, "architecture"))
		}
		spec.MachineTypes = append(spec.MachineTypes, mt)
	}
	for range rapid.IntRange(0, 3).Draw(t, "core images") {
		image := v1beta1.MachineImage{Name: names.Draw(t, "name")}
		for range rapid.IntRange(0, 3).Draw(t, "versions") {
			version := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: versions.Draw(t, "version")}}
			for _, c := range drawFlavors(t, defs, "flavors") {
				version.CapabilityFlavors = append(version.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: c})
			}
			if rapid.Bool().Draw(t, "architectures only") {
				version.CapabilityFlavors = nil
				version.Architectures = rapid.SliceOfN(rapid.SampledFrom([]string{"amd64", "arm64"}), 0, 3).Draw(t, "architectures")
			}
			image.Versions = append(image.Versions, version)
		}
		spec.MachineImages = append(spec.MachineImages, image)
	}
	spec.ProviderConfig = drawConfig(t, defs, names, versions)
	return spec
}

type (
	object = map[string]any
	list   = []any
)

func drawConfig(t *rapid.T, defs []v1beta1.CapabilityDefinition, names, versions *rapid.Generator[string]) *runtime.RawExtension {
	var images list
	for range rapid.IntRange(0, 3).Draw(t, "provider images") {
		var entries list
		for range rapid.IntRange(0, 4).Draw(t, "versions") {
			entry := object{"version": versions.Draw(t, "version")}
			switch rapid.IntRange(0, 5).Draw(t, "format") {
			case 0:
				entry["image"] = "image"
			case 1:
				entry["unknown"] = "field"
			default:
				var flavors list
				for _, c := range drawFlavors(t, defs, "flavors") {
					if rapid.IntRange(0, 9).Draw(t, "wrong") == 0 {
						c["architecture"] = v1beta1.CapabilityValues{"riscv"}
					}
					flavors = append(flavors, object{"image": rapid.SampledFrom([]string{"image", "image", "image", ""}).Draw(t, "image"), "capabilities": c})
				}
				entry["capabilityFlavors"] = flavors
			}
			entries = append(entries, entry)
		}
		images = append(images, object{"name": names.Draw(t, "name"), "versions": entries})
	}
	config := object{"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "machineImages": images}
	if rapid.IntRange(0, 19).Draw(t, "other kind") == 0 {
		config["kind"] = "InfrastructureConfig"
	}
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: raw}
}

// text prints everything about a report that a reader may see.
func text(r finding.Report) string {
	var b strings.Builder
	for _, list := range []finding.List{r.Errors, r.Warnings} {
		for _, err := range list {
			fmt.Fprintf(&b, "%s %s %s\n", err.Origin, err.Type, err)
		}
		b.WriteString("--\n")
	}
	return b.String()
}

func TestReportsAreTheSameOnEveryRunAndSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		before := spec.DeepCopy()
		_, first := check.CloudProfile(local.Provider{}, &v1beta1.CloudProfile{Spec: *spec})
		if !reflect.DeepEqual(before, spec) {
			t.Fatalf("the profile was changed: %s", gocmp.Diff(before, spec))
		}
		_, second := check.CloudProfile(local.Provider{}, &v1beta1.CloudProfile{Spec: *before})
		if diff := gocmp.Diff(text(first), text(second)); diff != "" {
			t.Fatal(diff)
		}
		for _, list := range []finding.List{first.Errors, first.Warnings} {
			checkFindings(t, list)
		}
	})
}

// The images that a provider hands over are its own.
func TestCompileDoesNotChangeTheImages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		defs := drawDefinitions(t)
		core, cloud := drawFlavors(t, defs, "core"), drawFlavors(t, defs, "provider")
		legacy := rapid.Bool().Draw(t, "legacy")
		images := func() []imageselector.Image[string] {
			images := given(cloud...).images
			images[0].Versions[0].Legacy = legacy
			return images
		}
		handed, untouched := images(), images()
		profile.Compile(fake{images: handed}, coreSpec(defs, core), field.NewPath("spec"))
		if !reflect.DeepEqual(handed, untouched) {
			t.Fatal(gocmp.Diff(untouched, handed))
		}
	})
}

type fatal interface{ Fatalf(string, ...any) }

// catalogue holds the names of all rules.
var catalogue = func() map[string]bool {
	names := map[string]bool{}
	for _, rule := range slices.Concat(check.Rules(), openstack.Provider{}.Rules()) {
		names[rule.Name] = true
	}
	return names
}()

func checkFindings(t fatal, list finding.List) {
	for i, err := range list {
		if !catalogue[err.Origin] {
			t.Fatalf("%v: rule %q is not in the catalogue", err, err.Origin)
		}
		if i > 0 && finding.ComparePaths(list[i-1].Field, err.Field) > 0 {
			t.Fatalf("%s stands before %s", list[i-1].Field, err.Field)
		}
		if err.Detail == "" || strings.Contains(err.Detail, "map[") {
			t.Fatalf("not for a reader: %q", err.Detail)
		}
	}
}
