// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
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

// regionList says where the profile's regions stand.
func (p *compiler[R]) regionList() string {
	if p.parent != nil {
		return "the regions of CloudProfile " + p.parent.name
	}
	return p.at.Child("regions").String()
}

// unused warns about images and versions of the provider config that core does not list.
func (p *compiler[R]) unused() finding.List {
	listed := map[string]map[string]bool{}
	for _, image := range p.spec.MachineImages {
		versions := listed[image.Name]
		if versions == nil {
			versions = make(map[string]bool, len(image.Versions))
			listed[image.Name] = versions
		}
		for _, version := range image.Versions {
			versions[version.Version] = true
		}
	}
	var found finding.List
	for i := range p.images {
		image := &p.images[i]
		if image.Name == "" {
			continue // an error already
		}
		versions, known := listed[image.Name]
		if !known && !p.inheritsImage(image.Name) {
			found = append(found, finding.New(ruleImageUnused, field.ErrorTypeNotSupported, image.Path, image.Name, fmt.Sprintf(
				"image %s is not listed in %s: nobody can use it", image.Name, p.at.Child("machineImages"))))
			continue
		}
		for k := range image.Versions {
			if version := &image.Versions[k]; !versions[version.Version] && !p.inherits(imageVersion{image.Name, version.Version}) {
				found = append(found, finding.New(ruleVersionUnused, field.ErrorTypeNotSupported, version.Path, version.Version, fmt.Sprintf(
					"%s@%s is not listed in %s: nobody can use it", image.Name, version.Version, p.at.Child("machineImages"))))
			}
		}
	}
	return found
}

// uncovered warns about flavors that have no reference in a region of the profile, or only a fallback.
func (p *compiler[R]) uncovered() finding.List {
	var found finding.List
	seen := map[string]bool{}
	for _, image := range p.spec.MachineImages {
		for _, version := range image.Versions {
			flavors := p.catalog.Flavors(image.Name, version.Version)
			for i := range flavors {
				if p.doubtful[flavors[i].Path] {
					continue // an error
				}
				for _, warning := range p.coverage(image.Name, version.Version, &flavors[i]) {
					// A legacy flavor that stands for several core flavors is one to its writer.
					if !seen[warning.Field] {
						seen[warning.Field] = true
						found = append(found, warning)
					}
				}
			}
		}
	}
	return found
}

// coverage returns at most one warning about a flavor.
func (p *compiler[R]) coverage(image, version string, flavor *imageselector.Flavor[R]) finding.List {
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
	name, written := image+"@"+version, p.vocabulary.Format(flavor.Capabilities)
	switch {
	case flavor.Global == nil:
		return finding.List{finding.New(ruleRegionUncovered, field.ErrorTypeRequired, flavor.Path, nil, fmt.Sprintf(
			"%s: flavor %s has no image in %s %s: worker pools there cannot use it", name, written, finding.Plural(rest, "region"), finding.Few(rest)))}
	case flavor.Global.Fallback:
		return finding.List{finding.New(RuleFallback, field.ErrorTypeRequired, flavor.Global.Path, nil, fmt.Sprintf(
			"%s: in %s %s flavor %s is found by its image name only, which need not be unique; add the image ID for the region",
			name, finding.Plural(rest, "region"), finding.Few(rest), written))}
	}
	return nil
}

// unknownRegions warns about regions of the provider config that the profile does not have, once for each.
func (p *compiler[R]) unknownRegions() finding.List {
	regions := p.regions
	var order []string
	first, count := map[string]*field.Path{}, map[string]int{}
	forEachFlavor(p.images, func(flavor *imageselector.Flavor[R]) {
		for i := range flavor.Regional {
			region := flavor.Regional[i].Region
			if region == "" || slices.Contains(regions, region) {
				continue
			}
			if count[region]++; count[region] == 1 {
				first[region] = flavor.Regional[i].Path
				order = append(order, region)
			}
		}
	})
	var found finding.List
	for _, region := range order {
		found = append(found, finding.New(ruleRegionUnknown, field.ErrorTypeNotSupported, first[region].Child("name"), region, fmt.Sprintf(
			"region %s is not in %s (%s): %s to it cannot be used", region, p.regionList(), finding.Few(regions),
			references(count[region]))))
	}
	return found
}

func forEachFlavor[R any](images []imageselector.Image[R], visit func(*imageselector.Flavor[R])) {
	for i := range images {
		for k := range images[i].Versions {
			for f := range images[i].Versions[k].Flavors {
				visit(&images[i].Versions[k].Flavors[f])
			}
		}
	}
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
			for k, region := range p.regions {
				if !fitsAny(set, offers[k]) {
					without = append(without, region)
				}
			}
			known[set] = without
		}
		if len(without) > 0 {
			found = append(found, finding.New(ruleMachineWithoutImage, field.ErrorTypeInvalid, p.at.Child("machineTypes").Index(i), t.Name,
				fmt.Sprintf("machine type %s: no image version fits it in %s %s", t.Name, finding.Plural(without, "region"), finding.Few(without))))
		}
	}
	return found
}

// activeOffers returns, for each region, what the flavors of active image versions support there, those of the parent
// included.
func (p *compiler[R]) activeOffers() []map[capability.Set]bool {
	all := make([]map[capability.Set]bool, len(p.regions))
	for i := range all {
		all[i] = map[capability.Set]bool{}
	}
	addActiveOffers(all, p.offers, p.Profile, p.regions, nil)
	if p.parent != nil {
		addActiveOffers(all, newOffers(), p.parent.profile, p.regions, p.lifecycles())
	}
	return all
}

// addActiveOffers adds what active image versions offer in the regions. lifecycles says of some whether they are active,
// whatever their own lifecycle says.
func addActiveOffers[R any](
	all []map[capability.Set]bool, known *offers, p *Profile[R], regions []string, lifecycles map[imageVersion]bool,
) {
	added := make([]map[int]bool, len(regions))
	for i := range added {
		added[i] = map[int]bool{}
	}
	for _, image := range p.spec.MachineImages {
		for _, version := range image.Versions {
			active, given := lifecycles[imageVersion{image.Name, version.Version}]
			if !given {
				active = helper.VersionIsActive(version.ExpirableVersion)
			}
			if !active {
				continue
			}
			for i, number := range in(known, p.catalog, image.Name, version.Version, regions) {
				if !added[i][number] {
					added[i][number] = true
					for _, set := range known.all[number] {
						all[i][set] = true
					}
				}
			}
		}
	}
}

// lifecycles says which image versions are active by the lifecycle that a NamespacedCloudProfile gives them.
func (p *compiler[R]) lifecycles() map[imageVersion]bool {
	active := map[imageVersion]bool{}
	for _, image := range p.spec.MachineImages {
		for _, version := range image.Versions {
			active[imageVersion{image.Name, version.Version}] = helper.VersionIsActive(version.ExpirableVersion)
		}
	}
	return active
}

func fitsAny(set capability.Set, offers map[capability.Set]bool) bool {
	for offer := range offers {
		if offer.Compatible(set) {
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
