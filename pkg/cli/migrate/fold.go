// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// Fold joins image versions that are told apart by a suffix only: 1.2.3-baremetal becomes a flavor of 1.2.3.
type Fold struct {
	// Suffix with what separates it: "-baremetal".
	Suffix string
	// Capability tells the flavors apart, instead of the suffix.
	Capability string
	// Value is what flavors of the version with the suffix have, and Plain what those of the other one have.
	Value, Plain string
}

// StandardPlain is the Plain of a [Fold] that does not say it.
const StandardPlain = "standard"

// ParseFold reads a fold as SUFFIX=CAPABILITY:VALUE[,PLAIN].
func ParseFold(text string) (*Fold, error) {
	suffix, rest, hasCapability := strings.Cut(text, "=")
	name, values, hasValues := strings.Cut(rest, ":")
	value, standard, says := strings.Cut(values, ",")
	if !says {
		standard = StandardPlain
	}
	f := &Fold{suffix, name, value, standard}
	switch {
	case !hasCapability || !hasValues || suffix == "" || name == "" || value == "" || standard == "" || strings.Contains(standard, ","):
		return nil, fmt.Errorf("%q: write SUFFIX=CAPABILITY:VALUE or SUFFIX=CAPABILITY:VALUE,PLAIN, as in -baremetal=hypervisor:baremetal,virtualized", text)
	case value == standard:
		return nil, fmt.Errorf("%q: the two values must differ", text)
	case name == capability.Architecture:
		return nil, fmt.Errorf("%q: versions are told apart by another capability than the architecture", text)
	}
	return f, nil
}

// register returns a vocabulary with the capability of a fold: the plain value before the other one, so that it is preferred
// where both fit. What is registered keeps its order.
func register(capabilities []v1beta1.CapabilityDefinition, f *Fold) []v1beta1.CapabilityDefinition {
	capabilities = slices.Clone(capabilities)
	for i := range capabilities {
		c := &capabilities[i]
		if c.Name != f.Capability {
			continue
		}
		c.Values = slices.Clone(c.Values)
		if !slices.Contains(c.Values, f.Plain) {
			at := slices.Index(c.Values, f.Value)
			if at < 0 {
				at = len(c.Values)
			}
			c.Values = slices.Insert(c.Values, at, f.Plain)
		}
		if !slices.Contains(c.Values, f.Value) {
			c.Values = append(c.Values, f.Value)
		}
		return capabilities
	}
	return append(capabilities, v1beta1.CapabilityDefinition{Name: f.Capability, Values: []string{f.Plain, f.Value}})
}

// pairing is a version with a suffix, and the one without.
type pairing struct {
	image        string
	suffixed, to place
}

// foldable returns the versions of core that can be folded, in the order of the profile: those whose version without suffix
// the profile lists as well, and for both of which the provider config has an image. Others with the suffix stay alone; of
// those that a NamespacedCloudProfile extends its parent says so.
func (p *document) foldable(f *Fold) (pairs []pairing, alone []Alone) {
	mapped := p.mapped()
	for i := range p.written.MachineImages {
		image := &p.written.MachineImages[i]
		for k := range image.Versions {
			version := image.Versions[k].Version
			plain, has := f.Folds(version)
			if !has || p.inherits(image.Name, version) {
				continue
			}
			to, listed := p.find(image.Name, plain)
			var why string
			switch {
			case !listed:
				why = fmt.Sprintf("the profile does not list %s@%s", image.Name, plain)
			case !mapped[image.Name+"@"+plain]:
				why = fmt.Sprintf("the provider config has no image for %s@%s", image.Name, plain)
			case !mapped[image.Name+"@"+version]:
				why = "the provider config has no image for it"
			default:
				pairs = append(pairs, pairing{image.Name, place{i, k}, to})
				continue
			}
			alone = append(alone, Alone{image.Name, version, why, place{i, k}.String()})
		}
	}
	return pairs, alone
}

// mapped returns the image versions for which the provider config has an image, as NAME@VERSION.
func (p *document) mapped() map[string]bool {
	mapped := map[string]bool{}
	for _, image := range p.decode() {
		for i := range image.Versions {
			mapped[image.Name+"@"+image.Versions[i].Version] = true
		}
	}
	return mapped
}

// inherits reports whether the parent lists an image version.
func (p *document) inherits(image, version string) bool {
	return p.input.Parent != nil && slices.ContainsFunc(p.input.Parent.MachineImages, func(i v1beta1.MachineImage) bool {
		return i.Name == image && slices.ContainsFunc(i.Versions, func(v v1beta1.MachineImageVersion) bool { return v.Version == version })
	})
}

// folded reports whether an image version is one that is folded, or that another one is folded into.
func (p *document) folded(f *Fold, image, version string) bool {
	pairs, _ := p.foldable(f)
	return slices.ContainsFunc(pairs, func(pair pairing) bool {
		return pair.image == image && (p.name(pair.suffixed) == version || p.name(pair.to) == version)
	})
}

// name returns the version of an image version of core.
func (p *document) name(at place) string {
	return p.written.MachineImages[at.image].Versions[at.version].Version
}

// fold joins versions, and returns those that are kept. The capability is registered.
func (p *document) fold(f *Fold) []Kept {
	core := p.filled(p.capabilities)
	var kept []Kept
	gone := map[place]bool{}
	for _, pair := range p.pairs {
		plain, suffixed := p.name(pair.to), p.name(pair.suffixed)
		p.rewrite(provider.FormatFlavors, func(image, version string) bool { return image == pair.image && version == plain })
		p.checkPair(pair)
		p.foldFlavors(f, pair.image, plain, suffixed)
		p.foldCore(f, pair, core)
		var by []string
		if p.input.Used != nil {
			by = p.input.Used(pair.image, suffixed)
		}
		if len(by) > 0 {
			kept = append(kept, Kept{pair.image, suffixed, by, pair.suffixed.String()})
			continue
		}
		gone[pair.suffixed] = true
		p.removeEntries(pair.image, suffixed)
	}
	for i := range p.written.MachineImages {
		tree := entry(p.spec["machineImages"], i)
		var left []any
		for k, version := range asList(tree["versions"]) {
			if !gone[place{i, k}] {
				left = append(left, version)
			}
		}
		if len(left) < len(asList(tree["versions"])) {
			tree["versions"] = left
		}
	}
	return kept
}

// checkPair reports what two versions say that a version says once for all its flavors, and that is not the same in both.
func (p *document) checkPair(pair pairing) {
	a, b := p.name(pair.suffixed), p.name(pair.to)
	was, becomes := p.once(pair.suffixed), p.once(pair.to)
	names := slices.Concat(slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(becomes)))
	slices.Sort(names)
	var differences []string
	for _, name := range slices.Compact(names) {
		if x, y := cmp.Or(was[name], "not set"), cmp.Or(becomes[name], "not set"); x != y {
			differences = append(differences, fmt.Sprintf("%s (%s: %s, %s: %s)", name, a, x, b, y))
		}
	}
	if len(differences) > 0 {
		p.fail(pair.suffixed.String(), "%s@%s cannot become a flavor of %s: they differ in %s, which a version says once for all its flavors; "+
			"make them equal first, or remove one of the two versions", pair.image, a, b, words.And(differences))
	}
}

// once returns what a version of core says for all its flavors, as JSON by field; as Gardener takes it where it says nothing.
func (p *document) once(at place) map[string]string {
	version := p.written.MachineImages[at.image].Versions[at.version]
	v1beta1.SetDefaults_MachineImageVersion(&version)
	version.Classification = ptr.To(ptr.Deref(version.Classification, v1beta1.ClassificationSupported)) //nolint:staticcheck // as people write it
	version.Version, version.Architectures, version.CapabilityFlavors = "", nil, nil
	var raw bytes.Buffer
	var fields map[string]json.RawMessage
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false) // for constraints
	said := map[string]string{}
	if e.Encode(version) == nil && json.Unmarshal(raw.Bytes(), &fields) == nil {
		for name, value := range fields {
			said[name] = string(value)
		}
	}
	return said
}

// foldFlavors gives the entries of the plain version in the provider config the flavors of the one with the suffix.
func (p *document) foldFlavors(f *Fold, image, plain, suffixed string) {
	targets, there := p.plainFlavors(f, image, plain)
	for _, flavor := range p.suffixedFlavors(f, image, suffixed) {
		same := slices.IndexFunc(there, func(other any) bool { return reflect.DeepEqual(capabilitiesOf(other), capabilitiesOf(flavor)) })
		switch {
		case same < 0 && len(targets) > 0:
			targets[0]["capabilityFlavors"] = append(asList(targets[0]["capabilityFlavors"]), flavor)
			there = append(there, flavor)
		case same >= 0 && !reflect.DeepEqual(there[same], flavor):
			at, _ := p.find(image, plain)
			p.fail(at.String(),
				"%s@%s has a flavor with %s [%s] already, with another image than %s has; remove one of the two", image, plain, f.Capability, f.Value, suffixed)
		}
	}
	p.refresh()
}

// entries calls a function with each entry of an image version in the provider config, read and as it is written.
func (p *document) entries(image, version string, do func(read *imageselector.Version[any], written map[string]any)) {
	for i, read := range p.decode() {
		for k := range read.Versions {
			if read.Name == image && read.Versions[k].Version == version {
				do(&read.Versions[k], entry(p.providerImage(i)["versions"], k))
			}
		}
	}
}

// plainFlavors gives the flavors of a version the plain value, and returns its entries and all its flavors.
func (p *document) plainFlavors(f *Fold, image, plain string) (entries []map[string]any, flavors []any) {
	p.entries(image, plain, func(_ *imageselector.Version[any], written map[string]any) {
		entries = append(entries, written)
		for _, flavor := range asList(written["capabilityFlavors"]) {
			p.declare(flavor, f.Capability, f.Plain)
			flavors = append(flavors, flavor)
		}
	})
	return entries, flavors
}

// suffixedFlavors returns copies of the flavors of a version, with the value of the fold.
func (p *document) suffixedFlavors(f *Fold, image, suffixed string) (flavors []any) {
	p.entries(image, suffixed, func(version *imageselector.Version[any], written map[string]any) {
		for _, entry := range p.asFlavors(image, version, written) {
			for _, flavor := range asList(entry["capabilityFlavors"]) {
				p.declare(flavor, f.Capability, f.Value)
				flavors = append(flavors, flavor)
				if got := capabilitiesOf(flavor)[f.Capability]; !reflect.DeepEqual(got, texts([]string{f.Value})) {
					p.fail(version.Path.String(), "%s@%s has flavors with %s %v, and would become a flavor with [%s]",
						image, suffixed, f.Capability, got, f.Value)
				}
			}
		}
	})
	return flavors
}

// asFlavors returns copies of the entries that stand for a version, with flavors.
func (p *document) asFlavors(image string, version *imageselector.Version[any], tree map[string]any) []map[string]any {
	if version.Legacy {
		return p.encode(image, version, provider.FormatFlavors)
	}
	var copied map[string]any
	raw, err := json.Marshal(tree)
	if err != nil || json.Unmarshal(raw, &copied) != nil {
		return nil
	}
	return []map[string]any{copied}
}

func capabilitiesOf(flavor any) map[string]any {
	tree, _ := flavor.(map[string]any)
	capabilities, _ := tree["capabilities"].(map[string]any)
	return capabilities
}

// declare adds a value of a capability to a flavor of the provider config that does not declare it.
func (p *document) declare(flavor any, name, value string) {
	tree, _ := flavor.(map[string]any)
	if tree == nil {
		return
	}
	capabilities := maps.Clone(capabilitiesOf(flavor))
	if capabilities == nil {
		capabilities = map[string]any{}
	}
	if _, declared := capabilities[name]; !declared {
		capabilities[name] = texts([]string{value})
	}
	tree["capabilities"] = capabilities
}

// foldCore gives the plain version of core the flavors of the one with the suffix. core is filled.
func (p *document) foldCore(f *Fold, pair pairing, core []v1beta1.MachineImage) {
	flavors := append(declaring(&core[pair.to.image].Versions[pair.to.version], f.Capability, f.Plain),
		declaring(&core[pair.suffixed.image].Versions[pair.suffixed.version], f.Capability, f.Value)...)
	var distinct []v1beta1.MachineImageFlavor
	for _, flavor := range flavors {
		if !slices.ContainsFunc(distinct, func(other v1beta1.MachineImageFlavor) bool { return reflect.DeepEqual(other, flavor) }) {
			distinct = append(distinct, flavor)
		}
	}
	p.setFlavors(pair.to, distinct)
	version, tree := &p.written.MachineImages[pair.to.image].Versions[pair.to.version], p.coreVersion(pair.to)
	if len(version.Architectures) == 0 || tree == nil {
		return
	}
	for _, flavor := range distinct { // the deprecated field has to agree
		for _, architecture := range flavor.Capabilities[capability.Architecture] {
			if !slices.Contains(version.Architectures, architecture) {
				version.Architectures = append(slices.Clone(version.Architectures), architecture)
				tree["architectures"] = texts(version.Architectures)
			}
		}
	}
}

// declaring returns the flavors of an image version with a value of a capability, where they do not declare it. Without flavors it
// has one that says nothing else.
func declaring(version *v1beta1.MachineImageVersion, name, value string) []v1beta1.MachineImageFlavor {
	declared := version.CapabilityFlavors
	if len(declared) == 0 {
		declared = []v1beta1.MachineImageFlavor{{}}
	}
	flavors := make([]v1beta1.MachineImageFlavor, 0, len(declared))
	for _, flavor := range declared {
		capabilities := v1beta1.Capabilities{name: {value}}
		maps.Copy(capabilities, flavor.Capabilities)
		flavors = append(flavors, v1beta1.MachineImageFlavor{Capabilities: capabilities})
	}
	return flavors
}

// removeEntries removes a version from the provider config.
func (p *document) removeEntries(image, version string) {
	for i, read := range p.decode() {
		if read.Name != image {
			continue
		}
		owner := p.providerImage(i)
		var left []any
		for k, tree := range asList(owner["versions"]) {
			if k >= len(read.Versions) || read.Versions[k].Version != version {
				left = append(left, tree)
			}
		}
		owner["versions"] = left
	}
	p.refresh()
}

// setMachineTypes writes which machine types support which value: those whose name fits a pattern the value of the fold, and
// others the plain one.
func (p *document) setMachineTypes(f *Fold, patterns []string) {
	for i := range p.written.MachineTypes {
		t := &p.written.MachineTypes[i]
		tree := entry(p.spec["machineTypes"], i)
		if tree == nil {
			continue
		}
		value := f.Plain
		if matches(patterns, t.Name) {
			value = f.Value
		}
		capabilities, _ := tree["capabilities"].(map[string]any)
		capabilities = maps.Clone(capabilities)
		if capabilities == nil {
			capabilities = map[string]any{}
		}
		if _, named := capabilities[capability.Architecture]; !named && len(architecturesIn(p.capabilities)) > 1 {
			capabilities[capability.Architecture] = texts([]string{ptr.Deref(t.Architecture, constants.ArchitectureAMD64)})
		}
		capabilities[f.Capability] = texts([]string{value})
		tree["capabilities"] = capabilities
	}
}
