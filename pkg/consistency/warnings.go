// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// withWarnings adds the warnings of semantics S9 that concern one profile alone, and returns the report, sorted. Those
// about what would be chosen are left out in a broken profile: they would only repeat its errors in other words.
func (p *compiler[R]) withWarnings() finding.Report {
	if p.parent == nil {
		p.foreignPrefixes()
	}
	if len(p.unread) == 0 {
		p.unused()
		p.uncovered()
		p.unknownRegions()
	}
	if len(p.report.Errors) == 0 {
		p.withoutImage()
		p.onlyOnRequest()
		p.differingOrders()
	}
	return p.report.Sorted()
}

// unused warns about images and versions of the provider config that core does not list.
func (p *compiler[R]) unused() {
	images := p.spec.MachineImages
	if p.parent != nil {
		images = slices.Concat(images, p.parent.profile.spec.MachineImages)
	}
	listed := sets.New[string]("") // a missing name is an error already
	for _, image := range images {
		listed.Insert(image.Name)
	}
	list := p.at.Child("machineImages")
	for _, image := range p.images {
		if !listed.Has(image.Name) {
			p.report.Found(ruleImageUnused, field.ErrorTypeNotSupported, image.Path, image.Name,
				"image %s is not listed in %s: nobody can use it", image.Name, list)
		}
	}
	for id, v := range mappingsOf(p.images) {
		if listed.Has(id.image) && id.image != "" && p.core[id] == nil {
			p.report.Found(ruleVersionUnused, field.ErrorTypeNotSupported, v.Path, id.version,
				"%s is not listed in %s: nobody can use it", id, list)
		}
	}
}

// uncovered warns about flavors that have no reference in a region of the profile, or only a fallback.
func (p *compiler[R]) uncovered() {
	warned := sets.New[string]()
	for v := range versionsOf(p.spec) {
		flavors := p.catalog.Flavors(v.id.image, v.id.version)
		for i := range flavors {
			flavor := &flavors[i]
			without := p.regionsWithout(flavor)
			if len(without) == 0 || p.doubtful[flavor.Path] {
				continue
			}
			regions, written := counted("region", without), p.vocabulary.Format(flavor.Capabilities)
			rule, at := ruleRegionUncovered, flavor.Path
			says := fmt.Sprintf("flavor %s has no image in %s: worker pools there cannot use it", written, regions)
			if flavor.Global != nil {
				rule, at = ruleFallback, flavor.Global.Path
				says = fmt.Sprintf("in %s flavor %s is found by its image name only, which need not be unique; "+
					"add the image ID for the region", regions, written)
			}
			warning := fault(rule, field.ErrorTypeRequired, at, nil, "%s: %s", v.id, says)
			if !warned.Has(warning.Field) { // a legacy flavor that stands for several core flavors is one to its writer
				warned.Insert(warning.Field)
				p.report.Warnings = append(p.report.Warnings, warning)
			}
		}
	}
}

// regionsWithout returns the regions of the profile in which a flavor has no reference but a fallback; none if it has
// no reference at all, which is an error.
func (p *compiler[R]) regionsWithout(flavor *imageselector.Flavor[R]) []string {
	if flavor.Global == nil && len(flavor.Regional) == 0 || flavor.Global != nil && !flavor.Global.Fallback {
		return nil
	}
	var without []string
	for _, region := range p.regions {
		if !slices.ContainsFunc(flavor.Regional, func(r imageselector.Regional[R]) bool { return r.Region == region }) {
			without = append(without, region)
		}
	}
	return without
}

// unknownRegions warns about regions of the provider config that the profile does not have, once for each.
func (p *compiler[R]) unknownRegions() {
	unknown := map[string][]*field.Path{}
	for reference := range regionsOf(p.images) {
		if reference.Region != "" && !slices.Contains(p.regions, reference.Region) {
			unknown[reference.Region] = append(unknown[reference.Region], reference.Path)
		}
	}
	list := p.at.Child("regions").String()
	if p.parent != nil {
		list = "the regions of CloudProfile " + p.parent.name
	}
	for region, places := range unknown {
		references := "1 reference"
		if len(places) > 1 {
			references = fmt.Sprintf("%d references", len(places))
		}
		p.report.Found(ruleRegionUnknown, field.ErrorTypeNotSupported, places[0].Child("name"), region,
			"region %s is not in %s (%s): %s to it cannot be used", region, list, finding.Few(p.regions), references)
	}
}

// withoutImage warns about machine types that no active image version fits in some region.
func (p *compiler[R]) withoutImage() {
	offers := p.activeOffers()
	regionsWithout := remembering(func(machine capability.Set) []string {
		var without []string
		for i, region := range p.regions {
			if !fitsAny(machine, offers[i]) {
				without = append(without, region)
			}
		}
		return without
	})
	for i := range p.spec.MachineTypes {
		t := &p.spec.MachineTypes[i]
		if !ptr.Deref(t.Usable, true) {
			continue
		}
		if regions := regionsWithout(p.machines[t.Name].set); len(regions) > 0 {
			p.report.Found(ruleMachineWithoutImage, field.ErrorTypeInvalid, p.at.Child("machineTypes").Index(i), t.Name,
				"machine type %s: no image version fits it in %s", t.Name, counted("region", regions))
		}
	}
}

func fitsAny(machine capability.Set, offers sets.Set[capability.Set]) bool {
	for offer := range offers {
		if offer.Compatible(machine) {
			return true
		}
	}
	return false
}

// remembering returns f, which is asked only once for each key.
func remembering[K comparable, V any](f func(K) V) func(K) V {
	known := map[K]V{}
	return func(key K) V {
		value, done := known[key]
		if !done {
			value = f(key)
			known[key] = value
		}
		return value
	}
}

// counted names a few things of a kind, in the singular if there is only one: "regions a, b".
func counted(noun string, names []string) string {
	return finding.Plural(names, noun) + " " + finding.Few(names)
}

// activeOffers returns, for each region, what the flavors of active image versions support there, those of the parent
// included. Those may have another lifecycle here.
func (p *compiler[R]) activeOffers() []sets.Set[capability.Set] {
	all := make([]sets.Set[capability.Set], len(p.regions))
	for i := range all {
		all[i] = sets.New[capability.Set]()
	}
	add := func(catalog *imageselector.Catalog[R], id imageVersion) {
		for i, region := range p.regions {
			all[i].Insert(catalog.Offers(id.image, id.version, region)...)
		}
	}
	own := map[imageVersion]bool{}
	for v := range versionsOf(p.spec) {
		if own[v.id] = v.active(); own[v.id] {
			add(p.catalog, v.id)
		}
	}
	if p.parent != nil {
		for v := range versionsOf(p.parent.profile.spec) {
			if active, redefined := own[v.id]; active || !redefined && v.active() {
				add(p.parent.profile.catalog, v.id)
			}
		}
	}
	return all
}

// differingOrders warns about image versions of which the two preference orders pick different flavors for some usable
// machine type (semantics S5), once for each active version.
func (p *compiler[R]) differingOrders() {
	for v := range versionsOf(p.spec) {
		if !v.active() {
			continue
		}
		offers := make([][]capability.Set, 0, len(p.regions))
		for _, region := range p.regions {
			offers = append(offers, p.catalog.Offers(v.id.image, v.id.version, region))
		}
		offers = slices.CompactFunc(offers, slices.Equal[[]capability.Set]) // mostly regions have the same
		types := p.typesAmong(func(machine capability.Set) bool {
			return slices.ContainsFunc(offers, func(there []capability.Set) bool { return p.ordersDiffer(there, machine) })
		})
		if len(types) > 0 {
			p.report.Found(ruleOrderDiffers, field.ErrorTypeInvalid, p.pathOf(v), v.Version,
				"%s: for machine %s the order of GEP-0033 and that of the gardener library pick different flavors",
				v.id, counted("type", types))
		}
	}
}

// ordersDiffer reports whether the two orders pick different ones of the flavors that fit a machine type.
func (p *compiler[R]) ordersDiffer(offers []capability.Set, machine capability.Set) bool {
	var best [2]capability.Set
	for _, offer := range offers {
		if !offer.Fits(machine, p.ordinary) {
			continue
		}
		for i, order := range []capability.Order{capability.GEP33, capability.Gardener} {
			if best[i] == (capability.Set{}) || capability.Compare(offer, best[i], machine, p.ordinary, order).Sign < 0 {
				best[i] = offer
			}
		}
	}
	return best[0] != best[1]
}

// typesAmong returns the usable machine types, in their order, of which a predicate holds.
func (p *Profile[R]) typesAmong(holds func(machine capability.Set) bool) []string {
	holds = remembering(holds) // many machine types support the same
	var types []string
	for _, name := range p.usable {
		if holds(p.machines[name].set) {
			types = append(types, name)
		}
	}
	return types
}

// knownPrefixes are the prefixes by which the providers named in GEP-0033, and those with a prefix of their own since,
// mark their capabilities: the provider type with a dash (GEP-0054).
var knownPrefixes = []string{"alicloud-", "aws-", "azure-", "gcp-", "local-", "openstack-"}

// foreignPrefixes warns about registered capabilities that carry the prefix of another provider.
func (p *compiler[R]) foreignPrefixes() {
	for i, def := range p.spec.MachineCapabilities {
		for _, prefix := range knownPrefixes {
			if strings.HasPrefix(def.Name, prefix) && prefix != p.provider.Type()+"-" {
				at := p.at.Child("machineCapabilities").Index(i).Child("name")
				p.report.Found(ruleForeignPrefix, field.ErrorTypeInvalid, at, def.Name,
					"capability %s carries the prefix of provider %s, but this profile is for %s",
					def.Name, strings.TrimSuffix(prefix, "-"), p.provider.Type())
			}
		}
	}
}

// etcd refuses objects above sizeLimit bytes; GEP-0033 makes it a hard limit for CloudProfiles.
const sizeLimit = 3 << 19

// checkSize warns when a profile comes near the limit, or is above it.
func (p *compiler[R]) checkSize(profile *v1beta1.CloudProfile) {
	size, state := profile.Size(), "comes near"
	if size <= sizeLimit*3/4 {
		return
	}
	if size > sizeLimit {
		state = "is above"
	}
	p.report.Found(ruleSize, field.ErrorTypeTooLong, field.NewPath("spec"), nil,
		"the CloudProfile has %d KiB, which %s the %d KiB that can be stored; remove expired image versions and what nobody uses",
		size>>10, state, sizeLimit>>10)
}
