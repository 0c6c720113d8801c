// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/strictjson"
)

// withWarnings adds the warnings of semantics S9 that concern one profile alone, and returns the report, sorted. Those
// about what would be chosen are left out in a broken profile: they would only repeat its errors in other words.
func (p *compiler[R]) withWarnings() finding.Report {
	if p.parent == nil {
		p.foreignPrefixes()
	}
	p.findSlips()
	read := !p.unread.Touches(p.at.Child("providerConfig", "machineImages"))
	if read {
		p.unused()
		p.uncovered()
		p.copied()
	}
	if len(p.report.Errors) == 0 {
		p.withoutImage()
		p.onlyOnRequest()
		p.differingOrders()
	}
	if read {
		p.unknownRegions() // which has what follows from it
	}
	p.report.End(p.at.Child("providerConfig"))
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
	mapped := sets.New[string]()
	for i := range p.images {
		mapped.Insert(p.images[i].Name)
	}
	speller := strictjson.NewSpeller(p.imageNames())
	for _, image := range p.images {
		if !listed.Has(image.Name) {
			meant := speller.Slip(image.Name)
			if mapped.Has(meant) {
				meant = ""
			}
			p.report.Found(ruleImageUnused, field.ErrorTypeNotSupported, image.Path, image.Name,
				"image %s is not listed in %s: nobody can use it%s", image.Name, list,
				cmp.Or(strictjson.DidYouMean(meant), "; list it there, or remove it here"))
		}
	}
	meantBy := sync.OnceValue(p.meantBy)
	for id, v := range mappingsOf(p.images) {
		if listed.Has(id.image) && id.image != "" && p.core[id] == nil {
			p.report.Found(ruleVersionUnused, field.ErrorTypeNotSupported, v.Path, id.version,
				"%s is not listed in %s: nobody can use it; %s", id, list, meantBy()(id))
		}
	}
}

// meantBy returns what says which image version of core, of those without a mapping, an entry of the provider config may be for.
// It is the first one that has more parts, or fewer. If there is none, it says what else can be done.
func (p *compiler[R]) meantBy() func(imageVersion) string {
	mapped, unmapped := sets.New[imageVersion](), map[string][]string{}
	for id := range mappingsOf(p.images) {
		mapped.Insert(id)
	}
	for v := range versionsOf(p.spec) {
		if !mapped.Has(v.id) {
			unmapped[v.id.image] = append(unmapped[v.id.image], v.id.version)
		}
	}
	finders := remembering(func(image string) func(string) int { return findAlike(unmapped[image]) })
	return func(id imageVersion) string {
		if i := finders(id.image)(id.version); i >= 0 {
			return fmt.Sprintf("if it is for %s, write that, for versions are compared as text", unmapped[id.image][i])
		}
		return "list it there, or remove it here"
	}
}

// maxAlike bounds the versions that findAlike compares, in bytes.
const maxAlike = 64

// findAlike returns a function that finds the first of some versions that has the parts of another one, and more, or the other way
// round: 1877.5 and 1877.5.0. It returns the index, or -1 if there is none. Each call takes as long as the version has parts,
// however many there are; versions of more than 64 bytes are like none.
func findAlike(versions []string) func(version string) int {
	// exact has the first version of each text, and longer the first that goes on after it with a dot.
	exact, longer := map[string]int{}, map[string]int{}
	for i := len(versions) - 1; i >= 0; i-- {
		for text := range shorter(versions[i]) {
			longer[text] = i
		}
		exact[versions[i]] = i
	}
	return func(version string) int {
		first, found := len(versions), false
		take := func(i int, known bool) {
			if known {
				first, found = min(first, i), true
			}
		}
		i, known := longer[version]
		take(i, known)
		for text := range shorter(version) {
			i, known := exact[text]
			take(i, known)
		}
		if !found {
			return -1
		}
		return first
	}
}

// shorter yields what a version is without its last part, without its last two, and so on: each of them not empty.
func shorter(version string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if len(version) > maxAlike {
			return
		}
		for end := strings.LastIndexByte(version, '.'); end > 0 && yield(version[:end]); {
			end = strings.LastIndexByte(version[:end], '.')
		}
	}
}

// uncovered warns about flavors that have no reference in a region of the profile, or only a fallback.
func (p *compiler[R]) uncovered() {
	type said struct{ slip, at string }
	warned := sets.New[said]()
	for v := range versionsOf(p.spec) {
		flavors := p.catalog.Flavors(v.id.image, v.id.version)
		for i := range flavors {
			if len(p.report.Warnings) >= finding.Most {
				p.report.WarningsLeftOut = true
				return
			}
			flavor := &flavors[i]
			without := p.regionsWithout(flavor)
			if len(without) == 0 || p.doubtful[flavor.Path] {
				continue
			}
			for slip, regions := range slipsOf(flavor.Regional, p.slips).explaining(without) {
				warning := p.gap(v.id, flavor, regions)
				if id := (said{slip, warning.Field}); !warned.Has(id) { // a legacy flavor that stands for several core flavors is one to its writer
					warned.Insert(id)
					p.warnUnless(slip, warning)
				}
			}
		}
	}
}

// gap is the warning that a flavor has no reference in some regions, or only a fallback.
func (p *compiler[R]) gap(id imageVersion, flavor *imageselector.Flavor[R], without []string) finding.Finding {
	regions, written := counted("region", without), p.vocabulary.Format(flavor.Capabilities)
	if flavor.Global != nil {
		return fault(ruleFallback, field.ErrorTypeRequired, flavor.Global.Path, nil,
			"%s: in %s flavor %s is found by its image name only, which need not be unique; add the image ID for the region under regions", id, regions, written)
	}
	return fault(ruleRegionUncovered, field.ErrorTypeRequired, flavor.Path, nil,
		"%s: flavor %s has no image in %s: worker pools there cannot use it; add one, unless that is meant", id, written, regions)
}

// regionsWithout returns the regions of the profile in which a flavor has no reference but a fallback; none if it has
// no reference at all, which is an error.
func (p *compiler[R]) regionsWithout(flavor *imageselector.Flavor[R]) []string {
	if flavor.Global == nil && len(flavor.Regional) == 0 || flavor.Global != nil && !flavor.Global.Fallback {
		return nil
	}
	missing := without(flavor, p.regions)
	if empty := sets.New(p.empty[flavor.Path]...); len(empty) > 0 {
		missing = slices.DeleteFunc(missing, empty.Has) // which is an error already
	}
	return missing
}

// unknownRegions warns about regions of the provider config that the profile does not have, once for each.
func (p *compiler[R]) unknownRegions() {
	unknown, known := map[string][]*field.Path{}, sets.New(p.regions...)
	for reference := range regionsOf(p.images) {
		if reference.Region != "" && !known.Has(reference.Region) {
			unknown[reference.Region] = append(unknown[reference.Region], reference.Path)
		}
	}
	list := p.at.Child("regions").String()
	if p.parent != nil {
		list = "the regions of CloudProfile " + p.parent.name
	}
	for _, region := range slices.Sorted(maps.Keys(unknown)) {
		places := unknown[region]
		references := "1 reference"
		if len(places) > 1 {
			references = fmt.Sprintf("%d references", len(places))
		}
		meant := strictjson.DidYouMean(p.slips[region])
		warning := fault(ruleRegionUnknown, field.ErrorTypeNotSupported, places[0].Child("name"), region,
			"region %s is not in %s (%s): %s to it cannot be used%s", region, list, finding.Few(p.regions), references, meant)
		warning.Instead = p.followed[region]
		if !p.report.Warn(warning) {
			return
		}
	}
}

// withoutImage warns about machine types that no active image version fits in some region.
func (p *compiler[R]) withoutImage() {
	offers := p.activeOffers()
	regionsWithout := remembering(func(machine capability.Set) map[string][]string {
		var without []string
		for i, region := range p.regions {
			if !fitsAny(machine, offers[i]) {
				without = append(without, region)
			}
		}
		return p.slips.explaining(without)
	})
	for i := range p.spec.MachineTypes {
		t := &p.spec.MachineTypes[i]
		if !ptr.Deref(t.Usable, true) {
			continue
		}
		machine := p.machines[t.Name].set
		fitted := slices.ContainsFunc(offers, func(there sets.Set[capability.Set]) bool { return fitsAny(machine, there) })
		for slip, regions := range regionsWithout(machine) {
			p.warnUnless(slip, fault(ruleMachineWithoutImage, field.ErrorTypeInvalid, p.at.Child("machineTypes").Index(i), t.Name,
				"machine type %s: %s", t.Name, p.nothingFits(t, regions, fitted)))
		}
	}
}

// nothingFits says that no image version fits a machine type in some regions, and what to do; fitted: some do in others.
func (p *compiler[R]) nothingFits(t *v1beta1.MachineType, regions []string, fitted bool) string {
	if !fitted {
		has := v1beta1.Capabilities{capability.Architecture: p.machines[t.Name].set.Values(capability.Architecture)}
		if !p.vocabulary.Legacy() {
			maps.Copy(has, t.Capabilities)
		}
		return fmt.Sprintf("no image version fits its %s in %s; add a flavor that does, in spec.machineImages and the provider config, or remove the machine type",
			p.vocabulary.Format(has), counted("region", regions))
	}
	add := "one"
	if len(regions) > 1 {
		add = "one for each"
	}
	return fmt.Sprintf("no image version that fits it has an image in %s; add %s to the provider config", counted("region", regions), add)
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
				"%s: for machine %s the order of GEP-0033, which is used here, prefers %s; for the first, change nothing; "+
					"for the second, narrow the capabilities of the machine type until no other fits; capkit explain shows both",
				v.id, counted("type", types), p.preferences(v.id, types))
		}
	}
}

// preferences says which flavors of an image version the two orders pick for the first of some machine types, where they differ:
// "flavor A, and that of the gardener library B".
func (p *compiler[R]) preferences(id imageVersion, types []string) string {
	on := ""
	if len(types) > 1 {
		on = " on " + types[0]
	}
	for _, region := range p.regions {
		var picks [2]string
		for i, order := range []capability.Order{capability.GEP33, capability.Gardener} {
			request := imageselector.Request{
				Image: id.image, Version: id.version, Region: region, Machine: p.machines[types[0]].set, Worker: p.ordinary, Order: order,
			}
			if chosen := p.catalog.Choose(request); chosen >= 0 {
				picks[i] = p.vocabulary.Format(p.catalog.Flavors(id.image, id.version)[chosen].Capabilities)
			}
		}
		if picks[0] != picks[1] {
			return fmt.Sprintf("flavor %s%s, and that of the gardener library %s", picks[0], on, picks[1])
		}
	}
	return "another flavor" + on + " than that of the gardener library"
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
					"capability %s carries the prefix of provider %s, but this profile is for %s; remove it, or choose a name without the prefix of a provider",
					def.Name, strings.TrimSuffix(prefix, "-"), p.provider.Type())
			}
		}
	}
}

// SizeLimit is how many bytes an object may have that etcd stores, as long as nobody has raised its limit; GEP-0033 makes it a hard
// limit for CloudProfiles.
const SizeLimit = 3 << 19

// checkSize warns when a profile comes near the limit, and above it: whoever runs etcd may have raised it.
func (p *compiler[R]) checkSize(profile *v1beta1.CloudProfile) {
	size, state := profile.Size(), "comes near"
	if size <= SizeLimit*3/4 {
		return
	}
	if size > SizeLimit {
		state = "is above"
	}
	p.report.Warnings = append(p.report.Warnings, fault(RuleSize, field.ErrorTypeTooLong, field.NewPath("spec"), nil,
		"the CloudProfile has %d KiB, which %s the %d KiB that can be stored; remove expired image versions and what nobody uses",
		size>>10, state, SizeLimit>>10))
}
