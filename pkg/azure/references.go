// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/azure/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// way is one of the four ways to name an image: a field of the wire format.
type way struct {
	field, example string
	// written and in return the value's field in the wire format and in a reference.
	written func(*v1alpha1.Image) **string
	in      func(*Image) *string
	// matches is the form of a value; begins distinguishes it from values of the other fields.
	matches, begins *regexp.Regexp
}

// ways are in the extension's order. IDs are compared without case, as in Azure.
var ways = []way{
	{
		"urn", "publisher:offer:sku:version",
		func(i *v1alpha1.Image) **string { return &i.URN }, func(i *Image) *string { return &i.URN },
		regexp.MustCompile(`^[^/\s:{}]+(:[^/\s:{}]+){3}$`), regexp.MustCompile(`^[^/\s:]+(:[^/\s:]+){3}$`),
	},
	gallery("communityGalleryImageID", "CommunityGalleries",
		func(i *v1alpha1.Image) **string { return &i.CommunityGalleryImageID }, func(i *Image) *string { return &i.CommunityGalleryImageID }),
	gallery("sharedGalleryImageID", "SharedGalleries",
		func(i *v1alpha1.Image) **string { return &i.SharedGalleryImageID }, func(i *Image) *string { return &i.SharedGalleryImageID }),
	{
		"id", "/subscriptions/<subscription>/resourceGroups/<group>/providers/Microsoft.Compute/galleries/<gallery>/images/<image>/versions/<version>",
		func(i *v1alpha1.Image) **string { return &i.ID }, func(i *Image) *string { return &i.ID },
		regexp.MustCompile(`(?i)^/subscriptions/[^/\s]+/resourceGroups/[^/\s]+/providers/Microsoft\.Compute/` +
			`(images/[^/\s]+|galleries/[^/\s]+/images/[^/\s]+(/versions/[^/\s]+)?)$`),
		regexp.MustCompile(`(?i)^/subscriptions/`),
	},
}

// gallery returns the way that names an image by its ID in a kind of gallery.
func gallery(field, kind string, written func(*v1alpha1.Image) **string, in func(*Image) *string) way {
	return way{
		field, "/" + kind + "/<gallery>/Images/<image>/Versions/<version>", written, in,
		regexp.MustCompile(`(?i)^/` + kind + `/[^/\s]+/Images/[^/\s]+/Versions/[^/\s]+$`), regexp.MustCompile(`(?i)^/` + kind + `/`),
	}
}

// waysIn returns the ways in which an image is named.
func waysIn(written *v1alpha1.Image) []way {
	return slices.DeleteFunc(slices.Clone(ways), func(w way) bool { return *w.written(written) == nil })
}

// ReferenceForm returns the fields that can name an image.
func (Provider) ReferenceForm() string {
	return "one of urn, communityGalleryImageID, sharedGalleryImageID and id"
}

// ValidateReference checks the form of a reference. at is the path of its field.
func (Provider) ValidateReference(ref Image, at *field.Path) field.ErrorList {
	for _, w := range ways {
		if value := *w.in(&ref); value != "" {
			return w.check(value, at)
		}
	}
	for _, w := range ways {
		if strings.HasSuffix(at.String(), "."+w.field) {
			return field.ErrorList{providerconfig.ReferenceMissing(at, w.field+", in the form "+w.example+",")}
		}
	}
	return field.ErrorList{providerconfig.ReferenceMissing(at, "the image")}
}

func (w way) check(value string, at *field.Path) field.ErrorList {
	if w.matches.MatchString(value) { // there may be thousands, and no value has the forms of two fields
		return nil
	}
	for _, other := range ways {
		if other.field != w.field && other.begins.MatchString(value) {
			return field.ErrorList{field.Invalid(at, value, fmt.Sprintf("%s has the form of %s; write it as that field instead of %s",
				words.Quoted(value), other.field, w.field)).WithOrigin(RuleImageForm)}
		}
	}
	why := ""
	if parts := strings.Count(value, ":") + 1; w.field == "urn" && parts != 4 {
		why = fmt.Sprintf(" (it has %d parts, not 4)", parts)
	}
	return field.ErrorList{field.Invalid(at, value, fmt.Sprintf(
		"%s does not have the form of %s%s; write %s", words.Quoted(value), w.field, why, w.example)).WithOrigin(RuleImageForm)}
}

// checkReference checks the combination of ways that name the image at a path.
func checkReference(set []way, skip *bool, at *field.Path, report *finding.Report) {
	if len(set) > 1 {
		names := make([]string, 0, len(set))
		for _, w := range set {
			names = append(names, w.field)
		}
		for _, w := range set[1:] {
			err := providerconfig.Exclusive(RuleImageAmbiguous, at.Child(w.field), names...)
			report.Errors = append(report.Errors, finding.Of(field.ErrorList{err})...)
		}
	}
	if ptr.Deref(skip, false) && len(set) > 0 && set[0].field != "urn" {
		report.Warnings = append(report.Warnings, providerconfig.FieldIgnored(RuleFieldIgnored, at.Child("skipMarketplaceAgreement"),
			"only an image of the Marketplace, which urn names, has terms to accept"))
	}
}

// checkMixed checks a version with flavors for legacy fields.
func checkMixed(written *v1alpha1.MachineImageVersion, at *field.Path, report *finding.Report) {
	for _, w := range waysIn(&written.Image) {
		report.Errors = append(report.Errors, providerconfig.FormatMixed(at.Child(w.field), w.field))
	}
	if written.Architecture != nil {
		report.Errors = append(report.Errors, providerconfig.VersionArchitecture(at.Child("architecture"), *written.Architecture))
	}
	if written.AcceleratedNetworking != nil {
		report.Warnings = append(report.Warnings, providerconfig.FieldIgnored(RuleFieldIgnored, at.Child("acceleratedNetworking"),
			"a flavor says with the capability "+Networking+" whether its image has a driver for accelerated networking"))
	}
	if written.SkipMarketplaceAgreement != nil {
		report.Warnings = append(report.Warnings, providerconfig.FieldIgnored(RuleFieldIgnored, at.Child("skipMarketplaceAgreement"),
			"each flavor has one of its own"))
	}
}
