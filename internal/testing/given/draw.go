// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// DrawDefinitions draws a vocabulary of one architecture, and up to two capabilities c0 and c1 with values among x, y and z.
func DrawDefinitions(t *rapid.T) []v1beta1.CapabilityDefinition {
	defs := []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}
	for i := range rapid.IntRange(0, 2).Draw(t, "capabilities") {
		defs = append(defs, v1beta1.CapabilityDefinition{
			Name: fmt.Sprintf("c%d", i), Values: []string{"x", "y", "z"}[:rapid.IntRange(1, 3).Draw(t, "values")]})
	}
	return defs
}

// DrawFlavors draws from so few flavors that both sides often agree, and one side often has duplicates.
func DrawFlavors(t *rapid.T, defs []v1beta1.CapabilityDefinition, side string) []v1beta1.Capabilities {
	flavors := make([]v1beta1.Capabilities, rapid.IntRange(1, 5).Draw(t, side))
	for i := range flavors {
		flavors[i] = v1beta1.Capabilities{}
		for _, def := range defs {
			if rapid.Bool().Draw(t, "declared") {
				flavors[i][def.Name] = rapid.SliceOfN(rapid.SampledFrom(def.Values), 1, 3).Draw(t, def.Name)
			}
		}
	}
	return flavors
}

// Declarable is the complete vocabulary of the profiles from DrawProfile. Only architecture is always registered.
var Declarable = []v1beta1.CapabilityDefinition{
	{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "given-trusted", Values: []string{"on", "off"}},
	{Name: "given-disk", Values: []string{"fast", "slow"}}, {Name: capability.BootType, Values: []string{"standard", "secure"}},
	{Name: capability.UpdateType, Values: []string{"rolling", "in-place"}},
}

// DrawProfile draws a profile on which core and the provider agree. It may register the provider's worker capabilities and, less often,
// reserved ones.
func DrawProfile(t *rapid.T) (Cloud, *v1beta1.CloudProfileSpec) {
	s := &v1beta1.CloudProfileSpec{Regions: []v1beta1.Region{{Name: "eu"}, {Name: "us"}}, MachineCapabilities: slices.Clone(Declarable[:1])}
	for _, def := range Declarable[1:] {
		if rapid.Bool().Draw(t, "registered") {
			s.MachineCapabilities = append(s.MachineCapabilities, def)
		}
	}
	cloud := Cloud{}.With(Definitions, Requests)
	for i, name := range []string{"a", "b"} {
		image, mapped := v1beta1.MachineImage{Name: name}, imageselector.Image[string]{Name: name, Path: field.NewPath("images").Index(i)}
		for k := range rapid.IntRange(1, 3).Draw(t, "versions") {
			core, version := drawVersion(t, s.MachineCapabilities, fmt.Sprintf("%d.0.0", k), mapped.Path.Child("versions").Index(k))
			image.Versions, mapped.Versions = append(image.Versions, core), append(mapped.Versions, version)
		}
		s.MachineImages, cloud.Images = append(s.MachineImages, image), append(cloud.Images, mapped)
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "machine types") {
		mt := v1beta1.MachineType{
			Name: fmt.Sprintf("m%d", i), Capabilities: DrawFlavors(t, s.MachineCapabilities, "machine")[0], Usable: new(rapid.Bool().Draw(t, "usable")),
		}
		mt.Capabilities["architecture"] = v1beta1.CapabilityValues{rapid.SampledFrom(Declarable[0].Values).Draw(t, "architecture")}
		s.MachineTypes = append(s.MachineTypes, mt)
	}
	return cloud, s
}

// drawVersion draws the distinct flavors of a version on which both sides agree.
func drawVersion(
	t *rapid.T, registered []v1beta1.CapabilityDefinition, name string, at *field.Path,
) (v1beta1.MachineImageVersion, imageselector.Version[string]) {
	v, _ := capability.Compile(registered, nil, Definitions...)
	core := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: name}}
	var undeclared v1beta1.Capabilities
	if rapid.IntRange(0, 3).Draw(t, "in place") == 0 {
		core.InPlaceUpdates = &v1beta1.InPlaceUpdates{Supported: true}
		undeclared = v1beta1.Capabilities{capability.UpdateType: {capability.UpdateTypeInPlace, capability.UpdateTypeRolling}}
	}
	version := imageselector.Version[string]{Version: name, Path: at}
	seen := map[capability.Set]bool{}
	for _, declared := range DrawFlavors(t, Declarable, "flavors") {
		declared["architecture"] = v1beta1.CapabilityValues{rapid.SampledFrom(Declarable[0].Values).Draw(t, "architecture")}
		if last := len(version.Flavors) - 1; last >= 0 && rapid.Bool().Draw(t, "like the last one") {
			declared = maps.Clone(version.Flavors[last].Capabilities)
			declared[capability.BootType] = rapid.SliceOfN(rapid.SampledFrom(Declarable[3].Values), 1, 2).Draw(t, "boot type")
		}
		ofCore := maps.Clone(declared)
		maps.DeleteFunc(ofCore, func(name string, _ v1beta1.CapabilityValues) bool { return !v.IsRegistered(name) })
		maps.DeleteFunc(declared, func(name string, _ v1beta1.CapabilityValues) bool {
			return !v.IsRegistered(name) && !strings.HasPrefix(name, capability.ReservedPrefix)
		})
		set, _ := v.Flavor(declared, undeclared, nil)
		carried, _ := v.Flavor(ofCore, undeclared, nil)
		if seen[set] {
			continue
		}
		if !slices.ContainsFunc(core.CapabilityFlavors, func(f v1beta1.MachineImageFlavor) bool {
			set, _ := v.Flavor(f.Capabilities, undeclared, nil)
			return set == carried
		}) {
			core.CapabilityFlavors = append(core.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: ofCore})
		}
		seen[set] = true
		flavor := imageselector.Flavor[string]{Capabilities: declared, Path: at.Child("capabilityFlavors").Index(len(version.Flavors))}
		if region := rapid.SampledFrom([]string{"eu", "us", ""}).Draw(t, "region"); region != "" {
			flavor.Regional = []imageselector.Regional[string]{{Region: region, Ref: flavor.Path.String()}}
		} else {
			flavor.Global = &imageselector.Global[string]{Ref: flavor.Path.String()}
		}
		version.Flavors = append(version.Flavors, flavor)
	}
	return core, version
}

// DrawOrder draws a preference order.
func DrawOrder(t *rapid.T) capability.Order {
	return rapid.SampledFrom([]capability.Order{capability.GEP33, capability.Gardener}).Draw(t, "order")
}

// DrawPool draws a worker pool for a profile from DrawProfile, which may have requests, and may name things that the profile lacks.
func DrawPool(t *rapid.T) provider.Pool {
	pool := provider.Pool{
		Name:        "w",
		MachineType: rapid.SampledFrom([]string{"m0", "m1", "m2", "none"}).Draw(t, "machine type"),
		Image:       rapid.SampledFrom([]string{"a", "a", "b", "none"}).Draw(t, "image"),
		Version:     rapid.SampledFrom([]string{"0.0.0", "0.0.0", "1.0.0", "2.0.0"}).Draw(t, "version"),
		Region:      rapid.SampledFrom([]string{"eu", "us"}).Draw(t, "region"),
		Path:        field.NewPath("w"),
	}
	pool.Architecture = rapid.SampledFrom([]string{"", "", "amd64", "arm64"}).Draw(t, "architecture")
	pool.Worker.SecureBoot = rapid.IntRange(0, 2).Draw(t, "secure boot") == 0
	pool.Worker.UpdateStrategy = rapid.SampledFrom([]v1beta1.MachineUpdateStrategy{"", "", v1beta1.AutoInPlaceUpdate}).Draw(t, "strategy")
	rests := []string{"none", "", `, "trusted": true`, `, "disk": "fast"`, `, "disk": "any", "trusted": true`, `, "x": 1`}
	if rest := rapid.SampledFrom(rests).Draw(t, "config"); rest != "none" {
		pool.Config = &runtime.RawExtension{Raw: []byte(`{"apiVersion": "given/v1", "kind": "WorkerConfig"` + rest + "}")}
	}
	return pool
}

// DrawSpec draws a profile for the local provider with a mixture of all kinds of mistakes.
func DrawSpec(t *rapid.T) *v1beta1.CloudProfileSpec {
	var defs []v1beta1.CapabilityDefinition
	if rapid.IntRange(0, 4).Draw(t, "legacy") > 0 {
		defs = DrawDefinitions(t)
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
		mt := v1beta1.MachineType{Name: fmt.Sprintf("m%d", i), Capabilities: DrawFlavors(t, defs, "machine")[0]}
		if rapid.Bool().Draw(t, "names architecture") {
			mt.Architecture = new(rapid.SampledFrom([]string{"amd64", "arm64", ""}).Draw(t, "architecture"))
		}
		spec.MachineTypes = append(spec.MachineTypes, mt)
	}
	for range rapid.IntRange(0, 3).Draw(t, "core images") {
		image := v1beta1.MachineImage{Name: names.Draw(t, "name")}
		for range rapid.IntRange(0, 3).Draw(t, "versions") {
			version := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: versions.Draw(t, "version")}}
			for _, c := range DrawFlavors(t, defs, "flavors") {
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

func drawConfig(t *rapid.T, defs []v1beta1.CapabilityDefinition, names, versions *rapid.Generator[string]) *runtime.RawExtension {
	var images List
	for range rapid.IntRange(0, 3).Draw(t, "provider images") {
		var entries List
		for range rapid.IntRange(0, 4).Draw(t, "versions") {
			entry := Object{"version": versions.Draw(t, "version")}
			switch rapid.IntRange(0, 5).Draw(t, "format") {
			case 0:
				entry["image"] = "image"
			case 1:
				entry["unknown"] = "field"
			default:
				var flavors List
				for _, c := range DrawFlavors(t, defs, "flavors") {
					if rapid.IntRange(0, 9).Draw(t, "wrong") == 0 {
						c["architecture"] = v1beta1.CapabilityValues{"riscv"}
					}
					flavors = append(flavors, Object{"image": rapid.SampledFrom([]string{"image", "image", "image", ""}).Draw(t, "image"), "capabilities": c})
				}
				entry["capabilityFlavors"] = flavors
			}
			entries = append(entries, entry)
		}
		images = append(images, Object{"name": names.Draw(t, "name"), "versions": entries})
	}
	config := Object{"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "machineImages": images}
	if rapid.IntRange(0, 19).Draw(t, "other kind") == 0 {
		config["kind"] = "InfrastructureConfig"
	}
	return Raw(t, config)
}
