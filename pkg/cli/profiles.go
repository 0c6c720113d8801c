// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/profile"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// What becomes of the profiles among the inputs in a garden, and which of them a Shoot or the flag --profile names.

// filled returns a copy of a CloudProfile with the core flavors that follow from its provider config (semantics S12),
// as far as the command knows its provider.
func (g *garden) filled(s *source[v1beta1.CloudProfile]) *v1beta1.CloudProfile {
	object := s.object.DeepCopy()
	if provider := g.providers[object.Spec.Type]; provider != nil {
		fillIn(object.Spec.MachineImages, profile.FillCloudProfile(provider, &s.object.Spec))
	}
	return object
}

func fillIn(images []v1beta1.MachineImage, flavors []profile.Filled) {
	for _, f := range flavors {
		images[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
	}
}

// stored returns a CloudProfile of the inputs as the API server has it, once our webhook has filled in its flavors and
// Gardener its defaults, to which the architecture of machine types without capabilities belongs.
func (g *garden) stored(s *source[v1beta1.CloudProfile]) *v1beta1.CloudProfile {
	object := g.filled(s)
	gardener.SetDefaults(object)
	if s.old != nil && len(s.old.Spec.MachineCapabilities) > 0 {
		forgetCapabilities(&object.Spec)
	}
	object.Spec.MachineTypes = gardener.SyncArchitectures(&v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{
		MachineCapabilities: object.Spec.MachineCapabilities, MachineTypes: object.Spec.MachineTypes,
	}}).Spec.MachineTypes
	return object
}

// forgetCapabilities leaves out what machine types and image versions say about capabilities, as the API server does where
// an update leaves out the vocabulary, and so goes back to the legacy format.
func forgetCapabilities(spec *v1beta1.CloudProfileSpec) {
	if len(spec.MachineCapabilities) > 0 {
		return
	}
	for i := range spec.MachineTypes {
		spec.MachineTypes[i].Capabilities = nil
	}
	for i := range spec.MachineImages {
		for k := range spec.MachineImages[i].Versions {
			spec.MachineImages[i].Versions[k].CapabilityFlavors = nil
		}
	}
}

// storedNamespaced returns a NamespacedCloudProfile of the inputs as the API server has it; parent is from stored.
func (g *garden) storedNamespaced(
	s *source[v1beta1.NamespacedCloudProfile], parent *v1beta1.CloudProfile,
) *v1beta1.NamespacedCloudProfile {
	object := s.object.DeepCopy()
	gardener.SetDefaults(object)
	if provider := g.providers[parent.Spec.Type]; provider != nil {
		fillIn(object.Spec.MachineImages, profile.FillNamespacedCloudProfile(provider, object, &parent.Spec))
	}
	return object
}

// compileSpec returns the spec of a profile, which stands at the path root, nil if it was rendered, compiled, and notes that the
// answers come from a profile with errors. The error, at the path at, says that its provider is unknown.
func (g *garden) compileSpec(who string, spec *v1beta1.CloudProfileSpec, root *field.Path, at string) (anyProfile, *field.Error) {
	provider := g.providers[spec.Type]
	if provider == nil {
		return nil, g.unknownProvider(spec.Type, at)
	}
	compiled, found := profile.Compile(provider, spec, root)
	if errs := len(found.Errors); errs > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%s has %s, so the answer may change when it is repaired: see lint",
			who, report.Count(errs, "error")))
	}
	return compiled, nil
}

// compile returns a CloudProfile of the inputs compiled, once for all who ask. The error is as that of compileSpec.
func (g *garden) compile(s *source[v1beta1.CloudProfile], at string) (p anyProfile, fault *field.Error) {
	if s.compiled == nil {
		s.compiled, fault = g.compileSpec("CloudProfile "+s.name, &g.stored(s).Spec, field.NewPath("spec"), at)
	}
	return s.compiled, fault
}

// compileNamespaced does so with what a NamespacedCloudProfile results in. The error, at the path at, says why there is
// none.
func (g *garden) compileNamespaced(s *source[v1beta1.NamespacedCloudProfile], at string) (anyProfile, *field.Error) {
	if s.compiled != nil {
		return s.compiled, nil
	}
	spec, fault := g.rendered(s, at)
	if fault != nil {
		return nil, fault
	}
	s.compiled, fault = g.compileSpec("NamespacedCloudProfile "+s.name+", as rendered,", spec, nil, at)
	return s.compiled, fault
}

// rendered returns the CloudProfile that a NamespacedCloudProfile results in: rendered here if the parent is among the
// inputs, or else the one in its status. The error, at the path at, says why there is none.
func (g *garden) rendered(s *source[v1beta1.NamespacedCloudProfile], at string) (*v1beta1.CloudProfileSpec, *field.Error) {
	parent := g.parentOf(s)
	switch status := &s.object.Status.CloudProfileSpec; {
	case parent != nil && parent.object != nil:
		spec, err := g.renderSpec(s, parent)
		if err != nil {
			return nil, unreadable("NamespacedCloudProfile", s.object.Name, at)
		}
		return spec, nil
	case status.Type != "":
		return status, nil
	case parent != nil:
		return nil, unreadable("CloudProfile", s.object.Spec.Parent.Name, at)
	case !namesParent(s.object):
		return nil, unreadable("NamespacedCloudProfile", s.object.Name, at)
	}
	return nil, problem(rulePoolNotChecked, field.ErrorTypeInvalid, at, s.object.Name,
		"worker pools not checked: CloudProfile %s, the parent of NamespacedCloudProfile %s, is not among the inputs, "+
			"and there is no status.cloudProfileSpec; give the manifest of the CloudProfile as well", s.object.Spec.Parent.Name, s.name)
}

// namesParent reports whether a NamespacedCloudProfile says what its parent is.
func namesParent(object *v1beta1.NamespacedCloudProfile) bool {
	return object.Spec.Parent.Kind == "CloudProfile" && object.Spec.Parent.Name != ""
}

// parentOf returns the parent of a NamespacedCloudProfile, nil if it is not among the inputs.
func (g *garden) parentOf(s *source[v1beta1.NamespacedCloudProfile]) *source[v1beta1.CloudProfile] {
	if s.object.Spec.Parent.Kind != "CloudProfile" {
		return nil
	}
	return g.profiles.byName[s.object.Spec.Parent.Name]
}

// profileOf returns the profile that a Shoot names in either of two fields. The error, at that field, says why not.
func (g *garden) profileOf(shoot *v1beta1.Shoot) (anyProfile, *field.Error) {
	kind, name, at := profileNameOf(shoot)
	switch kind {
	case "CloudProfile":
		return compiled(g, &g.profiles, g.compile, kind, name, at)
	case "NamespacedCloudProfile":
		return compiled(g, &g.namespaced, g.compileNamespaced, kind, shoot.Namespace+"/"+name, at)
	}
	return nil, problem(check.RuleProfileMissing, field.ErrorTypeRequired, at, nil,
		"the Shoot names no CloudProfile or NamespacedCloudProfile")
}

// profileNameOf returns which profile a Shoot names, and at which path.
func profileNameOf(shoot *v1beta1.Shoot) (kind, name, at string) {
	if ref := shoot.Spec.CloudProfile; ref != nil {
		return cmp.Or(ref.Kind, "CloudProfile"), ref.Name, "spec.cloudProfile.name"
	}
	if shoot.Spec.CloudProfileName != nil {
		return "CloudProfile", *shoot.Spec.CloudProfileName, "spec.cloudProfileName"
	}
	return "", "", "spec.cloudProfile"
}

// compiled returns the profile of a name as compile makes it. The error, at the path at, says why there is none.
func compiled[T any](
	g *garden, in *objects[T], compile func(*source[T], string) (anyProfile, *field.Error), kind, name, at string,
) (anyProfile, *field.Error) {
	s := in.byName[name]
	switch {
	case s == nil:
		return nil, g.missing(kind, name, at)
	case s.object == nil:
		return nil, unreadable(kind, s.manifest.Name, at)
	}
	return compile(s, at)
}

// missing is the error about a profile, [NAMESPACE/]NAME, that is not among the inputs, or not where it could be read.
func (g *garden) missing(kind, name, at string) *field.Error {
	if g.cluster != "" {
		return problem(check.RuleProfileMissing, field.ErrorTypeNotFound, at, name,
			"%s %s is neither among the files nor in %s: give its manifest as well, or correct the name", kind, name, g.cluster)
	}
	if places := g.unreadAt(kind, name[strings.LastIndexByte(name, '/')+1:]); len(places) > 0 {
		return problem(check.RuleProfileMissing, field.ErrorTypeNotFound, at, name,
			"%s %s was not found; %s could not be read: if it is in there, repair that first; else give its manifest, "+
				"or correct the name", kind, name, strings.Join(places, ", "))
	}
	return problem(check.RuleProfileMissing, field.ErrorTypeNotFound, at, name,
		"%s %s is not among the inputs: give its manifest as well, or correct the name", kind, name)
}

// unreadAt returns where there is a document that could not be read, and may be an object of this kind and name: the
// first place of each file, in the order of the inputs, and no more than a few.
func (g *garden) unreadAt(kind, name string) []string {
	const limit = 5
	var files, places []string
	for _, p := range g.lost {
		other := p.Kind != "" && p.Kind != kind || p.Name != "" && p.Name != name
		if other || slices.Contains(files, p.File) {
			continue
		}
		if len(files) == limit {
			return append(places, "...")
		}
		files, places = append(files, p.File), append(places, fmt.Sprintf("%s (line %d)", p.File, p.Line))
	}
	return places
}

// unreadable is the error about an object whose profile, or the parent of that, has a manifest with errors.
func unreadable(kind, name, at string) *field.Error {
	return problem(ruleProfileUnreadable, field.ErrorTypeInvalid, at, name,
		"worker pools not checked: the manifest of %s %s has errors; repair it first", kind, name)
}

// unknownProvider is the error about a profile whose provider type the command does not know.
func (g *garden) unknownProvider(name, at string) *field.Error {
	known := slices.Sorted(maps.Keys(g.providers))
	meant := cmp.Or(words.DidYouMean(words.Closest(name, known)), "; if the type is right, there is nothing to correct")
	return problem(ruleProviderUnknown, field.ErrorTypeNotSupported, at, name,
		"the provider config was not checked: this command knows %s, not %s%s", strings.Join(known, ", "), name, meant)
}

// differsInCase reports whether a provider type is a known one but for upper and lower case.
func (g *garden) differsInCase(name string) bool {
	return words.InCase(name, slices.Collect(maps.Keys(g.providers))) != ""
}

// profileNamed returns the profile that the flag --profile names; or, if it is empty, the only one among the inputs
// that is no parent of another. A CloudProfile is taken as it is written, without defaults.
func (g *garden) profileNamed(name string) (anyProfile, error) {
	if name == "" {
		switch names := g.leaves(); len(names) {
		case 0:
			return nil, errors.New("no CloudProfile among the inputs" + g.emptyInputs())
		case 1:
			name = names[0]
		default:
			return nil, fmt.Errorf("several profiles among the inputs: say --profile, one of %s",
				strings.Join(g.profileNames(), ", "))
		}
	}
	var p anyProfile
	var fault *field.Error
	s := g.profiles.byName[name]
	n, err := g.namespacedNamed(name)
	switch {
	case s != nil && s.object == nil:
		return nil, fmt.Errorf("CloudProfile %s cannot be read", name)
	case s != nil:
		if _, fault = g.compile(s, ""); fault == nil { // which notes the errors that it has in a garden, with the defaults there
			p, _ = profile.Compile(g.providers[s.object.Spec.Type], &g.filled(s).Spec, field.NewPath("spec"))
		}
	case err != nil:
		kind := "CloudProfile"
		if strings.Contains(name, "/") {
			kind = "NamespacedCloudProfile"
		}
		return nil, fmt.Errorf("%s %s is not among the inputs, which have %s",
			kind, name, strings.Join(g.profileNames(), ", "))
	case n.object == nil:
		return nil, fmt.Errorf("NamespacedCloudProfile %s cannot be read", name)
	default:
		if p, fault = g.compileNamespaced(n, ""); fault != nil && g.parentOf(n) == nil {
			g.error(n.manifest, g.missing("CloudProfile", n.object.Spec.Parent.Name, "spec.parent.name"))
		}
	}
	if fault != nil {
		return nil, errors.New(fault.Detail)
	}
	return p, nil
}

// namespacedNamed returns the NamespacedCloudProfile of a name, as [NAMESPACE/]NAME; the only one if the name is empty.
func (g *garden) namespacedNamed(name string) (*source[v1beta1.NamespacedCloudProfile], error) {
	var found []*source[v1beta1.NamespacedCloudProfile]
	for _, s := range g.namespaced.all {
		if name == "" || name == s.manifest.Name || name == s.name {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(g.namespaced.all) == 0:
		return nil, errors.New("no NamespacedCloudProfile among the inputs" + g.emptyInputs())
	case len(found) == 0:
		return nil, fmt.Errorf("NamespacedCloudProfile %s is not among the inputs, which have %s",
			name, strings.Join(names(g.namespaced.all), ", "))
	}
	return nil, fmt.Errorf("several NamespacedCloudProfiles among the inputs: say --profile, one of %s",
		strings.Join(names(found), ", "))
}

func names[T any](sources []*source[T]) []string {
	names := make([]string, 0, len(sources))
	for _, s := range sources {
		names = append(names, s.name)
	}
	return names
}

// leaves returns the names of the profiles that are no parent of another one among the inputs, as --profile takes them.
func (g *garden) leaves() []string {
	names := g.profileNames()
	for _, s := range g.namespaced.all {
		if s.object != nil {
			names = slices.DeleteFunc(names, func(name string) bool { return name == s.object.Spec.Parent.Name })
		}
	}
	return names
}

// profileNames returns the names of all profiles, in the order of the inputs.
func (g *garden) profileNames() []string {
	return append(names(g.profiles.all), names(g.namespaced.all)...)
}
