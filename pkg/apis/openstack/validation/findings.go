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
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// findings collects what a check finds. Its methods are what many fields have in common.
type findings struct{ finding.Report }

// missing reports a setting that is not there, and says what to write.
func (f *findings) missing(at *field.Path, format string, args ...any) *finding.Finding {
	return f.Found(RuleSettingMissing, field.ErrorTypeRequired, at, nil, format, args...)
}

// notEmpty demands that a value which may be left out is not empty. It reports whether it is there and not empty.
func (f *findings) notEmpty(value *string, at *field.Path) bool {
	if value != nil && !given(value) {
		f.Found(ruleValueEmpty, field.ErrorTypeRequired, at, nil, "%s is empty; write a value, or leave it out", fieldpath.Last(at))
	}
	return given(value)
}

// supported demands that a value, if there is one, is among some.
func (f *findings) supported(value *string, at *field.Path, values ...string) {
	if f.notEmpty(value, at) && !slices.Contains(values, *value) {
		f.Found(ruleValueNotSupported, field.ErrorTypeNotSupported, at, *value,
			"%s %s is unknown; %s", fieldpath.Last(at), quote(*value), oneOf(*value, values))
	}
}

// seen remembers where something was first, for what may be there only once.
type seen[K comparable] map[K]*field.Path

// before returns where a key was first; nil if it is new.
func (s seen[K]) before(key K, at *field.Path) *field.Path {
	first, found := s[key]
	if !found {
		s[key] = at
	}
	return first
}

// again reports whether an entry has the key of another one, and says at a path below it what that is already, such as "is for
// region europe".
func (s seen[K]) again(f *findings, rule finding.Rule, key K, entry, at *field.Path, value, is string) bool {
	before := s.before(key, entry)
	if before != nil {
		f.Found(rule, field.ErrorTypeDuplicate, at, value, "%s %s already; remove one of the two", before, is)
	}
	return before != nil
}

// sameName reports whether an entry has the name of another one, which it says unless that is empty.
func (f *findings) sameName(names seen[string], name string, entry *field.Path, of string) bool {
	before := names.before(name, entry)
	if before != nil && name != "" {
		f.Found(RuleEntryDuplicate, field.ErrorTypeDuplicate, entry.Child("name"), name,
			"%s is a %s named %s already; rename or remove one of the two", before, of, name)
	}
	return before != nil
}

// name demands that the name of something, such as a region, is not empty.
func (f *findings) name(name string, at *field.Path, of string) {
	if strings.TrimSpace(name) == "" {
		f.Found(ruleNameMissing, field.ErrorTypeRequired, at, nil,
			"every %s needs a name; write one, or remove the entry", of)
	}
}

// openStackName demands a name that something in OpenStack can have. Blanks within are allowed.
func (f *findings) openStackName(name string, at *field.Path, of string) {
	f.name(name, at, of)
	f.trimmed(name, at)
	if left := leftOver(name); left != "" {
		f.Found(ruleNameSuspicious, field.ErrorTypeInvalid, at, name,
			"%s has %s in it, which looks like a part of a template that was not filled in; write the name of the %s",
			quote(name), left, of)
	}
}

// trimmed reports whether a text has no white space at its ends, and demands it. An empty one is reported elsewhere.
func (f *findings) trimmed(text string, at *field.Path) bool {
	trimmed := strings.TrimSpace(text)
	if text == trimmed || trimmed == "" {
		return true
	}
	f.Found(ruleValueFormat, field.ErrorTypeInvalid, at, text,
		"%s %s has white space at its ends, with which it is another name; write %s", fieldpath.Last(at), quote(text), quote(trimmed))
	return false
}

// leftOver returns what in a text belongs to a template; empty if there is nothing.
func leftOver(text string) string {
	for _, begin := range []string{"{{", "${", "<"} {
		if strings.Contains(text, begin) {
			return begin
		}
	}
	return ""
}

// oneName demands that a Shoot names one thing, and not a pattern. Those who know what there is report an empty name.
func (f *findings) oneName(rule finding.Rule, name string, at *field.Path, of string) {
	if f.trimmed(name, at) && isPattern(name) {
		f.Found(rule, field.ErrorTypeInvalid, at, name,
			"%s is a pattern, and a Shoot has one %s; write its whole name, without a *", quote(name), of)
	}
}

// IsOneName reports whether a name that a Shoot writes can be looked up: it has no white space at its ends, unless it
// is nothing else, and is no pattern. What is wrong with others is reported where their config is checked.
func IsOneName(name string) bool {
	trimmed := strings.TrimSpace(name)
	return (name == trimmed || trimmed == "") && !isPattern(name)
}

// isPattern reports whether a name of a floating pool stands for several.
func isPattern(name string) bool { return strings.Contains(name, "*") }

// misplaced reports whether a name has a * that is neither its first nor its last letter, or a second one.
func misplaced(name string) bool {
	rest, found := strings.CutSuffix(name, "*")
	if !found {
		rest = strings.TrimPrefix(name, "*")
	}
	return strings.Contains(rest, "*")
}

// quoted returns a value so that one that is absent is not like one that is empty.
func quoted(value *string) string {
	if value == nil {
		return ""
	}
	return strconv.Quote(*value)
}

// Choices returns the names that one can write, in their order, each once: without those that are empty or have white
// space at their ends, and patterns with a * where there can be none. The caller owns the slice.
func Choices(names []string) []string {
	known := make(map[string]bool, len(names))
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		again := known[name]
		known[name] = true
		return again || name == "" || name != strings.TrimSpace(name) || misplaced(name)
	})
}

// NotAmong adds the error of a rule that a value is none of those that its profile has, with what the profile has,
// and the one that was probably meant. detail says what is wrong. A value that is empty is Required. Of what the
// profile has only [Choices] are named; names with a * are patterns. If there is none, its operator has to be asked.
func NotAmong(found *finding.Report, rule finding.Rule, at *field.Path, value string, has []string, detail string) {
	repair := "ask the operator of the profile for one"
	if has = Choices(has); len(has) > 0 {
		repair = oneOf(value, has)
	}
	if value == "" {
		found.Found(rule, field.ErrorTypeRequired, at, nil, "%s; %s", detail, repair)
	} else {
		found.Found(rule, field.ErrorTypeNotSupported, at, value, "%s; %s", detail, repair)
	}
}

// oneOf says which values there are, at least one, and which of them was probably meant.
func oneOf(value string, values []string) string {
	supported, question := words.Few(listed(values)), didYouMean(value, values)
	switch {
	case len(values) > 1 && question != "":
		return question + " supported are " + supported
	case len(values) > 1:
		return "supported are " + supported
	case question != "":
		return question
	}
	return "supported: " + supported
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

// didYouMean asks whether another value, which is no pattern, was meant; empty if none is similar, or there are many.
func didYouMean(value string, values []string) string {
	const maxCompared = 100
	if len(values) > maxCompared {
		return ""
	}
	values = slices.DeleteFunc(slices.Clone(values), isPattern)
	meant := words.Closest(value, values)
	if i := slices.IndexFunc(values, func(v string) bool { return beginsLike(value, v) }); i >= 0 && meant == "" {
		meant = values[i]
	}
	return question(meant)
}

// question asks whether a value was meant; it is empty for none.
func question(meant string) string {
	if meant == "" {
		return ""
	}
	return words.Question(strconv.Quote(meant))
}

// beginsLike reports whether most of a long name is as another one begins, in whatever case.
func beginsLike(written, name string) bool {
	const long = 12
	n := len(name)/2 + 1
	return len(name) >= long && len(written) >= n && len(written) <= 2*len(name) && strings.EqualFold(written[:n], name[:n])
}

func quote(written string) string {
	const maxQuoted = 80
	if utf8.RuneCountInString(written) > maxQuoted {
		written = string([]rune(written)[:maxQuoted]) + "..."
	}
	return strconv.Quote(written)
}

// openStackID checks the ID of something in OpenStack: an error is what can be none at all, a warning what is no
// UUID, as the IDs of networks, subnets and routers are.
func (f *findings) openStackID(id *string, at *field.Path, of string) {
	if !f.notEmpty(id, at) || isUUID(*id) {
		return
	}
	if problem := idProblem(*id); problem != "" {
		f.Found(ruleOpenStackID, field.ErrorTypeInvalid, at, *id,
			"%s cannot be the ID of a %s: it %s; %s", quote(*id), of, problem, writeID(*id))
		return
	}
	repair := "write the ID instead"
	if strings.HasSuffix(at.String(), ".floatingSubnetID") {
		repair = "write it as floatingSubnetName"
	}
	f.Found(ruleOpenStackIDFormat, field.ErrorTypeInvalid, at, *id,
		"the ID of a %s is a UUID such as 2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70, not %s; if that is the name, %s", of, quote(*id), repair)
}

func (f *findings) requiredID(id string, at *field.Path, of string) {
	if strings.TrimSpace(id) == "" {
		f.missing(at, "write the ID of the %s", of)
		return
	}
	f.openStackID(&id, at, of)
}

// writeID says what to write instead of what can be no ID.
func writeID(id string) string {
	if strings.Contains(id, "{{") {
		return "is it a template that was not rendered?"
	}
	if trimmed := strings.TrimSpace(id); idProblem(trimmed) == "" {
		return "remove the space or line break around it"
	}
	return "write the ID, not the name"
}

// ImageID returns what is wrong with the ID of an image, if there is one, in a region at the path. It need be no UUID.
func ImageID(id string, region *field.Path) field.ErrorList {
	if id == "" || isUUID(id) { // there may be thousands
		return nil
	}
	var f findings
	if problem := idProblem(id); problem != "" {
		f.Found(ruleOpenStackID, field.ErrorTypeInvalid, region.Child("id"), id,
			"%s cannot be the ID of an image: it %s; %s", quote(id), problem, writeID(id))
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
