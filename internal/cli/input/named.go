// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/words"
)

// Which profile a Shoot or the flag --profile names, and why there is none.

// ProfileOf returns the compiled profile that a Shoot names in either of two fields. The error is at that field.
func (in *Given) ProfileOf(shoot *v1beta1.Shoot) (AnyProfile, *field.Error) {
	kind, name, at := ProfileNameOf(shoot)
	switch {
	case name == "":
	case kind == "CloudProfile":
		return compiled(in, &in.Profiles, in.Compile, kind, name, at)
	case kind == "NamespacedCloudProfile":
		return compiled(in, &in.Namespaced, in.CompileNamespaced, kind, shoot.Namespace+"/"+name, at)
	default:
		return nil, Problem(check.RuleProfileMissing, field.ErrorTypeRequired, "spec.cloudProfile.kind", nil,
			"a profile is a CloudProfile or a NamespacedCloudProfile, not a %s%s", words.Quoted(kind), words.DidYouMean(words.Closest(kind, GardenKinds[:2])))
	}
	return nil, Problem(check.RuleProfileMissing, field.ErrorTypeRequired, at, nil,
		"the Shoot names no CloudProfile or NamespacedCloudProfile")
}

// ProfileNameOf returns the kind and name of a Shoot's profile, and the path of the field that names it.
func ProfileNameOf(shoot *v1beta1.Shoot) (kind, name, at string) {
	if ref := shoot.Spec.CloudProfile; ref != nil {
		return cmp.Or(ref.Kind, "CloudProfile"), ref.Name, "spec.cloudProfile.name"
	}
	if shoot.Spec.CloudProfileName != nil {
		return "CloudProfile", *shoot.Spec.CloudProfileName, "spec.cloudProfileName"
	}
	return "", "", "spec.cloudProfile"
}

// compiled returns the profile of a name, compiled with compile. The error, at the path at, gives the reason if there is none.
func compiled[T any](
	in *Given, objects *Objects[T], compile func(*Source[T], string) (AnyProfile, *field.Error), kind, name, at string,
) (AnyProfile, *field.Error) {
	s := objects.ByName[name]
	switch {
	case s == nil:
		return nil, in.Missing(kind, name, at)
	case s.Object == nil:
		return nil, Unreadable(kind, s.Manifest.Name, at)
	}
	return compile(s, at)
}

// ProfileToAsk returns the profile of a Shoot. It returns nil, with a finding, if the Shoot is unreadable or has no usable profile, see
// [Given.ProfileForPools].
func (in *Given) ProfileToAsk(s *Source[v1beta1.Shoot]) AnyProfile {
	if s.Object == nil {
		return nil // a finding says why
	}
	p, fault := in.ProfileForPools(s.Object)
	if fault != nil {
		in.AddErrors(s.Manifest, fault)
		return nil
	}
	return p
}

// ProfileForPools returns the profile that decides about a Shoot's worker pools. It returns the errors of ProfileOf, and an error if the
// Shoot's type differs from the profile's, or if the profile lacks the Shoot's region.
func (in *Given) ProfileForPools(shoot *v1beta1.Shoot) (AnyProfile, *field.Error) {
	p, fault := in.ProfileOf(shoot)
	if fault != nil {
		return nil, fault
	}
	if wrong := cmp.Or(check.OtherType(p, shoot), resolve.Region(p, shoot.Spec.Region, field.NewPath("spec", "region"))); wrong != nil {
		return nil, wrong.Error
	}
	return p, nil
}

// ProfileNamed returns the profile that the flag --profile names. If name is empty, it returns the only one among the inputs that is not
// a parent of another. With asWritten, a CloudProfile gets no defaults, for callers that provide what machine types leave out.
func (in *Given) ProfileNamed(name string, asWritten bool) (AnyProfile, error) {
	switch leaves := in.leaves(); {
	case len(leaves) == 0:
		return nil, errors.New("no CloudProfile among the inputs" + in.EmptyInputs())
	case name == "" && len(leaves) > 1:
		return nil, fmt.Errorf("several profiles among the inputs: use --profile, one of %s", words.Few(in.ProfileNames()))
	case name == "":
		name = leaves[0]
	}
	var p AnyProfile
	var fault *field.Error
	s := in.Profiles.ByName[name]
	n, err := in.NamespacedNamed(name)
	switch {
	case s != nil && s.Object == nil:
		return nil, fmt.Errorf("CloudProfile %s cannot be read", name)
	case s != nil:
		if p, fault = in.Compile(s, ""); fault == nil && asWritten { // after its note about errors, which includes the defaults
			cloud, _ := in.providerOf(&s.Object.Spec, "")
			p, _ = in.compile(cloud, &in.filled(s).Spec, field.NewPath("spec"))
		}
	case err != nil && len(in.namespacedNamed(name)) > 1:
		return nil, err
	case err != nil && strings.Contains(name, "/"):
		return nil, absent("NamespacedCloudProfile", name, in.ProfileNames())
	case err != nil:
		return nil, absent("CloudProfile", name, in.ProfileNames())
	case n.Object == nil:
		return nil, fmt.Errorf("NamespacedCloudProfile %s cannot be read", name)
	default:
		if p, fault = in.CompileNamespaced(n, ""); fault != nil && in.ParentOf(n) == nil {
			in.AddErrors(n.Manifest, in.Missing("CloudProfile", n.Object.Spec.Parent.Name, "spec.parent.name"))
		}
	}
	if fault != nil {
		return nil, errors.New(fault.Detail)
	}
	return p, nil
}

// NamespacedNamed returns the NamespacedCloudProfile with this [NAMESPACE/]NAME, or the only one if name is empty.
func (in *Given) NamespacedNamed(name string) (*Source[v1beta1.NamespacedCloudProfile], error) {
	found := in.namespacedNamed(name)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(in.Namespaced.All) == 0:
		return nil, errors.New("no NamespacedCloudProfile among the inputs" + in.EmptyInputs())
	case len(found) == 0:
		return nil, absent("NamespacedCloudProfile", name, names(in.Namespaced.All))
	}
	return nil, fmt.Errorf("several NamespacedCloudProfiles among the inputs: use --profile, one of %s", words.Few(names(found)))
}

// absent returns the error about a profile, [NAMESPACE/]NAME, that is not among those of the inputs.
func absent(kind, name string, known []string) error {
	var like []string
	for _, other := range known {
		like = append(like, likeAsked(name, other))
	}
	return fmt.Errorf("%s %s is not among the inputs, which have %s%s", kind, name, words.Few(known), words.DidYouMean(words.Closest(name, like)))
}

// namespacedNamed returns the NamespacedCloudProfiles with this [NAMESPACE/]NAME, or all if name is empty.
func (in *Given) namespacedNamed(name string) (found []*Source[v1beta1.NamespacedCloudProfile]) {
	for _, s := range in.Namespaced.All {
		if name == "" || name == s.Manifest.Name || name == s.Name {
			found = append(found, s)
		}
	}
	return found
}

func names[T any](sources []*Source[T]) []string {
	names := make([]string, 0, len(sources))
	for _, s := range sources {
		names = append(names, s.Name)
	}
	return names
}

// leaves returns the names, as for --profile, of the profiles that are not a parent of another among the inputs.
func (in *Given) leaves() []string {
	names := in.ProfileNames()
	for _, s := range in.Namespaced.All {
		if s.Object != nil {
			names = slices.DeleteFunc(names, func(name string) bool { return name == s.Object.Spec.Parent.Name })
		}
	}
	return names
}

// ProfileNames returns the names of all profiles: CloudProfiles, then NamespacedCloudProfiles, each in the order of the inputs.
func (in *Given) ProfileNames() []string {
	return append(names(in.Profiles.All), names(in.Namespaced.All)...)
}

// Missing returns the error about a profile, [NAMESPACE/]NAME, that is not among the inputs, or not readable. Its type is Required if
// another error already says why the profile could not be read.
func (in *Given) Missing(kind, name, at string) *field.Error {
	if where, misread := in.misread[kind+" "+name]; misread {
		return Problem(check.RuleProfileMissing, field.ErrorTypeRequired, at, nil, "%s %s was not read; repair %s first", kind, name, where)
	}
	if in.Cluster != "" {
		return Problem(check.RuleProfileMissing, field.ErrorTypeNotFound, at, name,
			"%s %s is neither among the files nor in %s: give its manifest as well, or correct the name", kind, name, in.Cluster)
	}
	if places := in.unreadAt(kind, name[strings.LastIndexByte(name, '/')+1:]); len(places) > 0 {
		return Problem(check.RuleProfileMissing, field.ErrorTypeNotFound, at, name,
			"%s %s was not found; %s could not be read: if it is in there, repair that first; else give its manifest, "+
				"or correct the name", kind, name, strings.Join(places, ", "))
	}
	missing := Problem(check.RuleProfileMissing, field.ErrorTypeNotFound, at, name, "%s %s is not among the inputs", kind, strings.TrimPrefix(name, "/"))
	missing.Detail += cmp.Or(in.meantProfile(kind, name, at), ": give its manifest as well, or correct the name")
	return missing
}

// meantProfile returns a hint at the profile among the inputs that was probably meant, or "".
func (in *Given) meantProfile(kind, name, at string) string {
	namespace, bare := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		namespace, bare = name[:i+1], name[i+1:]
	}
	if at == "spec.cloudProfile.name" && kind == "NamespacedCloudProfile" && in.Profiles.ByName[bare] != nil {
		return ", but a CloudProfile of that name is: write kind: CloudProfile"
	}
	instead, byShoot := map[string]string{
		"spec.cloudProfile.name": "kind: NamespacedCloudProfile",
		"spec.cloudProfileName":  "cloudProfile: {kind: NamespacedCloudProfile, name: " + name + "} in its place",
	}[at]
	if byShoot && kind == "CloudProfile" {
		for _, other := range names(in.Namespaced.All) {
			if namespace, rest, _ := strings.Cut(other, "/"); namespace != "" && rest == name {
				return ", but NamespacedCloudProfile " + other + " is: write " + instead
			}
		}
	}
	if kind == "NamespacedCloudProfile" {
		if elsewhere := in.elsewhere(bare, strings.TrimSuffix(namespace, "/")); elsewhere != "" {
			return elsewhere
		}
	}
	known := names(in.Profiles.All)
	if kind == "NamespacedCloudProfile" {
		known = nil
		for _, other := range names(in.Namespaced.All) {
			if rest, inNamespace := strings.CutPrefix(other, namespace); inNamespace {
				known = append(known, rest)
			}
		}
	}
	return words.DidYouMean(words.Slip(bare, known))
}

// elsewhere returns a hint that a NamespacedCloudProfile of this name exists, but not in the Shoot's namespace. It returns "" if there is
// none.
func (in *Given) elsewhere(name, namespace string) string {
	others := in.namespacedNamed(name)
	if len(others) == 0 {
		return ""
	}
	switch there := others[0].Manifest.Namespace; {
	case namespace == "":
		return fmt.Sprintf(", but there is one in namespace %s: write that namespace into the metadata of the Shoot", there)
	case there == "":
		return fmt.Sprintf(", but there is one without a namespace: write namespace: %s into its metadata", namespace)
	default:
		return fmt.Sprintf(", but there is one in namespace %s: a Shoot can use those of its own namespace alone", there)
	}
}

// unreadAt returns the positions of unreadable documents that may be the object of this kind and name. It returns the first position in
// each file, in the order of the inputs, for a few files.
func (in *Given) unreadAt(kind, name string) []string {
	const limit = 5
	var files, places []string
	for _, p := range in.Lost {
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

// Unreadable returns the error about an object whose profile, or that profile's parent, has a manifest with errors.
func Unreadable(kind, name, at string) *field.Error {
	return Problem(RuleProfileUnreadable, field.ErrorTypeInvalid, at, name,
		"worker pools not checked: the manifest of %s %s has errors; repair it first", kind, name)
}

// UnknownProvider returns the error about a profile of an unknown provider type.
func (in *Given) UnknownProvider(name, at string) *field.Error {
	meant := words.DidYouMean(in.MeantProvider(name))
	if meant != "" {
		return Problem(RuleProviderUnknown, field.ErrorTypeNotSupported, at, name, "this command knows no provider type %s%s", name, meant)
	}
	otherwise := "; describe it with --provider-file, or ignore this warning"
	if name == "" {
		otherwise = "; write the type"
	}
	return Problem(RuleProviderUnknown, field.ErrorTypeNotSupported, at, name, "the provider config was not checked: this command knows %s, not %s%s",
		strings.Join(slices.Sorted(maps.Keys(in.Providers)), ", "), words.Quoted(name), otherwise)
}

// NotFor returns the error about a profile that the command cannot process, for example render, because its provider type is unknown.
func (in *Given) NotFor(name, at, done string) *field.Error {
	known := strings.Join(slices.Sorted(maps.Keys(in.Providers)), ", ")
	if name == "" {
		return Problem(RuleProviderUnknown, field.ErrorTypeRequired, at, nil, "a profile without a type cannot be %s: write one; this command knows %s", done, known)
	}
	return Problem(RuleProviderUnknown, field.ErrorTypeNotSupported, at, name, "profiles of provider %s cannot be %s: this command knows %s; "+
		"--provider-file describes another one%s", name, done, known, words.DidYouMean(in.MeantProvider(name)))
}

// MeantProvider returns the known provider type that was probably meant, or "". Two letters may differ only in long types: mycloud is a
// provider of its own, and not hcloud.
func (in *Given) MeantProvider(name string) string {
	known := slices.Sorted(maps.Keys(in.Providers))
	const long = 8
	if meant := words.Closest(name, known); len(meant) >= long {
		return meant
	}
	return words.Slip(name, known)
}
