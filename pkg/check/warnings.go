// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"fmt"
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
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// withWarnings adds the warnings of semantics S9 about a single profile, and returns the sorted report. Warnings about choices are left out
// if the profile has errors, or cannot be merged into its parent, because they would only repeat these.
func (c *checker[R]) withWarnings() finding.Report {
	c.foreignPrefixes()
	c.ofMachineTypes()
	c.firstText()
	c.silent()
	c.findSlips()
	read := !c.Unread.Touches(c.At.Child("providerConfig", "machineImages")) && !c.partsUnread()
	if read {
		c.unused()
		c.withoutAnything()
		c.uncovered()
		c.copied()
	}
	if len(c.Report.Errors)+len(c.Report.Silenced) == 0 && !c.unrendered {
		c.kinds = c.kindsOfMachines()
		c.withoutImage()
		c.undeclared()
		c.onlyOnRequest()
		c.differingOrders()
	}
	if read {
		c.unknownRegions() // includes the warnings that follow
	}
	c.Report.End(c.At.Child("providerConfig"))
	return c.Report.Sorted()
}

// partsUnread reports whether any part of an image version could not be read.
func (c *checker[R]) partsUnread() bool {
	for _, version := range entries.Mappings(c.Images) {
		if c.Unread.Touches(version.Path) {
			return true
		}
	}
	return false
}

// unused warns about images and versions of the provider config that core does not list.
func (c *checker[R]) unused() {
	listed := sets.New[string]("") // a missing name is an error already
	for _, image := range c.profile.Spec().MachineImages {
		listed.Insert(image.Name)
	}
	list := c.At.Child("machineImages")
	mapped := sets.New[string]()
	for i := range c.Images {
		mapped.Insert(c.Images[i].Name)
	}
	speller := words.NewSpeller(entries.Images(c.Spec))
	for _, image := range c.Images {
		if !listed.Has(image.Name) {
			meant := speller.Slip(image.Name)
			if mapped.Has(meant) {
				meant = ""
			}
			c.Report.Found(ruleImageUnused, field.ErrorTypeNotSupported, image.Path, image.Name,
				"image %s is not listed in %s: nobody can use it%s", image.Name, list,
				cmp.Or(words.DidYouMean(meant), "; list it there, or remove it here"))
		}
	}
	meantBy := sync.OnceValue(c.meantBy)
	for id, v := range entries.Mappings(c.Images) {
		if listed.Has(id.Image) && id.Image != "" && id.Version != "" && c.profile.Version(id) == nil {
			c.Report.Found(ruleVersionUnused, field.ErrorTypeNotSupported, v.Path, id.Version,
				"%s is not listed in %s: nobody can use it; %s", id, list, meantBy()(id))
		}
	}
}

// meantBy returns a function that names the unmapped image version of core that an entry of the provider config may be for: the first that
// has more or fewer parts. If there is none, the function returns other advice.
func (c *checker[R]) meantBy() func(provider.ImageVersion) string {
	mapped, unmapped := sets.New[provider.ImageVersion](), map[string][]string{}
	for id := range entries.Mappings(c.Images) {
		mapped.Insert(id)
	}
	for v := range c.Versions() {
		if !mapped.Has(v.ID) {
			unmapped[v.ID.Image] = append(unmapped[v.ID.Image], v.ID.Version)
		}
	}
	finders := map[string]func(string) int{}
	return func(id provider.ImageVersion) string {
		find := memo.Get(finders, id.Image, func() func(string) int { return words.FindAlike(unmapped[id.Image]) })
		if i := find(id.Version); i >= 0 {
			return fmt.Sprintf("if it is for %s, write that, because versions are compared as text", unmapped[id.Image][i])
		}
		return "list it there, or remove it here"
	}
}

// uncovered warns about flavors without a reference, or with only a fallback, in a region of the profile.
func (c *checker[R]) uncovered() {
	type said struct{ slip, at string }
	warned := sets.New[said]()
	for v := range c.Versions() {
		flavors := c.Catalog.Flavors(v.ID.Image, v.ID.Version)
		for i := range flavors {
			if len(c.Report.Warnings) >= finding.Most {
				c.Report.WarningsLeftOut = true
				return
			}
			flavor := &flavors[i]
			without := c.regionsWithout(flavor)
			if len(without) == 0 || c.Doubtful(flavor.Path) || len(without) == 1 && nameless(flavor.Regional) {
				continue
			}
			for slip, regions := range slipsOf(flavor.Regional, c.slips).explaining(without) {
				warning := c.gap(v.ID, flavor, regions)
				if id := (said{slip, warning.Field}); !warned.Has(id) { // one legacy flavor may appear as several
					warned.Insert(id)
					c.warnUnless(slip, warning)
				}
			}
		}
	}
}

// nameless reports whether a reference lacks the name of its region, which is an error.
func nameless[R any](references []imageselector.Regional[R]) bool {
	return slices.ContainsFunc(references, func(r imageselector.Regional[R]) bool { return r.Region == "" })
}

// gap returns the warning that a flavor has no reference, or only a fallback, in some regions.
func (c *checker[R]) gap(id provider.ImageVersion, flavor *imageselector.Flavor[R], without []string) finding.Finding {
	regions, written := counted("region", without), c.profile.Vocabulary().Format(flavor.Capabilities)
	if flavor.Global != nil {
		return ruleFallback.Fault(field.ErrorTypeRequired, flavor.Global.Path, nil,
			"%s: in %s flavor %s is referenced by name only, and names may be ambiguous; add the image ID for the region under regions", id, regions, written)
	}
	return ruleRegionUncovered.Fault(field.ErrorTypeRequired, flavor.Path, nil,
		"%s: flavor %s has no image in %s: worker pools there cannot use it; add one, or ignore this if it is intentional", id, written, regions)
}

// regionsWithout returns the regions of the profile in which a flavor has no reference, or only a fallback. It returns none for a flavor
// without any reference, because that is an error.
func (c *checker[R]) regionsWithout(flavor *imageselector.Flavor[R]) []string {
	if flavor.Global == nil && len(flavor.Regional) == 0 || flavor.Global != nil && !flavor.Global.Fallback {
		return nil
	}
	missing := entries.Without(flavor, c.imaged)
	if empty := sets.New(c.EmptyIn(flavor.Path)...); len(empty) > 0 {
		missing = slices.DeleteFunc(missing, empty.Has) // already an error
	}
	return missing
}

// unknownRegions warns once about each region of the provider config that the profile lacks.
func (c *checker[R]) unknownRegions() {
	unknown, known := map[string][]*imageselector.Regional[R]{}, sets.New(c.profile.Regions()...)
	for reference := range entries.References(c.Images) {
		if reference.Region != "" && !known.Has(reference.Region) {
			unknown[reference.Region] = append(unknown[reference.Region], reference)
		}
	}
	speller := words.NewSpeller(c.profile.Regions())
	for _, region := range slices.Sorted(maps.Keys(unknown)) {
		places := unknown[region]
		references := "1 reference"
		if len(places) > 1 {
			references = fmt.Sprintf("%d references", len(places))
		}
		meant := words.DidYouMean(c.slips[region])
		warning := ruleRegionUnknown.Fault(field.ErrorTypeNotSupported, places[0].NamePath(), region,
			"region %s is not in %s (%s): %s to it cannot be used%s", words.Quoted(region), c.regions, words.Few(c.profile.Regions()), references, meant)
		warning.Implied = c.followed[region]
		warning.Suggestion = finding.Suggest(finding.ReplaceRegion, region, c.slips[region], speller.Certain(region))
		if !c.Report.Warn(warning) {
			return
		}
	}
}

// undeclared warns about a machine type that omits a capability which all others, at least two, declare. It then supports all values, which
// is rarely meant. Worker capabilities are excluded, because they are often omitted on purpose: they can be switched on and off.
func (c *checker[R]) undeclared() {
	types := slices.DeleteFunc(slices.Clone(c.profile.Spec().MachineTypes), func(t v1beta1.MachineType) bool {
		return !ptr.Deref(t.Usable, true)
	})
	asked := sets.New[string]()
	for definition := range c.WorkerCapabilities() {
		asked.Insert(definition.Name)
	}
	for _, def := range c.profile.Spec().MachineCapabilities {
		if len(types) < 3 || len(def.Values) < 2 || def.Name == capability.Architecture || asked.Has(def.Name) {
			continue
		}
		var without []string
		for i := range types {
			if _, declared := types[i].Capabilities[def.Name]; !declared {
				without = append(without, types[i].Name)
			}
		}
		if len(without) != 1 {
			continue
		}
		if i := slices.IndexFunc(c.Spec.MachineTypes, func(t v1beta1.MachineType) bool { return t.Name == without[0] }); i >= 0 {
			c.Report.Found(RuleTypeUndeclared, field.ErrorTypeRequired, c.At.Child("machineTypes").Index(i), nil,
				"machine type %s does not declare %s, so it supports all values (%s); all other machine types declare it",
				without[0], def.Name, words.Few(def.Values))
		}
	}
}

// counted formats a few names with their noun in the singular or plural: "regions a, b".
func counted(noun string, names []string) string {
	return words.Plural(names, noun) + " " + words.Few(names)
}

// differingOrders warns about the choices for which the two preference orders pick different flavors on some usable machine type (semantics
// S5), once for each version.
func (c *checker[R]) differingOrders() {
	c.looks = 0
	for v := range c.choices() {
		offers := make([][]capability.Set, 0, len(c.profile.Regions()))
		for _, region := range c.profile.Regions() {
			offers = append(offers, c.profile.Catalog().Offers(v.ID.Image, v.ID.Version, region))
		}
		offers = slices.CompactFunc(offers, slices.Equal[[]capability.Set]) // regions usually have the same offers
		types := c.typesAmong(v.kinds, func(machine, worker capability.Set) bool {
			return slices.ContainsFunc(offers, func(there []capability.Set) bool { return c.ordersDiffer(there, machine, worker) })
		})
		if len(types) > 0 {
			c.Report.Found(ruleOrderDiffers, field.ErrorTypeInvalid, c.placeOf(v, types), v.Version.Version,
				"%s: for machine %s the order of %s, which is used here, prefers %s; for the first, change nothing; "+
					"for the second, narrow the capabilities of the machine type until no other fits; capkit explain shows both",
				v.ID, counted("type", types), authorOf(c.profile.Order()), c.preferences(v.ID, types))
		}
	}
}

// authorOf names the author of a preference order.
func authorOf(order capability.Order) string {
	if order == capability.Gardener {
		return "the gardener library"
	}
	return "GEP-0033"
}

// preferences describes the flavors of an image version that the profile's order and the other one pick on the first of some machine types,
// in the first region where they differ: "flavor A, and that of the gardener library B".
func (c *checker[R]) preferences(id provider.ImageVersion, types []string) string {
	on := ""
	if len(types) > 1 {
		on = " on " + types[0]
	}
	for _, region := range c.profile.Regions() {
		var picks [2]string
		for i, order := range []capability.Order{c.profile.Order(), c.profile.Order().Other()} {
			request := imageselector.Request{
				Image: id.Image, Version: id.Version, Region: region, Machine: c.machine(types[0]), Worker: c.askedOn(types[0]), Order: order,
			}
			if chosen := c.profile.Catalog().Choose(request); chosen >= 0 {
				picks[i] = c.profile.Vocabulary().Format(c.profile.Catalog().Flavors(id.Image, id.Version)[chosen].Capabilities)
			}
		}
		if picks[0] != picks[1] {
			return fmt.Sprintf("flavor %s%s, and that of %s %s", picks[0], on, authorOf(c.profile.Order().Other()), picks[1])
		}
	}
	return "another flavor" + on + " than that of " + authorOf(c.profile.Order().Other())
}

// ordersDiffer reports whether the two orders pick different flavors among those that fit a machine type and the requirements on it.
func (c *checker[R]) ordersDiffer(offers []capability.Set, machine, worker capability.Set) bool {
	var best [2]capability.Set
	c.looks += len(offers)
	for _, offer := range offers {
		if !offer.Fits(machine, worker) {
			continue
		}
		for i, order := range []capability.Order{capability.GEP33, capability.Gardener} {
			if best[i] == (capability.Set{}) || capability.Compare(offer, best[i], machine, worker, order).Sign < 0 {
				best[i] = offer
			}
		}
	}
	return best[0] != best[1]
}

// knownPrefixes are the prefixes that mark the capabilities of providers, namely the provider type with a dash (GEP-0054): of the providers
// that GEP-0033 names, and of later ones.
var knownPrefixes = []string{"alicloud-", "aws-", "azure-", "gcp-", "local-", "openstack-"}

// foreignPrefixes warns about registered capabilities with the prefix of another provider.
func (c *checker[R]) foreignPrefixes() {
	for i, def := range c.Spec.MachineCapabilities {
		for _, prefix := range knownPrefixes {
			if strings.HasPrefix(def.Name, prefix) && prefix != c.profile.Provider().Type()+"-" {
				at := c.At.Child("machineCapabilities").Index(i).Child("name")
				c.Report.Found(ruleForeignPrefix, field.ErrorTypeInvalid, at, def.Name,
					"capability %s carries the prefix of provider %s, but this profile is for %s; remove it, or choose a name without the prefix of a provider",
					def.Name, strings.TrimSuffix(prefix, "-"), c.profile.Provider().Type())
			}
		}
	}
}

// SizeLimit is etcd's default limit for an object, in bytes. GEP-0033 makes it a hard limit for CloudProfiles.
const SizeLimit = 3 << 19

// size warns about a profile that comes near the limit or exceeds it. Exceeding it is not an error, because operators can raise etcd's
// limit.
func (c *checker[R]) size(object *v1beta1.CloudProfile) {
	size, state := object.Size(), "comes near"
	if size <= SizeLimit*3/4 {
		return
	}
	if size > SizeLimit {
		state = "is above"
	}
	c.Report.Warnings = append(c.Report.Warnings, RuleSize.Fault(field.ErrorTypeTooLong, field.NewPath("spec"), nil,
		"the CloudProfile has %d KiB, which %s the %d KiB that can be stored; remove expired image versions and what nobody uses",
		size>>10, state, SizeLimit>>10))
}
