// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
)

// parent is what a NamespacedCloudProfile has from its CloudProfile.
type parent[R any] struct {
	name string
	// versions are the image versions that it lists.
	versions map[imageVersion]*v1beta1.MachineImageVersion
	// profile is nil if it is not compiled.
	profile *Profile[R]
}

// newNamespacedCompiler returns the compiler of what a NamespacedCloudProfile defines itself, without a vocabulary.
// versions are those of its parent, and above is the parent, nil if it is not compiled.
func newNamespacedCompiler[R any](
	cloud provider.Provider[R], profile *v1beta1.NamespacedCloudProfile,
	versions map[imageVersion]*v1beta1.MachineImageVersion, above *Profile[R],
) *compiler[R] {
	spec := &v1beta1.CloudProfileSpec{
		Type: cloud.Type(), MachineTypes: profile.Spec.MachineTypes, MachineImages: profile.Spec.MachineImages,
	}
	if provider.HasContent(profile.Spec.ProviderConfig) {
		spec.ProviderConfig = profile.Spec.ProviderConfig
	}
	p := newCompiler(cloud, spec, field.NewPath("spec"))
	p.parent = &parent[R]{profile.Spec.Parent.Name, versions, above}
	return p
}

// compileNamespaced checks a NamespacedCloudProfile, and compiles it: what it defines itself over what it has from its
// parent.
func compileNamespaced[R any](parent *Profile[R], profile *v1beta1.NamespacedCloudProfile) *compiler[R] {
	p := newNamespacedCompiler(parent.provider, profile, parent.core, parent)
	p.vocabulary, p.regions = parent.vocabulary, parent.regions
	p.compile()
	p.checkMappings()
	p.checkConfigFields()
	p.report.End(p.at.Child("providerConfig"))
	p.inherit(parent)
	return p
}

// inherit adds what the parent has and the profile does not define itself.
func (p *compiler[R]) inherit(parent *Profile[R]) {
	p.all = p.catalog.Over(parent.catalog)
	for id, version := range parent.core {
		if len(p.catalog.Flavors(id.image, id.version)) == 0 {
			p.core[id] = version
		}
	}
	inherited := slices.DeleteFunc(slices.Clone(parent.usable), func(name string) bool {
		_, redefined := p.machines[name]
		return redefined
	})
	p.usable = append(inherited, p.usable...)
	own := p.machines
	p.machines = maps.Clone(parent.machines)
	maps.Copy(p.machines, own)
}

// inherits reports whether an image version is the parent's.
func (p *compiler[R]) inherits(id imageVersion) bool {
	return p.parent != nil && p.parent.versions[id] != nil
}

// definesVersions reports whether an image of core has versions that are not the parent's, which need mappings. That it
// has none at all core reports.
func (p *compiler[R]) definesVersions(image *v1beta1.MachineImage) bool {
	return slices.ContainsFunc(image.Versions, func(v v1beta1.MachineImageVersion) bool {
		return !p.inherits(imageVersion{image.Name, v.Version})
	})
}

// describes reports whether a version of core says what it supports.
func describes(version *v1beta1.MachineImageVersion) bool {
	return len(version.CapabilityFlavors)+len(version.Architectures) > 0
}

// redefined reports whether the profile says on both sides what a version of the parent is. It should not, unless it
// was there first; in any case that is what is rendered.
func redefined[R any](version *v1beta1.MachineImageVersion, entries *imageEntries[R]) bool {
	return describes(version) && entries != nil && len(entries.versions[version.Version]) > 0
}

// asMapped reports whether a version of core supports what the parent's mapping of it does.
func (p *compiler[R]) asMapped(id imageVersion, version *v1beta1.MachineImageVersion) bool {
	c := p.newCorrespondence(id, version, p.at)
	mapped := sets.New[capability.Set]()
	for _, f := range p.parent.profile.catalog.Flavors(id.image, id.version) {
		if !p.parent.profile.doubtful[f.Path] {
			set, _ := p.vocabulary.Flavor(f.Capabilities, c.undeclaredValues, nil)
			mapped.Insert(c.asCore(f.Capabilities, set))
		}
	}
	return mapped.Equal(sets.KeySet(c.bySet))
}

// converted reports whether Gardener gives a machine type an architecture, because that of a NamespacedCloudProfile is
// written in the legacy format.
func (p *compiler[R]) converted(t *v1beta1.MachineType) bool {
	return p.parent != nil && len(t.Capabilities) == 0
}

// checkInherited checks a version, if the parent has it: the profile may change its lifecycle, and nothing else.
func (p *compiler[R]) checkInherited(
	id imageVersion, version *v1beta1.MachineImageVersion, entries *imageEntries[R], at *field.Path,
) {
	if !p.inherits(id) {
		return
	}
	also := ""
	if redefined(version, entries) {
		also = ", and its entry in the provider config"
	}
	for name, written := range map[string]int{
		"capabilityFlavors": len(version.CapabilityFlavors), "architectures": len(version.Architectures),
	} {
		if written == 0 {
			continue
		}
		err := fault(RuleVersionInherited, field.ErrorTypeForbidden, at.Child(name), nil,
			"%s: the parent, CloudProfile %s, has this version, so only its lifecycle can be changed here; remove %s%s",
			id, p.parent.name, name, also)
		if also == "" && !p.asMapped(id, version) {
			err.About = "without images" // an update that takes them away does not leave this as it was
		}
		p.report.Errors = append(p.report.Errors, err)
	}
}

// checkMappings reports mappings for versions that the parent has, and versions that cannot be written in its format,
// as the rendered status has to.
func (p *compiler[R]) checkMappings() {
	for id, version := range mappingsOf(p.images) {
		if p.inherits(id) {
			also := ""
			if v := p.core[id]; v != nil && describes(v) {
				also = ", and the flavors of the version"
			}
			p.report.Found(RuleMappingInherited, field.ErrorTypeForbidden, version.Path, version.Version,
				"%s: the parent, CloudProfile %s, has this version, with images of its own; remove the entry%s",
				id, p.parent.name, also)
			continue
		}
		if !p.vocabulary.Legacy() {
			continue
		}
		if _, possible := p.inFormatOfParent(id, version); !possible {
			p.report.Found(ruleNamespacedFormat, field.ErrorTypeForbidden, version.Path.Child("capabilityFlavors"), nil,
				"%s: the parent, CloudProfile %s, registers no capabilities, and the legacy format has one image for each "+
					"architecture only; write %s, each with architecture: ARCHITECTURE, instead of these capabilityFlavors; those of spec.machineImages may stay",
				id, p.parent.name, referenceForm(p.provider))
		}
	}
}

// checkConfigFields demands that the provider config holds only machine images and the lists that the provider extends.
func (p *compiler[R]) checkConfigFields() {
	if p.spec.ProviderConfig == nil {
		return
	}
	var fields map[string]any
	if json.Unmarshal(p.spec.ProviderConfig.Raw, &fields) != nil {
		return // reported as unreadable
	}
	own := []string{"machineImages"}
	if extender, ok := p.provider.(provider.ListExtender); ok {
		for _, list := range extender.NamespacedLists() {
			own = append(own, list.Field)
			p.checkEntries(list, fields[list.Field])
		}
	}
	for name, value := range fields {
		at := p.at.Child("providerConfig", name)
		if name == "apiVersion" || name == "kind" || slices.Contains(own, name) || empty(value) || p.unread.Covers(at) {
			continue
		}
		p.report.Found(ruleNamespacedConfig, field.ErrorTypeForbidden, at, nil,
			"the provider config of a NamespacedCloudProfile has %s only; %s is that of the parent, CloudProfile %s: remove it",
			strings.Join(own, ", "), name, p.parent.name)
	}
}

// checkEntries demands that the entries of a further list have their keys, each of them once, without which they could
// not be merged. What is no list of objects has been reported by the provider.
func (p *compiler[R]) checkEntries(list provider.List, value any) {
	entries, _ := value.([]any)
	first := map[string]*field.Path{}
	for i, entry := range entries {
		object, isObject := entry.(map[string]any)
		at := p.at.Child("providerConfig", list.Field).Index(i)
		key, _ := object[list.Key].(string)
		switch {
		case !isObject || p.unread.Touches(at):
		case key == "":
			p.report.Errors = append(p.report.Errors, nameMissing(at, list.Key, "entry of "+list.Field))
		case first[key] != nil:
			p.report.Found(RuleEntryDuplicate, field.ErrorTypeDuplicate, at.Child(list.Key), key,
				"%s is already in %s; remove one of the two", key, first[key])
		default:
			first[key] = at
		}
	}
}

// empty reports whether a JSON value says nothing, as the fields do that a client writes because it knows the type:
// nothing, empty text, an empty list, or an object of such. False and zero do say something, and would be ignored.
func empty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			if !empty(member) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return value == nil || value == ""
}
