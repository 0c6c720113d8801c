// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

// The rules that many fields have in common.
const (
	// OriginNameMissing and OriginRegionUnknown are rules about images as well, with the same meaning.
	OriginNameMissing   = "name-missing"
	OriginRegionUnknown = "region-unknown"

	OriginRegionUnserved    = "region-unserved"
	OriginSettingMissing    = "setting-missing"
	OriginValueEmpty        = "value-empty"
	OriginValueFormat       = "value-format"
	OriginValueOutOfRange   = "value-out-of-range"
	OriginValueNotSupported = "value-not-supported"
	OriginEntryDuplicate    = "entry-duplicate"
	OriginEntryRepeated     = "entry-repeated"
	OriginPurposeDuplicate  = "purpose-duplicate"
	OriginSettingsExclusive = "settings-exclusive"
	OriginOpenStackID       = "openstack-id"
	OriginOpenStackIDFormat = "openstack-id-format"
)

// fail adds an error of a rule. The value is what the user wrote, or nil if there is nothing to quote.
func (f *Findings) fail(origin string, kind field.ErrorType, at *field.Path, value any, format string, args ...any) {
	f.Errors = append(f.Errors, finding.New(origin, kind, at, value, fmt.Sprintf(format, args...)))
}

// warn adds a warning of a rule.
func (f *Findings) warn(origin string, kind field.ErrorType, at *field.Path, value any, format string, args ...any) {
	f.Warnings = append(f.Warnings, finding.New(origin, kind, at, value, fmt.Sprintf(format, args...)))
}

// notEmpty demands that a value which may be left out is not empty if it is there. It returns whether it is there and not
// empty.
func (f *Findings) notEmpty(value *string, at *field.Path) bool {
	if value != nil && strings.TrimSpace(*value) == "" {
		f.fail(OriginValueEmpty, field.ErrorTypeRequired, at, nil, "%s is empty; write a value, or leave it out", last(at))
	}
	return value != nil && strings.TrimSpace(*value) != ""
}

// supported demands that a value, if there is one, is among some.
func (f *Findings) supported(value *string, at *field.Path, values ...string) {
	if f.notEmpty(value, at) && !slices.Contains(values, *value) {
		f.fail(OriginValueNotSupported, field.ErrorTypeNotSupported, at, *value, "%s %s is unknown; %s", last(at), quote(*value), oneOf(*value, values))
	}
}

// oneOf says which values there are, and which of them was probably meant.
func oneOf(value string, values []string) string {
	supported := "supported are " + few(listed(values))
	if question := didYouMean(value, values); question != "" {
		return question + " " + supported
	}
	return supported
}

// listed returns names for a list of what there is. Patterns are named as such, and names with blanks quoted.
func listed(values []string) []string {
	list := make([]string, 0, len(values))
	for _, value := range values {
		switch {
		case value == "*":
			value = "any name"
		case isPattern(value):
			value = "names like " + value
		case strings.ContainsFunc(value, unicode.IsSpace):
			value = strconv.Quote(value)
		}
		list = append(list, value)
	}
	return list
}

// mostMeant is up to how many values are compared with one that is none of them.
const mostMeant = 100

// didYouMean asks whether another value was meant; empty if there is none that is similar. Nobody means a pattern.
func didYouMean(value string, values []string) string {
	if len(values) > mostMeant {
		return ""
	}
	values = slices.DeleteFunc(slices.Clone(values), isPattern)
	meant := strictjson.Closest(value, values)
	if i := slices.IndexFunc(values, func(v string) bool { return beginsLike(value, v) }); i >= 0 && meant == "" {
		meant = values[i]
	}
	if meant == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", meant)
}

// beginsLike reports whether most of a long name is as another one begins, in whatever case.
func beginsLike(written, name string) bool {
	const long = 12
	n := len(name)/2 + 1
	return len(name) >= long && len(written) >= n && len(written) <= 2*len(name) && strings.EqualFold(written[:n], name[:n])
}

// last returns what stands at the end of a path.
func last(at *field.Path) string {
	path := at.String()
	return path[strings.LastIndexByte(path, '.')+1:]
}

// quote quotes what the user wrote, or the beginning of it.
func quote(written string) string {
	const most = 80
	if utf8.RuneCountInString(written) > most {
		written = string([]rune(written)[:most]) + "..."
	}
	return strconv.Quote(written)
}

// few joins names for a message, which gets no longer than this.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// seen remembers where something was first, for what may be there only once.
type seen[K comparable] map[K]*field.Path

// first reports whether a key is new, and where it was if it is not.
func (s seen[K]) first(key K, at *field.Path) (*field.Path, bool) {
	before, found := s[key]
	if !found {
		s[key] = at
	}
	return before, !found
}

// openStackID checks the ID of something in OpenStack: an error is what can be none at all, a warning what is no UUID, as
// the IDs of networks, subnets and routers are.
func (f *Findings) openStackID(id *string, at *field.Path, of string) {
	if !f.notEmpty(id, at) {
		return
	}
	if problem := idProblem(*id); problem != "" {
		f.fail(OriginOpenStackID, field.ErrorTypeInvalid, at, *id, "%s cannot be the ID of a %s: it %s", quote(*id), of, problem)
	} else if !isUUID(*id) {
		f.warn(OriginOpenStackIDFormat, field.ErrorTypeInvalid, at, *id,
			"%s is no UUID, such as 2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70, as the ID of a %s is; is it the name?", quote(*id), of)
	}
}

// ImageID returns what is wrong with the ID of an image, if there is one, in a region that stands at the path. It need not be
// a UUID.
func ImageID(id string, region *field.Path) field.ErrorList {
	if id == "" || isUUID(id) { // there may be thousands
		return nil
	}
	if problem := idProblem(id); problem != "" {
		return field.ErrorList{finding.New(OriginOpenStackID, field.ErrorTypeInvalid, region.Child("id"), id,
			quote(id)+" cannot be the ID of an image: it "+problem).Error}
	}
	return nil
}

// ImageIDFormats returns warnings about IDs of images that can be one and look wrong, in regions whose list stands at the
// path at: placeholders, and UUIDs with a character too many or too few.
func ImageIDFormats(regions []v1alpha1.RegionIDMapping, at *field.Path) finding.List {
	var found finding.List
	for i := range regions {
		if id := regions[i].ID; !isUUID(id) { // there may be thousands
			found = append(found, imageIDFormat(id, at.Index(i).Child("id"))...)
		}
	}
	return found
}

// isUUID reports whether an ID is a UUID, with or without its dashes.
func isUUID(id string) bool { return (len(id) == 36 || len(id) == 32) && uuid.Validate(id) == nil }

func imageIDFormat(id string, at *field.Path) finding.List {
	switch {
	case placeholder.MatchString(id):
		return finding.List{finding.New(OriginOpenStackIDFormat, field.ErrorTypeInvalid, at, id, quote(id)+" looks like a placeholder for the ID of an image; write the ID that openstack image list shows")}
	case strings.Count(id, "-") == 4 && fiveGroups.MatchString(id):
		return finding.List{finding.New(OriginOpenStackIDFormat, field.ErrorTypeInvalid, at, id, quote(id)+" is almost a UUID, whose groups have 8, 4, 4, 4 and 12 characters; copy the ID of the image again")}
	}
	return nil
}

var (
	placeholder = regexp.MustCompile(`(?i)^(todo|tbd|fixme|x{3,}|change-?me|replace-?me|placeholder)$`)
	fiveGroups  = regexp.MustCompile(`^[0-9a-fA-F]+(-[0-9a-fA-F]+){4}$`)
)

const longestID = 255

// idProblem says why a text can be no ID; empty if it can. IDs become part of URLs.
func idProblem(id string) string {
	foreign := func(r rune) bool { return isForeign(r) || strings.ContainsRune("/\\?#%&*,;<>()[]{}\"'`$|", r) }
	switch i := strings.IndexFunc(id, foreign); {
	case id == "":
		return "is empty"
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
