// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package migrate turns the manifest of a CloudProfile or a NamespacedCloudProfile from the legacy format into one with
// capabilities, step by step, and back. It works on what the manifest says, and returns what it is to say: how that is written
// into a file is for others, and so is the proof that no worker pool boots anything else.
//
// Start reading at [Forward] and [Back]. provider.go rewrites image versions of a provider config, fold.go joins versions that
// are told apart by a suffix only. The package is pure, changes none of its arguments, and may be used concurrently.
package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/capkit/capkit/pkg/imageselector"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// Rule is the origin of the errors about what cannot be migrated.
const Rule = "migration"

// Options say how far to go.
type Options struct {
	// ProviderConfig has all image versions of the provider config written as flavors.
	ProviderConfig bool
	// Fold joins image versions; nil joins none.
	Fold *Fold
	// MachineTypes are patterns, as of path.Match, of the names of the machine types that support the Value of Fold and nothing
	// else, while all others support its Plain. Nil: machine types say nothing about it.
	MachineTypes []string
}

// Input is a manifest to migrate.
type Input struct {
	// Raw is the manifest as JSON.
	Raw json.RawMessage
	// Parent is the parent of a NamespacedCloudProfile as it is going to be; nil for a CloudProfile.
	Parent *v1beta1.CloudProfileSpec
	// FoldsBelow says of a CloudProfile that a NamespacedCloudProfile of it has versions to fold.
	FoldsBelow bool
	// Used says who uses an image version, so that it has to be kept; nil: nobody uses any.
	Used func(image, version string) []string
}

// Kept is an image version that is not needed any more, but for those who use it.
type Kept struct {
	Image, Version string
	// By names those who use it, as Used does: at least one.
	By []string
	// Field is the path of the version, in the manifest as it was.
	Field string
}

// Alone is an image version with the suffix of a fold that stays as it is.
type Alone struct {
	Image, Version string
	// Why is what is missing for a fold, as a clause.
	Why string
	// Field is the path of the version.
	Field string
}

// Result is what becomes of a manifest.
type Result struct {
	// Raw is the manifest that it becomes, as JSON. Members that stay do not keep their order.
	Raw json.RawMessage
	// Kept are the folded versions that are kept, in the order of the manifest.
	Kept []Kept
	// Folded is set if there are versions to fold, and Alone are those that cannot be folded, in the order of the manifest.
	Folded bool
	Alone  []Alone
}

// document is a manifest while it is migrated.
type document struct {
	cloud provider.Provider[any]
	// tree is the manifest, which is changed, and spec its spec.
	tree, spec map[string]any
	// written is the spec as it was written: of a NamespacedCloudProfile what a CloudProfile has as well.
	written v1beta1.CloudProfileSpec
	input   Input
	// capabilities is the vocabulary after the migration.
	capabilities []v1beta1.CapabilityDefinition
	// core are the images of core, filled, while entries are rewritten.
	core []v1beta1.MachineImage
	// pairs are the versions to fold, and alone are others with the suffix.
	pairs []pairing
	alone []Alone
	errs  field.ErrorList
}

// read reads a manifest, which has been decoded as one before.
func read(cloud provider.Provider[any], input Input) (*document, error) {
	p := &document{cloud: cloud, input: input}
	d := json.NewDecoder(bytes.NewReader(input.Raw))
	d.UseNumber()
	if err := d.Decode(&p.tree); err != nil {
		return nil, fmt.Errorf("the manifest is no JSON: %w", err)
	}
	p.spec, _ = p.tree["spec"].(map[string]any)
	if p.spec == nil {
		p.spec = map[string]any{}
	}
	var object struct {
		Spec struct {
			MachineCapabilities []v1beta1.CapabilityDefinition `json:"machineCapabilities"`
			MachineImages       []v1beta1.MachineImage         `json:"machineImages"`
			MachineTypes        []v1beta1.MachineType          `json:"machineTypes"`
			ProviderConfig      *runtime.RawExtension          `json:"providerConfig"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(input.Raw, &object); err != nil {
		return nil, fmt.Errorf("the manifest is no profile: %w", err)
	}
	s := &object.Spec
	p.written = v1beta1.CloudProfileSpec{
		Type: cloud.Type(), MachineCapabilities: s.MachineCapabilities, MachineImages: s.MachineImages, MachineTypes: s.MachineTypes,
		ProviderConfig: s.ProviderConfig,
	}
	p.capabilities = s.MachineCapabilities
	if input.Parent != nil {
		p.capabilities = input.Parent.MachineCapabilities
	}
	p.checkConfig()
	return p, nil
}

// checkConfig reports what cannot be read of the images in the provider config: it would be lost where they are written anew.
func (p *document) checkConfig() {
	if !provider.HasContent(p.written.ProviderConfig) {
		return
	}
	at := field.NewPath("spec", "providerConfig")
	_, report := p.cloud.Decode(p.written.ProviderConfig, at)
	for _, f := range report.Errors {
		if provider.UnreadIn(finding.List{f}, at).Touches(at.Child("machineImages")) {
			p.errs = append(p.errs, f.Error)
		}
	}
}

// result returns what has become of the manifest.
func (p *document) result(kept []Kept) (Result, field.ErrorList, error) {
	raw, err := json.Marshal(p.tree)
	return Result{Raw: raw, Kept: kept, Folded: len(p.pairs) > 0, Alone: p.alone}, p.errs, err
}

func (p *document) fail(at string, format string, args ...any) {
	p.errs = append(p.errs, &field.Error{
		Type: field.ErrorTypeForbidden, Field: at, Origin: Rule, BadValue: field.OmitValueType{}, Detail: fmt.Sprintf(format, args...),
	})
}

// Forward returns what a manifest becomes with capabilities. Without options that is the smallest step that Gardener accepts: the
// vocabulary is registered, and admission fills in the rest (semantics S12). A manifest that is there already stays as it is. The
// errors say, with paths of the manifest, what cannot be migrated; with any, the result is of no use. err is about a Raw that is
// not the manifest of a profile.
func Forward(cloud provider.Provider[any], input Input, options Options) (result Result, errs field.ErrorList, err error) {
	p, err := read(cloud, input)
	if err != nil {
		return Result{}, nil, err
	}
	if len(p.errs) > 0 {
		return p.result(nil)
	}
	if options.Fold != nil {
		p.pairs, p.alone = p.foldable(options.Fold)
	}
	folds := len(p.pairs) > 0 || options.Fold != nil && input.FoldsBelow
	if input.Parent == nil {
		if len(p.capabilities) == 0 {
			p.capabilities = p.architectures()
		}
		p.registerImplied(func(image, version string) bool {
			return options.ProviderConfig || options.Fold != nil && p.folded(options.Fold, image, version)
		})
		if folds {
			p.capabilities = register(p.capabilities, options.Fold)
		}
		if len(p.capabilities) != len(p.written.MachineCapabilities) || folds {
			p.setCapabilities()
		}
	}
	if len(p.capabilities) == 0 { // the parent has none
		return p.result(nil)
	}
	p.setCore()
	if options.ProviderConfig {
		p.rewrite(provider.FormatFlavors, func(string, string) bool { return true })
	}
	if !folds {
		return p.result(nil)
	}
	kept := p.fold(options.Fold)
	if options.MachineTypes != nil {
		p.setMachineTypes(options.Fold, options.MachineTypes)
	}
	return p.result(kept)
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

// setCapabilities writes the vocabulary. What is registered already keeps its place.
func (p *document) setCapabilities() {
	list := make([]any, 0, len(p.capabilities))
	for _, c := range p.capabilities {
		list = append(list, map[string]any{"name": c.Name, "values": texts(c.Values)})
	}
	p.spec["machineCapabilities"] = list
}

func texts(values []string) []any {
	list := make([]any, 0, len(values))
	for _, value := range values {
		list = append(list, value)
	}
	return list
}

// architectures returns the vocabulary of the first step: both architectures, which is what the legacy format has; or the only
// one that is used, where images do not tell which one they are for.
func (p *document) architectures() []v1beta1.CapabilityDefinition {
	both := []v1beta1.CapabilityDefinition{{
		Name: capability.Architecture, Values: []string{constants.ArchitectureAMD64, constants.ArchitectureARM64},
	}}
	used := map[string]bool{}
	for i := range p.written.MachineTypes {
		used[ptr.Deref(p.written.MachineTypes[i].Architecture, constants.ArchitectureAMD64)] = true
	}
	for _, image := range p.written.MachineImages {
		for i := range image.Versions {
			for _, architecture := range architecturesOf(&image.Versions[i]) {
				used[architecture] = true
			}
		}
	}
	if len(used) != 1 || len(p.unfilled(both)) == 0 {
		return both
	}
	return []v1beta1.CapabilityDefinition{{Name: capability.Architecture, Values: slices.DeleteFunc(both[0].Values, func(value string) bool {
		return !used[value]
	})}}
}

// architecturesOf returns the architectures of an image version in the legacy format (semantics S1).
func architecturesOf(version *v1beta1.MachineImageVersion) []string {
	if len(version.Architectures) == 0 {
		return []string{constants.ArchitectureAMD64}
	}
	return version.Architectures
}

// filled returns the images of core as admission fills them in, with a vocabulary.
func (p *document) filled(capabilities []v1beta1.CapabilityDefinition) []v1beta1.MachineImage {
	spec := p.written.DeepCopy()
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
	return spec.MachineImages
}

// place is that of an image version in core.
type place struct{ image, version int }

// String is its path.
func (at place) String() string {
	return fmt.Sprintf("spec.machineImages[%d].versions[%d]", at.image, at.version)
}

// unfilled returns the image versions of a CloudProfile that admission leaves without flavors, with a vocabulary of several
// architectures, with which Gardener demands them.
func (p *document) unfilled(capabilities []v1beta1.CapabilityDefinition) []place {
	if p.input.Parent != nil || len(architecturesIn(capabilities)) < 2 {
		return nil
	}
	var left []place
	for i, image := range p.filled(capabilities) {
		for k := range image.Versions {
			if len(image.Versions[k].CapabilityFlavors) == 0 {
				left = append(left, place{i, k})
			}
		}
	}
	return left
}

// architecturesIn returns the architectures that a vocabulary registers.
func architecturesIn(capabilities []v1beta1.CapabilityDefinition) []string {
	for _, c := range capabilities {
		if c.Name == capability.Architecture {
			return c.Values
		}
	}
	return nil
}

// setCore writes the flavors of core that Gardener demands and admission does not fill in, and rewrites the images that they are
// for if they do not tell which architecture they are for.
func (p *document) setCore() {
	left := p.unfilled(p.capabilities)
	if len(left) == 0 {
		return
	}
	names := map[string]bool{}
	for _, at := range left {
		image := &p.written.MachineImages[at.image]
		version := &image.Versions[at.version]
		names[image.Name+"@"+version.Version] = true
		var flavors []v1beta1.MachineImageFlavor
		for _, architecture := range architecturesOf(version) {
			flavors = append(flavors, v1beta1.MachineImageFlavor{
				Capabilities: v1beta1.Capabilities{capability.Architecture: {architecture}},
			})
		}
		p.setFlavors(at, flavors)
	}
	p.rewrite(provider.FormatFlavors, func(image, version string) bool { return names[image+"@"+version] })
}

// setFlavors writes the flavors of an image version of core.
func (p *document) setFlavors(at place, flavors []v1beta1.MachineImageFlavor) {
	p.written.MachineImages[at.image].Versions[at.version].CapabilityFlavors = flavors
	list := make([]any, 0, len(flavors))
	for _, flavor := range flavors {
		list = append(list, treeOf(flavor.Capabilities))
	}
	if version := p.coreVersion(at); version != nil {
		version["capabilityFlavors"] = list
	}
}

func treeOf(capabilities v1beta1.Capabilities) map[string]any {
	tree := map[string]any{}
	for name, values := range capabilities {
		tree[name] = texts(values)
	}
	return tree
}

// coreVersion returns an image version of core; nil if the manifest is of another form.
func (p *document) coreVersion(at place) map[string]any {
	return entry(entry(p.spec["machineImages"], at.image)["versions"], at.version)
}

// entry returns an entry of a list that is a mapping; nil if there is none.
func entry(list any, index int) map[string]any {
	entries, _ := list.([]any)
	if index >= len(entries) {
		return nil
	}
	found, _ := entries[index].(map[string]any)
	return found
}

// implied returns what entries of the provider config in the legacy format imply, by capability: all values, those of the longest
// list first.
func implied(images []imageselector.Image[any], of func(image, version string) bool) map[string][]string {
	found := map[string][]string{}
	for _, image := range images {
		for _, version := range image.Versions {
			if !version.Legacy || !of(image.Name, version.Version) {
				continue
			}
			for i := range version.Flavors {
				for name, values := range version.Flavors[i].Implied {
					found[name] = union(found[name], values)
				}
			}
		}
	}
	return found
}

// union returns the values of two lists, each once, those of the longer one first.
func union(a, b []string) []string {
	if len(b) > len(a) {
		a, b = b, a
	}
	all := slices.Clone(a)
	for _, value := range b {
		if !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	return all
}

// registerImplied registers what fields of image versions say that are rewritten as flavors, which have no such fields, unless
// all of them say the same single value.
func (p *document) registerImplied(of func(image, version string) bool) {
	config, _ := p.cloud.Decode(p.written.ProviderConfig, field.NewPath("spec", "providerConfig"))
	values := implied(config.Images, of)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		registered := slices.ContainsFunc(p.capabilities, func(c v1beta1.CapabilityDefinition) bool { return c.Name == name })
		if !registered && len(values[name]) > 1 {
			p.capabilities = append(slices.Clone(p.capabilities), v1beta1.CapabilityDefinition{Name: name, Values: values[name]})
		}
	}
}
