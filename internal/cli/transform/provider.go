// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// configEntry is an image version of the provider config, decoded and as written.
type configEntry struct {
	id provider.ImageVersion
	*imageselector.Version[any]
	tree map[string]any
}

// entries returns the image versions of the provider config; none if there is no config.
func (p *document) entries() (entries []configEntry) {
	for i, image := range p.decode() {
		versions := p.configImage(i)["versions"]
		for k := range image.Versions {
			version := &image.Versions[k]
			entries = append(entries, configEntry{provider.ImageVersion{Image: image.Name, Version: version.Version}, version, entry(versions, k)})
		}
	}
	return entries
}

// decode returns the images of the provider config; none if there is no config.
func (p *document) decode() []imageselector.Image[any] {
	images, _ := Images(p.cloud, p.spec.ProviderConfig)
	return images
}

// Images returns the images of a provider config, and errors about parts of them that cannot be read and would be lost in rewriting.
func Images(cloud provider.Provider[any], raw *runtime.RawExtension) (images []imageselector.Image[any], unread field.ErrorList) {
	if !providerconfig.HasContent(raw) {
		return nil, nil
	}
	at := field.NewPath("spec", "providerConfig")
	config, report := cloud.Decode(raw, at)
	for _, f := range report.Errors {
		if providerconfig.UnreadIn(finding.List{f}, at).Touches(at.Child("machineImages")) {
			unread = append(unread, f.Error)
		}
	}
	return config.Images, unread
}

// configImage returns an image of the provider config as written; nil if it is not a mapping.
func (p *document) configImage(index int) map[string]any {
	return entry(p.config["machineImages"], index)
}

// refresh updates the spec with the modified provider config.
func (p *document) refresh() {
	if p.config == nil {
		return
	}
	if raw, err := json.Marshal(p.config); err == nil {
		p.spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	}
}

// rewrite converts the provider config's entries that of selects to a format. Several entries of a version are merged
// into one with flavors, at the place of the first.
func (p *document) rewrite(format provider.Format, of func(provider.ImageVersion) bool) {
	p.filled = p.fill(p.capabilities)
	for i, image := range p.decode() {
		p.rewriteImage(p.configImage(i), &image, format, of)
	}
	p.refresh()
}

// rewriteImage converts the entries of one image; owner is the image as written.
func (p *document) rewriteImage(owner map[string]any, image *imageselector.Image[any], format provider.Format, of func(provider.ImageVersion) bool) {
	list := edit.Items(owner["versions"])
	var rewritten []any
	changed, firsts := false, map[string]map[string]any{}
	for k := range image.Versions {
		version := &image.Versions[k]
		id := provider.ImageVersion{Image: image.Name, Version: version.Version}
		if version.Legacy == (format == provider.FormatLegacy) || !of(id) {
			if k >= len(list) { // in a list for one region; otherwise encode refuses it
				continue
			}
			if written := edit.Members(list[k]); !version.Legacy && firsts[id.Version] == nil {
				firsts[id.Version] = written
			}
			rewritten = append(rewritten, list[k])
			continue
		}
		changed = true
		for _, written := range p.encode(configEntry{id, version, entry(list, k)}, format) {
			first := firsts[id.Version]
			if first == nil || format == provider.FormatLegacy {
				firsts[id.Version] = written
				rewritten = append(rewritten, written)
				continue
			}
			p.keep(first, configEntry{id, version, written}, false)
			first["capabilityFlavors"] = append(edit.Items(first["capabilityFlavors"]), edit.Items(written["capabilityFlavors"])...)
		}
	}
	if changed && owner != nil {
		owner["versions"] = rewritten
	}
}

// keep copies fields that the provider ignores to the entry that replaces another. It reports fields that cannot be kept.
func (p *document) keep(entry map[string]any, of configEntry, rewritten bool) {
	ignorer, _ := provider.As[providerconfig.FieldIgnorer](p.cloud)
	for _, lost := range providerconfig.Keep(ignorer, entry, of.tree, rewritten) {
		p.fail(of.Path.String(), "%s %s", of.id, lost)
	}
}

// encode returns an entry in a format. If that is not possible, it reports an error and returns nil.
func (p *document) encode(e configEntry, format provider.Format) []map[string]any {
	converted := *e.Version
	converted.Legacy = format == provider.FormatLegacy
	if converted.Legacy {
		converted.Flavors = p.undeclared(e.Version)
	} else {
		converted.Flavors = p.declared(e.id, e.Version)
	}
	entries, err := Encode(p.cloud, p.config["apiVersion"], p.config["kind"], converted)
	if err != nil {
		p.fail(e.Path.String(), "%s cannot be written in the other format: %v", e.id, err)
		return nil
	}
	if len(entries) > 0 {
		p.keep(entries[0], e, true)
	}
	return entries
}

// declared returns an entry's flavors with the capabilities to declare: those of the corresponding core flavor
// (semantics S8) or, if there is none, their own. An image for all architectures becomes one flavor for each of them.
func (p *document) declared(id provider.ImageVersion, version *imageselector.Version[any]) []imageselector.Flavor[any] {
	core := p.coreOf(id)
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

// coreOf returns the flavors of an image version in core. If a version has none, as in a NamespacedCloudProfile,
// Gardener derives them from its architectures if several are registered.
func (p *document) coreOf(id provider.ImageVersion) []v1beta1.MachineImageFlavor {
	v, found := entries.Find(p.filled, id)
	if !found {
		return nil
	}
	if len(v.CapabilityFlavors) > 0 || len(architecturesIn(p.capabilities)) < 2 {
		return v.CapabilityFlavors
	}
	return flavorsByArchitecture(v)
}

// undeclared returns an entry's flavors with only their architecture, and reports other capabilities.
func (p *document) undeclared(version *imageselector.Version[any]) []imageselector.Flavor[any] {
	flavors := slices.Clone(version.Flavors)
	for i := range flavors {
		f := &flavors[i]
		for _, name := range slices.Sorted(maps.Keys(f.Capabilities)) {
			if name != capability.Architecture {
				p.fail(f.Path.Child("capabilities", name).String(),
					"the legacy format has no place for %s; remove it first, if the flavor is still distinct without it", name)
			}
		}
		f.Capabilities = v1beta1.Capabilities{capability.Architecture: p.architecturesNamed(f.Capabilities)[:1]}
	}
	return flavors
}

// Encode returns the entries for an image version in its format, for a provider config's apiVersion and kind. The
// legacy format omits the architecture amd64 if the provider reads the same without it.
func Encode(cloud provider.Provider[any], apiVersion, kind any, version imageselector.Version[any]) ([]map[string]any, error) {
	if !version.Legacy {
		return profile.Encode(cloud, version, provider.FormatFlavors)
	}
	entries, err := profile.Encode(cloud, version, provider.FormatLegacy)
	for _, entry := range entries {
		whole, wrong := ReadEntry(cloud, apiVersion, kind, entry, nil)
		if whole == nil || len(wrong) > 0 {
			continue
		}
		for _, place := range append([]any{entry}, edit.Items(entry["regions"])...) {
			if tree := edit.Members(place); tree["architecture"] == constants.ArchitectureAMD64 {
				delete(tree, "architecture")
				without, wrong := ReadEntry(cloud, apiVersion, kind, entry, nil)
				if without == nil || len(wrong) > 0 || !reflect.DeepEqual(whole.Flavors, without.Flavors) {
					tree["architecture"] = constants.ArchitectureAMD64
				}
			}
		}
	}
	return entries, err
}

// ReadEntry decodes an image version's entry as the provider does in a config with this apiVersion and kind at a
// path. It also returns the provider's errors. The version is nil if the entry cannot be decoded.
func ReadEntry(
	cloud provider.Provider[any], apiVersion, kind any, entry map[string]any, at *field.Path,
) (*imageselector.Version[any], field.ErrorList) {
	raw, err := json.Marshal(map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"machineImages": []any{map[string]any{"name": "image", "versions": []any{entry}}},
	})
	if err != nil {
		return nil, field.ErrorList{field.InternalError(at, err)}
	}
	config, report := cloud.Decode(&runtime.RawExtension{Raw: raw}, at)
	if len(config.Images) != 1 || len(config.Images[0].Versions) != 1 {
		return nil, report.Errors.Errors()
	}
	return &config.Images[0].Versions[0], report.Errors.Errors()
}
