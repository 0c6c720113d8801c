// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/input/coreonly"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/profile"
)

// The profiles among the inputs, as the API server stores them, and compiled.

// filled returns a copy of a CloudProfile with the core flavors that follow from its provider config (semantics S12), if the command
// knows its provider.
func (in *Given) filled(s *Source[v1beta1.CloudProfile]) *v1beta1.CloudProfile {
	object := s.Object.DeepCopy()
	if provider := in.Providers[object.Spec.Type]; provider != nil && in.Admission.Fills(object.Spec.Type) {
		fillIn(object.Spec.MachineImages, profile.FillCloudProfile(provider, &s.Object.Spec))
	}
	return object
}

// Stored returns a CloudProfile as the API server stores it, which must not be modified. It has the core flavors that a webhook fills in,
// if there is one, and Gardener's defaults, including the architecture of machine types without capabilities.
func (in *Given) Stored(s *Source[v1beta1.CloudProfile]) *v1beta1.CloudProfile {
	if s.stored != nil {
		return s.stored
	}
	object := in.filled(s)
	gardener.SetDefaults(object)
	if s.Old != nil && len(s.Old.Spec.MachineCapabilities) > 0 {
		forgetCapabilities(&object.Spec)
	}
	object.Spec.MachineTypes = gardener.SyncArchitectures(&v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{
		MachineCapabilities: object.Spec.MachineCapabilities, MachineTypes: object.Spec.MachineTypes,
	}}).Spec.MachineTypes
	s.stored = object
	return object
}

func fillIn(images []v1beta1.MachineImage, flavors []profile.Filled) {
	for _, f := range flavors {
		images[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
	}
}

// forgetCapabilities removes the capabilities of machine types and image versions, if the profile has no vocabulary. The API server does
// this when an update removes the vocabulary to return to the legacy format.
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

// StoredNamespaced returns a NamespacedCloudProfile as the API server stores it, which must not be modified. Its parent must be among the
// inputs.
func (in *Given) StoredNamespaced(s *Source[v1beta1.NamespacedCloudProfile]) *v1beta1.NamespacedCloudProfile {
	if s.stored != nil {
		return s.stored
	}
	object, parent := s.Object.DeepCopy(), in.Stored(in.ParentOf(s))
	gardener.SetDefaults(object)
	if provider := in.Providers[parent.Spec.Type]; provider != nil && in.Admission.Fills(parent.Spec.Type) {
		fillIn(object.Spec.MachineImages, profile.FillNamespacedCloudProfile(provider, object, &parent.Spec))
	}
	s.stored = object
	return object
}

// compileSpec compiles the spec of a profile at the path root, which is nil for a rendered one. For a profile with errors it adds a note
// that ends with end. The error, at the path at, says that the provider is unknown.
func (in *Given) compileSpec(who, end string, spec *v1beta1.CloudProfileSpec, root *field.Path, at string) (AnyProfile, *field.Error) {
	provider, fault := in.providerOf(spec, at)
	if fault != nil {
		return nil, fault
	}
	compiled, found := in.compile(provider, spec, root)
	if errs := len(found.Errors); errs > 0 {
		in.Notes = append(in.Notes, fmt.Sprintf("%s has %s, so the answer may change when it is repaired%s",
			who, report.Count(errs, "error"), end))
	}
	return compiled, nil
}

// providerOf returns the provider of a profile. The error, at the path at, says that its type is empty or misspelt. Other unknown types
// get a provider that reads only core, and a note.
func (in *Given) providerOf(spec *v1beta1.CloudProfileSpec, at string) (command.Provider, *field.Error) {
	if known := in.Providers[spec.Type]; known != nil {
		return known, nil
	}
	if spec.Type == "" || in.MeantProvider(spec.Type) != "" {
		return nil, in.UnknownProvider(spec.Type, at)
	}
	note := fmt.Sprintf("provider %s is unknown to this command, and its provider config is not read: answers are based on core alone",
		spec.Type)
	if !slices.Contains(in.Notes, note) {
		in.Notes = append(in.Notes, note)
	}
	return coreonly.Of(spec), nil
}

// IsCoreOnly reports whether a profile's answers are based on core alone.
func IsCoreOnly(p AnyProfile) bool { return coreonly.Is(p.Provider()) }

// linting returns the end of a note about errors in a profile, whose parent may be nil: the command that shows them. It returns "" for
// another version of an object, which may be in no file.
func linting[T any](in *Given, s *Source[T], parent *Source[v1beta1.CloudProfile]) string {
	inputs := []string{s.Manifest.File}
	if parent != nil {
		inputs = append(inputs, parent.Manifest.File)
	}
	if s.Which != "" {
		return ""
	}
	return ": run " + in.asLint.Line(inputs)
}

// compile compiles the spec of a profile with the preference order of the inputs.
func (in *Given) compile(cloud command.Provider, spec *v1beta1.CloudProfileSpec, at *field.Path) (AnyProfile, finding.Report) {
	p, found := profile.Compile(cloud, spec, at)
	if in.Order != nil {
		p = p.ByOrder(*in.Order)
	}
	return p, found
}

// Compile returns the compiled CloudProfile, memoized. The error, at the path at, says that the provider is unknown.
func (in *Given) Compile(s *Source[v1beta1.CloudProfile], at string) (p AnyProfile, fault *field.Error) {
	if s.Compiled == nil {
		s.Compiled, fault = in.compileSpec("CloudProfile "+s.Name+s.Which, linting(in, s, nil), &in.Stored(s).Spec, field.NewPath("spec"), at)
	}
	return s.Compiled, typedAt(fault, s)
}

// typedAt adds to an error about a profile's provider type where the type is written. Both arguments may be nil.
func typedAt(fault *field.Error, s *Source[v1beta1.CloudProfile]) *field.Error {
	if fault != nil && s != nil {
		where := "CloudProfile " + s.Name
		if line, _ := s.Manifest.Position("spec.type"); line > 0 {
			where += fmt.Sprintf(", %s:%d", s.Manifest.File, line)
		}
		fault.Detail = where + ": " + fault.Detail
	}
	return fault
}

// CompileNamespaced returns the compiled result of a NamespacedCloudProfile on its parent, memoized. The error, at the path at, gives the
// reason if there is none.
func (in *Given) CompileNamespaced(s *Source[v1beta1.NamespacedCloudProfile], at string) (AnyProfile, *field.Error) {
	if s.Compiled != nil {
		return s.Compiled, nil
	}
	spec, fault := in.rendered(s, at)
	if fault != nil {
		return nil, fault
	}
	parent := in.ParentOf(s)
	s.Compiled, fault = in.compileSpec("NamespacedCloudProfile "+s.Name+s.Which+": the rendered profile", linting(in, s, parent), spec, nil, at)
	return s.Compiled, typedAt(fault, parent)
}

// rendered returns the CloudProfile that results from a NamespacedCloudProfile. It is rendered if the parent is among the inputs, and
// otherwise taken from the status. The error, at the path at, gives the reason if there is none.
func (in *Given) rendered(s *Source[v1beta1.NamespacedCloudProfile], at string) (*v1beta1.CloudProfileSpec, *field.Error) {
	parent := in.ParentOf(s)
	switch status := &s.Object.Status.CloudProfileSpec; {
	case parent != nil && parent.Object != nil:
		spec, err := in.RenderSpec(s)
		if err != nil {
			return nil, Unreadable("NamespacedCloudProfile", s.Object.Name, at)
		}
		return spec, nil
	case status.Type != "":
		return status, nil
	case parent != nil:
		return nil, Unreadable("CloudProfile", s.Object.Spec.Parent.Name, at)
	case !NamesParent(s.Object):
		fault := Unreadable("NamespacedCloudProfile", s.Object.Name, at)
		if !in.AsMeant { // otherwise the error is among the findings
			fault.Detail += linting(in, s, nil)
		}
		return nil, fault
	}
	where, misread := in.misread["CloudProfile "+s.Object.Spec.Parent.Name]
	why := "is not among the inputs, and there is no status.cloudProfileSpec; give the manifest of the CloudProfile as well"
	switch meant := in.meantProfile("CloudProfile", s.Object.Spec.Parent.Name, "spec.parent.name"); {
	case misread:
		why = "was not read; repair " + where + " first"
	case meant != "" && in.AsMeant:
		why = "was not found; repair that first"
	case meant != "": // it has no finding of its own
		why = "is not among the inputs" + meant
	}
	return nil, Problem(RulePoolNotChecked, field.ErrorTypeInvalid, at, s.Object.Name,
		"worker pools not checked: CloudProfile %s, the parent of NamespacedCloudProfile %s, %s", s.Object.Spec.Parent.Name, s.Name, why)
}

// NamesParent reports whether a NamespacedCloudProfile names its parent.
func NamesParent(object *v1beta1.NamespacedCloudProfile) bool {
	return object.Spec.Parent.Kind == "CloudProfile" && object.Spec.Parent.Name != ""
}

// ParentOf returns the parent of a NamespacedCloudProfile, or nil if it is not among the inputs.
func (in *Given) ParentOf(s *Source[v1beta1.NamespacedCloudProfile]) *Source[v1beta1.CloudProfile] {
	if s.Object.Spec.Parent.Kind != "CloudProfile" {
		return nil
	}
	return in.Profiles.ByName[s.Object.Spec.Parent.Name]
}

// RenderSpec returns the result of a NamespacedCloudProfile whose parent is among the inputs. It is the spec that Gardener's controller
// writes into the status, with the provider config that our webhook merges (semantics S11). For an unknown provider, the provider config
// is the parent's. The error says that a provider config does not have the common form.
func (in *Given) RenderSpec(s *Source[v1beta1.NamespacedCloudProfile]) (*v1beta1.CloudProfileSpec, error) {
	object, parent := in.StoredNamespaced(s), gardener.SyncArchitectures(in.Stored(in.ParentOf(s)))
	provider := in.Providers[parent.Spec.Type]
	if provider == nil {
		return namespaced.Merge(object, parent), nil
	}
	return namespaced.Render(provider, object, parent)
}

// SpecForAdmission returns the spec of a profile as Gardener's admission of Shoots sees it, which must not be modified. It has the
// architectures of image versions that follow from their flavors.
func (in *Given) SpecForAdmission(p AnyProfile) *v1beta1.CloudProfileSpec {
	if spec := in.specs[p]; spec != nil {
		return spec
	}
	spec := *p.Spec()
	spec.MachineImages = gardener.SyncArchitectures(&v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{
		MachineCapabilities: spec.MachineCapabilities, MachineImages: spec.MachineImages,
	}}).Spec.MachineImages
	if in.specs == nil {
		in.specs = map[AnyProfile]*v1beta1.CloudProfileSpec{}
	}
	in.specs[p] = &spec
	return &spec
}
