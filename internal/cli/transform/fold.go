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

// checkReserved returns an error about a capability with the prefix of those that Gardener has reserved, or about the values of it. If
// nobody says the plain value, it is what images have that do not declare the capability.
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

// IsReserved reports whether the capability is one that Gardener has reserved, which is known without being registered.
func (f *Fold) IsReserved() bool { return strings.HasPrefix(f.Capability, capability.ReservedPrefix) }

// Folds returns the version that a version is folded into; false if its name does not say so.
func (f *Fold) Folds(version string) (plain string, folds bool) {
	plain, folds = strings.CutSuffix(version, f.Suffix)
	return plain, folds && plain != ""
}

// FoldsAny reports whether a manifest has image versions to fold.
func FoldsAny(cloud provider.Provider[any], input Input, fold *Fold) bool {
	p, err := read(cloud, input)
	if err != nil {
		return false
	}
	pairs, _ := p.foldable(fold)
	return len(pairs) > 0
}

// Declared reports whether a flavor of the provider config declares the capability of a fold with its value.
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

// Formerly returns which version of an image a combination was called by before a migration, from the specs of the profile before
// and after it, as they are rendered: a version with the suffix of the Fold is left out if it is gone, and on the
// machine types that support the Value of the Fold alone, the version without the suffix has been the one with it. Nil, without a
// Fold: all keep their names. The result is as an [update.View] has it, and safe for concurrent use.
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

// Matches reports whether the name of a machine type fits a pattern.
func Matches(pattern, name string) bool {
	fits, _ := path.Match(pattern, name)
	return fits
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return Matches(pattern, name) })
}

// register returns a vocabulary with the capability of a fold: the plain value before the other one, so that it is preferred
// where both fit. What is registered keeps its order. A capability of Gardener is not registered unless it is.
func register(capabilities []v1beta1.CapabilityDefinition, f *Fold) []v1beta1.CapabilityDefinition {
	if f.IsReserved() && !registersName(capabilities, f.Capability) {
		return capabilities
	}
	capabilities = slices.Clone(capabilities)
	i := slices.IndexFunc(capabilities, func(c v1beta1.CapabilityDefinition) bool { return c.Name == f.Capability })
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

// registersName reports whether a vocabulary has a capability by a name.
func registersName(capabilities []v1beta1.CapabilityDefinition, name string) bool {
	return slices.ContainsFunc(capabilities, func(c v1beta1.CapabilityDefinition) bool { return c.Name == name })
}

// pair is a version with a suffix, and the one without.
type pair struct{ suffixed, plain entries.Version }

// foldable returns the versions of core that can be folded, in the order of the profile: those whose version without suffix
// the profile lists as well, and for both of which the provider config has an image. Others with the suffix are unpaired; of
// those that a NamespacedCloudProfile extends its parent says so. Nil: nothing is folded.
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
			why = fmt.Sprintf("the profile does not list %s", plain)
		case !mapped[plain]:
			why = fmt.Sprintf("the provider config has no image for %s", plain)
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

// isPaired reports whether an image version is one that is folded, or that another one is folded into.
func (p *document) isPaired(id provider.ImageVersion) bool {
	return slices.ContainsFunc(p.pairs, func(pair pair) bool { return pair.suffixed.ID == id || pair.plain.ID == id })
}

// isFolded reports whether an image version is one that is folded.
func (p *document) isFolded(id provider.ImageVersion) bool {
	return slices.ContainsFunc(p.pairs, func(pair pair) bool { return pair.suffixed.ID == id })
}

// fold joins versions, and returns those that are kept. The capability is registered, unless it is one of Gardener's.
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

// refuseFirstText reports the capability of a fold by the name that it has in the first text of GEP-0054.
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

// inPlaceUpdates is the field of a version that says whether it supports updates in place.
const inPlaceUpdates = "inPlaceUpdates"

// checkPair reports what two versions say that a version says once for all its flavors, and that is not the same in both. Versions that are
// told apart by updates in place differ in whether core says that they support them; that it does is what the plain one takes over.
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

// fieldsOf returns what a version of core says for all its flavors, as JSON by field; as Gardener takes it where it says nothing.
func fieldsOf(version v1beta1.MachineImageVersion) map[string]string {
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

// flavorsOf returns copies of the flavors of an entry, in whichever format it is.
func (p *document) flavorsOf(e *configEntry) (flavors []any) {
	var entries []map[string]any
	if e.Legacy || e.Scattered() { // which is refused
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

// declare adds a value of a capability to those flavors of the provider config that do not declare it, and returns them.
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

// foldCore gives the plain version of core the flavors of the one with the suffix. core is filled. Flavors that differ in a capability only
// that is not registered are one, and admission fills them in if neither version has any.
func (p *document) foldCore(f *Fold, pair pair, core *v1beta1.CloudProfileSpec) {
	version, name := pair.plain, f.Capability
	if f.IsReserved() && !registersName(p.capabilities, name) {
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
	for _, flavor := range version.CapabilityFlavors { // the deprecated field has to agree
		version.Architectures = added(version.Architectures, flavor.Capabilities[capability.Architecture]...)
	}
}

// declaring returns the flavors of an image version with a value of a capability, where they do not declare it; as they are if it has no
// name. Without flavors it has one that says nothing else.
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

// foldMachineTypes sets which machine types support which value: those whose name fits a pattern the value of the fold, and others the plain one.
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
