// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/profile/internal/onetoone"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// Compile checks a CloudProfile's spec against its provider config one to one (semantics S6 to S8), and by the provider's own rules. It
// returns the compiled profile and a report sorted by path. at is the path of the spec, or nil for a spec that no manifest contains. The
// profile is never nil. If there are errors, it holds everything that could be understood, so that callers can still ask about worker
// pools.
//
// Compile does not repeat the rules that Gardener's API server enforces. The profile keeps spec, which must not be modified afterwards.
// Compile itself does not modify it.
func Compile[R any](cloud provider.Provider[R], spec *v1beta1.CloudProfileSpec, at *field.Path) (*Profile[R], finding.Report) {
	p, r := Read(cloud, spec, at)
	return p, r.Report.Sorted()
}

// Reading is the decoded content of a CloudProfile, or of a NamespacedCloudProfile's own definitions, together with the findings about it.
// Checks use it while they run. [Read] and [ReadNamespaced] make one.
type Reading[R any] struct {
	// Spec is the spec as written. For a NamespacedCloudProfile, it has only its own machine types, images and provider config.
	Spec *v1beta1.CloudProfileSpec
	// At is the path of Spec, or nil for a spec that no manifest contains.
	At *field.Path
	// Images are the provider's images, as written.
	Images []imageselector.Image[R]
	// Catalog has the image versions that both sides have. A legacy flavor has the capabilities of its corresponding core flavor (semantics
	// S8).
	Catalog *imageselector.Catalog[R]
	// Unread are the unreadable places of the provider config.
	Unread providerconfig.Unread
	// Report has all errors, unsorted, and the provider's warnings about its config.
	Report finding.Report

	provider provider.Provider[R]
	// deriver is the provider if it derives references that the config lacks, otherwise nil.
	deriver provider.ReferenceDeriver[R]
	// policies are those of the provider. inConfig reports that the provider config maps the images.
	policies policy.Policies
	inConfig bool
	// unreadRegion and reserved memoize maybeUnreadRegion and mayBeReserved, and must not be called before decoding.
	unreadRegion, reserved func() bool
	// plain counts the flavors that declare only registered values. The comparison of both sides counts them.
	plain      int
	vocabulary *capability.Vocabulary
	validator  provider.Validator
	// core holds the image versions of Spec. If one is listed twice, the first entry wins.
	core map[provider.ImageVersion]*v1beta1.MachineImageVersion
	// regions are those of the profile, or of the parent's profile.
	regions []string
	// names are the names that the object or its parent uses for reserved capabilities with two names, by canonical name.
	names map[string]usedName
	// inherited are the image versions that a NamespacedCloudProfile has from its parent.
	inherited map[provider.ImageVersion]*v1beta1.MachineImageVersion
	// extended is the compiled parent, which has everything that is not read here. Only [Extend] sets it.
	extended *Profile[R]
	// eitherFormat reports that images may be written in another format than the vocabulary requires, because Gardener converts a
	// NamespacedCloudProfile to its parent's format.
	eitherFormat bool
	// doubtful holds the paths of the flavors in Catalog that the check rejects.
	doubtful map[*field.Path]bool
	// empty holds the regions for which a flavor has an empty reference, by the flavor's path.
	empty map[*field.Path][]string
	// positions are the indices of flavors in Catalog, by version and path, as far as they were needed.
	positions map[provider.ImageVersion]map[*field.Path][]int
}

func newReading[R any](cloud provider.Provider[R], spec *v1beta1.CloudProfileSpec, at *field.Path) *Reading[R] {
	r := &Reading[R]{
		Spec: spec, At: at, provider: cloud, core: entries.Index(spec), regions: entries.RegionsOf(spec),
		doubtful: map[*field.Path]bool{}, empty: map[*field.Path][]string{}, positions: map[provider.ImageVersion]map[*field.Path][]int{},
	}
	r.deriver, _ = provider.As[provider.ReferenceDeriver[R]](cloud)
	r.policies = provider.PoliciesOf(cloud)
	r.inConfig, r.unreadRegion, r.reserved = r.policies.MappedIn == "", sync.OnceValue(r.maybeUnreadRegion), sync.OnceValue(r.mayBeReserved)
	return r
}

// Read is like [Compile], but also returns the [Reading] for further checks, whose report is not sorted.
func Read[R any](cloud provider.Provider[R], spec *v1beta1.CloudProfileSpec, at *field.Path) (*Profile[R], *Reading[R]) {
	r := newReading(cloud, spec, at)
	vocabulary, errs := compileVocabulary(cloud, spec.MachineCapabilities, at.Child("machineCapabilities"))
	r.vocabulary, r.Report.Errors = vocabulary, errs
	r.checkWorkerValues()
	r.checkMachineTypes()
	r.decode()
	r.validateConfig()
	r.compare()
	r.checkReservedNames(nil) // last, because r.reserved needs the comparison
	r.Report.End(at.Child("providerConfig"))
	return newProfile(r), r
}

// ReadNamespaced reads a NamespacedCloudProfile's own definitions with its parent's vocabulary (semantics S11). Paths refer to the object.
// It is not modified, but the reading shares its memory. Package namespaced computes the result of merging it into its parent.
func ReadNamespaced[R any](parent *Profile[R], object *v1beta1.NamespacedCloudProfile) *Reading[R] {
	r := newNamespacedReading(parent.provider, object, parent.vocabulary, parent.core)
	r.regions = parent.regions
	r.checkMachineTypes()
	r.decode()
	r.checkReservedNames(parent.names)
	r.compare()
	return r
}

// newNamespacedReading returns the reading of a NamespacedCloudProfile before decoding.
func newNamespacedReading[R any](
	cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile, vocabulary *capability.Vocabulary,
	inherited map[provider.ImageVersion]*v1beta1.MachineImageVersion,
) *Reading[R] {
	spec := &v1beta1.CloudProfileSpec{
		Type: cloud.Type(), MachineTypes: object.Spec.MachineTypes, MachineImages: object.Spec.MachineImages,
	}
	if providerconfig.HasContent(object.Spec.ProviderConfig) {
		spec.ProviderConfig = object.Spec.ProviderConfig
	}
	r := newReading(cloud, spec, field.NewPath("spec"))
	r.eitherFormat, r.vocabulary, r.inherited = true, vocabulary, inherited
	return r
}

func compileVocabulary[R any](
	cloud provider.Provider[R], capabilities []v1beta1.CapabilityDefinition, at *field.Path,
) (*capability.Vocabulary, finding.List) {
	return capability.Compile(capabilities, at, cloud.Workers().Definitions()...)
}

// compare compares core with the provider config.
func (r *Reading[R]) compare() {
	r.Catalog = imageselector.NewCatalog(r.vocabulary, r.withoutEmpty(r.correspond()))
	r.checkReferences()
}

// decode decodes the provider config, which is optional in a NamespacedCloudProfile.
func (r *Reading[R]) decode() {
	if r.eitherFormat && r.Spec.ProviderConfig == nil {
		return
	}
	config := r.At.Child("providerConfig")
	read, report := r.provider.Decode(r.Spec.ProviderConfig, config)
	r.Images, r.validator, r.Unread = read.Images, read.Validator, providerconfig.UnreadIn(report.Errors, config)
	if r.vocabulary.Legacy() && !r.eitherFormat { // capabilityFlavors are an error as a whole
		report.Errors = slices.DeleteFunc(report.Errors, func(f finding.Finding) bool { return f.Origin == providerconfig.RuleFormatMixed })
	}
	r.aboutVersions(slices.Concat(report.Errors, report.Warnings))
	r.Report.Add(report)
}

// aboutVersions prefixes the provider's findings about an image version with that version.
func (r *Reading[R]) aboutVersions(findings finding.List) {
	if len(findings) == 0 {
		return
	}
	names := map[string]string{} // names of versions, by path
	for id, version := range entries.Mappings(r.Images) {
		if id.Version != "" {
			names[version.Path.String()] = id.String()
		}
	}
	for i, f := range findings {
		for path := range fieldpath.Upward(f.Field) {
			if name, found := names[path]; found {
				onetoone.About(name, findings[i:i+1])
			}
		}
	}
}

// validateConfig applies the provider's own rules to the config of a CloudProfile.
func (r *Reading[R]) validateConfig() {
	config := r.At.Child("providerConfig")
	if r.Unread.Covers(config) {
		r.validator = nil // nothing of the config is known
	}
	if r.validator != nil {
		r.Report.Add(r.Unread.Silence(r.validator.ValidateCloudProfile(r.Spec, config)))
	}
}

// checkMachineTypes checks the capabilities of machine types. If a name is used twice, which core refuses, the first entry wins.
func (r *Reading[R]) checkMachineTypes() {
	if r.vocabulary.Legacy() {
		return
	}
	registered, seen := r.vocabulary.Registered(capability.Architecture), sets.New[string]()
	for i := range r.Spec.MachineTypes {
		t := &r.Spec.MachineTypes[i]
		if seen.Has(t.Name) {
			continue
		}
		if r.Report.LeavesOut() {
			return
		}
		seen.Insert(t.Name)
		at := r.At.Child("machineTypes").Index(i).Child("capabilities")
		r.Report.Errors = append(r.Report.Errors, onetoone.EmptyLists(r.vocabulary, "machine type "+t.Name, t.Capabilities, at)...)
		_, declared := t.Capabilities[capability.Architecture]
		converted := r.eitherFormat && len(t.Capabilities) == 0 // to the architecture that Gardener gives it
		if !declared && ptr.Deref(t.Architecture, "") == "" && len(registered) > 1 && !converted {
			r.Report.Found(ruleMachineArchitecture, field.ErrorTypeRequired, at.Child(capability.Architecture), nil,
				"machine type %s must name its architecture, because several are registered: one of %s",
				t.Name, words.Few(registered))
		}
	}
}

// checkWorkerValues checks the values that the profile registers for worker capabilities.
func (r *Reading[R]) checkWorkerValues() {
	for def, registered := range r.WorkerCapabilities() {
		rule, at := ruleWorkerValueUnknown, r.At.Child("machineCapabilities").Index(registered).Child("values")
		if strings.HasPrefix(def.Name, capability.ReservedPrefix) {
			rule = ruleReservedValue
		}
		values := r.Spec.MachineCapabilities[registered].Values
		for i, value := range values {
			if slices.Contains(def.Values, value) {
				continue
			}
			found := r.Report.Found(rule, field.ErrorTypeNotSupported, at.Index(i), value,
				"worker capability %s has the values [%s]; nothing ever asks for %q: remove it, or write one of those",
				def.Name, strings.Join(def.Values, ", "), value)
			if rule.Name == ruleReservedValue.Name {
				found.Suggestion = meantValue(def.Name, value)
			}
		}
		r.checkComplete(def, values, at)
	}
}

// WorkerCapabilities yields the worker capabilities that the object registers, each with its first index in spec.machineCapabilities.
func (r *Reading[R]) WorkerCapabilities() iter.Seq2[capability.Definition, int] {
	return func(yield func(capability.Definition, int) bool) {
		for _, defined := range r.vocabulary.WorkerCapabilities() {
			i := slices.IndexFunc(r.Spec.MachineCapabilities, func(def v1beta1.CapabilityDefinition) bool { return def.Name == defined.Name })
			if i >= 0 && !yield(defined, i) {
				return
			}
		}
	}
}

// Inherits reports whether a NamespacedCloudProfile has an image version from its parent.
func (r *Reading[R]) Inherits(id provider.ImageVersion) bool { return r.inherited[id] != nil }

// Version returns an image version as the object lists it, or nil. If it is listed twice, the first entry wins.
func (r *Reading[R]) Version(id provider.ImageVersion) *v1beta1.MachineImageVersion {
	return r.core[id]
}

// Versions yields the image versions that the object lists, in order.
func (r *Reading[R]) Versions() iter.Seq[entries.Version] { return entries.Versions(r.Spec) }

// PathOf returns the path of an image version that the object lists.
func (r *Reading[R]) PathOf(v entries.Version) *field.Path { return v.PathIn(r.At) }

// Doubtful reports whether the check rejects a flavor of the catalog. The flavor is identified by the pointer to its path.
func (r *Reading[R]) Doubtful(flavor *field.Path) bool { return r.doubtful[flavor] }

// EmptyIn returns the regions for which the flavor with the given path has an empty reference. The reading owns the slice.
func (r *Reading[R]) EmptyIn(flavor *field.Path) []string { return r.empty[flavor] }

// ImageRegions returns the regions for which flavors of the provider config have references of their own. The caller owns the set.
func (r *Reading[R]) ImageRegions() sets.Set[string] {
	return entries.Regions(r.Images)
}
