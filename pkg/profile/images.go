// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/profile/internal/onetoone"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// checkReferences checks the references of all provider flavors, including those that core does not list (semantics S6).
func (r *Reading[R]) checkReferences() {
	for id, version := range entries.Mappings(r.Images) {
		if r.Report.LeavesOut() {
			return
		}
		var found finding.Report
		if len(version.Flavors) == 0 && !r.derives(id, &imageselector.Flavor[R]{}) {
			lacks := "capabilityFlavors, or a reference in the legacy format"
			keeper, _ := provider.As[providerconfig.LegacyKeeper](r.provider)
			if r.vocabulary.Legacy() && !r.eitherFormat || keeper != nil && keeper.KeepsLegacy() {
				lacks = "a reference in the legacy format"
			}
			found.Errors = append(found.Errors, finding.New(
				providerconfig.RuleReferenceMissing, field.ErrorTypeRequired, version.Path, nil, "the version has no image: add "+lacks))
		}
		for i := range version.Flavors {
			r.checkFlavorReferences(id, version.Legacy, &version.Flavors[i], &found)
		}
		onetoone.ReportUnless(r.Unread.Touches(version.Path), &r.Report, onetoone.About(id.String(), found.Errors)...)
		r.Report.ErrorsLeftOut = r.Report.ErrorsLeftOut || found.ErrorsLeftOut
	}
}

// withoutEmpty removes empty references from images, in place, because nothing can boot from them (semantics S6).
func (r *Reading[R]) withoutEmpty(images []imageselector.Image[R]) []imageselector.Image[R] {
	isEmpty := func(reference imageselector.Regional[R]) bool { return imageselector.IsEmpty(reference.Ref) }
	for _, version := range entries.Mappings(images) {
		for i := range version.Flavors {
			flavor := &version.Flavors[i]
			if flavor.Global != nil && imageselector.IsEmpty(flavor.Global.Ref) {
				flavor.Global = nil
			}
			if !slices.ContainsFunc(flavor.Regional, isEmpty) { // the usual case
				continue
			}
			flavor.Regional = slices.DeleteFunc(slices.Clone(flavor.Regional), func(reference imageselector.Regional[R]) bool {
				if isEmpty(reference) {
					r.empty[flavor.Path] = append(r.empty[flavor.Path], reference.Region)
				}
				return isEmpty(reference)
			})
		}
	}
	return images
}

// checkFlavorReferences checks the references of a flavor of an image version, until the report is full. A legacy flavor is written as an
// entry of the version.
func (r *Reading[R]) checkFlavorReferences(id provider.ImageVersion, legacy bool, flavor *imageselector.Flavor[R], report *finding.Report) {
	cloud, regions := r.provider, r.regions
	if report.LeavesOut() {
		return
	}
	if len(flavor.Regional) == 0 && flavor.Global == nil && !r.derives(id, flavor) {
		what := "flavor"
		if legacy {
			what = "entry"
		}
		report.Errors = append(report.Errors, finding.New(providerconfig.RuleReferenceMissing, field.ErrorTypeRequired, flavor.Path, nil,
			"the "+what+" has no reference to an image; add "+ReferenceForm(cloud)+", or remove the "+what))
	}
	if flavor.Global != nil {
		report.Errors = append(report.Errors, finding.Of(cloud.ValidateReference(flavor.Global.Ref, flavor.Global.Path))...)
	}
	earlier, alone := entries.Earlier(flavor.Regional), (*string)(nil)
	for i := range flavor.Regional {
		if report.LeavesOut() {
			return
		}
		reference, first := &flavor.Regional[i], earlier(i)
		switch {
		case reference.Region == "":
			report.Errors = append(report.Errors, regionNameMissing(reference.NamePath(), regions))
		case first != nil:
			if alone == nil {
				alone = new(onlyWithout(flavor, regions))
			}
			report.Found(ruleRegionDuplicate, field.ErrorTypeDuplicate, reference.NamePath(), reference.Region,
				"region %s has a reference in %s already; remove one of the two, or correct its name%s", reference.Region, first.Path, *alone)
		}
		for _, err := range finding.Of(cloud.ValidateReference(reference.Ref, reference.Path)) {
			if err.Origin == providerconfig.RuleReferenceMissing && reference.Region != "" {
				err.Detail = "region " + reference.Region + ": " + err.Detail
			}
			report.Errors = append(report.Errors, err)
		}
	}
}

// onlyWithout returns the end of a sentence that names the only region without a reference of the flavor. It returns "" unless there is
// exactly one.
func onlyWithout[R any](flavor *imageselector.Flavor[R], regions []string) string {
	if without := entries.Without(flavor, regions); len(without) == 1 {
		return ": " + without[0] + " has none"
	}
	return ""
}

// regionNameMissing returns the error about an entry without a region's name, which belongs at the path at.
func regionNameMissing(at *field.Path, regions []string) finding.Finding {
	one := "one"
	if len(regions) > 0 {
		one = "one of the profile's regions (" + words.Few(regions) + ")"
	}
	return ruleNameMissing.Fault(field.ErrorTypeRequired, at, nil, "every region needs a name; write %s, or remove the entry", one)
}

// ReferenceForm describes how to write a provider's references, or returns "one" if the provider does not.
func ReferenceForm[R any](cloud provider.Provider[R]) string {
	if describer, describes := provider.As[provider.ReferenceDescriber](cloud); describes {
		return describer.ReferenceForm()
	}
	return "one"
}
