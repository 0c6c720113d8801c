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

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// withWarnings returns the report of compiling with all warnings, and further ones.
func (p *compiler[R]) withWarnings(further finding.List) finding.Report {
	return finding.Report{
		Errors:   slices.Clone(p.report.Errors),
		Warnings: slices.Concat(p.report.Warnings, p.warnings(len(p.report.Errors) > 0), further),
		Silenced: p.report.Silenced,
	}
}

// warnings are those of semantics S9 that concern one CloudProfile alone. Those about what would be chosen are left out
// in a broken profile: they would only repeat its errors in other words.
func (p *compiler[R]) warnings(broken bool) finding.List {
	var warnings finding.List
	if p.parent == nil {
		warnings = p.foreignPrefixes()
	}
	if len(p.unread) == 0 {
		warnings = slices.Concat(warnings, p.unused(), p.uncovered(), p.unknownRegions())
	}
	if !broken {
		warnings = slices.Concat(warnings, p.withoutImage(), p.onlyOnRequest(), p.differingOrders())
	}
	return warnings
}

// unused warns about images and versions of the provider config that core does not list.
func (p *compiler[R]) unused() finding.List {
	images := p.spec.MachineImages
	if p.parent != nil {
		images = slices.Concat(images, p.parent.profile.spec.MachineImages)
	}
	listed := sets.New[string]()
	for _, image := range images {
		listed.Insert(image.Name)
	}
	var found finding.List
	for i := range p.images {
		image := &p.images[i]
		if image.Name != "" && !listed.Has(image.Name) { // a missing name is an error already
			found = append(found, finding.New(ruleImageUnused, field.ErrorTypeNotSupported, image.Path, image.Name, fmt.Sprintf(
				"image %s is not listed in %s: nobody can use it", image.Name, p.at.Child("machineImages"))))
		}
	}
	for id, v := range mappingsOf(p.images) {
		if listed.Has(id.image) && id.image != "" && p.core[id] == nil {
			found = append(found, finding.New(ruleVersionUnused, field.ErrorTypeNotSupported, v.Path, id.version, fmt.Sprintf(
				"%s is not listed in %s: nobody can use it", id, p.at.Child("machineImages"))))
		}
	}
	return found
}

// uncovered warns about flavors that have no reference in a region of the profile, or only a fallback.
func (p *compiler[R]) uncovered() finding.List {
	var found finding.List
	seen := map[string]bool{}
	for v := range versionsOf(p.spec) {
		flavors := p.catalog.Flavors(v.id.image, v.id.version)
		for i := range flavors {
			if p.doubtful[flavors[i].Path] {
				continue // an error
			}
			for _, warning := range p.coverage(v.id, &flavors[i]) {
				// A legacy flavor that stands for several core flavors is one to its writer.
				if !seen[warning.Field] {
					seen[warning.Field] = true
					found = append(found, warning)
				}
			}
		}
	}
	return found
}

// coverage returns at most one warning about a flavor.
func (p *compiler[R]) coverage(id imageVersion, flavor *imageselector.Flavor[R]) finding.List {
	if len(flavor.Regional) == 0 && (flavor.Global == nil || !flavor.Global.Fallback) {
		return nil // the same everywhere, or an error already
	}
	var rest []string
	for _, region := range p.regions {
		if !slices.ContainsFunc(flavor.Regional, func(r imageselector.Regional[R]) bool { return r.Region == region }) {
			rest = append(rest, region)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	regions, written := finding.Plural(rest, "region")+" "+finding.Few(rest), p.vocabulary.Format(flavor.Capabilities)
	if flavor.Global == nil {
		return finding.List{finding.New(ruleRegionUncovered, field.ErrorTypeRequired, flavor.Path, nil, fmt.Sprintf(
			"%s: flavor %s has no image in %s: worker pools there cannot use it", id, written, regions))}
	}
	if flavor.Global.Fallback {
		return finding.List{finding.New(ruleFallback, field.ErrorTypeRequired, flavor.Global.Path, nil, fmt.Sprintf(
			"%s: in %s flavor %s is found by its image name only, which need not be unique; add the image ID for the region",
			id, regions, written))}
	}
	return nil
}

// unknownRegions warns about regions of the provider config that the profile does not have, once for each.
func (p *compiler[R]) unknownRegions() finding.List {
	var firsts []*imageselector.Regional[R]
	count := map[string]int{}
	for reference := range regionsOf(p.images) {
		if reference.Region != "" && !slices.Contains(p.regions, reference.Region) {
			if count[reference.Region]++; count[reference.Region] == 1 {
				firsts = append(firsts, reference)
			}
		}
	}
	list := p.at.Child("regions").String()
	if p.parent != nil {
		list = "the regions of CloudProfile " + p.parent.name
	}
	var found finding.List
	for _, first := range firsts {
		references, at := "1 reference", first.Path.Child("name")
		if n := count[first.Region]; n > 1 {
			references = fmt.Sprintf("%d references", n)
		}
		found = append(found, finding.New(ruleRegionUnknown, field.ErrorTypeNotSupported, at, first.Region, fmt.Sprintf(
			"region %s is not in %s (%s): %s to it cannot be used", first.Region, list, finding.Few(p.regions), references)))
	}
	return found
}

// withoutImage warns about machine types that no active image version fits in some region.
func (p *compiler[R]) withoutImage() finding.List {
	offers := p.activeOffers()
	var found finding.List
	known := map[capability.Set][]string{} // many machine types support the same
	for i := range p.spec.MachineTypes {
		t := &p.spec.MachineTypes[i]
		if t.Usable != nil && !*t.Usable {
			continue
		}
		set := p.machines[t.Name].set
		without, done := known[set]
		if !done {
			for i, region := range p.regions {
				if !fitsAny(set, offers[i]) {
					without = append(without, region)
				}
			}
			known[set] = without
		}
		if len(without) > 0 {
			at := p.at.Child("machineTypes").Index(i)
			found = append(found, finding.New(ruleMachineWithoutImage, field.ErrorTypeInvalid, at, t.Name, fmt.Sprintf(
				"machine type %s: no image version fits it in %s %s",
				t.Name, finding.Plural(without, "region"), finding.Few(without))))
		}
	}
	return found
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

func fitsAny(machine capability.Set, offers sets.Set[capability.Set]) bool {
	for offer := range offers {
		if offer.Compatible(machine) {
			return true
		}
	}
	return false
}

// knownPrefixes are the prefixes by which the providers named in GEP-0033, and those with a prefix of their own since,
// mark their capabilities: the provider type with a dash (GEP-0054).
var knownPrefixes = []string{"alicloud-", "aws-", "azure-", "gcp-", "local-", "openstack-"}

// foreignPrefixes warns about registered capabilities that carry the prefix of another provider.
func (p *compiler[R]) foreignPrefixes() finding.List {
	var found finding.List
	for i, def := range p.spec.MachineCapabilities {
		for _, prefix := range knownPrefixes {
			if strings.HasPrefix(def.Name, prefix) && prefix != p.provider.Type()+"-" {
				found = append(found, finding.New(ruleForeignPrefix, field.ErrorTypeInvalid,
					p.at.Child("machineCapabilities").Index(i).Child("name"), def.Name, fmt.Sprintf(
						"capability %s carries the prefix of provider %s, but this profile is for %s",
						def.Name, strings.TrimSuffix(prefix, "-"), p.provider.Type())))
			}
		}
	}
	return found
}

// etcd refuses objects above sizeLimit bytes; GEP-0033 makes it a hard limit for CloudProfiles.
const sizeLimit = 3 << 19

// checkSize warns when a profile comes near the limit, or is above it.
func checkSize(profile *v1beta1.CloudProfile) finding.List {
	size := profile.Size()
	if size <= sizeLimit*3/4 {
		return nil
	}
	state := "comes near"
	if size > sizeLimit {
		state = "is above"
	}
	return finding.List{finding.New(ruleSize, field.ErrorTypeTooLong, field.NewPath("spec"), nil, fmt.Sprintf(
		"the CloudProfile has %d KiB, which %s the %d KiB that can be stored; remove expired image versions and what nobody uses",
		size>>10, state, sizeLimit>>10))}
}
