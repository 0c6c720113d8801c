// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// parent is what a NamespacedCloudProfile has from its CloudProfile.
type parent[R any] struct {
	name    string
	profile *Profile[R]
	// versions are the image versions that it lists, images their images.
	versions map[imageVersion]bool
	images   map[string]bool
}

// parentOf returns what a NamespacedCloudProfile has from a CloudProfile with this spec, which is compiled as profile; nil
// if it is not compiled.
func parentOf[R any](name string, spec *v1beta1.CloudProfileSpec, profile *Profile[R]) *parent[R] {
	p := &parent[R]{
		name: name, profile: profile, versions: map[imageVersion]bool{}, images: make(map[string]bool, len(spec.MachineImages)),
	}
	for _, image := range spec.MachineImages {
		p.images[image.Name] = true
		for _, version := range image.Versions {
			p.versions[imageVersion{image.Name, version.Version}] = true
		}
	}
	return p
}

// newNamespacedCompiler returns the compiler of what a NamespacedCloudProfile defines itself, without a vocabulary.
func newNamespacedCompiler[R any](cloud provider.Provider[R], profile *v1beta1.NamespacedCloudProfile, inherited *parent[R]) *compiler[R] {
	p := newCompiler(cloud, &v1beta1.CloudProfileSpec{
		Type:           cloud.Type(),
		MachineTypes:   profile.Spec.MachineTypes,
		MachineImages:  profile.Spec.MachineImages,
		ProviderConfig: ownConfig(profile),
	}, field.NewPath("spec"))
	p.parent = inherited
	return p
}

// compileNamespaced checks a NamespacedCloudProfile, and compiles it: what it defines itself over what it has from its
// parent.
func compileNamespaced[R any](parent *Profile[R], profile *v1beta1.NamespacedCloudProfile) *compiler[R] {
	p := newNamespacedCompiler(parent.provider, profile, parentOf(profile.Spec.Parent.Name, parent.spec, parent))
	p.vocabulary, p.regions = parent.vocabulary, parent.regions
	p.compile()
	p.report.Errors = slices.Concat(p.report.Errors, p.checkMappings(), p.checkConfigFields(), p.checkFormats())
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
	own := p.usable
	p.usable = nil
	for _, name := range parent.usable {
		if _, redefined := p.machines[name]; !redefined {
			p.usable = append(p.usable, name)
		}
	}
	p.usable = append(p.usable, own...)
	for name, m := range parent.machines {
		if _, redefined := p.machines[name]; !redefined {
			p.machines[name] = m
		}
	}
}

// ownConfig returns the provider config of a NamespacedCloudProfile; nil if there is none, or one without content.
func ownConfig(profile *v1beta1.NamespacedCloudProfile) *runtime.RawExtension {
	if config := profile.Spec.ProviderConfig; provider.HasContent(config) {
		return config
	}
	return nil
}

// inherits reports whether an image version is the parent's.
func (p *compiler[R]) inherits(id imageVersion) bool { return p.parent != nil && p.parent.versions[id] }

// inheritsImage reports whether an image is the parent's.
func (p *compiler[R]) inheritsImage(name string) bool {
	return p.parent != nil && p.parent.images[name]
}

// definesVersions reports whether an image of core needs a mapping: if it has no version that is not the parent's, it does
// not.
func (p *compiler[R]) definesVersions(image *v1beta1.MachineImage) bool {
	if p.parent == nil {
		return len(image.Versions) > 0 // that there is none core reports
	}
	return slices.ContainsFunc(image.Versions, func(v v1beta1.MachineImageVersion) bool {
		return !p.inherits(imageVersion{image.Name, v.Version})
	})
}

// declares reports whether core says here what a version supports.
func (p *compiler[R]) declares(image, version string) bool {
	v := p.core[imageVersion{image, version}]
	return v != nil && len(v.CapabilityFlavors)+len(v.Architectures) > 0
}

// redefined reports whether the profile says on both sides what a version of the parent is. It should not, unless it was there
// first; in any case that is what is rendered.
func redefined[R any](version *v1beta1.MachineImageVersion, entries *imageEntries[R]) bool {
	return len(version.CapabilityFlavors)+len(version.Architectures) > 0 && entries != nil && len(entries.versions[version.Version]) > 0
}

// asMapped reports whether a version of core supports what the parent's mapping of it does.
func (p *compiler[R]) asMapped(image string, version *v1beta1.MachineImageVersion) bool {
	c := p.newCorrespondence(image, version, p.at)
	mapped := map[capability.Set]bool{}
	for _, f := range p.parent.profile.catalog.Flavors(image, version.Version) {
		if p.parent.profile.doubtful[f.Path] {
			continue
		}
		set, _ := p.vocabulary.Flavor(f.Capabilities, c.undeclaredValues, nil)
		mapped[c.asCore(f.Capabilities, set)] = true
	}
	for set := range c.bySet {
		if !mapped[set] {
			return false
		}
	}
	return len(c.bySet) == len(mapped)
}

// converted reports whether Gardener gives a machine type an architecture, because that of a NamespacedCloudProfile is
// written in the legacy format.
func (p *compiler[R]) converted(t *v1beta1.MachineType) bool {
	return p.parent != nil && len(t.Capabilities) == 0
}

// checkInherited checks a version, if it is one that the parent has: the profile may change its lifecycle, and nothing else.
func (p *compiler[R]) checkInherited(id imageVersion, version *v1beta1.MachineImageVersion, entries *imageEntries[R], at *field.Path) finding.List {
	if !p.inherits(id) {
		return nil
	}
	var errs finding.List
	also := ""
	if redefined(version, entries) {
		also = ", and its entry in the provider config"
	}
	forbid := func(name string) {
		err := finding.New(RuleVersionInherited, field.ErrorTypeForbidden, at.Child(name), nil, fmt.Sprintf(
			"%s@%s: the parent, CloudProfile %s, has this version, so only its lifecycle can be changed here; remove %s%s",
			id.image, id.version, p.parent.name, name, also))
		if !redefined(version, entries) && !p.asMapped(id.image, version) {
			err.About = "without images" // an update that takes them away does not leave this as it was
		}
		errs = append(errs, err)
	}
	if len(version.CapabilityFlavors) > 0 {
		forbid("capabilityFlavors")
	}
	if len(version.Architectures) > 0 {
		forbid("architectures")
	}
	return errs
}

// checkMappings reports mappings for versions that the parent has.
func (p *compiler[R]) checkMappings() finding.List {
	var errs finding.List
	for i := range p.images {
		for k := range p.images[i].Versions {
			version := &p.images[i].Versions[k]
			if p.inherits(imageVersion{p.images[i].Name, version.Version}) {
				also := ""
				if p.declares(p.images[i].Name, version.Version) {
					also = ", and the flavors of the version"
				}
				errs = append(errs, finding.New(ruleMappingInherited, field.ErrorTypeForbidden, version.Path, version.Version, fmt.Sprintf(
					"%s@%s: the parent, CloudProfile %s, has this version, with images of its own; remove the entry%s",
					p.images[i].Name, version.Version, p.parent.name, also)))
			}
		}
	}
	return errs
}

// checkConfigFields demands that the provider config holds machine images only, and the lists that the provider extends.
func (p *compiler[R]) checkConfigFields() finding.List {
	if p.spec.ProviderConfig == nil {
		return nil
	}
	var fields map[string]any
	if json.Unmarshal(p.spec.ProviderConfig.Raw, &fields) != nil {
		return nil // reported as unreadable
	}
	var errs finding.List
	own := []string{"machineImages"}
	if extender, ok := p.provider.(provider.ListExtender); ok {
		for _, list := range extender.NamespacedLists() {
			own = append(own, list.Field)
			errs = append(errs, p.checkEntries(list, fields[list.Field])...)
		}
	}
	for name, value := range fields {
		at := p.at.Child("providerConfig", name)
		if name == "apiVersion" || name == "kind" || slices.Contains(own, name) || empty(value) || p.unread.Covers(at) {
			continue
		}
		errs = append(errs, finding.New(ruleNamespacedConfig, field.ErrorTypeForbidden, at, nil, fmt.Sprintf(
			"the provider config of a NamespacedCloudProfile has %s only; %s is that of the parent, CloudProfile %s: remove it",
			strings.Join(own, ", "), name, p.parent.name)))
	}
	return errs
}

// checkEntries demands that the entries of a further list have their keys, each of them once, without which they could not
// be merged. What is no list of objects has been reported by the provider.
func (p *compiler[R]) checkEntries(list provider.List, value any) finding.List {
	var errs finding.List
	entries, _ := value.([]any)
	first := map[string]*field.Path{}
	for i, entry := range entries {
		object, isObject := entry.(map[string]any)
		at := p.at.Child("providerConfig", list.Field).Index(i)
		key, _ := object[list.Key].(string)
		switch {
		case !isObject || p.unread.Touches(at):
		case key == "":
			errs = append(errs, nameMissing(at, list.Key, "entry of "+list.Field))
		case first[key] != nil:
			errs = append(errs, finding.New(RuleEntryDuplicate, field.ErrorTypeDuplicate, at.Child(list.Key), key, fmt.Sprintf(
				"%s is what %s is about already; remove one of the two", key, first[key])))
		default:
			first[key] = at
		}
	}
	return errs
}

// empty reports whether a JSON value says nothing, as the fields do that a client writes because it knows the type: nothing,
// empty text, an empty list, or an object of such. False and zero do say something, and would be ignored.
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

// addConvertedFlavors compiles the core flavors of a NamespacedCloudProfile's version that is written in another format than
// that of the parent. Gardener converts it (S11): architectures become flavors, and of flavors only the architectures are
// left. It returns false, having done nothing, if the formats agree.
func (c *correspondence[R]) addConvertedFlavors(version *v1beta1.MachineImageVersion) bool {
	switch {
	case !c.vocabulary.Legacy() && len(version.CapabilityFlavors) == 0 && len(version.Architectures) > 0:
		c.architectures = true
		for i := range version.Architectures {
			c.addCoreFlavor(v1beta1.Capabilities{capability.Architecture: version.Architectures[i : i+1 : i+1]}, i)
		}
	case c.vocabulary.Legacy() && len(version.Architectures) == 0 && len(version.CapabilityFlavors) > 0:
		c.architectures = false
		known := map[string]bool{}
		for i := range version.CapabilityFlavors {
			for _, architecture := range version.CapabilityFlavors[i].Capabilities[capability.Architecture] {
				if !known[architecture] {
					known[architecture] = true
					c.addCoreFlavor(v1beta1.Capabilities{capability.Architecture: {architecture}}, i)
				}
			}
		}
		if len(known) == 0 { // which Gardener then takes for amd64
			c.addCoreFlavor(v1beta1.Capabilities{capability.Architecture: {constants.ArchitectureAMD64}}, -1)
		}
	default:
		return false
	}
	return true
}

// checkFormats reports the versions that cannot be written in the format of the parent, as the rendered status has to.
func (p *compiler[R]) checkFormats() finding.List {
	if !p.vocabulary.Legacy() {
		return nil
	}
	var errs finding.List
	for i := range p.images {
		for k := range p.images[i].Versions {
			version := &p.images[i].Versions[k]
			if p.inherits(imageVersion{p.images[i].Name, version.Version}) {
				continue
			}
			if _, err := p.inFormatOfParent(p.images[i].Name, version); err != nil {
				errs = append(errs, finding.New(ruleNamespacedFormat, field.ErrorTypeForbidden, version.Path.Child("capabilityFlavors"), nil, fmt.Sprintf(
					"%s@%s: the parent, CloudProfile %s, registers no capabilities, and these flavors cannot be told in the legacy format; write the version without capabilityFlavors",
					p.images[i].Name, version.Version, p.parent.name)))
			}
		}
	}
	return errs
}
