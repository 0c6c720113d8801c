// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"maps"
	"strings"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// Profile is a CloudProfile, compiled: vocabulary, machine types and the images that core and provider config agree on.
// It is immutable and safe for concurrent use. [Compile] makes one.
type Profile[R any] struct {
	provider   provider.Provider[R]
	spec       *v1beta1.CloudProfileSpec
	at         *field.Path
	vocabulary *capability.Vocabulary
	catalog    *imageselector.Catalog[R]
	machines   map[string]machine
	// ordinary is the request of a worker pool that asks for nothing special.
	ordinary capability.Set
	// images are the provider's, as written.
	images []imageselector.Image[R]
	// core holds the image versions of core; of two of one name the first.
	core map[imageVersion]*v1beta1.MachineImageVersion
	// validator holds the provider's own rules; nil if there are none.
	validator provider.Validator
	// unread tells which of them could not be read as they are written.
	unread provider.Unread
	// doubtful holds the paths of the flavors in the catalog that the check refuses.
	doubtful map[*field.Path]bool
	// report is what was found when the profile was compiled.
	report finding.Report
	// parent is that of a NamespacedCloudProfile, nil for a CloudProfile.
	parent *parent[R]
}

// machine is a compiled machine type.
type machine struct {
	written *v1beta1.MachineType
	set     capability.Set
	// named reports whether the machine type names its architecture; if not, a worker pool may.
	named bool
}

// Compile checks a CloudProfile's spec, which stands at the path at, against its provider config, one to one (semantics
// S6 to S8) and by the provider's own rules, and returns the compiled profile together with everything that is wrong, ordered by path. The profile is
// never nil. After errors it holds what could be understood, so that a caller may go on to ask about worker pools.
//
// Rules that Gardener's API server enforces itself are not repeated. The profile keeps spec, which must not be changed
// any more; Compile does not change it.
func Compile[R any](cloud provider.Provider[R], spec *v1beta1.CloudProfileSpec, at *field.Path) (*Profile[R], finding.Report) {
	p := &Profile[R]{provider: cloud, spec: spec, at: at, machines: make(map[string]machine, len(spec.MachineTypes))}
	var report finding.Report
	vocabulary, errs := capability.Compile(spec.MachineCapabilities, at.Child("machineCapabilities"), cloud.Workers().Definitions()...)
	p.vocabulary, report.Errors = vocabulary, finding.Of(errs)
	report.Add(p.checkWorkerCapabilities())
	report.Add(p.compile())
	p.report = report.Sorted()
	return p, p.report
}

// compile does the work of [Compile], once the vocabulary is there.
func (p *Profile[R]) compile() finding.Report {
	var report finding.Report
	p.ordinary = p.askedBy(provider.Pool{}).set
	p.core = coreVersions(p.spec.MachineImages)
	report.Errors = p.compileMachines()
	if p.parent == nil || p.spec.ProviderConfig != nil { // a NamespacedCloudProfile may do without
		config := p.at.Child("providerConfig")
		read, provided := p.provider.Decode(p.spec.ProviderConfig, config)
		p.images, p.validator, p.unread = read.Images, read.Validator, provider.UnreadIn(provided.Errors, config)
		p.extend(provided.Errors)
		p.aboutVersions(provided.Errors)
		p.aboutVersions(provided.Warnings)
		report.Add(provided)
		report.Add(p.validateConfig())
	}
	usable, errs := p.correspond()
	report.Errors = append(report.Errors, errs...)
	report.Errors = append(report.Errors, p.checkReferences()...)
	p.catalog = imageselector.NewCatalog(p.vocabulary, usable)
	return report
}

// aboutVersions puts the image version before what a provider says about one.
func (p *Profile[R]) aboutVersions(findings finding.List) {
	if len(findings) == 0 {
		return
	}
	for i := range p.images {
		for k := range p.images[i].Versions {
			version := &p.images[i].Versions[k]
			path, name := version.Path.String(), p.images[i].Name+"@"+version.Version
			for f, err := range findings {
				if finding.Above(path, err.Field) && !strings.HasPrefix(err.Detail, name) && version.Version != "" {
					about(name, findings[f:f+1])
				}
			}
		}
	}
}

// Vocabulary returns the profile's vocabulary.
func (p *Profile[R]) Vocabulary() *capability.Vocabulary { return p.vocabulary }

// Catalog returns the image versions that core lists, with the flavors of the provider config. A legacy flavor has the
// capabilities of the core flavor that it corresponds to (semantics S8).
func (p *Profile[R]) Catalog() *imageselector.Catalog[R] { return p.catalog }

// compileMachines compiles the machine types. The first of two with one name counts; core refuses such a profile.
func (p *Profile[R]) compileMachines() finding.List {
	var errs finding.List
	several := len(p.vocabulary.Registered(capability.Architecture)) > 1
	for i := range p.spec.MachineTypes {
		t := &p.spec.MachineTypes[i]
		if _, found := p.machines[t.Name]; found {
			continue
		}
		m := machine{written: t, named: p.namesArchitecture(t)}
		m.set = p.machineSet(t, "")
		p.machines[t.Name] = m
		if !m.named && several && !p.vocabulary.Legacy() && !p.converted(t) {
			errs = append(errs, finding.New(RuleMachineArchitecture, field.ErrorTypeRequired,
				p.at.Child("machineTypes").Index(i).Child("capabilities", capability.Architecture), nil, fmt.Sprintf(
					"machine type %s must name its architecture, because several are registered: one of %s",
					t.Name, finding.Few(p.vocabulary.Registered(capability.Architecture)))))
		}
	}
	return errs
}

// namesArchitecture reports whether a machine type says what architecture it has, in either field.
func (p *Profile[R]) namesArchitecture(t *v1beta1.MachineType) bool {
	_, declared := t.Capabilities[capability.Architecture]
	return declared && !p.vocabulary.Legacy() || t.Architecture != nil && *t.Architecture != ""
}

// machineSet compiles what a machine type supports; its architecture is found in the order of semantics S2. pool is the
// architecture that a worker pool asks for, or empty.
func (p *Profile[R]) machineSet(t *v1beta1.MachineType, pool string) capability.Set {
	declared := v1beta1.Capabilities{}
	if !p.vocabulary.Legacy() {
		declared = maps.Clone(t.Capabilities)
	}
	if _, found := declared[capability.Architecture]; !found {
		if declared == nil {
			declared = v1beta1.Capabilities{}
		}
		declared[capability.Architecture] = v1beta1.CapabilityValues{p.machineArchitecture(t, pool)}
	}
	set, _ := p.vocabulary.Set(declared, nil)
	return set
}

func (p *Profile[R]) machineArchitecture(t *v1beta1.MachineType, pool string) string {
	registered := p.vocabulary.Registered(capability.Architecture)
	switch {
	case t.Architecture != nil && *t.Architecture != "":
		return *t.Architecture
	case p.parent != nil && len(t.Capabilities[capability.Architecture]) > 0: // written in the new format below a legacy parent
		return t.Capabilities[capability.Architecture][0]
	case pool != "":
		return pool
	case len(registered) == 1:
		return registered[0]
	}
	return constants.ArchitectureAMD64
}

// validateConfig asks the provider's own rules about the config of a CloudProfile.
func (p *Profile[R]) validateConfig() finding.Report {
	config := p.at.Child("providerConfig")
	if p.unread.Covers(config) {
		p.validator = nil // nothing of it is known
	}
	if p.validator == nil || p.parent != nil {
		return finding.Report{}
	}
	report := p.validator.ValidateCloudProfile(p.spec, config)
	return finding.Report{Errors: p.unread.Without(report.Errors), Warnings: p.unread.Without(report.Warnings)}
}
