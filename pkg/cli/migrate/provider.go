// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// rewrite writes the entries of the provider config for which of is true in a format, unless they are in it. Several entries of
// one version become one with flavors, in the place of the first.
func (p *document) rewrite(format provider.Format, of func(image, version string) bool) {
	images := p.decode()
	p.core = p.filled(p.capabilities)
	for i := range images {
		p.rewriteImage(p.providerImage(i), &images[i], format, of)
	}
	p.refresh()
}

// rewriteImage does so for an image, which is written as owner.
func (p *document) rewriteImage(
	owner map[string]any, image *imageselector.Image[any], format provider.Format, of func(image, version string) bool,
) {
	list := asList(owner["versions"])
	if len(list) != len(image.Versions) {
		return // which is an error that has been reported
	}
	var rewritten []any
	changed, firsts := false, map[string]map[string]any{}
	for k := range image.Versions {
		version := &image.Versions[k]
		if version.Legacy == (format == provider.FormatLegacy) || !of(image.Name, version.Version) {
			written, isMapping := list[k].(map[string]any)
			if !version.Legacy && isMapping && firsts[version.Version] == nil {
				firsts[version.Version] = written
			}
			rewritten = append(rewritten, list[k])
			continue
		}
		changed = true
		for _, written := range p.encode(image.Name, version, format) {
			first := firsts[version.Version]
			if first == nil || format == provider.FormatLegacy {
				firsts[version.Version] = written
				rewritten = append(rewritten, written)
				continue
			}
			first["capabilityFlavors"] = append(asList(first["capabilityFlavors"]), asList(written["capabilityFlavors"])...)
		}
	}
	if changed {
		owner["versions"] = rewritten
	}
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}

// refresh takes over what has been changed in the provider config.
func (p *document) refresh() {
	if config, there := p.spec["providerConfig"]; there {
		if raw, err := json.Marshal(config); err == nil {
			p.written.ProviderConfig = &runtime.RawExtension{Raw: raw}
		}
	}
}

// providerImage returns an image of the provider config; nil if it is of another form.
func (p *document) providerImage(index int) map[string]any {
	config, _ := p.spec["providerConfig"].(map[string]any)
	return entry(config["machineImages"], index)
}

// decode returns the images of the provider config; none if there is no config.
func (p *document) decode() []imageselector.Image[any] {
	if !provider.HasContent(p.written.ProviderConfig) {
		return nil
	}
	config, _ := p.cloud.Decode(p.written.ProviderConfig, field.NewPath("spec", "providerConfig"))
	return config.Images
}

// encode writes an entry in a format. If that is not possible it is an error, and the result is empty.
func (p *document) encode(image string, version *imageselector.Version[any], format provider.Format) []map[string]any {
	converted := *version
	converted.Legacy = format == provider.FormatLegacy
	converted.Flavors = p.declared(image, version)
	if converted.Legacy {
		converted.Flavors = p.undeclared(version)
	}
	written, err := p.cloud.Encode(converted, format)
	if err != nil {
		p.fail(version.Path.String(), "%s@%s cannot be written in the other format: %v", image, version.Version, err)
		return nil
	}
	var entries []map[string]any
	raw, err := json.Marshal(written)
	if err == nil {
		err = json.Unmarshal(raw, &entries)
	}
	if err != nil {
		p.fail(version.Path.String(), "%s@%s cannot be written in the other format: %v", image, version.Version, err)
		return nil
	}
	for _, entry := range entries { // null says nothing
		maps.DeleteFunc(entry, func(_ string, value any) bool { return value == nil })
		if converted.Legacy {
			p.shorten(entry)
		}
	}
	return entries
}

// declared returns the flavors of an entry with the capabilities that they are to declare: those of the core flavor to which they
// correspond (semantics S8) or, if there is none, their own. An image for all architectures is one flavor for each of them.
func (p *document) declared(image string, version *imageselector.Version[any]) []imageselector.Flavor[any] {
	core := p.coreFlavors(image, version.Version)
	vocabulary, _ := capability.Compile(p.capabilities, nil, p.cloud.Workers().Definitions()...)
	var flavors []imageselector.Flavor[any]
	for _, flavor := range version.Flavors {
		own := flavor.Supported(vocabulary)
		flavor.Implied = nil
		if _, declared := own[capability.Architecture]; version.Legacy && !declared && len(vocabulary.Registered(capability.Architecture)) > 1 {
			for _, f := range core {
				each := flavor
				each.Capabilities = f.Capabilities
				flavors = append(flavors, each)
			}
			continue
		}
		set, _ := vocabulary.Flavor(own, nil, nil)
		var same []v1beta1.MachineImageFlavor
		for _, f := range core {
			if other, _ := vocabulary.Flavor(f.Capabilities, nil, nil); other == set {
				same = []v1beta1.MachineImageFlavor{f}
				break
			}
			if slices.Equal(f.Capabilities[capability.Architecture], own[capability.Architecture]) {
				same = append(same, f)
			}
		}
		flavor.Capabilities = own
		if version.Legacy && len(same) == 1 {
			flavor.Capabilities = same[0].Capabilities
		}
		flavors = append(flavors, flavor)
	}
	return flavors
}

// coreFlavors returns the flavors that core has of an image version, as admission fills them in.
func (p *document) coreFlavors(image, version string) []v1beta1.MachineImageFlavor {
	if at, found := p.find(image, version); found {
		return p.core[at.image].Versions[at.version].CapabilityFlavors
	}
	return nil
}

// find returns where core lists an image version.
func (p *document) find(image, version string) (place, bool) {
	for i := range p.written.MachineImages {
		for k := range p.written.MachineImages[i].Versions {
			if p.written.MachineImages[i].Name == image && p.written.MachineImages[i].Versions[k].Version == version {
				return place{i, k}, true
			}
		}
	}
	return place{}, false
}

// undeclared returns the flavors of an entry with their architecture and nothing else, and reports those that say more.
func (p *document) undeclared(version *imageselector.Version[any]) []imageselector.Flavor[any] {
	flavors := slices.Clone(version.Flavors)
	for i := range flavors {
		f := &flavors[i]
		for _, name := range slices.Sorted(maps.Keys(f.Capabilities)) {
			if name != capability.Architecture {
				p.fail(f.Path.Child("capabilities", name).String(),
					"the legacy format has no place for %s; remove it first, if the flavor is still told apart", name)
			}
		}
		architecture := constants.ArchitectureAMD64
		if only := architecturesIn(p.capabilities); len(only) == 1 {
			architecture = only[0]
		}
		if named := f.Capabilities[capability.Architecture]; len(named) > 0 {
			architecture = named[0]
		}
		f.Capabilities = v1beta1.Capabilities{capability.Architecture: {architecture}}
	}
	return flavors
}

// shorten leaves the architecture amd64 out of an entry in the legacy format, where the provider reads the same without it.
func (p *document) shorten(written map[string]any) {
	whole, ok := p.readEntry(written)
	if !ok {
		return
	}
	without := func(tree map[string]any) {
		architecture, there := tree["architecture"]
		if architecture != constants.ArchitectureAMD64 || !there {
			return
		}
		delete(tree, "architecture")
		if again, ok := p.readEntry(written); !ok || !reflect.DeepEqual(whole, again) {
			tree["architecture"] = architecture
		}
	}
	without(written)
	for _, region := range asList(written["regions"]) {
		if tree, isMapping := region.(map[string]any); isMapping {
			without(tree)
		}
	}
}

// readEntry returns the flavors of one entry as the provider reads them, and whether it finds nothing wrong.
func (p *document) readEntry(written map[string]any) ([]imageselector.Flavor[any], bool) {
	config := map[string]any{}
	if p.written.ProviderConfig == nil || json.Unmarshal(p.written.ProviderConfig.Raw, &config) != nil {
		return nil, false
	}
	raw, err := json.Marshal(map[string]any{
		"apiVersion": config["apiVersion"], "kind": config["kind"],
		"machineImages": []any{map[string]any{"name": "image", "versions": []any{written}}},
	})
	if err != nil {
		return nil, false
	}
	var report finding.Report
	var decoded provider.Config[any]
	decoded, report = p.cloud.Decode(&runtime.RawExtension{Raw: raw}, field.NewPath("entry"))
	if len(report.Errors) > 0 || len(decoded.Images) != 1 || len(decoded.Images[0].Versions) != 1 {
		return nil, false
	}
	return decoded.Images[0].Versions[0].Flavors, true
}
