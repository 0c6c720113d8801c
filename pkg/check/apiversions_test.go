// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/render"
)

// twoVersions is a cloud whose config has two API versions, in which flavors have different names. In v1, a legacy version has its images by
// architecture, all of them at one place.
type twoVersions struct{ given.Cloud }

type versionOne struct {
	Version           string            `json:"version"`
	Images            map[string]string `json:"images,omitempty"`
	CapabilityFlavors []flavorOfEither  `json:"capabilityFlavors,omitempty"`
}

type versionTwo struct {
	Version string           `json:"version"`
	Flavors []flavorOfEither `json:"flavors"`
}

type flavorOfEither struct {
	Capabilities v1beta1.Capabilities `json:"capabilities,omitempty"`
	Image        string               `json:"image"`
}

type configOf[V any] struct {
	metav1.TypeMeta `json:",inline"`

	MachineImages []imageOf[V] `json:"machineImages"`
}

type imageOf[V any] struct {
	Name     string `json:"name"`
	Versions []V    `json:"versions"`
}

func (twoVersions) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[string], finding.Report) {
	written := metav1.TypeMeta{}
	if raw != nil && json.Unmarshal(raw.Raw, &written) == nil && written.APIVersion == "given/v2" {
		return decodeOf(raw, "v2", at, func(v *versionTwo, at *field.Path, _ *finding.Report) imageselector.Version[string] {
			return imageselector.Version[string]{Version: v.Version, Path: at, Flavors: flavorsOf(v.Flavors, at.Child("flavors"))}
		})
	}
	return decodeOf(raw, "v1", at, func(v *versionOne, at *field.Path, _ *finding.Report) imageselector.Version[string] {
		version := imageselector.Version[string]{Version: v.Version, Path: at, Legacy: len(v.CapabilityFlavors) == 0}
		version.Flavors = flavorsOf(v.CapabilityFlavors, at.Child("capabilityFlavors"))
		images := at.Child("images")
		for _, architecture := range slices.Sorted(maps.Keys(v.Images)) {
			version.Flavors = append(version.Flavors, imageselector.Flavor[string]{
				Capabilities: providerconfig.OfArchitecture(&architecture), Path: images,
				Global: &imageselector.Global[string]{Ref: v.Images[architecture], Path: images.Child(architecture)},
			})
		}
		return version
	})
}

func decodeOf[V any](
	raw *runtime.RawExtension, version string, at *field.Path, convert func(*V, *field.Path, *finding.Report) imageselector.Version[string],
) (provider.Config[string], finding.Report) {
	config := &configOf[V]{}
	kind := schema.GroupVersionKind{Group: "given", Version: version, Kind: "CloudProfileConfig"}
	report := finding.Report{Errors: providerconfig.Decode(raw, kind, config, at)}
	images := providerconfig.Images(config.MachineImages, at.Child("machineImages"),
		func(i *imageOf[V]) (string, []V) { return i.Name, i.Versions }, convert, &report)
	return provider.Config[string]{Images: images}, report
}

func flavorsOf(written []flavorOfEither, at *field.Path) (flavors []imageselector.Flavor[string]) {
	for i, f := range written {
		flavors = append(flavors, imageselector.Flavor[string]{
			Capabilities: f.Capabilities, Path: at.Index(i),
			Global: &imageselector.Global[string]{Ref: f.Image, Path: at.Index(i).Child("image")},
		})
	}
	return flavors
}

// Encode writes v1.
func (twoVersions) Encode(version imageselector.Version[string], format provider.Format) ([]any, error) {
	written := versionOne{Version: version.Version}
	for _, f := range version.Flavors {
		if format == provider.FormatFlavors {
			written.CapabilityFlavors = append(written.CapabilityFlavors, flavorOfEither{f.Capabilities, f.Global.Ref})
			continue
		}
		architecture, err := providerconfig.LegacyArchitecture(f.Capabilities)
		if err != nil {
			return nil, err
		}
		if written.Images == nil {
			written.Images = map[string]string{}
		}
		written.Images[architecture] = f.Global.Ref
	}
	return []any{written}, nil
}

// inAPIVersion returns a profile with one image version whose config has an API version.
func inAPIVersion(apiVersion, version, written string) ([]v1beta1.MachineImage, *runtime.RawExtension) {
	entry := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: version}, CapabilityFlavors: []v1beta1.MachineImageFlavor{
		{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}, {Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}},
	}}
	return []v1beta1.MachineImage{{Name: "linux", Versions: []v1beta1.MachineImageVersion{entry}}}, &runtime.RawExtension{Raw: fmt.Appendf(nil,
		`{"apiVersion":%q,"kind":"CloudProfileConfig","machineImages":[{"name":"linux","versions":[{"version":%q,%s}]}]}`, apiVersion, version, written)}
}

const (
	twoFlavors = `[{"capabilities":{"architecture":["amd64"]},"image":"a"},{"capabilities":{"architecture":["arm64"]},"image":"b"}]`
	asLegacy   = `"images":{"amd64":"a","arm64":"b"}`
	asFlavors  = `"capabilityFlavors":` + twoFlavors
	asSecond   = `"flavors":` + twoFlavors
)

// A NamespacedCloudProfile is rendered into the config of its parent. It may have another API version only if the parent's has the same
// fields.
func TestAPIVersionsOfANamespacedCloudProfile(t *testing.T) {
	refused := func(parent string) []string {
		return []string{"spec.providerConfig.apiVersion: provider-config-kind: the parent, CloudProfile p, has apiVersion: " + parent +
			", in which images are written with other fields; write this config like that of the parent"}
	}
	for _, test := range []struct {
		parent, own, entry string
		says               []string
		rendered           string
	}{
		{"given/v1", "given/v1", asFlavors, nil, asFlavors},
		{"given/v1", "given/v1", asLegacy, nil, asFlavors}, // each flavor once, though both have one path
		{"given/v1", "given/v2", asSecond, refused("given/v1"), ""},
		{"given/v2", "given/v2", asSecond, nil, asSecond},
		{"given/v2", "given/v1", asFlavors, refused("given/v2"), ""},
		{"given/v2", "given/v1", asLegacy, refused("given/v2"), ""},
		{"given/v2", "given/v1", `"images":1`, []string{"spec.providerConfig.machineImages[0].versions[0].images: field-type: " +
			"linux@2: expected an object, got a number"}, ""}, // that first
	} {
		parentEntry := map[string]string{"given/v1": asFlavors, "given/v2": asSecond}[test.parent]
		spec := &v1beta1.CloudProfileSpec{MachineCapabilities: []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64", "arm64"}}}}
		spec.MachineImages, spec.ProviderConfig = inAPIVersion(test.parent, "1", parentEntry)
		object := &v1beta1.NamespacedCloudProfile{}
		object.Spec.Parent.Name = "p"
		object.Spec.MachineImages, object.Spec.ProviderConfig = inAPIVersion(test.own, "2", test.entry)
		above := given.Sound(t, twoVersions{}, spec)
		_, report := check.NamespacedCloudProfile(above, object)
		var says []string
		for _, e := range report.Errors {
			says = append(says, e.Field+": "+e.Origin+": "+e.Detail)
		}
		if diff := cmp.Diff(test.says, says); diff != "" {
			t.Errorf("%s in %s: %s", test.own, test.parent, diff)
		}
		if test.rendered == "" {
			continue
		}
		config, err := render.Merged(twoVersions{}, spec.MachineCapabilities, object, spec.ProviderConfig)
		if err != nil || strings.Count(string(config.Raw), test.rendered) != 2 { // that of the parent, and the new one
			t.Errorf("%s in %s: %v %s", test.own, test.parent, err, config.Raw)
		}
	}
}
