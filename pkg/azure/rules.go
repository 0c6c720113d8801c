// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/azure/v1alpha1"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// rules checks the parts of a CloudProfileConfig other than images.
type rules struct{ config v1alpha1.CloudProfileConfig }

var (
	_ provider.Validator    = rules{}
	_ provider.ListExtender = Provider{}
)

// rulesOf returns the rules for a provider config, which must not be modified afterwards.
func rulesOf(config *v1alpha1.CloudProfileConfig) provider.Validator {
	r := rules{*config}
	r.config.MachineImages = nil // not needed, and the largest part
	return r
}

// NamespacedLists returns the lists that a NamespacedCloudProfile may have besides machineImages.
func (Provider) NamespacedLists() []provider.List {
	return []provider.List{{Field: "machineTypes", Key: "name"}}
}

// ValidateShoot reports nothing: other checks of Shoots belong to the extension.
func (rules) ValidateShoot(provider.ShootQuestion) finding.Report { return finding.Report{} }

// ValidateCloudProfile checks the config except its images.
func (r rules) ValidateCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report {
	var report finding.Report
	report.Add(domainCounts(r.config.CountUpdateDomains, spec, at.Child("countUpdateDomains")))
	report.Add(domainCounts(r.config.CountFaultDomains, spec, at.Child("countFaultDomains")))
	report.Add(r.regionsWithoutDomains(spec, at.Child("countFaultDomains")))
	report.Add(r.machineTypes(spec, at.Child("machineTypes")))
	if cloud := r.config.CloudConfiguration; cloud != nil && !slices.Contains(instances, cloud.Name) {
		report.Errors = append(report.Errors, finding.Of(field.ErrorList{
			providerconfig.NotSupported(ruleCloud.Name, at.Child("cloudConfiguration", "name"), cloud.Name, instances),
		})...)
	}
	report.Add(networkingValues(spec))
	return report
}

// instances are the instances of Azure that a CloudConfiguration can name.
var instances = []string{"AzurePublic", "AzureGovernment", "AzureChina"}

// domainCounts checks one of the two lists of domain counts.
func domainCounts(counts []v1alpha1.DomainCount, spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report {
	var report finding.Report
	if len(counts) == 0 {
		report.Found(ruleDomainCount, field.ErrorTypeRequired, at, nil,
			"%s is missing: add the number of domains of each region, as in: - {region: %s, count: NUMBER}",
			fieldpath.Last(at), example(spec))
	}
	regions := make([]string, len(spec.Regions))
	for i := range spec.Regions {
		regions[i] = spec.Regions[i].Name
	}
	first, speller := map[string]*field.Path{}, words.NewSpeller(regions)
	for i, c := range counts {
		region, count := at.Index(i).Child("region"), at.Index(i).Child("count")
		switch {
		case c.Region == "":
			report.Found(ruleNameMissing, field.ErrorTypeRequired, region, nil, "the region has no name")
		case first[c.Region] != nil:
			report.Found(ruleDuplicate, field.ErrorTypeDuplicate, region, c.Region,
				"region %s is already in %s, and only that entry is used; remove this one, or correct its region", c.Region, first[c.Region])
		default:
			first[c.Region] = at.Index(i)
			if !slices.Contains(regions, c.Region) {
				report.Found(ruleRegionUnknown, field.ErrorTypeNotFound, region, c.Region,
					"region %s is not in spec.regions: the number cannot be used", c.Region,
				).Suggestion = finding.Suggest(finding.ReplaceRegion, c.Region, "", speller.Certain(c.Region))
			}
		}
		if c.Count < 0 {
			report.Found(ruleDomainCount, field.ErrorTypeInvalid, count, c.Count,
				"there cannot be %d domains; write how many the region has, zero or more", c.Count)
		}
	}
	return report
}

// example returns the name of a region for an example entry.
func example(spec *v1beta1.CloudProfileSpec) string {
	if len(spec.Regions) == 0 || spec.Regions[0].Name == "" {
		return "westeurope"
	}
	return spec.Regions[0].Name
}

// regionsWithoutDomains warns about regions without a number of fault domains, unless no region has one.
func (r rules) regionsWithoutDomains(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report {
	var report finding.Report
	var without, updates []string // updates are those that lack a number of update domains, too
	for _, region := range spec.Regions {
		is := func(c v1alpha1.DomainCount) bool { return c.Region == region.Name }
		if slices.ContainsFunc(r.config.CountFaultDomains, is) {
			continue
		}
		without = append(without, region.Name)
		if !slices.ContainsFunc(r.config.CountUpdateDomains, is) {
			updates = append(updates, region.Name)
		}
	}
	if len(without) > 0 && len(r.config.CountFaultDomains) > 0 {
		report.Found(ruleRegionWithoutDomains, field.ErrorTypeRequired, at, nil, "%s", addDomains(without, updates))
	}
	return report
}

// addDomains returns the repair for regions without a number of fault domains. updates are those that also lack a number of update domains.
func addDomains(without, updates []string) string {
	are, each := "is", ""
	if len(without) > 1 {
		are, each = "are", " for each"
	}
	text := fmt.Sprintf("%s %s %s missing, so Shoots without zones get no machines there; add - {region: %s, count: NUMBER}%s here",
		words.Plural(without, "region"), words.Few(without), are, without[0], each)
	switch len(updates) {
	case 0:
		return text
	case len(without):
		return text + " and in countUpdateDomains, each with its own number"
	}
	return text + ", and for " + words.Few(updates) + " in countUpdateDomains"
}

// machineTypes checks the config's machine types.
func (r rules) machineTypes(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report {
	var report finding.Report
	known, ofCore, names := sets.New[string](), map[string]int{}, make([]string, len(spec.MachineTypes))
	for i := range slices.Backward(spec.MachineTypes) { // of two the first wins
		names[i] = spec.MachineTypes[i].Name
		ofCore[names[i]] = i
	}
	speller := words.NewSpeller(names)
	for i, written := range r.config.MachineTypes {
		name := at.Index(i).Child("name")
		core, listed := ofCore[written.Name]
		switch {
		case written.Name == "":
			report.Found(ruleNameMissing, field.ErrorTypeRequired, name, nil, "the machine type has no name")
		case known.Has(written.Name):
			report.Found(ruleDuplicate, field.ErrorTypeDuplicate, name, written.Name,
				"machine type %s is there already; remove one of the two", written.Name)
		case !listed:
			report.Found(ruleMachineTypeUnknown, field.ErrorTypeNotFound, name, written.Name,
				"spec.machineTypes has no machine type %s; %s", written.Name,
				cmp.Or(words.Question(speller.Slip(written.Name)), "correct the name, or remove the entry"))
		case written.AcceleratedNetworking != nil && len(spec.MachineCapabilities) > 0:
			report.Add(compareNetworking(*written.AcceleratedNetworking, &spec.MachineTypes[core], spec, at.Index(i)))
		}
		known.Insert(written.Name)
	}
	return report
}

// compareNetworking warns if core's machine type and the config disagree about accelerated networking. In a profile with capabilities, the
// extension uses core.
func compareNetworking(
	written bool, core *v1beta1.MachineType, spec *v1beta1.CloudProfileSpec, at *field.Path,
) finding.Report {
	var report finding.Report
	registered := registration(spec)
	if registered < 0 {
		if written {
			report.Found(ruleMachineTypeNetworking, field.ErrorTypeForbidden, at.Child("acceleratedNetworking"), written,
				"the profile has capabilities, and %s is none of them, so no machine gets accelerated networking; "+
					"register it in spec.machineCapabilities with [%s, %s]", Networking, networkingAccelerated, networkingBasic)
		}
		return report
	}
	values, declared := core.Capabilities[Networking]
	if !declared {
		values = spec.MachineCapabilities[registered].Values
	}
	if slices.Contains(values, networkingAccelerated) != written {
		report.Found(ruleMachineTypeNetworking, field.ErrorTypeForbidden, at.Child("acceleratedNetworking"), written,
			"acceleratedNetworking is ignored in a profile with capabilities, where %s [%s] of machine type %s is used; "+
				"remove it; if [%[2]s] is wrong, correct that in the capabilities of the type in spec.machineTypes", Networking, strings.Join(values, ", "), core.Name)
	}
	return report
}

// registration returns the index of the capability Networking in spec.machineCapabilities, and -1 if it is missing.
func registration(spec *v1beta1.CloudProfileSpec) int {
	return slices.IndexFunc(spec.MachineCapabilities, func(d v1beta1.CapabilityDefinition) bool { return d.Name == Networking })
}

// networkingValues warns about values of the capability Networking that the extension does not know.
func networkingValues(spec *v1beta1.CloudProfileSpec) finding.Report {
	var report finding.Report
	registered := registration(spec)
	if registered < 0 {
		return report
	}
	at := field.NewPath("spec", "machineCapabilities").Index(registered).Child("values")
	known := []string{networkingAccelerated, networkingBasic}
	for i, value := range spec.MachineCapabilities[registered].Values {
		if slices.Contains(known, value) {
			continue
		}
		repair := "; write one of the two"
		if meant := words.InCase(value, known); meant != "" {
			repair = ", in lower case; write " + meant
		}
		report.Found(ruleNetworkingValue, field.ErrorTypeNotSupported, at.Index(i), value,
			"the extension knows %s and %s only%s here, and in the flavors and machine types that have %s",
			networkingAccelerated, networkingBasic, repair, words.Quoted(value))
	}
	return report
}
