// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
)

// Profile is a compiled CloudProfile: vocabulary, machine types and images. It is immutable and safe for concurrent use. Callers must not
// modify the results of its methods, unless a method says otherwise. [Compile] makes one.
type Profile[R any] struct {
	provider   provider.Provider[R]
	order      capability.Order
	spec       *v1beta1.CloudProfileSpec
	at         *field.Path
	vocabulary *capability.Vocabulary
	catalog    *imageselector.Catalog[R]
	machines   map[string]Machine
	// usable are the names of the usable machine types, in the order of the profile.
	usable []string
	// regions are those of the profile. imageRegions are those for which flavors have references of their own.
	regions      []string
	imageRegions sets.Set[string]
	// ordinary is the request of a worker pool without special settings. simple reports that a pool without settings has only this request,
	// which can be met. follow reports that some requests that apply here may follow from the pool itself.
	ordinary capability.Set
	simple   bool
	follow   bool
	// core holds the image versions of core. If one is listed twice, the first entry wins.
	core map[provider.ImageVersion]*v1beta1.MachineImageVersion
	// names maps reserved capabilities with two names, by canonical name, to the name that the profile uses.
	names map[string]usedName
	// reserved reports whether a machine type or a flavor declares a reserved capability.
	reserved bool
	// offered are the canonical names of the reserved capabilities that flavors of the provider config declare.
	offered sets.Set[string]
	// unlisted are the image versions that the provider config maps, but core does not list.
	unlisted  sets.Set[provider.ImageVersion]
	validator provider.Validator
	// doubtful holds the paths of the flavors in the catalog that the check rejects.
	doubtful map[*field.Path]bool
	faults   finding.Report
	// causes returns the errors that may explain why a worker pool gets no image. It is nil if there are none.
	causes func() causes
	// lost maps image versions that seem to lack a mapping to an unreadable place that may have it.
	lost map[provider.ImageVersion]string
	// mapped are the images of the provider config as written. It is nil in a profile without errors.
	mapped []imageselector.Image[R]
}

// Machine is a machine type of a profile.
type Machine struct {
	// Written is the machine type as written in the profile.
	Written *v1beta1.MachineType
	// Set holds the supported capabilities.
	Set capability.Set
	// Named reports that the machine type names its architecture. If not, a worker pool may.
	Named bool
}

// newProfile makes a Profile from the reading of a whole profile.
func newProfile[R any](r *Reading[R]) *Profile[R] {
	p := &Profile[R]{
		provider: r.provider, order: r.policies.Order, spec: r.Spec, at: r.At, vocabulary: r.vocabulary, catalog: r.Catalog, core: r.core,
		validator: r.validator, doubtful: r.doubtful, regions: r.regions, imageRegions: r.ImageRegions(),
		faults:   finding.Report{Errors: slices.Clone(r.Report.Errors), Silenced: slices.Clone(r.Report.Silenced)}, // the caller owns the report
		machines: make(map[string]Machine, len(r.Spec.MachineTypes)),
		reserved: r.reserved(), offered: r.offered(), unlisted: entries.Unlisted(r.Images, r.core), names: r.names,
	}
	if r.extended != nil {
		p.imageRegions, p.offered = p.imageRegions.Union(r.extended.imageRegions), p.offered.Union(r.extended.offered)
	}
	p.compileMachines()
	ordinary := p.Ask(provider.Pool{})
	p.ordinary = ordinary.Request.Worker
	p.simple = len(ordinary.Unmet)+len(ordinary.Ignored) == 0
	p.follow = slices.ContainsFunc(p.provider.Workers().Settings(), func(q capability.Requirement) bool {
		return provider.FollowsFromPool(q) && !p.vocabulary.Moot(q)
	})
	if len(p.faults.Errors) > 0 {
		p.mapped = r.Images
		p.blame(p.faults.Errors)
		p.findLost(r)
	}
	return p
}

// compileMachines compiles the machine types. If a name is used twice, which core refuses, the first entry wins.
func (p *Profile[R]) compileMachines() {
	for i := range p.spec.MachineTypes {
		t := &p.spec.MachineTypes[i]
		if _, found := p.machines[t.Name]; found {
			continue
		}
		_, declared := t.Capabilities[capability.Architecture]
		named := declared && !p.vocabulary.Legacy() || ptr.Deref(t.Architecture, "") != ""
		p.machines[t.Name] = Machine{Written: t, Set: p.machineSet(t, ""), Named: named}
		if ptr.Deref(t.Usable, true) {
			p.usable = append(p.usable, t.Name)
		}
	}
}

// offered returns the canonical names of the reserved capabilities that flavors of the provider config declare.
func (r *Reading[R]) offered() sets.Set[string] {
	offered := sets.New[string]()
	if !r.reserved() {
		return offered
	}
	for _, version := range entries.Mappings(r.Images) {
		for i := range version.Flavors {
			for name := range version.Flavors[i].Capabilities {
				if strings.HasPrefix(name, capability.ReservedPrefix) {
					offered.Insert(texts.Canonical(name))
				}
			}
		}
	}
	return offered
}

// Provider returns the provider of the profile.
func (p *Profile[R]) Provider() provider.Provider[R] { return p.provider }

// Order returns the preference order for choosing images: that of the provider's policies, or that given to [Profile.ByOrder].
func (p *Profile[R]) Order() capability.Order { return p.order }

// ByOrder returns the profile with another preference order, to compare the two. Everything else is shared.
func (p *Profile[R]) ByOrder(order capability.Order) *Profile[R] {
	other := *p
	other.order = order
	return &other
}

// Spec returns the compiled spec.
func (p *Profile[R]) Spec() *v1beta1.CloudProfileSpec { return p.spec }

// Vocabulary returns the vocabulary.
func (p *Profile[R]) Vocabulary() *capability.Vocabulary { return p.vocabulary }

// Catalog returns the image versions that core lists, with the flavors of the provider config. A legacy flavor has the capabilities of the
// core flavor that it corresponds to (semantics S8).
func (p *Profile[R]) Catalog() *imageselector.Catalog[R] { return p.catalog }

// Validator returns the provider's own rules, or nil if it has none.
func (p *Profile[R]) Validator() provider.Validator { return p.validator }

// Faults returns the errors of the profile, including those silenced because other errors explain them. It has no warnings.
func (p *Profile[R]) Faults() finding.Report { return p.faults }

// Machine returns the machine type with the given name, and whether the profile has it.
func (p *Profile[R]) Machine(name string) (Machine, bool) {
	m, found := p.machines[name]
	return m, found
}

// MachineTypes returns the names of all machine types, sorted. The caller owns the slice.
func (p *Profile[R]) MachineTypes() []string { return slices.Sorted(maps.Keys(p.machines)) }

// Usable returns the names of the usable machine types, in the order of the profile.
func (p *Profile[R]) Usable() []string { return p.usable }

// Regions returns the distinct regions, in the order of the profile.
func (p *Profile[R]) Regions() []string { return p.regions }

// HasRegion reports whether the profile has a region. It is always true for a profile without regions, which core refuses.
func (p *Profile[R]) HasRegion(region string) bool {
	return len(p.regions) == 0 || slices.Contains(p.regions, region)
}

// HasImages reports whether any flavor has a reference of its own for a region.
func (p *Profile[R]) HasImages(region string) bool { return p.imageRegions.Has(region) }

// Version returns an image version as core lists it, or nil. If core lists it twice, the first entry wins.
func (p *Profile[R]) Version(id provider.ImageVersion) *v1beta1.MachineImageVersion {
	return p.core[id]
}

// Doubtful reports whether the check rejects a flavor of the catalog. The flavor is identified by the pointer to its path.
func (p *Profile[R]) Doubtful(flavor *field.Path) bool { return p.doubtful[flavor] }

// Ordinary returns the request of a worker pool without special settings.
func (p *Profile[R]) Ordinary() capability.Set { return p.ordinary }

// Boots reports whether any flavor meets a request.
func (p *Profile[R]) Boots(request imageselector.Request) bool { return p.catalog.Choose(request) >= 0 }

// Offers reports whether a worker capability is registered or, if reserved, declared by a provider flavor or implied by a version of core.
func (p *Profile[R]) Offers(name string) bool {
	name = texts.Canonical(name)
	if p.vocabulary.IsRegistered(name) || p.offered.Has(name) {
		return true
	}
	for _, version := range p.core {
		if _, said := Undeclared(version)[name]; said {
			return true
		}
	}
	return false
}

// OffersTheSame reports whether the flavors of another profile declare the same reserved capabilities.
func (p *Profile[R]) OffersTheSame(other *Profile[R]) bool { return p.offered.Equal(other.offered) }

// Versions yields the image versions that core lists, in order.
func (p *Profile[R]) Versions() iter.Seq[entries.Version] { return entries.Versions(p.spec) }

// LeftToDefault returns the registered capabilities that a machine type supports with several values because it omits them (semantics S2),
// in the order of the vocabulary. It returns nil for an unknown machine type.
func (p *Profile[R]) LeftToDefault(machineType string) []string {
	m, found := p.machines[machineType]
	if !found {
		return nil
	}
	var names []string
	for _, def := range p.vocabulary.Definitions() {
		_, declared := m.Written.Capabilities[def.Name]
		if !declared && len(m.Set.Values(def.Name)) > 1 {
			names = append(names, def.Name)
		}
	}
	return names
}

// MachineFor returns the capabilities of a pool's machine type, and whether the profile has it.
func (p *Profile[R]) MachineFor(pool *provider.Pool) (capability.Set, bool) {
	m, found := p.machines[pool.MachineType]
	if found && !m.Named && pool.Architecture != "" {
		return p.machineSet(m.Written, pool.Architecture), true
	}
	return m.Set, found
}

// machineSet compiles the capabilities of a machine type. It finds the architecture in the order of semantics S2. pool is the architecture
// that a worker pool asks for, or empty.
func (p *Profile[R]) machineSet(t *v1beta1.MachineType, pool string) capability.Set {
	declared := v1beta1.Capabilities{}
	if !p.vocabulary.Legacy() {
		maps.Copy(declared, t.Capabilities)
	}
	if _, found := declared[capability.Architecture]; !found {
		only := ""
		if registered := p.vocabulary.Registered(capability.Architecture); len(registered) == 1 {
			only = registered[0]
		}
		declared[capability.Architecture] = v1beta1.CapabilityValues{
			cmp.Or(ptr.Deref(t.Architecture, ""), pool, only, constants.ArchitectureAMD64),
		}
	}
	set, _ := p.vocabulary.Set(declared, nil)
	return set
}
