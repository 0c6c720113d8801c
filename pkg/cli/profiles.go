// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/api"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
)

// What becomes of the profiles among the inputs once they are in a garden, and which of them a Shoot means.

// filled returns a CloudProfile with the core flavors that follow from its provider config (semantics S12). The provider
// is nil if the command does not know it; then nothing is filled in. The object is not changed.
func filled(object *v1beta1.CloudProfile, provider Provider) *v1beta1.CloudProfile {
	if provider == nil {
		return object
	}
	object = object.DeepCopy()
	fillIn(object.Spec.MachineImages, provider.fill(&object.Spec))
	return object
}

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
	api.Scheme.Default(object)
	types := canonical(&v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{
		MachineCapabilities: object.Spec.MachineCapabilities, MachineTypes: object.Spec.MachineTypes}})
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
		g.notes = append(g.notes, fmt.Sprintf("%s has %s, so the answer may change when it is repaired: see lint", profile, count(errs, "error")))
	}
}

// rendered returns the CloudProfile that a NamespacedCloudProfile results in: rendered here if the parent is among the
// inputs, or else the one in its status. The error, at the path at, says why there is none.
func (g *garden) rendered(s *source[v1beta1.NamespacedCloudProfile], at string) (*v1beta1.CloudProfileSpec, *field.Error) {
	parent := g.parentOf(s)
	switch status := &s.object.Status.CloudProfileSpec; {
	case parent != nil && parent.object != nil:
		above := g.stored(parent)
		spec, err := render(g.providers[above.Spec.Type], g.storedNamespaced(s, above), above)
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
		"the worker pools were not checked, because the parent of NamespacedCloudProfile %s/%s, CloudProfile %s, is not among the inputs, and there is no status.cloudProfileSpec",
		s.object.Namespace, s.object.Name, s.object.Spec.Parent.Name))
}

// parentOf returns the parent of a NamespacedCloudProfile, nil if it is not among the inputs.
func (g *garden) parentOf(s *source[v1beta1.NamespacedCloudProfile]) *source[v1beta1.CloudProfile] {
	if s.object.Spec.Parent.Kind != "CloudProfile" {
		return nil
	}
	return g.profiles[s.object.Spec.Parent.Name]
}

// storedNamespaced returns a NamespacedCloudProfile of the inputs as the API server has it. above is its parent, as the API
// server has it.
func (g *garden) storedNamespaced(s *source[v1beta1.NamespacedCloudProfile], above *v1beta1.CloudProfile) *v1beta1.NamespacedCloudProfile {
	object := defaulted(s.object)
	if provider := g.providers[above.Spec.Type]; provider != nil {
		fillIn(object.Spec.MachineImages, provider.fillNamespaced(object, &above.Spec))
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

// profileOf returns the compiled profile of a Shoot. It is nil, without an error, if its provider is unknown, or the Shoot
// names none.
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

// missing says that a profile is not among the inputs; or that it may be, where something could not be read. The name is
// [NAMESPACE/]NAME.
func (g *garden) missing(kind, name, at string) *field.Error {
	detail := fmt.Sprintf("%s %s is not among the inputs: give its manifest as well, or correct the name", kind, name)
	if places := g.maybe(kind, name[strings.LastIndexByte(name, '/')+1:]); len(places) > 0 {
		detail = fmt.Sprintf("%s %s is not among what could be read of the inputs: repair %s, if its manifest is there; or else give it as well, or correct the name",
			kind, name, strings.Join(places, ", "))
	}
	return problem(RuleProfileMissing, field.ErrorTypeNotFound, at, name, detail)
}

// maybe returns where there is a document that could not be read, and may be an object of this kind and name: the first
// place of each file, in the order of the inputs, and no more than a few.
func (g *garden) maybe(kind, name string) []string {
	const most = 5
	var files, places []string
	for _, p := range g.lost {
		other := p.Kind != "" && p.Kind != kind || p.Name != "" && p.Name != name
		if other || slices.Contains(files, p.File) {
			continue
		}
		if len(files) == most {
			return append(places, "...")
		}
		files, places = append(files, p.File), append(places, fmt.Sprintf("%s:%d", p.File, p.Line))
	}
	return places
}

func unreadable(kind, name, at string) *field.Error {
	return problem(RuleProfileUnreached, field.ErrorTypeInvalid, at, name, fmt.Sprintf(
		"the worker pools were not checked, because the manifest of %s %s has errors", kind, name))
}

// unknownProvider says what follows for a profile whose provider type the command does not know.
func (g *garden) unknownProvider(name string) *field.Error {
	return problem(RuleProviderUnknown, field.ErrorTypeNotSupported, "spec.type", name, fmt.Sprintf(
		"the provider config was not looked at: this command knows %s, not %s", strings.Join(sortedNames(g.providers), ", "), name))
}
