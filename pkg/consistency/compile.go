// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// Compile checks a CloudProfile's spec against its provider config, one to one (semantics S6 to S8) and by the provider's own
// rules. It returns the compiled profile together with everything that is wrong, ordered by path. The spec stands at the path at;
// nil if nobody has written it as it is. The profile is never nil. After errors it holds what could be understood, so that a
// caller may go on to ask about worker pools.
//
// Rules that Gardener's API server enforces itself are not repeated. The profile keeps spec, which must not be changed
// any more; Compile does not change it.
func Compile[R any](cloud provider.Provider[R], spec *v1beta1.CloudProfileSpec, at *field.Path) (*Profile[R], finding.Report) {
	p := compileProfile(cloud, spec, at)
	return p.Profile, p.report.Sorted()
}

// compiler makes a [Profile] of a CloudProfile, or of what a NamespacedCloudProfile defines itself, and checks it on
// the way. It is thrown away once that is done.
type compiler[R any] struct {
	// Profile is the one that is made. Nobody else has it before it is done.
	*Profile[R]
	report finding.Report
	// images are the provider's, as written.
	images []imageselector.Image[R]
	// unread holds the places of the provider config that could not be read.
	unread provider.Unread
	// empty holds the regions for which flavors have an empty reference, by the paths of the flavors.
	empty map[*field.Path][]string
	// slips are the misspelt regions of the provider config. followed has, by misspelt region, the warnings that follow from it.
	slips    slips
	followed map[string]finding.List
	// positions are those of flavors in the catalog, for each version by their paths; nil until they are needed.
	positions map[imageVersion]map[*field.Path][]int
	// parent is what a NamespacedCloudProfile has from its parent; nil for a CloudProfile.
	parent *parent[R]
}

func newCompiler[R any](cloud provider.Provider[R], spec *v1beta1.CloudProfileSpec, at *field.Path) *compiler[R] {
	p := &Profile[R]{
		provider: cloud, spec: spec, at: at,
		machines: make(map[string]machine, len(spec.MachineTypes)), doubtful: map[*field.Path]bool{},
	}
	for _, region := range spec.Regions {
		p.regions = append(p.regions, region.Name)
	}
	return &compiler[R]{Profile: p, empty: map[*field.Path][]string{}}
}

// compileProfile compiles a CloudProfile.
func compileProfile[R any](cloud provider.Provider[R], spec *v1beta1.CloudProfileSpec, at *field.Path) *compiler[R] {
	p := newCompiler(cloud, spec, at)
	vocabulary, errs := capability.Compile(
		p.spec.MachineCapabilities, p.at.Child("machineCapabilities"), p.provider.Workers().Definitions()...)
	p.vocabulary, p.report.Errors = vocabulary, finding.Of(errs)
	p.checkWorkerCapabilities()
	p.compile()
	p.report.End(p.at.Child("providerConfig"))
	p.all = p.catalog
	p.faults = finding.Report{Errors: p.report.Errors, Silenced: p.report.Silenced}
	if len(p.report.Errors) > 0 {
		p.mapped = p.images
		p.blame(p.report.Errors)
		p.findLost()
	}
	return p
}

// compile compiles all but the vocabulary, which is there.
func (p *compiler[R]) compile() {
	r, ordinary, unmet := p.ask(provider.Pool{})
	p.ordinary = ordinary.Worker
	p.simple = len(unmet)+len(r.Ignored) == 0 && !p.provider.Workers().LookAtPool()
	p.core = indexed(p.spec)
	p.compileMachines()
	if p.parent == nil || p.spec.ProviderConfig != nil { // a NamespacedCloudProfile may do without
		p.read()
		p.validateConfig()
	}
	p.findOffered()
	p.imageRegions = sets.New[string]()
	for reference := range regionsOf(p.images) {
		p.imageRegions.Insert(reference.Region)
	}
	p.catalog = imageselector.NewCatalog(p.vocabulary, p.withoutEmpty(p.correspond()))
	p.checkReferences()
}

func (p *compiler[R]) read() {
	config := p.at.Child("providerConfig")
	read, report := p.provider.Decode(p.spec.ProviderConfig, config)
	p.images, p.validator, p.unread = read.Images, read.Validator, provider.UnreadIn(report.Errors, config)
	if p.vocabulary.Legacy() && p.parent == nil { // flavors do not belong there at all, which is reported
		report.Errors = slices.DeleteFunc(report.Errors, func(f finding.Finding) bool { return f.Origin == provider.RuleFormatMixed })
	}
	p.aboutVersions(slices.Concat(report.Errors, report.Warnings))
	p.report.Add(report)
}

// findOffered notes the reserved capabilities that flavors declare.
func (p *compiler[R]) findOffered() {
	p.offered = sets.New[string]()
	if p.parent != nil && p.parent.profile != nil {
		p.offered.Insert(p.parent.profile.offered.UnsortedList()...)
	}
	for _, version := range mappingsOf(p.images) {
		for i := range version.Flavors {
			for name := range version.Flavors[i].Capabilities {
				if strings.HasPrefix(name, capability.ReservedPrefix) {
					p.offered.Insert(name)
				}
			}
		}
	}
}

// aboutVersions puts the image version before what a provider says about one.
func (p *compiler[R]) aboutVersions(findings finding.List) {
	if len(findings) == 0 {
		return
	}
	names := map[string]string{} // of versions, by their paths
	for id, version := range mappingsOf(p.images) {
		if id.version != "" {
			names[version.Path.String()] = id.String()
		}
	}
	for i, f := range findings {
		for end := len(f.Field); end > 0; end = strings.LastIndexAny(f.Field[:end], ".[") {
			if name, found := names[f.Field[:end]]; found && !strings.HasPrefix(f.Detail, name) {
				about(name, findings[i:i+1])
			}
		}
	}
}

// compileMachines compiles the machine types. The first of two with one name counts; core refuses such a profile.
func (p *compiler[R]) compileMachines() {
	registered := p.vocabulary.Registered(capability.Architecture)
	for i := range p.spec.MachineTypes {
		t := &p.spec.MachineTypes[i]
		if _, found := p.machines[t.Name]; found {
			continue
		}
		m := machine{written: t, set: p.machineSet(t, ""), named: p.namesArchitecture(t)}
		p.machines[t.Name] = m
		if ptr.Deref(t.Usable, true) {
			p.usable = append(p.usable, t.Name)
		}
		if p.vocabulary.Legacy() || p.report.Full() {
			continue
		}
		at := p.at.Child("machineTypes").Index(i).Child("capabilities")
		empty := emptyLists(p.vocabulary, "machine type "+t.Name, t.Capabilities, at)
		p.report.Errors = append(p.report.Errors, empty...)
		if !m.named && len(registered) > 1 && !p.converted(t) {
			p.report.Found(ruleMachineArchitecture, field.ErrorTypeRequired, at.Child(capability.Architecture), nil,
				"machine type %s must name its architecture, because several are registered: one of %s",
				t.Name, finding.Few(registered))
		}
	}
}

// emptyLists reports the capabilities that core declares with an empty list, which Gardener v1.150 accepts: nothing
// could ever match them.
func emptyLists(vocabulary *capability.Vocabulary, of string, declared v1beta1.Capabilities, at *field.Path) finding.List {
	var errs finding.List
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if len(declared[name]) == 0 && vocabulary.IsRegistered(name) {
			errs = append(errs, fault(ruleValueMissing, field.ErrorTypeRequired, at.Child(name), nil,
				"%s: an empty list matches nothing: list values of %s, or leave the capability out to support all of [%s]",
				of, name, finding.Few(vocabulary.Registered(name))))
		}
	}
	return errs
}

// namesArchitecture reports whether a machine type says what architecture it has, in either field.
func (p *compiler[R]) namesArchitecture(t *v1beta1.MachineType) bool {
	_, declared := t.Capabilities[capability.Architecture]
	return declared && (!p.vocabulary.Legacy() || p.parent != nil) || ptr.Deref(t.Architecture, "") != ""
}

// validateConfig asks the provider's own rules about the config of a CloudProfile.
func (p *compiler[R]) validateConfig() {
	config := p.at.Child("providerConfig")
	if p.unread.Covers(config) {
		p.validator = nil // nothing of it is known
	}
	if p.validator != nil && p.parent == nil {
		p.report.Add(p.unread.Silence(p.validator.ValidateCloudProfile(p.spec, config)))
	}
}
