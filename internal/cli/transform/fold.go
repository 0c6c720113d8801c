// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/words"
)

// Fold joins image versions that differ only in a suffix: 1.2.3-baremetal becomes a flavor of 1.2.3.
type Fold struct {
	// Suffix includes its separator: "-baremetal".
	Suffix string
	// Capability distinguishes the flavors, instead of the suffix.
	Capability string
	// Value is the value for flavors of the version with the suffix, and Plain for those of the other version.
	Value, Plain string
}

// StandardPlain is the default of Plain in a [Fold].
const StandardPlain = "standard"

// ParseFold parses SUFFIX=CAPABILITY:VALUE[,PLAIN].
func ParseFold(text string) (*Fold, error) {
	suffix, rest, hasCapability := strings.Cut(text, "=")
	name, values, hasValues := strings.Cut(rest, ":")
	value, standard, says := strings.Cut(values, ",")
	if !says {
		standard = StandardPlain
	}
	f := &Fold{suffix, name, value, standard}
	if err := f.checkReserved(text, says); err != nil {
		return nil, err
	}
	switch {
	case !hasCapability || !hasValues || suffix == "" || name == "" || value == "" || standard == "" || strings.Contains(standard, ","):
		return nil, fmt.Errorf("%q: write SUFFIX=CAPABILITY:VALUE or SUFFIX=CAPABILITY:VALUE,PLAIN, as in -baremetal=hypervisor:baremetal,virtualized", text)
	case value == standard:
		return nil, fmt.Errorf("%q: the two values must differ", text)
	case name == capability.Architecture:
		return nil, fmt.Errorf("%q: versions are distinguished by another capability than the architecture", text)
	}
	return f, nil
}

// checkReserved returns an error if a capability with the reserved prefix is unknown or lacks the values. The default
// of Plain is then the value of images that do not declare the capability.
func (f *Fold) checkReserved(text string, says bool) error {
	if !f.IsReserved() || f.Value == "" {
		return nil
	}
	if now := texts.Canonical(f.Capability); now != f.Capability {
		return fmt.Errorf("%q: GEP-0054 calls %s by another name now: write %s", text, f.Capability, profile.InSecondText(now))
	}
	reserved := capability.Reserved()
	i := slices.IndexFunc(reserved, func(d capability.Definition) bool { return d.Name == f.Capability })
	if i < 0 {
		var names []string
		for _, d := range reserved {
			names = append(names, d.Name)
		}
		return fmt.Errorf("%q: Gardener has no capability %s; it has %s%s", text, f.Capability, words.And(names), words.DidYouMean(words.Closest(f.Capability, names)))
	}
	if !says {
		f.Plain = reserved[i].Undeclared
	}
	for _, value := range []string{f.Value, f.Plain} {
		if !slices.Contains(reserved[i].Values, value) {
			meant := words.Closest(value, reserved[i].Values)
			for _, right := range reserved[i].Values {
				if first, has := texts.Translate(f.Capability, right); has && first == value {
					meant = right
				}
			}
			return fmt.Errorf("%q: %s has no value %q, but %s%s", text, f.Capability, value, words.And(reserved[i].Values), words.DidYouMean(meant))
		}
	}
	return nil
}

// IsReserved reports whether the capability is reserved for Gardener, and so is known without being registered.
func (f *Fold) IsReserved() bool { return strings.HasPrefix(f.Capability, capability.ReservedPrefix) }

// Folds returns the version that a version is folded into; false if it does not have the suffix.
func (f *Fold) Folds(version string) (plain string, folds bool) {
	plain, folds = strings.CutSuffix(version, f.Suffix)
	return plain, folds && plain != ""
}

// Declared reports whether a flavor of the provider config declares the fold's capability with its value.
func (f *Fold) Declared(cloud provider.Provider[any], input Input) bool {
	p, err := read(cloud, input)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(p.entries(), func(e configEntry) bool {
		return slices.ContainsFunc(e.Flavors, func(flavor imageselector.Flavor[any]) bool {
			return slices.Contains(flavor.Capabilities[f.Capability], f.Value)
		})
	})
}

// Formerly returns a function that maps a combination to its image version before the migration, given the rendered
// specs of the profile before and after. A removed version with the Fold's suffix is left out. On machine types that
// support only the Fold's Value, the version without the suffix maps to the one with it. The function is nil without
// a Fold. It is for an [update.View], and safe for concurrent use.
func (o Options) Formerly(
	cloud provider.Provider[any], before, after *v1beta1.CloudProfileSpec,
) func(resolve.Combination) (version string, counts bool) {
	if o.Fold == nil {
		return nil
	}
	was := &document{cloud: cloud, spec: *before}
	suffixed, stays := map[provider.ImageVersion]string{}, map[provider.ImageVersion]bool{}
	pairs, _ := was.foldable(o.Fold)
	for _, pair := range pairs {
		suffixed[pair.plain.ID] = pair.suffixed.ID.Version
		_, stays[pair.suffixed.ID] = entries.Find(after, pair.suffixed.ID)
	}
	return func(c resolve.Combination) (string, bool) {
		id := provider.ImageVersion{Image: c.Image, Version: c.Version}
		if stays, folded := stays[id]; folded {
			return c.Version, stays
		}
		if former, folded := suffixed[id]; folded && matchesAny(o.MachineTypes, c.MachineType) {
			return former, true
		}
		return c.Version, true
	}
}

// Matches reports whether the name of a machine type matches a pattern.
func Matches(pattern, name string) bool {
	fits, _ := path.Match(pattern, name)
	return fits
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return Matches(pattern, name) })
}

// register adds a fold's capability to a vocabulary. Plain precedes Value, so it is preferred if both fit. Registered
// values keep their order. A reserved capability is only extended, never added.
func register(capabilities []v1beta1.CapabilityDefinition, f *Fold) []v1beta1.CapabilityDefinition {
	i := indexOf(capabilities, f.Capability)
	if i < 0 && f.IsReserved() {
		return capabilities
	}
	capabilities = slices.Clone(capabilities)
	if i < 0 {
		return append(capabilities, v1beta1.CapabilityDefinition{Name: f.Capability, Values: []string{f.Plain, f.Value}})
	}
	values := added(capabilities[i].Values, f.Value)
	if !slices.Contains(values, f.Plain) {
		values = slices.Insert(values, slices.Index(values, f.Value), f.Plain)
	}
	capabilities[i].Values = values
	return capabilities
}

// pair is a version with the suffix, and the one without.
type pair struct{ suffixed, plain entries.Version }

// foldable returns the versions of core to fold, in the order of the profile. The profile must also list the version
// without the suffix, and the provider config must have images for both. Other versions with the suffix are unpaired,
// except those that a NamespacedCloudProfile extends: the parent reports them. If f is nil, nothing is folded.
func (p *document) foldable(f *Fold) (pairs []pair, unpaired []Unpaired) {
	if f == nil {
		return nil, nil
	}
	mapped := map[provider.ImageVersion]bool{}
	for _, e := range p.entries() {
		mapped[e.id] = true
	}
	for v := range entries.Versions(&p.spec) {
		version, has := f.Folds(v.ID.Version)
		if !has || p.inherits(v.ID) {
			continue
		}
		plain := provider.ImageVersion{Image: v.ID.Image, Version: version}
		to, listed := entries.Find(&p.spec, plain)
		var why string
		switch {
		case !listed:
			why = "the profile does not list it without the suffix"
		case !mapped[plain]:
			why = "the provider config has no image for it without the suffix"
		case !mapped[v.ID]:
			why = "the provider config has no image for it"
		default:
			pairs = append(pairs, pair{v, to})
			continue
		}
		unpaired = append(unpaired, Unpaired{v.ID.Image, v.ID.Version, why, pathOf(v)})
	}
	return pairs, unpaired
}

func (p *document) inherits(id provider.ImageVersion) bool { return Inherits(p.input.Parent, id) }

// Inherits reports whether the parent of a NamespacedCloudProfile, nil for a CloudProfile, lists an image version.
func Inherits(parent *v1beta1.CloudProfileSpec, id provider.ImageVersion) bool {
	if parent == nil {
		return false
	}
	_, listed := entries.Find(parent, id)
	return listed
}

// isPaired reports whether an image version is folded, or another one is folded into it.
func (p *document) isPaired(id provider.ImageVersion) bool {
	return slices.ContainsFunc(p.pairs, func(pair pair) bool { return pair.suffixed.ID == id || pair.plain.ID == id })
}

// isFolded reports whether an image version is folded into another one.
func (p *document) isFolded(id provider.ImageVersion) bool {
	return slices.ContainsFunc(p.pairs, func(pair pair) bool { return pair.suffixed.ID == id })
}

// fold joins versions, and returns the ones that are kept. The capability must be registered, unless it is reserved.
func (p *document) fold(f *Fold) []Kept {
	p.refuseFirstText(f)
	core := p.fill(p.capabilities)
	var kept []Kept
	for _, pair := range p.pairs {
		plain, suffixed := pair.plain.ID, pair.suffixed.ID
		if next, _ := f.Folds(plain.Version); p.isFolded(plain) {
			p.fail(pathOf(pair.suffixed), "%s cannot become a flavor of %s, which becomes one of %s: remove one of the three versions first",
				suffixed, plain.Version, next)
			continue
		}
		p.rewrite(provider.FormatFlavors, func(id provider.ImageVersion) bool { return id == plain })
		p.checkPair(f, pair)
		p.foldFlavors(f, pair)
		p.foldCore(f, pair, core)
		var by []string
		if p.input.Used != nil {
			by = p.input.Used(suffixed.Image, suffixed.Version)
		}
		if len(by) > 0 {
			kept = append(kept, Kept{suffixed.Image, suffixed.Version, by, pathOf(pair.suffixed)})
			continue
		}
		p.gone[pair.suffixed.MachineImageVersion] = true
		p.removeEntries(suffixed)
	}
	return kept
}

// refuseFirstText reports uses of the fold's capability under its name in the first text of GEP-0054.
func (p *document) refuseFirstText(f *Fold) {
	refuse := func(at, name string) bool {
		if name == f.Capability || texts.Canonical(name) != f.Capability || len(p.pairs) == 0 {
			return false
		}
		p.fail(at, "%s is the name that %s had at first: write the new one everywhere first, by capkit lint --fix", name, f.Capability)
		return true
	}
	for i, c := range p.capabilities {
		if p.input.Parent == nil && refuse(fmt.Sprintf("spec.machineCapabilities[%d].name", i), c.Name) {
			return
		}
	}
	for _, e := range p.entries() {
		for i := range e.Flavors {
			for name := range e.Flavors[i].Capabilities {
				if refuse(e.Flavors[i].Path.Child("capabilities", name).String(), name) {
					return
				}
			}
		}
	}
}

// inPlaceUpdates is the field that says whether a version supports in-place updates.
const inPlaceUpdates = "inPlaceUpdates"

// checkPair reports fields that a version has once for all its flavors, and that differ between the two versions. A
// fold by update type tolerates that only one of them supports in-place updates; the plain version then supports them.
func (p *document) checkPair(f *Fold, pair pair) {
	suffixed, plain := pair.suffixed.ID, pair.plain.ID
	was, is := fieldsOf(*pair.suffixed.MachineImageVersion), fieldsOf(*pair.plain.MachineImageVersion)
	inPlace, alsoInPlace := profile.Undeclared(pair.suffixed.MachineImageVersion) != nil, profile.Undeclared(pair.plain.MachineImageVersion) != nil
	if f.Capability == capability.UpdateType && inPlace != alsoInPlace {
		delete(was, inPlaceUpdates)
		delete(is, inPlaceUpdates)
		if inPlace {
			pair.plain.InPlaceUpdates = pair.suffixed.InPlaceUpdates.DeepCopy()
		}
	}
	all := maps.Clone(was)
	maps.Copy(all, is)
	var differences []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if x, y := cmp.Or(was[name], "not set"), cmp.Or(is[name], "not set"); x != y {
			differences = append(differences, fmt.Sprintf("%s (%s: %s, %s: %s)", name, suffixed.Version, x, plain.Version, y))
		}
	}
	if len(differences) > 0 {
		p.fail(pathOf(pair.suffixed), "%s cannot become a flavor of %s: they differ in %s, which a version says once for all its flavors; "+
			"make them equal first, or remove one of the two versions", suffixed, plain.Version, words.And(differences))
	}
}

// fieldsOf returns the fields of a core version that apply to all its flavors, as JSON by name, with Gardener's defaults.
func fieldsOf(version v1beta1.MachineImageVersion) map[string]string {
	v1beta1.SetDefaults_MachineImageVersion(&version)
	version.Classification = ptr.To(ptr.Deref(version.Classification, v1beta1.ClassificationSupported)) //nolint:staticcheck // as people write it
	version.Version, version.Architectures, version.CapabilityFlavors = "", nil, nil
	var raw bytes.Buffer
	var fields map[string]json.RawMessage
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false) // constraints contain < and >
	said := map[string]string{}
	if e.Encode(version) == nil && json.Unmarshal(raw.Bytes(), &fields) == nil {
		for name, value := range fields {
			said[name] = string(value)
		}
	}
	return said
}

// foldFlavors adds the suffixed version's flavors to the plain version's entry in the provider config.
func (p *document) foldFlavors(f *Fold, pair pair) {
	plain, suffixed := pair.plain.ID, pair.suffixed.ID
	var target map[string]any // the first entry of the plain version
	var flavors, added []any  // of both versions
	for _, e := range p.entries() {
		switch e.id {
		case plain:
			if target == nil {
				target = e.tree
			}
			flavors = append(flavors, declare(edit.Items(e.tree["capabilityFlavors"]), f.Capability, f.Plain)...)
		case suffixed:
			own := declare(p.flavorsOf(&e), f.Capability, f.Value)
			for _, flavor := range own {
				if got := capabilitiesOf(flavor)[f.Capability]; !reflect.DeepEqual(got, []any{f.Value}) {
					p.fail(e.Path.String(), "%s has flavors with %s %v, and would become a flavor with [%s]", suffixed, f.Capability, got, f.Value)
				}
			}
			added = append(added, own...)
			p.keep(target, e, false)
		}
	}
	for _, flavor := range added {
		same := slices.IndexFunc(flavors, func(other any) bool { return reflect.DeepEqual(capabilitiesOf(other), capabilitiesOf(flavor)) })
		switch {
		case same < 0 && target != nil:
			target["capabilityFlavors"] = append(edit.Items(target["capabilityFlavors"]), flavor)
			flavors = append(flavors, flavor)
		case same >= 0 && !reflect.DeepEqual(flavors[same], flavor):
			p.fail(pathOf(pair.plain), "%s has a flavor with %s [%s] already, with another image than %s has; remove one of the two",
				plain, f.Capability, f.Value, suffixed.Version)
		}
	}
	p.refresh()
}

// flavorsOf returns copies of an entry's flavors, in either format.
func (p *document) flavorsOf(e *configEntry) (flavors []any) {
	var entries []map[string]any
	if e.Legacy || e.Scattered() { // encode refuses a scattered entry
		entries = p.encode(*e, provider.FormatFlavors)
	} else if raw, err := json.Marshal([]any{e.tree}); err != nil || json.Unmarshal(raw, &entries) != nil {
		return nil
	}
	for _, entry := range entries {
		flavors = append(flavors, edit.Items(entry["capabilityFlavors"])...)
	}
	return flavors
}

func capabilitiesOf(flavor any) map[string]any {
	return edit.Members(edit.Members(flavor)["capabilities"])
}

// declare adds a value of a capability to the provider config's flavors that do not declare it, and returns them.
func declare(flavors []any, name, value string) []any {
	for _, flavor := range flavors {
		tree := edit.Members(flavor)
		if tree == nil {
			continue
		}
		capabilities := map[string]any{name: []any{value}}
		maps.Copy(capabilities, capabilitiesOf(flavor))
		tree["capabilities"] = capabilities
	}
	return flavors
}

// foldCore adds the suffixed version's flavors to the plain version in core, both from the filled spec core. Flavors
// that differ only in an unregistered capability are merged. If neither version has flavors, admission fills them in.
func (p *document) foldCore(f *Fold, pair pair, core *v1beta1.CloudProfileSpec) {
	version, name := pair.plain, f.Capability
	if f.IsReserved() && indexOf(p.capabilities, name) < 0 {
		if name = ""; len(pair.plain.CapabilityFlavors)+len(pair.suffixed.CapabilityFlavors) == 0 {
			return
		}
	}
	version.CapabilityFlavors = nil
	for _, flavor := range append(declaring(versionIn(core, pair.plain), name, f.Plain), declaring(versionIn(core, pair.suffixed), name, f.Value)...) {
		if !slices.ContainsFunc(version.CapabilityFlavors, func(other v1beta1.MachineImageFlavor) bool { return reflect.DeepEqual(other, flavor) }) {
			version.CapabilityFlavors = append(version.CapabilityFlavors, flavor)
		}
	}
	if len(version.Architectures) == 0 {
		return
	}
	for _, flavor := range version.CapabilityFlavors { // the deprecated field must be consistent
		version.Architectures = added(version.Architectures, flavor.Capabilities[capability.Architecture]...)
	}
}

// declaring returns an image version's flavors, with the value of a capability where they do not declare it;
// unchanged if name is empty. A version without flavors has one empty flavor.
func declaring(version *v1beta1.MachineImageVersion, name, value string) []v1beta1.MachineImageFlavor {
	declared := version.CapabilityFlavors
	if len(declared) == 0 {
		declared = []v1beta1.MachineImageFlavor{{}}
	}
	flavors := make([]v1beta1.MachineImageFlavor, 0, len(declared))
	for _, flavor := range declared {
		capabilities := v1beta1.Capabilities{}
		if name != "" {
			capabilities[name] = []string{value}
		}
		maps.Copy(capabilities, flavor.Capabilities)
		flavors = append(flavors, v1beta1.MachineImageFlavor{Capabilities: capabilities})
	}
	return flavors
}

// removeEntries removes a version from the provider config.
func (p *document) removeEntries(id provider.ImageVersion) {
	for i, read := range p.decode() {
		if read.Name != id.Image {
			continue
		}
		owner := p.configImage(i)
		var left []any
		for k, tree := range edit.Items(owner["versions"]) {
			if k >= len(read.Versions) || read.Versions[k].Version != id.Version {
				left = append(left, tree)
			}
		}
		owner["versions"] = left
	}
	p.refresh()
}

// foldMachineTypes declares the fold's value on the machine types whose name matches a pattern, and the plain value on all others.
func (p *document) foldMachineTypes(f *Fold, patterns []string) {
	for i := range p.spec.MachineTypes {
		t := &p.spec.MachineTypes[i]
		if t.Capabilities == nil {
			t.Capabilities = v1beta1.Capabilities{}
		}
		if _, named := t.Capabilities[capability.Architecture]; !named && len(architecturesIn(p.capabilities)) > 1 {
			t.Capabilities[capability.Architecture] = []string{ptr.Deref(t.Architecture, constants.ArchitectureAMD64)}
		}
		t.Capabilities[f.Capability] = []string{f.Plain}
		if matchesAny(patterns, t.Name) {
			t.Capabilities[f.Capability] = []string{f.Value}
		}
	}
}
