// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package checks applies Gardener's rules and the engine's to the inputs of a command. Then it suppresses findings by flags, by comments in
// manifests, and by the settings in .capkit.yaml. Start reading at [Run].
package checks

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/reserved"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// PrintSilenced prints the rules of silenced errors, because admission still refuses these. It skips rules of a single command, for example
// those that need an inventory.
func PrintSilenced(c *command.Call, found report.Report) {
	rules := Catalogue(c)
	errs := slices.DeleteFunc(found.SilencedErrors(), func(count report.RuleCount) bool {
		return slices.ContainsFunc(rules, func(r finding.Rule) bool { return r.Name == count.Rule && r.Command != "" })
	})
	if len(errs) > 0 {
		report.Printf(c.Stderr, "note: silenced, but still refused by admission: %s\n", countsOf(errs))
	}
}

// countsOf formats the number of findings of each rule.
func countsOf(counts []report.RuleCount) string {
	all := make([]string, 0, len(counts))
	for _, r := range counts {
		all = append(all, fmt.Sprintf("%s %d", r.Rule, r.Findings))
	}
	return strings.Join(all, ", ")
}

// All checks all inputs, and releases objects that are no longer needed. Each object is one step of the work.
func All(g *input.Given, checking *command.Work) report.Report {
	for _, s := range g.Profiles.All {
		checking.Steps(1)
		Profile(g, s)
		if len(g.Namespaced.All)+len(g.Shoots.All) == 0 { // nothing refers to it
			*s = input.Source[v1beta1.CloudProfile]{}
		}
	}
	for _, s := range g.Namespaced.All {
		checking.Steps(1)
		Namespaced(g, s)
	}
	for _, s := range g.Shoots.All {
		checking.Steps(1)
		Shoot(g, s)
		s.Forget()
	}
	return report.New(g.Findings, g.Summary)
}

// Profile checks a CloudProfile. It skips one that is being deleted.
func Profile(g *input.Given, s *input.Source[v1beta1.CloudProfile]) {
	if s.Object == nil || s.Aside || s.Object.DeletionTimestamp != nil {
		return
	}
	object, provider := g.Stored(s), g.Providers[s.Object.Spec.Type]
	errs := validate(g, object)
	if g.ReservedInCore && provider == nil {
		errs = append(errs, reserved.Values(object)...)
	}
	var found finding.Report
	if provider != nil {
		var compiled input.AnyProfile
		compiled, found = check.CloudProfile(provider, object)
		found = withoutRepetitions(withSize(found, object), errs)
		errs, found = withoutConsequences(object, errs, found)
		var wrong finding.List
		wrong, errs, found = WithoutMisregistered(object, errs, found)
		s.Compiled = compiled.WithFaults(slices.Concat(wrong, finding.Of(errs)))
		found.Errors = slices.Concat(wrong, found.Errors)
	}
	g.AddErrors(s.Manifest, errs...)
	g.AddWarnings(s.Manifest, gardener.Expired(object.Spec.MachineImages, &object.Spec.Kubernetes)...)
	g.AddWarnings(s.Manifest, gardener.Unavailable(&object.Spec, g.Admission.Corrects(object.Spec.Type))...)
	g.AddWarnings(s.Manifest, g.Server.Unsupported(object.Spec.Kubernetes)...)
	g.AddWarnings(s.Manifest, withoutArchitecture(&s.Object.Spec, s.Object.Spec.MachineTypes, nil)...)
	g.AddWarnings(s.Manifest, gardener.TinyMemory(object.Spec.MachineTypes)...)
	g.AddReport(s.Manifest, found)
	if provider == nil && object.Spec.Type != "" { // core reports an empty type
		fault := g.UnknownProvider(object.Spec.Type, "spec.type")
		if g.MeantProvider(object.Spec.Type) != "" { // otherwise nothing is checked, and only a warning says that
			g.AddErrors(s.Manifest, fault)
			return
		}
		g.AddWarnings(s.Manifest, fault)
	}
}

// withoutArchitecture warns about the only one of three or more usable machine types that does not name its architecture, if it is the
// object's own, and not inherited from its parent. profile, which is the object or its parent, must not register capabilities. Gardener sets a
// default, so it needs the manifests.
func withoutArchitecture(profile *v1beta1.CloudProfileSpec, own, inherited []v1beta1.MachineType) field.ErrorList {
	var without []int
	types := 0
	for i, t := range slices.Concat(own, inherited) {
		if ptr.Deref(t.Usable, true) {
			types++
			if t.Architecture == nil && len(t.Capabilities[capability.Architecture]) == 0 {
				without = append(without, i)
			}
		}
	}
	if len(profile.MachineCapabilities) > 0 || types < 3 || len(without) != 1 || without[0] >= len(own) {
		return nil
	}
	at := field.NewPath("spec", "machineTypes").Index(without[0])
	return field.ErrorList{{
		Type: field.ErrorTypeRequired, Field: at.String(), Origin: check.RuleTypeUndeclared.Name,
		Detail: fmt.Sprintf("machine type %s does not name its architecture, so it is taken for %s; all other machine types name theirs",
			own[without[0]].Name, v1beta1constants.ArchitectureAMD64),
	}}
}

// withoutRepetitions removes findings that follow from errors of Gardener: that no image fits a machine type with an error, that one with a
// misspelt capability does not declare the right one, and that a core flavor with an error is not mapped.
func withoutRepetitions(report finding.Report, errs field.ErrorList) finding.Report {
	follows := func(f finding.Finding) bool {
		return slices.ContainsFunc(errs, func(err *field.Error) bool {
			return f.Origin == check.RuleMachineWithoutImage.Name && strings.HasPrefix(err.Field, f.Field+".") ||
				f.Origin == check.RuleTypeUndeclared.Name && err.Field == f.Field+".capabilities" && err.Type == field.ErrorTypeNotSupported ||
				f.Origin == "provider-flavor-missing" && err.Field == f.Field && err.Type == field.ErrorTypeNotSupported
		})
	}
	report.Errors = slices.DeleteFunc(slices.Clone(report.Errors), follows)
	report.Warnings = slices.DeleteFunc(slices.Clone(report.Warnings), follows)
	return report
}

// withoutConsequences removes errors that follow from other errors of Gardener: an architecture is missing because its capability is
// misspelt, or architectures disagree because one of them does not exist. It keeps errors about too many values of a capability. profile
// registers the capabilities.
func withoutConsequences(profile *v1beta1.CloudProfile, errs field.ErrorList, report finding.Report) (field.ErrorList, finding.Report) {
	meant, wrong := map[string]bool{}, map[string]bool{} // paths of missing architectures, and paths with unsupported values
	for _, err := range errs {
		if err.Type != field.ErrorTypeNotSupported {
			continue
		}
		value, _ := err.BadValue.(string)
		if namesCapabilities(err.Field) && words.Closest(value, capabilities(profile)) == capability.Architecture {
			meant[err.Field+"."+capability.Architecture] = true
		}
		if !strings.Contains(err.Field, ".capabilities.") && !strings.Contains(err.Field, ".capabilityFlavors[") {
			wrong[strings.TrimSuffix(err.Field, lastIndex.FindString(err.Field))] = true
		}
	}
	if len(meant)+len(wrong) == 0 {
		return errs, report
	}
	errs = slices.DeleteFunc(errs, func(err *field.Error) bool {
		return err.Type == field.ErrorTypeRequired && meant[err.Field] || err.Type == field.ErrorTypeInvalid && wrong[err.Field]
	})
	report.Errors = slices.DeleteFunc(slices.Clone(report.Errors), func(f finding.Finding) bool {
		return f.Type == field.ErrorTypeRequired && meant[f.Field]
	})
	return errs, report
}

// withSize turns the warning that a CloudProfile is too large into an error: the API server would refuse it, unless the limit of its etcd
// was raised.
func withSize(report finding.Report, object *v1beta1.CloudProfile) finding.Report {
	if object.Size() <= check.SizeLimit {
		return report
	}
	isSize := func(f finding.Finding) bool { return f.Origin == check.RuleSize.Name }
	i := slices.IndexFunc(report.Warnings, isSize)
	report.Errors = append(slices.Clip(report.Errors), report.Warnings[i])
	report.Warnings = slices.DeleteFunc(slices.Clone(report.Warnings), isSize)
	return report
}

// Namespaced checks a NamespacedCloudProfile, and the merged profile if its parent is known. It skips one that is being deleted.
func Namespaced(g *input.Given, s *input.Source[v1beta1.NamespacedCloudProfile]) {
	if s.Object == nil || s.Aside || s.Object.DeletionTimestamp != nil {
		return
	}
	g.AddWarnings(s.Manifest, gardener.Expired(s.Object.Spec.MachineImages, s.Object.Spec.Kubernetes)...)
	g.AddWarnings(s.Manifest, gardener.UnavailableOwn(s.Object.Spec.MachineImages)...)
	g.AddWarnings(s.Manifest, gardener.TinyMemory(s.Object.Spec.MachineTypes)...)
	parent, reference := g.ParentOf(s), s.Object.Spec.Parent
	if parent == nil && reference.Kind == "CloudProfile" && reference.Name != "" {
		if missing := g.Missing("CloudProfile", reference.Name, "spec.parent.name"); missing.Type != field.ErrorTypeRequired { // otherwise reported already
			g.AddErrors(s.Manifest, missing)
		}
	}
	if parent == nil || parent.Object == nil {
		g.AddErrors(s.Manifest, validate(g, s.Object)...)
		return
	}
	g.AddWarnings(s.Manifest, withoutArchitecture(&parent.Object.Spec, s.Object.Spec.MachineTypes, parent.Object.Spec.MachineTypes)...)
	inGarden := g.Stored(parent)
	object := g.StoredNamespaced(s)
	var report finding.Report
	if p, _ := g.Compile(parent, ""); p != nil && !input.IsCoreOnly(p) {
		_, report = check.NamespacedCloudProfile(p, object)
	}
	errs, report := withoutConsequences(inGarden, validateNamespaced(g, object, inGarden, report.Errors.Errors()), report)
	if p, fault := g.CompileNamespaced(s, ""); fault == nil && len(errs) > 0 {
		s.Compiled = p.WithFaults(asRendered(object, p.Spec(), errs))
	}
	g.AddErrors(s.Manifest, errs...)
	g.AddReport(s.Manifest, withoutRepetitions(report, errs))
}

// validate returns the errors of Gardener's API server for a CloudProfile, or for a NamespacedCloudProfile without its parent, with hints.
func validate(g *input.Given, object runtime.Object) field.ErrorList {
	if g.ReservedInCore {
		return withoutSynced(withRepairs(object, reserved.Validate(&g.Server, object)))
	}
	errs := withoutSynced(withHints(object, g.Server.Validate(object)))
	if profile, _ := object.(*v1beta1.CloudProfile); profile != nil && !g.Admission.Fills(profile.Spec.Type) {
		for _, err := range errs {
			if err.Type == field.ErrorTypeRequired && strings.HasSuffix(err.Field, ".capabilityFlavors") {
				err.Detail += "; capkit migrate --core-flavors writes it"
			}
		}
	}
	return errs
}

// withoutSynced removes errors about a machine type's architecture that was copied from its capabilities, if there is the same error about
// the capabilities, or about the registration of the architecture.
func withoutSynced(errs field.ErrorList) field.ErrorList {
	said, nowhere := map[string]bool{}, map[string]bool{}
	for _, err := range errs {
		if value, isText := err.BadValue.(string); isText && err.Type == field.ErrorTypeInvalid && strings.HasPrefix(err.Field, "spec.machineCapabilities[") {
			nowhere[value] = true
		}
		if machineType, _, found := strings.Cut(err.Field, ".capabilities.architecture"); found {
			said[fmt.Sprint(machineType, ".architecture ", err.BadValue)] = true
		}
	}
	ofType := func(path string) bool {
		return strings.HasPrefix(path, "spec.machineTypes[") && strings.HasSuffix(path, "].architecture")
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		value, _ := err.BadValue.(string)
		return said[fmt.Sprint(err.Field, " ", err.BadValue)] || ofType(err.Field) && nowhere[value]
	})
}

// validateNamespaced returns the errors of Gardener's API server for a NamespacedCloudProfile with its parent, with hints. own are the
// errors of our rules; errors that repeat them are left out.
func validateNamespaced(g *input.Given,
	object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, own field.ErrorList,
) field.ErrorList {
	repeated := func(err *field.Error) bool { return repeats(err, own) }
	var errs field.ErrorList
	if g.ReservedInCore {
		errs = reserved.ValidateNamespaced(&g.Server, object, parent, repeated)
	} else {
		errs = withHints(object, g.Server.ValidateNamespaced(object, nil, parent, repeated))
	}
	for _, err := range errs {
		if strings.Contains(err.Detail, " to an extended machine image in NamespacedCloudProfile") {
			err.Detail += "; remove it, for the version is that of the parent"
		}
		value := fmt.Sprint(err.BadValue)
		switch {
		case err.Type != field.ErrorTypeNotSupported:
		case namesCapabilities(err.Field):
			err.Detail += words.DidYouMean(words.Closest(value, capabilities(parent)))
		case valueOf.MatchString(err.Field):
			name := valueOf.FindStringSubmatch(err.Field)[1]
			err.Detail += words.DidYouMean(capability.MeantValue(strings.TrimSuffix(name, "s"), value, registered(parent, name)))
		}
	}
	return withoutSynced(errs)
}

// inList matches a path in an image version or a machine type.
var inList = regexp.MustCompile(`^spec\.(machineImages|machineTypes)\[(\d+)\](?:\.versions\[(\d+)\])?(.*)$`)

// asRendered returns a NamespacedCloudProfile's errors about image versions and machine types, at their paths in the merged spec.
func asRendered(object *v1beta1.NamespacedCloudProfile, rendered *v1beta1.CloudProfileSpec, errs field.ErrorList) finding.List {
	var there finding.List
	for _, err := range errs {
		at := inList.FindStringSubmatch(err.Field)
		if at == nil {
			continue
		}
		i, _ := strconv.Atoi(at[2])
		k, errOfVersion := strconv.Atoi(at[3])
		var path *field.Path
		switch {
		case at[1] == "machineTypes" && i < len(object.Spec.MachineTypes):
			if n := slices.Index(entries.MachineTypes(rendered), object.Spec.MachineTypes[i].Name); n >= 0 {
				path = field.NewPath("machineTypes").Index(n)
			}
		case at[1] == "machineImages" && errOfVersion == nil && i < len(object.Spec.MachineImages) && k < len(object.Spec.MachineImages[i].Versions):
			image := &object.Spec.MachineImages[i]
			if v, found := entries.Find(rendered, provider.ImageVersion{Image: image.Name, Version: image.Versions[k].Version}); found {
				path = v.PathIn(nil)
			}
		}
		if path != nil {
			moved := *err
			moved.Field = path.String() + at[4]
			there = append(there, finding.Of(field.ErrorList{&moved})...)
		}
	}
	return there
}

// repeats reports whether an error of Gardener about an inherited version repeats an error of ours.
func repeats(err *field.Error, own field.ErrorList) bool {
	version, overridden := strings.CutSuffix(err.Field, ".capabilityFlavors")
	if !overridden {
		version, overridden = strings.CutSuffix(err.Field, ".architectures")
	}
	return overridden && slices.ContainsFunc(own, func(o *field.Error) bool {
		return o.Origin == check.RuleVersionInherited.Name && strings.HasPrefix(o.Field, version+".")
	})
}

// withRepairs appends repairs to core's errors about the capabilities of a CloudProfile.
func withRepairs(object runtime.Object, errs field.ErrorList) field.ErrorList {
	if profile, _ := object.(*v1beta1.CloudProfile); profile != nil {
		for _, err := range errs {
			err.Detail += capabilityHint(profile, err)
			misregisteredArchitecture(profile, err)
		}
	}
	return errs
}

// withHints appends repairs to core's errors. If core refuses one of Gardener's own capabilities, the hint says where to declare it.
func withHints(object runtime.Object, errs field.ErrorList) field.ErrorList {
	profile, _ := object.(*v1beta1.CloudProfile)
	for _, err := range errs {
		name, _ := err.BadValue.(string)
		hint, tail := "; ", " is known without being registered, and declared on flavors of the provider config only"
		var i int
		_, other := fmt.Sscanf(err.Field, "spec.machineCapabilities[%d].name", &i)
		if other == nil && profile != nil && err.Type == field.ErrorTypeForbidden { // to register it
			name, hint = profile.Spec.MachineCapabilities[i].Name, "; remove this entry: "
			tail = " needs no registration; declare it on flavors of the provider config only"
			if texts.OfSecond(name) {
				tail += " (a later Gardener wants it registered, and --reserved-in-core checks as that)"
			}
		}
		if reserved.Is(name) {
			err.Detail += hint + name + tail
			continue
		}
		withRepairs(object, field.ErrorList{err})
	}
	return errs
}

// capabilityHint returns the repair for a core error in a CloudProfile, to be appended to the message; empty if none is known.
func capabilityHint(profile *v1beta1.CloudProfile, err *field.Error) string {
	value, _ := err.BadValue.(string)
	switch {
	case err.Type == field.ErrorTypeForbidden && strings.HasSuffix(err.Detail, "without global definition"):
		return "; register them in spec.machineCapabilities first"
	case err.Type == field.ErrorTypeRequired && err.Field == "spec.machineCapabilities.architecture":
		return "; add - {name: architecture, values: [amd64, arm64]} to spec.machineCapabilities"
	case err.Type == field.ErrorTypeInvalid && strings.HasPrefix(err.Detail, "all Kubernetes versions must match the regex"):
		return "; write a full version such as 1.33.2"
	case err.Type == field.ErrorTypeInvalid && strings.HasSuffix(err.Field, ".kubeletVersionConstraint"):
		return "; write one such as >= 1.31, < 1.35"
	case err.Type == field.ErrorTypeDuplicate && versionOfImage.MatchString(err.Field):
		return listedAlready(profile, err.Field)
	case err.Type == field.ErrorTypeNotSupported && namesCapabilities(err.Field) && value == "":
		return "; write the name of a capability, or remove it"
	case err.Type == field.ErrorTypeNotSupported && namesCapabilities(err.Field):
		known := capabilities(profile)
		values := ""
		for _, d := range capability.Reserved() {
			if d.Name == value { // Gardener defines its values
				values = fmt.Sprintf(" with the values [%s]", strings.Join(d.Values, ", "))
			}
		}
		return cmp.Or(words.DidYouMean(words.Closest(value, known)), "; register "+value+" in spec.machineCapabilities"+values+", or leave it out")
	case err.Type == field.ErrorTypeNotSupported && valueOf.MatchString(err.Field):
		return valueHint(profile, err, value)
	}
	return ""
}

// capabilities returns the names of the capabilities that a profile registers.
func capabilities(profile *v1beta1.CloudProfile) []string {
	names := make([]string, 0, len(profile.Spec.MachineCapabilities))
	for _, c := range profile.Spec.MachineCapabilities {
		names = append(names, c.Name)
	}
	return names
}

// valueHint returns the repair for an unregistered value of a capability: the value that it resembles, or where to register it.
func valueHint(profile *v1beta1.CloudProfile, err *field.Error, value string) string {
	name := valueOf.FindStringSubmatch(err.Field)[1]
	meant := capability.MeantValue(strings.TrimSuffix(name, "s"), value, registered(profile, name))
	if meant == value { // the name is registered twice, once with this value
		return ""
	}
	def := slices.IndexFunc(profile.Spec.MachineCapabilities, func(d v1beta1.CapabilityDefinition) bool { return d.Name == name })
	if meant == "" && def >= 0 && (name != capability.Architecture || slices.Contains(v1beta1constants.ValidArchitectures, value)) {
		repair := fmt.Sprintf("; register %s in spec.machineCapabilities[%d].values, or leave it out", value, def)
		if err.Detail == "" { // there are no values yet
			return strings.TrimPrefix(repair, "; ")
		}
		return repair
	}
	return words.DidYouMean(meant)
}

// namesCapabilities reports whether core's errors at a path are about unregistered capabilities. Errors about values have a longer path.
func namesCapabilities(path string) bool {
	inType := strings.HasPrefix(path, "spec.machineTypes[") && strings.HasSuffix(path, "].capabilities")
	of, flavor, inFlavor := strings.Cut(path, "].capabilityFlavors[")
	return inType || inFlavor && strings.HasPrefix(of, "spec.machineImages[") && !strings.Contains(flavor, ".")
}

// versionOfImage matches the path of an image version, lastIndex the index at the end of a path, and valueOf the path of an architecture or
// of a capability's value.
var (
	versionOfImage = regexp.MustCompile(`^spec\.machineImages\[(\d+)\]\.versions\[(\d+)\]$`)
	lastIndex      = regexp.MustCompile(`\[\d+\]$`)
	valueOf        = regexp.MustCompile(`^spec\.machine(?:Types|Images)\[\d+\].*\.([^.\[\]]+)(?:\[\d+\])?$`)
)

// listedAlready returns a hint to the first entry of an image version that is listed twice; empty if that is in another entry of the image.
func listedAlready(profile *v1beta1.CloudProfile, path string) string {
	at := versionOfImage.FindStringSubmatch(path)
	i, _ := strconv.Atoi(at[1])
	again, _ := strconv.Atoi(at[2])
	image := &profile.Spec.MachineImages[i]
	first := slices.IndexFunc(image.Versions, func(v v1beta1.MachineImageVersion) bool { return v.Version == image.Versions[again].Version })
	if first == again { // in another entry of the image
		return ""
	}
	return fmt.Sprintf("image %s lists version %s already, in spec.machineImages[%d].versions[%d]; "+
		"remove one of the two, or correct its version", image.Name, image.Versions[again].Version, i, first)
}

// registered returns the values that a profile registers for a capability. The architectures of image versions are values of the capability
// architecture. In a profile without that, they are all architectures.
func registered(profile *v1beta1.CloudProfile, name string) []string {
	isArchitecture := strings.TrimSuffix(name, "s") == capability.Architecture
	for _, def := range profile.Spec.MachineCapabilities {
		if def.Name == name || isArchitecture && def.Name == capability.Architecture {
			return def.Values
		}
	}
	if isArchitecture {
		return v1beta1constants.ValidArchitectures
	}
	return nil
}
