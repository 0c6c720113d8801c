// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

const config = `{"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "machineImages": [
	{"name": "local", "versions": [{"version": "1.0.0", "image": "node:1.0.0"}, {"version": "2.0.0", "image": "node:2.0.0"}]}]}`

// A legacy image serves every architecture that core lists, in profiles with and without capabilities.
func TestLegacyImageServesEveryArchitecture(t *testing.T) {
	machineTypes := []v1beta1.MachineType{{Name: "amd"}, {Name: "arm", Architecture: new("arm64")}}
	flavors := []v1beta1.MachineImageFlavor{
		{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}, {Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}},
	}
	version := func(v string, architectures []string, flavors []v1beta1.MachineImageFlavor) v1beta1.MachineImageVersion {
		return v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: v}, Architectures: architectures, CapabilityFlavors: flavors}
	}
	both := []string{"amd64", "arm64"}
	for name, spec := range map[string]v1beta1.CloudProfileSpec{
		"without capabilities": {MachineImages: []v1beta1.MachineImage{{Name: "local", Versions: []v1beta1.MachineImageVersion{
			version("1.0.0", both, nil), version("2.0.0", nil, nil),
		}}}},
		"with capabilities": {
			MachineCapabilities: []v1beta1.CapabilityDefinition{{Name: "architecture", Values: both}},
			MachineImages: []v1beta1.MachineImage{{Name: "local", Versions: []v1beta1.MachineImageVersion{
				version("1.0.0", nil, flavors), version("2.0.0", nil, flavors[:1]),
			}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(config)}
			spec.MachineTypes = machineTypes
			if len(spec.MachineCapabilities) > 0 {
				spec.MachineTypes = []v1beta1.MachineType{{Name: "amd", Architecture: new("amd64")}, machineTypes[1]}
			}
			profile, report := profile.Compile(local.Provider{}, &spec, field.NewPath("spec"))
			if len(report.Errors)+len(report.Warnings) > 0 {
				t.Fatal(report)
			}
			for _, machine := range []string{"amd", "arm"} {
				r := resolve.Pool(profile, provider.Pool{MachineType: machine, Image: "local", Version: "1.0.0", Region: "any"})
				if r.Err != nil || r.Decision.Reference.Image != "node:1.0.0" {
					t.Errorf("%s: %v %v", machine, r.Decision.Reference, r.Err)
				}
			}
			r := resolve.Pool(profile, provider.Pool{MachineType: "arm", Image: "local", Version: "2.0.0", Region: "any"})
			if r.Err == nil {
				t.Errorf("core lists amd64 only, and yet arm boots %v", r.Decision.Reference)
			}
		})
	}
}

// Beside a flavor for one architecture, a legacy image still serves the others: only that architecture is a duplicate.
func TestLegacyImageBesideAFlavor(t *testing.T) {
	const legacy = `{"version": "1.0.0", "image": "node:1.0.0"}`
	const flavor = `{"version": "1.0.0", "capabilityFlavors": [{"image": "node-arm64:1.0.0", "capabilities": {"architecture": ["arm64"]}}]}`
	const again = "spec.providerConfig.machineImages[0].versions[1]."
	for versions, want := range map[string]string{
		legacy + "," + flavor: again + "capabilityFlavors[0]",
		flavor + "," + legacy: again + "image",
	} {
		spec := v1beta1.CloudProfileSpec{
			MachineCapabilities: []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64", "arm64"}}},
			MachineTypes:        []v1beta1.MachineType{{Name: "amd", Architecture: new("amd64")}},
			MachineImages: []v1beta1.MachineImage{{Name: "local", Versions: []v1beta1.MachineImageVersion{{
				ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"},
				CapabilityFlavors: []v1beta1.MachineImageFlavor{
					{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}, {Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}},
				},
			}}}},
			ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1",
				"kind": "CloudProfileConfig", "machineImages": [{"name": "local", "versions": [` + versions + `]}]}`)},
		}
		profile, report := profile.Compile(local.Provider{}, &spec, field.NewPath("spec"))
		if len(report.Errors) != 1 || report.Errors[0].Type != field.ErrorTypeDuplicate || report.Errors[0].Field != want {
			t.Errorf("%s: %v, want a duplicate at %s", versions, report.Errors.Errors(), want)
		}
		r := resolve.Pool(profile, provider.Pool{MachineType: "amd", Image: "local", Version: "1.0.0", Region: "any"})
		if r.Decision.Reference.Image != "node:1.0.0" {
			t.Errorf("%s: amd64 boots %v", versions, r.Decision.Reference)
		}
	}
}

func TestValidateReference(t *testing.T) {
	if errs := (local.Provider{}).ValidateReference(local.Image{}, field.NewPath("image")); len(errs) != 1 {
		t.Error(errs)
	}
	if errs := (local.Provider{}).ValidateReference(local.Image{Image: "node:1.0.0"}, field.NewPath("image")); len(errs) != 0 {
		t.Error(errs)
	}
}

// Findings use these paths, so each must lead to the field that was read.
func TestPathsLeadToWhatWasRead(t *testing.T) {
	config := `{"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "a"}, {"name": "b", "versions": [{"version": "1", "image": "node:1"},
			{"version": "2", "image": "ignored", "capabilityFlavors": [{"image": "node:2"}, {"image": "node:3"}]}]}]}`
	images, report := local.Provider{}.Decode(&runtime.RawExtension{Raw: []byte(config)}, field.NewPath("config"))
	if len(report.Errors) > 0 || len(report.Warnings) != 1 || report.Warnings[0].Field != "config.machineImages[1].versions[1].image" {
		t.Fatal(report)
	}
	var found []string
	for _, image := range images.Images {
		for _, version := range image.Versions {
			for _, flavor := range version.Flavors {
				found = append(found, flavor.Global.Path.String()+": "+flavor.Global.Ref.Image)
			}
		}
	}
	const versions = "config.machineImages[1].versions"
	want := []string{
		versions + "[0].image: node:1", versions + "[1].capabilityFlavors[0].image: node:2", versions + "[1].capabilityFlavors[1].image: node:3",
	}
	if !slices.Equal(found, want) {
		t.Error(found)
	}
}
