// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/consistency"
)

// What becomes of the profiles among the inputs once they are in a garden, and which of them a Shoot or the flag
// --profile names.

// filled returns a CloudProfile with the core flavors that follow from its provider config (semantics S12). The
// provider is nil if the command does not know it; then nothing is filled in. The object is not changed.
func filled(object *v1beta1.CloudProfile, provider Provider) *v1beta1.CloudProfile {
	if provider == nil {
		return object
	}
	object = object.DeepCopy()
	fillIn(object.Spec.MachineImages, provider.fill(&object.Spec))
	return object
}

// fillIn sets the core flavors of the image versions that they are for.
func fillIn(images []v1beta1.MachineImage, flavors []consistency.Filled) {
	for _, f := range flavors {
		images[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
	}
}

// stored returns a CloudProfile of the inputs as the API server has it, once our webhook has filled in its flavors and
// Gardener its defaults, to which the architecture of machine types without capabilities belongs.
func (g *garden) stored(s *source[v1beta1.CloudProfile]) *v1beta1.CloudProfile {
	object := s.object.DeepCopy()
	if provider := g.providers[object.Spec.Type]; provider != nil {
		fillIn(object.Spec.MachineImages, provider.fill(&s.object.Spec))
	}
	gardener.SetDefaults(object)
	types := gardener.SyncArchitectures(&v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{
		MachineCapabilities: object.Spec.MachineCapabilities, MachineTypes: object.Spec.MachineTypes,
	}})
	object.Spec.MachineTypes = types.Spec.MachineTypes
	return object
}

// compile returns a CloudProfile of the inputs compiled, once for all who ask; nil if its provider is unknown.
func (g *garden) compile(s *source[v1beta1.CloudProfile]) profile {
	provider, name := g.providers[s.object.Spec.Type], s.object.Name
	if provider == nil {
		return nil
	}
	if g.compiled[name] == nil {
		compiled, wrong := provider.compile(&g.stored(s).Spec)
		g.compiled[name] = compiled
		g.noteErrors("CloudProfile "+name, wrong)
	}
	return g.compiled[name]
}

// compileNamespaced returns the CloudProfile that a NamespacedCloudProfile of the inputs results in, compiled, once for
// all who ask; nil if its provider is unknown. The error, at the path at, says why there is none.
func (g *garden) compileNamespaced(s *source[v1beta1.NamespacedCloudProfile], at string) (profile, *field.Error) {
	id := types.NamespacedName{Namespace: s.object.Namespace, Name: s.object.Name}
	if p := g.compiledNamespaced[id]; p != nil {
		return p, nil
	}
	spec, problem := g.rendered(s, at)
	if problem != nil || g.providers[spec.Type] == nil {
		return nil, problem
	}
	compiled, wrong := g.providers[spec.Type].compile(spec)
	g.compiledNamespaced[id] = compiled
	g.noteErrors("NamespacedCloudProfile "+id.String()+", as rendered,", wrong)
	return compiled, nil
}

// noteErrors remarks on the answers from a profile with errors.
func (g *garden) noteErrors(profile string, errs int) {
	if errs > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%s has %s, so the answer may change when it is repaired: see lint", profile, report.Count(errs, "error")))
	}
}

// rendered returns the CloudProfile that a NamespacedCloudProfile results in: rendered here if the parent is among the
// inputs, or else the one in its status. The error, at the path at, says why there is none.
func (g *garden) rendered(s *source[v1beta1.NamespacedCloudProfile], at string) (*v1beta1.CloudProfileSpec, *field.Error) {
	parent := g.parentOf(s)
	switch status := &s.object.Status.CloudProfileSpec; {
	case parent != nil && parent.object != nil:
		inGarden := g.stored(parent)
		spec, err := renderSpec(g.providers[inGarden.Spec.Type], g.storedNamespaced(s, inGarden), inGarden)
		if err != nil {
			return nil, unreadable("NamespacedCloudProfile", s.object.Name, at)
		}
		return spec, nil
	case status.Type != "":
		return status, nil
	case parent != nil:
		return nil, unreadable("CloudProfile", s.object.Spec.Parent.Name, at)
	case s.object.Spec.Parent.Kind != "CloudProfile" || s.object.Spec.Parent.Name == "":
		return nil, unreadable("NamespacedCloudProfile", s.object.Name, at)
	}
	return nil, problem(RulePoolNotChecked, field.ErrorTypeInvalid, at, s.object.Name, fmt.Sprintf(
		"the worker pools were not checked, because the parent of NamespacedCloudProfile %s/%s, CloudProfile %s, "+
			"is not among the inputs, and there is no status.cloudProfileSpec",
		s.object.Namespace, s.object.Name, s.object.Spec.Parent.Name))
}

// parentOf returns the parent of a NamespacedCloudProfile, nil if it is not among the inputs.
func (g *garden) parentOf(s *source[v1beta1.NamespacedCloudProfile]) *source[v1beta1.CloudProfile] {
	if s.object.Spec.Parent.Kind != "CloudProfile" {
		return nil
	}
	return g.profiles[s.object.Spec.Parent.Name]
}

// storedNamespaced returns a NamespacedCloudProfile of the inputs as the API server has it. So the parent has to be:
// see stored.
func (g *garden) storedNamespaced(
	s *source[v1beta1.NamespacedCloudProfile], parent *v1beta1.CloudProfile,
) *v1beta1.NamespacedCloudProfile {
	object := s.object.DeepCopy()
	gardener.SetDefaults(object)
	if provider := g.providers[parent.Spec.Type]; provider != nil {
		fillIn(object.Spec.MachineImages, provider.fillNamespaced(object, &parent.Spec))
	}
	return object
}

// profileRef is the profile that a Shoot names, in either of the two fields, and the field.
func profileRef(shoot *v1beta1.Shoot) (kind, name, at string) {
	if ref := shoot.Spec.CloudProfile; ref != nil {
		return cmp.Or(ref.Kind, "CloudProfile"), ref.Name, "spec.cloudProfile.name"
	}
	if shoot.Spec.CloudProfileName != nil {
		return "CloudProfile", *shoot.Spec.CloudProfileName, "spec.cloudProfileName"
	}
	return "", "", "spec.cloudProfile"
}

// profileOf returns the compiled profile of a Shoot. It is nil, without an error, if its provider is unknown, or the
// Shoot names none.
func (g *garden) profileOf(shoot *v1beta1.Shoot) (profile, *field.Error) {
	kind, name, at := profileRef(shoot)
	switch kind {
	case "CloudProfile":
		s, found := g.profiles[name]
		switch {
		case !found:
			return nil, g.missing(kind, name, at)
		case s.object == nil:
			return nil, unreadable(kind, name, at)
		}
		return g.compile(s), nil
	case "NamespacedCloudProfile":
		s, found := g.namespaced[types.NamespacedName{Namespace: shoot.Namespace, Name: name}]
		switch {
		case !found:
			return nil, g.missing(kind, shoot.Namespace+"/"+name, at)
		case s.object == nil:
			return nil, unreadable(kind, name, at)
		}
		return g.compileNamespaced(s, at)
	}
	return nil, nil
}

// missing is the error about a profile that is not among the inputs; or may be, where something could not be read. The
// name is [NAMESPACE/]NAME.
func (g *garden) missing(kind, name, at string) *field.Error {
	detail := fmt.Sprintf("%s %s is not among the inputs: give its manifest as well, or correct the name", kind, name)
	if places := g.unreadAt(kind, name[strings.LastIndexByte(name, '/')+1:]); len(places) > 0 {
		detail = fmt.Sprintf("%s %s is not among what could be read of the inputs: "+
			"repair %s, if its manifest is there; or else give it as well, or correct the name",
			kind, name, strings.Join(places, ", "))
	}
	return problem(RuleProfileMissing, field.ErrorTypeNotFound, at, name, detail)
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
		files, places = append(files, p.File), append(places, fmt.Sprintf("%s:%d", p.File, p.Line))
	}
	return places
}

// unreadable is the error about an object whose profile, or the parent of that, has a manifest with errors.
func unreadable(kind, name, at string) *field.Error {
	return problem(RuleProfileUnreached, field.ErrorTypeInvalid, at, name, fmt.Sprintf(
		"the worker pools were not checked, because the manifest of %s %s has errors", kind, name))
}

// unknownProvider is the error about a profile whose provider type the command does not know, at the field that leads
// to it.
func (g *garden) unknownProvider(name, at string) *field.Error {
	return problem(RuleProviderUnknown, field.ErrorTypeNotSupported, at, name, fmt.Sprintf(
		"the provider config was not looked at: this command knows %s, not %s", strings.Join(sortedNames(g.providers), ", "), name))
}

// noAnswer says why there is no profile to ask for a Shoot, where lint leaves that to others: the profile is of a
// provider that the command does not know, or the Shoot names none, which core refuses.
func (g *garden) noAnswer(shoot *v1beta1.Shoot) *field.Error {
	kind, name, at := profileRef(shoot)
	switch kind {
	case "CloudProfile":
		return g.unknownProvider(g.profiles[name].object.Spec.Type, at)
	case "NamespacedCloudProfile":
		return g.unknownProviderOf(g.namespaced[types.NamespacedName{Namespace: shoot.Namespace, Name: name}], at)
	}
	return problem(RuleProfileMissing, field.ErrorTypeRequired, at, nil, "the Shoot names no CloudProfile or NamespacedCloudProfile")
}

// unknownProviderOf is that error about a NamespacedCloudProfile, whose provider is its parent's.
func (g *garden) unknownProviderOf(s *source[v1beta1.NamespacedCloudProfile], at string) *field.Error {
	if parent := g.parentOf(s); parent != nil && parent.object != nil {
		return g.unknownProvider(parent.object.Spec.Type, at)
	}
	return g.unknownProvider(s.object.Status.CloudProfileSpec.Type, at)
}

// profileNamed returns the profile that the flag --profile names; or, if it is empty, the only one among the inputs,
// apart from a parent that is there for a NamespacedCloudProfile. A CloudProfile is taken as it is written, without
// defaults.
func (g *garden) profileNamed(name string) (profile, error) {
	if name == "" {
		names := g.leaves()
		switch len(names) {
		case 0:
			return nil, errors.New("no CloudProfile among the inputs")
		case 1:
			name = names[0]
		default:
			return nil, fmt.Errorf("several profiles among the inputs: say --profile, one of %s", strings.Join(g.allProfiles(), ", "))
		}
	}
	s, found := g.profiles[name]
	switch {
	case !found:
		return g.namespacedProfile(name)
	case s.object == nil:
		return nil, fmt.Errorf("CloudProfile %s cannot be read", name)
	case g.providers[s.object.Spec.Type] == nil:
		return nil, errors.New(g.unknownProvider(s.object.Spec.Type, "").Detail)
	}
	provider := g.providers[s.object.Spec.Type]
	p, wrong := provider.compile(&filled(s.object, provider).Spec)
	g.noteErrors("CloudProfile "+name, wrong)
	return p, nil
}

// namespacedProfile returns a NamespacedCloudProfile by its name, as [NAMESPACE/]NAME.
func (g *garden) namespacedProfile(name string) (profile, error) {
	s, err := g.namespacedNamed(name)
	switch {
	case err != nil:
		return nil, g.noProfile(name)
	case s.object == nil:
		return nil, fmt.Errorf("NamespacedCloudProfile %s cannot be read", name)
	}
	p, problem := g.compileNamespaced(s, "")
	if p == nil && problem == nil {
		problem = g.unknownProviderOf(s, "")
	}
	if problem != nil {
		return nil, errors.New(problem.Detail)
	}
	return p, nil
}

// namespacedNamed returns the NamespacedCloudProfile of a name, as [NAMESPACE/]NAME; the only one if the name is empty.
func (g *garden) namespacedNamed(name string) (*source[v1beta1.NamespacedCloudProfile], error) {
	var found []types.NamespacedName
	for _, id := range g.namespacedNames {
		if name == "" || name == id.Name || name == id.String() {
			found = append(found, id)
		}
	}
	switch {
	case len(found) == 1:
		return g.namespaced[found[0]], nil
	case len(g.namespacedNames) == 0:
		return nil, errors.New("no NamespacedCloudProfile among the inputs")
	case len(found) == 0:
		return nil, fmt.Errorf("NamespacedCloudProfile %s is not among the inputs, which have %s", name, namesOf(g.namespacedNames))
	}
	return nil, fmt.Errorf("several NamespacedCloudProfiles among the inputs: say --profile, one of %s", namesOf(found))
}

// namesOf lists names as --profile takes them.
func namesOf(ids []types.NamespacedName) string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		names = append(names, id.String())
	}
	return strings.Join(names, ", ")
}

// leaves returns the names of the profiles that are no parent of another one among the inputs, as --profile takes them.
func (g *garden) leaves() []string {
	parents := map[string]bool{}
	for _, s := range g.namespaced {
		if s.object != nil {
			parents[s.object.Spec.Parent.Name] = true
		}
	}
	return slices.DeleteFunc(g.allProfiles(), func(name string) bool { return parents[name] })
}

// noProfile is the error about a name that no profile among the inputs has.
func (g *garden) noProfile(name string) error {
	kind := "CloudProfile"
	if strings.Contains(name, "/") {
		kind = "NamespacedCloudProfile"
	}
	return fmt.Errorf("%s %s is not among the inputs, which have %s", kind, name, strings.Join(g.allProfiles(), ", "))
}

// allProfiles returns the names of all profiles, in the order of the inputs, as --profile takes them.
func (g *garden) allProfiles() []string {
	names := slices.Clone(g.profileNames)
	for _, id := range g.namespacedNames {
		names = append(names, id.String())
	}
	return names
}
