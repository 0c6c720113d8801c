// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
)

// openStackID checks the ID of something in OpenStack: an error is what can be none at all, a warning what is no
// UUID, as the IDs of networks, subnets and routers are.
func (f *findings) openStackID(id *string, at *field.Path, of string) {
	if !f.notEmpty(id, at) || isUUID(*id) {
		return
	}
	if problem := idProblem(*id); problem != "" {
		f.Found(ruleOpenStackID, field.ErrorTypeInvalid, at, *id,
			"%s cannot be the ID of a %s: it %s", quote(*id), of, problem)
		return
	}
	f.Found(ruleOpenStackIDFormat, field.ErrorTypeInvalid, at, *id,
		"%s is no UUID, such as 2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70, as the ID of a %s is; is it the name?", quote(*id), of)
}

// requiredID checks an ID that has to be there.
func (f *findings) requiredID(id string, at *field.Path, of string) {
	if strings.TrimSpace(id) == "" {
		f.Found(RuleSettingMissing, field.ErrorTypeRequired, at, nil, "write the ID of the %s", of)
		return
	}
	f.openStackID(&id, at, of)
}

// ImageID returns what is wrong with the ID of an image, if there is one, in a region that stands at the path. It
// need not be a UUID.
func ImageID(id string, region *field.Path) field.ErrorList {
	if id == "" || isUUID(id) { // there may be thousands
		return nil
	}
	var f findings
	if problem := idProblem(id); problem != "" {
		f.Found(ruleOpenStackID, field.ErrorTypeInvalid, region.Child("id"), id,
			"%s cannot be the ID of an image: it %s", quote(id), problem)
	}
	return f.Errors.Errors()
}

var (
	placeholder = regexp.MustCompile(`(?i)^(todo|tbd|fixme|x{3,}|change-?me|replace-?me|placeholder)$`)
	fiveGroups  = regexp.MustCompile(`^[0-9a-fA-F]+(-[0-9a-fA-F]+){4}$`)
)

// ImageIDFormats returns warnings about IDs of images that can be one and look wrong, in regions whose list stands at
// the path at: placeholders, and UUIDs with a character too many or too few.
func ImageIDFormats(regions []v1alpha1.RegionIDMapping, at *field.Path) finding.List {
	var f findings
	for i := range regions {
		switch id := regions[i].ID; {
		case isUUID(id): // there may be thousands
		case placeholder.MatchString(id):
			f.Found(ruleOpenStackIDFormat, field.ErrorTypeInvalid, at.Index(i).Child("id"), id,
				"%s looks like a placeholder for the ID of an image; write the ID that openstack image list shows", quote(id))
		case strings.Count(id, "-") == 4 && fiveGroups.MatchString(id):
			f.Found(ruleOpenStackIDFormat, field.ErrorTypeInvalid, at.Index(i).Child("id"), id,
				"%s is almost a UUID, whose groups have 8, 4, 4, 4 and 12 characters; copy the ID of the image again", quote(id))
		}
	}
	return f.Warnings
}

// isUUID reports whether an ID is a UUID, with or without its dashes.
func isUUID(id string) bool { return (len(id) == 36 || len(id) == 32) && uuid.Validate(id) == nil }

const longestID = 255

// idProblem says why a text can be no ID; empty if it can. IDs become part of URLs.
func idProblem(id string) string {
	foreign := func(r rune) bool { return isForeign(r) || strings.ContainsRune("/\\?#%&*,;<>()[]{}\"'`$|", r) }
	switch i := strings.IndexFunc(id, foreign); {
	case len(id) > longestID:
		return fmt.Sprintf("has more than %d characters", longestID)
	case i >= 0:
		r, _ := utf8.DecodeRuneInString(id[i:])
		return "contains " + strconv.QuoteRune(r)
	}
	return ""
}

// isForeign reports whether a letter is none that an ID or a URL could have: white space, or what cannot be seen.
func isForeign(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar
}
