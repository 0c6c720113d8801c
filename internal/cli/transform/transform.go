// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package transform converts the manifest of a CloudProfile or NamespacedCloudProfile from the legacy format to capabilities, step by
// step, and back. It works on the manifest's content. Its callers write the files, and prove that no worker pool boots another image.
//
// Start reading at [Forward] and [Back]. provider.go rewrites image versions of a provider config. fold.go joins versions
// that differ only in a suffix. Two conversions are separate: [Register] and [Unregister] for reserved capabilities, and
// package lifecycle for classifications. The package is pure, does not modify its arguments, and is safe for concurrent use.
package transform

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/cli/between"
	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Rule is the origin of errors about content that cannot be migrated.
const Rule = "migration"

// Options select the conversions.
type Options struct {
	// ProviderConfig writes all image versions of the provider config as flavors.
	ProviderConfig bool
	// CoreFlavors writes the core flavors that admission would fill in (semantics S12).
	CoreFlavors bool
	// Fold joins image versions; nil joins none.
	Fold *Fold
	// MachineTypes are patterns, as in path.Match, for the names of machine types that support only Fold's Value. All
	// others support only its Plain. Nil means that machine types declare neither.
	MachineTypes []string
}

// Input is a manifest to migrate.
type Input struct {
	// Raw is the manifest as JSON.
	Raw json.RawMessage
	// Parent is the parent of a NamespacedCloudProfile after the migration; nil for a CloudProfile.
	Parent *v1beta1.CloudProfileSpec
	// Below are the manifests of a CloudProfile's NamespacedCloudProfiles, which are migrated with it.
	Below []json.RawMessage
	// Used names the users of an image version, which must then be kept; nil means that no version is in use.
	Used func(image, version string) []string
}

// Kept is an image version that is kept only because it is in use.
type Kept struct {
	Image, Version string
	// By names the users, as returned by Used: at least one.
	By []string
	// Field is the version's path in the original manifest.
	Field string
}

// Unpaired is an image version with the fold's suffix that is not folded.
type Unpaired struct {
	Image, Version string
	// Why is the reason, as a clause.
	Why string
	// Field is the version's path.
	Field string
}

// Result is a converted manifest.
type Result struct {
	// Raw is the converted manifest as JSON. The order of members is lost.
	Raw json.RawMessage
	// Ops convert the original manifest to Raw.
	Ops []edit.Op
	// Kept are the folded versions that are kept, in the order of the manifest.
	Kept []Kept
	// Folded is set if there are versions to fold; Unpaired are those that cannot be folded, in the order of the manifest.
	Folded   bool
	Unpaired []Unpaired
	// Unreplaced are the paths of flavors whose capability has no replacement in the second text of GEP-0054.
	Unreplaced []string
}

// document is a manifest during its migration.
type document struct {
	cloud provider.Provider[any]
	input Input
	// tree is the manifest, and config its provider config, which is modified in place.
	tree, config map[string]any
	// was is the original spec; of a NamespacedCloudProfile, the parts that a CloudProfile has as well. Changes of
	// core are made in spec, and result writes them to the tree. Removed versions stay in spec.
	was, spec v1beta1.CloudProfileSpec
	gone      map[*v1beta1.MachineImageVersion]bool
	// capabilities is the vocabulary after the migration.
	capabilities []v1beta1.CapabilityDefinition
	// filled is the spec after admission, while entries are rewritten.
	filled *v1beta1.CloudProfileSpec
	// pairs are the versions to fold, and unpaired the others with the suffix.
	pairs    []pair
	unpaired []Unpaired
	errs     field.ErrorList
}

// read reads a manifest that has been decoded as a profile before.
func read(cloud provider.Provider[any], input Input) (*document, error) {
	p := &document{cloud: cloud, input: input, gone: map[*v1beta1.MachineImageVersion]bool{}, tree: edit.Members(edit.Decoded(input.Raw))}
	var object struct {
		Spec struct {
			MachineCapabilities []v1beta1.CapabilityDefinition `json:"machineCapabilities"`
			MachineImages       []v1beta1.MachineImage         `json:"machineImages"`
			MachineTypes        []v1beta1.MachineType          `json:"machineTypes"`
			ProviderConfig      *runtime.RawExtension          `json:"providerConfig"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(input.Raw, &object); err != nil {
		return nil, fmt.Errorf("the manifest is not a profile: %w", err)
	}
	s := &object.Spec
	p.spec = v1beta1.CloudProfileSpec{
		Type: cloud.Type(), MachineCapabilities: s.MachineCapabilities, MachineImages: s.MachineImages, MachineTypes: s.MachineTypes,
		ProviderConfig: s.ProviderConfig,
	}
	p.was = *p.spec.DeepCopy()
	p.config = edit.Members(edit.Members(p.tree["spec"])["providerConfig"])
	p.capabilities = s.MachineCapabilities
	if input.Parent != nil {
		p.capabilities = input.Parent.MachineCapabilities
	}
	_, p.errs = Images(cloud, p.spec.ProviderConfig)
	return p, nil
}

// result writes the changes of core to the manifest, and returns it.
func (p *document) result(kept []Kept) (Result, field.ErrorList, error) {
	spec := edit.Members(p.tree["spec"])
	set(spec, "machineCapabilities", p.was.MachineCapabilities, p.spec.MachineCapabilities)
	for i := range p.spec.MachineTypes {
		was, is := &p.was.MachineTypes[i], &p.spec.MachineTypes[i]
		tree := entry(spec["machineTypes"], i)
		set(tree, "architecture", was.Architecture, is.Architecture)
		set(tree, "capabilities", was.Capabilities, is.Capabilities)
	}
	stay := make([][]any, len(p.spec.MachineImages))
	for v := range entries.Versions(&p.spec) {
		was, tree := versionIn(&p.was, v), entry(entry(spec["machineImages"], v.Image)["versions"], v.Index)
		set(tree, "architectures", was.Architectures, v.Architectures)
		set(tree, inPlaceUpdates, was.InPlaceUpdates, v.InPlaceUpdates)
		set(tree, "capabilityFlavors", was.CapabilityFlavors, v.CapabilityFlavors)
		if !p.gone[v.MachineImageVersion] {
			stay[v.Image] = append(stay[v.Image], tree)
		}
	}
	for i := range stay {
		if len(stay[i]) < len(p.spec.MachineImages[i].Versions) {
			entry(spec["machineImages"], i)["versions"] = stay[i]
		}
	}
	raw, err := json.Marshal(p.tree)
	if err != nil {
		return Result{}, p.errs, err
	}
	ops := between.Operations(nil, edit.Decoded(p.input.Raw), edit.Decoded(raw), before)
	return Result{Raw: raw, Ops: ops, Kept: kept, Folded: len(p.pairs) > 0, Unpaired: p.unpaired}, p.errs, nil
}

// before defines the place of new members of a profile: the vocabulary precedes its uses.
var before = between.Before{"machineCapabilities": {"machineTypes", "machineImages"}}

// set sets a member if its value has changed. A zero value removes it.
func set[T any](tree map[string]any, name string, was, is T) {
	switch {
	case tree == nil || reflect.DeepEqual(was, is):
	case reflect.ValueOf(is).IsZero():
		delete(tree, name)
	default:
		tree[name] = is
	}
}

// entry returns a list's entry that is a mapping; nil if there is none.
func entry(list any, index int) map[string]any {
	if entries := edit.Items(list); index < len(entries) {
		return edit.Members(entries[index])
	}
	return nil
}

func (p *document) fail(at string, format string, args ...any) {
	p.errs = append(p.errs, &field.Error{
		Type: field.ErrorTypeForbidden, Field: at, Origin: Rule, BadValue: field.OmitValueType{}, Detail: fmt.Sprintf(format, args...),
	})
}

// Forward returns a manifest with capabilities. Without options it takes the smallest step that Gardener accepts: it
// registers the vocabulary, and admission fills in the rest (semantics S12). A converted manifest is not changed. The
// errors name, with paths of the manifest, content that cannot be migrated; with any, the result must not be used.
// err is not nil if Raw is not the manifest of a profile.
func Forward(cloud provider.Provider[any], input Input, options Options) (result Result, errs field.ErrorList, err error) {
	p, err := read(cloud, input)
	if err != nil {
		return Result{}, nil, err
	}
	if len(p.errs) > 0 {
		return p.result(nil)
	}
	p.pairs, p.unpaired = p.foldable(options.Fold)
	all := p.withBelow(options.Fold)
	folds := slices.ContainsFunc(all, func(d *document) bool { return len(d.pairs) > 0 })
	if input.Parent == nil {
		if len(p.capabilities) == 0 {
			p.capabilities = p.architectures()
		}
		p.registerImplied(all, func(d *document, id provider.ImageVersion) bool { return options.ProviderConfig || d.isPaired(id) })
		if folds {
			p.capabilities = register(p.capabilities, options.Fold)
		}
		p.spec.MachineCapabilities = p.capabilities
		p.demandedFlavors()
	}
	if len(p.capabilities) == 0 { // the parent has none
		return p.result(nil)
	}
	if options.ProviderConfig {
		p.rewrite(provider.FormatFlavors, func(provider.ImageVersion) bool { return true })
	}
	var kept []Kept
	if folds {
		kept = p.fold(options.Fold)
		if options.MachineTypes != nil {
			p.foldMachineTypes(options.Fold, options.MachineTypes)
		}
	}
	if options.CoreFlavors {
		p.coreFlavors()
	}
	return p.result(kept)
}

// architectures returns the vocabulary of the first step. It has both architectures, as in the legacy format. If
// images do not declare their architecture and only one is used, it has that one.
func (p *document) architectures() []v1beta1.CapabilityDefinition {
	both := []v1beta1.CapabilityDefinition{{
		Name: capability.Architecture, Values: []string{constants.ArchitectureAMD64, constants.ArchitectureARM64},
	}}
	used := map[string]bool{}
	for i := range p.spec.MachineTypes {
		used[ptr.Deref(p.spec.MachineTypes[i].Architecture, constants.ArchitectureAMD64)] = true
	}
	for v := range entries.Versions(&p.spec) {
		for _, architecture := range architecturesOf(v) {
			used[architecture] = true
		}
	}
	if len(used) == 1 && len(p.unfilled(both)) > 0 {
		both[0].Values = slices.DeleteFunc(both[0].Values, func(value string) bool { return !used[value] })
	}
	return both
}

// architecturesOf returns an image version's architectures in the legacy format (semantics S1).
func architecturesOf(version entries.Version) []string {
	if len(version.Architectures) == 0 {
		return []string{constants.ArchitectureAMD64}
	}
	return version.Architectures
}

// flavorsByArchitecture returns a flavor for each architecture of an image version in the legacy format.
func flavorsByArchitecture(version entries.Version) (flavors []v1beta1.MachineImageFlavor) {
	for _, architecture := range architecturesOf(version) {
		flavors = append(flavors, v1beta1.MachineImageFlavor{Capabilities: v1beta1.Capabilities{capability.Architecture: {architecture}}})
	}
	return flavors
}

// architecturesIn returns the architectures that a vocabulary registers.
func architecturesIn(capabilities []v1beta1.CapabilityDefinition) []string {
	if i := indexOf(capabilities, capability.Architecture); i >= 0 {
		return capabilities[i].Values
	}
	return nil
}

// indexOf returns the index of a capability in a vocabulary; -1 if it is not registered by this name.
func indexOf(capabilities []v1beta1.CapabilityDefinition, name string) int {
	return slices.IndexFunc(capabilities, func(c v1beta1.CapabilityDefinition) bool { return c.Name == name })
}

// fill returns the spec as admission fills it in, given a vocabulary.
func (p *document) fill(capabilities []v1beta1.CapabilityDefinition) *v1beta1.CloudProfileSpec {
	spec := p.spec.DeepCopy()
	spec.MachineCapabilities = capabilities
	var flavors []profile.Filled
	if p.input.Parent == nil {
		flavors = profile.FillCloudProfile(p.cloud, spec)
	} else {
		parent := p.input.Parent.DeepCopy()
		parent.MachineCapabilities = capabilities
		flavors = profile.FillNamespacedCloudProfile(p.cloud, &v1beta1.NamespacedCloudProfile{
			Spec: v1beta1.NamespacedCloudProfileSpec{MachineImages: spec.MachineImages, ProviderConfig: spec.ProviderConfig},
		}, parent)
	}
	for _, f := range flavors {
		spec.MachineImages[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
	}
	return spec
}

// pathOf returns the path of an image version.
func pathOf(v entries.Version) string { return v.PathIn(field.NewPath("spec")).String() }

// versionIn returns the image version at the same position in another spec.
func versionIn(spec *v1beta1.CloudProfileSpec, v entries.Version) *v1beta1.MachineImageVersion {
	return &spec.MachineImages[v.Image].Versions[v.Index]
}

// unfilled returns the image versions without flavors after admission, if Gardener requires flavors because of several architectures.
func (p *document) unfilled(capabilities []v1beta1.CapabilityDefinition) (left []entries.Version) {
	if len(architecturesIn(capabilities)) < 2 {
		return nil
	}
	filled := p.fill(capabilities)
	for v := range entries.Versions(&p.spec) {
		converted := p.inherits(v.ID) || p.input.Parent != nil && len(v.Architectures) > 0
		if len(versionIn(filled, v).CapabilityFlavors) == 0 && !converted {
			left = append(left, v)
		}
	}
	return left
}

// demandedFlavors adds the core flavors that Gardener requires and admission does not fill in. If the provider config
// supports flavors, it rewrites these versions' images, which do not declare their architecture.
func (p *document) demandedFlavors() {
	ids := map[provider.ImageVersion]bool{}
	for _, v := range p.unfilled(p.capabilities) {
		ids[v.ID] = true
		v.CapabilityFlavors = flavorsByArchitecture(v)
	}
	keeper, _ := provider.As[providerconfig.LegacyKeeper](p.cloud)
	if len(ids) > 0 && (keeper == nil || !keeper.KeepsLegacy()) {
		p.rewrite(provider.FormatFlavors, func(id provider.ImageVersion) bool { return ids[id] })
	}
}

// coreFlavors writes the core flavors that admission would fill in.
func (p *document) coreFlavors() {
	filled := p.fill(p.capabilities)
	for v := range entries.Versions(&p.spec) {
		if len(v.CapabilityFlavors) == 0 {
			v.CapabilityFlavors = versionIn(filled, v).CapabilityFlavors
		}
	}
}

// withBelow returns the manifest, and those of the NamespacedCloudProfiles that can be read, with their versions to fold.
func (p *document) withBelow(fold *Fold) []*document {
	all := []*document{p}
	for _, raw := range p.input.Below {
		if d, err := read(p.cloud, Input{Raw: raw, Parent: &p.was}); err == nil {
			d.pairs, _ = d.foldable(fold)
			all = append(all, d)
		}
	}
	return all
}

// registerImplied registers the values in fields of image versions that are rewritten as flavors, because flavors
// have no such fields. It does not register a capability of which all versions have the same single value.
func (p *document) registerImplied(all []*document, rewritten func(*document, provider.ImageVersion) bool) {
	values := map[string][]string{}
	for _, d := range all {
		for _, e := range d.entries() {
			if e.Legacy && rewritten(d, e.id) {
				e.implied(values)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if indexOf(p.capabilities, name) < 0 && len(values[name]) > 1 {
			p.capabilities = append(slices.Clone(p.capabilities), v1beta1.CapabilityDefinition{Name: name, Values: values[name]})
		}
	}
}

// implied adds the values of the version's fields to those of other versions.
func (e *configEntry) implied(values map[string][]string) {
	for i := range e.Flavors {
		for name, implied := range e.Flavors[i].Implied {
			if len(implied) > len(values[name]) { // the longest list determines the order
				implied, values[name] = values[name], implied
			}
			values[name] = added(values[name], implied...)
		}
	}
}
