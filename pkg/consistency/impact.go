// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// Compare warns about what an update of a profile does to those who use it (semantics S9), sorted by path: other
// flavors for machine types; machine types and mappings removed that worker pools use. Paths are those of the updated
// profile.
func (p *Profile[R]) Compare(updated *Profile[R], uses []Use) finding.List {
	var report finding.Report
	p.changedChoices(updated, &report)
	p.brokenUses(updated, uses, &report)
	return report.Sorted().Warnings
}

// Use is a Shoot that uses a CloudProfile.
type Use struct {
	Namespace, Name string
	Pools           []provider.Pool
}

// changedChoices warns about machine types that boot another flavor after the update, while the one so far would still
// do: once for each image version, naming the machine types.
func (p *Profile[R]) changedChoices(updated *Profile[R], report *finding.Report) {
	for v := range versionsOf(updated.spec) {
		before, after := p.catalog.Flavors(v.id.image, v.id.version), updated.catalog.Flavors(v.id.image, v.id.version)
		if !v.active() || len(before) == 0 || len(after) < 2 { // there is nothing to choose
			continue
		}
		differs := remembering(func(machine [2]capability.Set) bool {
			return slices.ContainsFunc(updated.regions, func(region string) bool {
				return p.otherChoice(updated, v.id, region, machine)
			})
		})
		types := slices.DeleteFunc(slices.Clone(updated.usable), func(name string) bool {
			was, found := p.machines[name]
			return !found || !differs([2]capability.Set{was.set, updated.machines[name].set})
		})
		if len(types) > 0 {
			report.Found(ruleChoiceChanged, field.ErrorTypeInvalid, updated.pathOf(v), v.Version,
				"%s: new machines of machine %s boot another flavor than the existing ones, which would still do",
				v.id, counted("type", types))
		}
	}
}

// otherChoice reports whether the updated profile chooses another flavor of an image version, although it still has the
// one that p chooses. machine is what the machine type supports, before and after.
func (p *Profile[R]) otherChoice(updated *Profile[R], id imageVersion, region string, machine [2]capability.Set) bool {
	request := imageselector.Request{Image: id.image, Version: id.version, Region: region}
	request.Machine, request.Worker = machine[0], p.ordinary
	before := p.catalog.Choose(request)
	request.Machine, request.Worker = machine[1], updated.ordinary
	after := updated.catalog.Choose(request)
	if before < 0 || after < 0 {
		return false
	}
	was, flavors := &p.catalog.Flavors(id.image, id.version)[before], updated.catalog.Flavors(id.image, id.version)
	if sameReference(was, &flavors[after], region) {
		return false
	}
	same := p.like(id, was.Capabilities, updated)
	return !same(flavors[after]) && slices.ContainsFunc(flavors, func(f imageselector.Flavor[R]) bool {
		if _, found := f.Reference(region); !found || !same(f) {
			return false
		}
		set, _ := updated.vocabulary.Flavor(f.Capabilities, undeclaredBy(updated.core[id]), nil)
		return set.Fits(request.Machine, request.Worker)
	})
}

// like returns what reports whether a flavor of the updated profile is a given one of p's image version: if they are
// written with the same values, in whatever order, or if they support the same once omissions are filled in. The two
// vocabularies may differ.
func (p *Profile[R]) like(
	id imageVersion, flavor v1beta1.Capabilities, updated *Profile[R],
) func(imageselector.Flavor[R]) bool {
	full := p.inFull(id, flavor)
	return func(other imageselector.Flavor[R]) bool {
		return sameValues(flavor, other.Capabilities) || sameValues(full, updated.inFull(id, other.Capabilities))
	}
}

// sameReference reports whether two flavors have the same reference in a region.
func sameReference[R any](a, b *imageselector.Flavor[R], region string) bool {
	x, found := a.Reference(region)
	y, also := b.Reference(region)
	return found && also && reflect.DeepEqual(x, y)
}

// inFull returns the capabilities of a flavor with omissions filled in (semantics S2). Of worker capabilities (S3) it
// only writes out what the version says of those that are left out, and leaves out what is the same as nothing.
func (p *Profile[R]) inFull(id imageVersion, written v1beta1.Capabilities) v1beta1.Capabilities {
	full := clone(written)
	for name, values := range undeclaredBy(p.core[id]) {
		if _, declared := written[name]; !declared && !p.vocabulary.IsRegistered(name) {
			full[name] = values
		}
	}
	set, _ := p.vocabulary.Flavor(full, nil, nil)
	return set.Capabilities()
}

// sameValues reports whether two flavors have the same capabilities with the same values, in whatever order.
func sameValues(a, b v1beta1.Capabilities) bool {
	within := func(values, others []string) bool {
		return !slices.ContainsFunc(values, func(value string) bool { return !slices.Contains(others, value) })
	}
	return maps.EqualFunc(a, b, func(values, others v1beta1.CapabilityValues) bool {
		return within(values, others) && within(others, values)
	})
}

// brokenUses warns about machine types that are gone and used, and about pools that lose their image in another way.
func (p *Profile[R]) brokenUses(updated *Profile[R], shoots []Use, report *finding.Report) {
	shoots = slices.SortedFunc(slices.Values(shoots), func(a, b Use) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	gone, unmapped := map[string][]string{}, map[lost][]string{}
	workers, known := p.provider.Workers(), map[provider.Shape]*lost{} // thousands of worker pools may be alike
	for _, shoot := range shoots {
		name := shoot.Namespace + "/" + shoot.Name
		for _, pool := range shoot.Pools {
			_, had := p.machines[pool.MachineType]
			_, has := updated.machines[pool.MachineType]
			if had && !has {
				gone[pool.MachineType] = append(gone[pool.MachineType], name)
				continue
			}
			shape := workers.ShapeOf(&pool)
			use, done := known[shape]
			if !done {
				use = p.loses(updated, pool)
				known[shape] = use
			}
			if use != nil {
				unmapped[*use] = append(unmapped[*use], name)
			}
		}
	}
	then := "their worker pools get no new machines"
	if len(updated.spec.MachineCapabilities) > 0 {
		then = "no later update of them passes Gardener, not even the confirmation of their deletion"
	}
	for name, users := range gone {
		report.Found(ruleMachineTypeInUse, field.ErrorTypeForbidden, updated.at.Child("machineTypes"), name,
			"machine type %s is removed and still used by %s; %s; put it back with usable: false until nobody uses it",
			name, shootsOf(users), then)
	}
	for use, users := range unmapped {
		at := updated.at.Child("providerConfig", "machineImages")
		if use.how == lostFit || use.how == lostUpdates {
			at = updated.at.Child("machineImages")
		}
		report.Found(ruleMappingInUse, field.ErrorTypeForbidden, at, use.image.String(),
			"%s: "+use.how+" until nobody uses it", use.image, shootsOf(users))
	}
}

// shootsOf names the Shoots of worker pools, which are given in order with a name for each pool, and counts the pools.
func shootsOf(pools []string) string {
	return fmt.Sprintf("%s (%s)", counted("Shoot", slices.Compact(slices.Clone(pools))), finding.Count(len(pools), "pool"))
}

// TypeInUse returns the error for an update that gives a CloudProfile another type while others use it (semantics S10).
// users names them, as "Shoot garden-demo/shop", in the order in which they are shown.
func TypeInUse(updated, old *v1beta1.CloudProfile, users []string) finding.Finding {
	from, to := finding.Quoted(old.Spec.Type), finding.Quoted(updated.Spec.Type)
	return fault(ruleTypeInUse, field.ErrorTypeForbidden, field.NewPath("spec", "type"), updated.Spec.Type,
		"the type cannot be changed from %s to %s while the CloudProfile is used by %s; "+
			"leave it as it is, and create another CloudProfile for type %s", from, to, finding.Few(users), to)
}

// lost is an image version of which worker pools lose something, and how, with a place for the names of their Shoots.
type lost struct {
	image imageVersion
	how   string
}

const (
	lostFlavor = "the image that worker pools of %s boot is removed, and new machines boot another one; " +
		"put the flavor or the reference back"
	lostAll = "no image is left for worker pools of %s: they get no new machines; put the flavor or the reference back"
	lostFit = "the image is still there, but worker pools of %s cannot boot it any more, because what is said about it " +
		"or about their machine types has changed: they get no new machines; leave that as it was"
	lostUpdates = "no flavor in core fits the machine types of worker pools of %s any more: Gardener then refuses every " +
		"update of these Shoots, even the confirmation of their deletion; leave that as it was"
)

// loses returns what a worker pool loses by an update; nil if it loses nothing, of what there is to lose: that its Shoot
// can be updated, and an image.
func (p *Profile[R]) loses(updated *Profile[R], pool provider.Pool) *lost {
	id, was := imageVersion{pool.Image, pool.Version}, p.bootedBy(pool)
	if updated.locks(pool) && !p.locks(pool) {
		return &lost{id, lostUpdates}
	}
	if was == nil {
		return nil
	}
	is, kept := updated.bootedBy(pool), p.keeps(updated, pool, was)
	switch {
	case is == nil && kept:
		return &lost{id, lostFit}
	case is == nil:
		return &lost{id, lostAll}
	case !kept && !sameReference(was, is, pool.Region):
		return &lost{id, lostFlavor}
	}
	return nil
}

// locks reports whether Gardener refuses every update of a Shoot with a worker pool, since no core flavor of its image
// version fits its machine type (semantics S16). The rule is validateMachineCapabilities in the admission plugin
// ShootValidator of Gardener v1.150, which does not look at the Shoot as it is stored.
func (p *Profile[R]) locks(pool provider.Pool) bool {
	version := p.core[imageVersion{pool.Image, pool.Version}]
	machineType := v1beta1helper.FindMachineTypeByName(p.spec.MachineTypes, pool.MachineType)
	return version != nil && machineType != nil && len(p.spec.MachineCapabilities) > 0 &&
		!v1beta1helper.AreCapabilitiesSupportedByImageFlavors(
			machineType.Capabilities, version.CapabilityFlavors, p.spec.MachineCapabilities)
}

// bootedBy returns the flavor that a worker pool boots; nil if it gets no image.
func (p *Profile[R]) bootedBy(pool provider.Pool) *imageselector.Flavor[R] {
	r, request, _ := p.ask(pool)
	if r.Reason != "" || !p.choose(&r, request) {
		return nil
	}
	return &p.all.Flavors(pool.Image, pool.Version)[r.Decision.Chosen]
}

// keeps reports whether the updated profile still has the flavor that a pool boots, in its region, fitting or not.
func (p *Profile[R]) keeps(updated *Profile[R], pool provider.Pool, booted *imageselector.Flavor[R]) bool {
	same := p.like(imageVersion{pool.Image, pool.Version}, booted.Capabilities, updated)
	return slices.ContainsFunc(updated.all.Flavors(pool.Image, pool.Version), func(f imageselector.Flavor[R]) bool {
		_, found := f.Reference(pool.Region)
		return found && same(f)
	})
}
