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
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// way is one of the four ways to name an image: the field, its value, nil if it is not written, and where a reference has it.
type way struct {
	field string
	value *string
	in    *string
}

// ways returns the four ways in the order in which the extension looks at them.
func ways(written *v1alpha1.Image, ref *Image) []way {
	return []way{
		{"urn", written.URN, &ref.URN},
		{"communityGalleryImageID", written.CommunityGalleryImageID, &ref.CommunityGalleryImageID},
		{"sharedGalleryImageID", written.SharedGalleryImageID, &ref.SharedGalleryImageID},
		{"id", written.ID, &ref.ID},
	}
}

// form is how the value of one of the four fields is written that name an image.
type form struct {
	field, example string
	// matches is the form; begins is by what it is told from those of the other fields.
	matches, begins *regexp.Regexp
}

// forms are those of the fields, by which Azure tells letters of IDs apart no more than we do.
var forms = []form{
	{
		"urn", "publisher:offer:sku:version",
		regexp.MustCompile(`^[^/\s:{}]+(:[^/\s:{}]+){3}$`), regexp.MustCompile(`^[^/\s:]+(:[^/\s:]+){3}$`),
	},
	gallery("communityGalleryImageID", "CommunityGalleries"),
	gallery("sharedGalleryImageID", "SharedGalleries"),
	{
		"id", "/subscriptions/<subscription>/resourceGroups/<group>/providers/Microsoft.Compute/galleries/<gallery>/images/<image>/versions/<version>",
		regexp.MustCompile(`(?i)^/subscriptions/[^/\s]+/resourceGroups/[^/\s]+/providers/Microsoft\.Compute/` +
			`(images/[^/\s]+|galleries/[^/\s]+/images/[^/\s]+(/versions/[^/\s]+)?)$`),
		regexp.MustCompile(`(?i)^/subscriptions/`),
	},
}

// gallery returns the form of IDs of images in a kind of gallery.
func gallery(field, kind string) form {
	return form{
		field, "/" + kind + "/<gallery>/Images/<image>/Versions/<version>",
		regexp.MustCompile(`(?i)^/` + kind + `/[^/\s]+/Images/[^/\s]+/Versions/[^/\s]+$`), regexp.MustCompile(`(?i)^/` + kind + `/`),
	}
}

// ReferenceForm says how an image is named.
func (Provider) ReferenceForm() string {
	return "one of urn, communityGalleryImageID, sharedGalleryImageID and id"
}

// ValidateReference checks the form of a reference, which stands in the field at the path at.
func (Provider) ValidateReference(ref Image, at *field.Path) field.ErrorList {
	for _, w := range ways(&v1alpha1.Image{}, &ref) {
		if *w.in != "" {
			return checkForm(w.field, *w.in, at)
		}
	}
	for _, f := range forms {
		if strings.HasSuffix(at.String(), "."+f.field) {
			return field.ErrorList{provider.ReferenceMissing(at, f.field+", in the form "+f.example+",")}
		}
	}
	return field.ErrorList{provider.ReferenceMissing(at, "the image")}
}

func checkForm(name, value string, at *field.Path) field.ErrorList {
	own := forms[slices.IndexFunc(forms, func(f form) bool { return f.field == name })]
	if own.matches.MatchString(value) { // there may be thousands, and no value has the forms of two fields
		return nil
	}
	for _, f := range forms {
		if f.field != name && f.begins.MatchString(value) {
			return field.ErrorList{field.Invalid(at, value, fmt.Sprintf(
				"%s has the form of %s; write it as that field instead of %s", words.Quoted(value), f.field, name)).WithOrigin(RuleImageForm)}
		}
	}
	why := ""
	if parts := strings.Count(value, ":") + 1; name == "urn" && parts != 4 {
		why = fmt.Sprintf(" (it has %d, and not 4 parts)", parts)
	}
	return field.ErrorList{field.Invalid(at, value, fmt.Sprintf(
		"%s does not have the form of %s%s; write %s", words.Quoted(value), name, why, own.example)).WithOrigin(RuleImageForm)}
}

// checkReference checks the ways in which an image is named, those that are written at the path at.
func checkReference(set []way, skip *bool, at *field.Path, report *finding.Report) {
	if len(set) > 1 {
		names := make([]string, 0, len(set))
		for _, w := range set {
			names = append(names, w.field)
		}
		for _, w := range set[1:] {
			err := provider.Exclusive(RuleImageAmbiguous, at.Child(w.field), names...)
			report.Errors = append(report.Errors, finding.Of(field.ErrorList{err})...)
		}
	}
	if ptr.Deref(skip, false) && len(set) > 0 && set[0].field != "urn" {
		report.Warnings = append(report.Warnings, provider.FieldIgnored(RuleFieldIgnored, at.Child("skipMarketplaceAgreement"),
			"only an image of the Marketplace, which urn names, has terms to accept"))
	}
}

// checkMixed checks the legacy fields of a version with flavors.
func checkMixed(written *v1alpha1.MachineImageVersion, at *field.Path, report *finding.Report) {
	for _, w := range ways(&written.Image, &Image{}) {
		if w.value != nil {
			report.Errors = append(report.Errors, provider.FormatMixed(at.Child(w.field), w.field))
		}
	}
	if written.Architecture != nil {
		report.Errors = append(report.Errors, provider.VersionArchitecture(at.Child("architecture"), *written.Architecture))
	}
	if written.AcceleratedNetworking != nil {
		report.Warnings = append(report.Warnings, provider.FieldIgnored(RuleFieldIgnored, at.Child("acceleratedNetworking"),
			"a flavor says with the capability "+Networking+" whether its image has a driver for accelerated networking"))
	}
	if written.SkipMarketplaceAgreement != nil {
		report.Warnings = append(report.Warnings, provider.FieldIgnored(RuleFieldIgnored, at.Child("skipMarketplaceAgreement"),
			"each flavor has one of its own"))
	}
}
