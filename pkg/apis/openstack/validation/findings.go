// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
)

// findings collects what a check finds. Its methods are what many fields have in common.
type findings struct{ finding.Report }

// maxFindings is how many are enough for one config: nobody reads more, and a user may write a hundred thousand of
// them.
const maxFindings = 1000

// Full reports whether there are so many findings that the rest of a list need not be looked at.
func Full(found *finding.Report) bool { return len(found.Errors)+len(found.Warnings) >= maxFindings }

// notEmpty demands that a value which may be left out is not empty if it is there. It reports whether it is there and
// not empty.
func (f *findings) notEmpty(value *string, at *field.Path) bool {
	if value != nil && strings.TrimSpace(*value) == "" {
		f.Found(ruleValueEmpty, field.ErrorTypeRequired, at, nil, "%s is empty; write a value, or leave it out", last(at))
	}
	return value != nil && strings.TrimSpace(*value) != ""
}

// supported demands that a value, if there is one, is among some.
func (f *findings) supported(value *string, at *field.Path, values ...string) {
	if f.notEmpty(value, at) && !slices.Contains(values, *value) {
		f.Found(ruleValueNotSupported, field.ErrorTypeNotSupported, at, *value,
			"%s %s is unknown; %s", last(at), quote(*value), oneOf(*value, values))
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

// duplicate says what the entry before is already, such as "is for region europe".
func (f *findings) duplicate(rule finding.Rule, at *field.Path, value string, before *field.Path, is string) {
	f.Found(rule, field.ErrorTypeDuplicate, at, value, "%s %s already; remove one of the two", before, is)
}

// name demands that the name of something, such as a region, is not empty.
func (f *findings) name(name string, at *field.Path, of string) {
	if strings.TrimSpace(name) == "" {
		f.Found(ruleNameMissing, field.ErrorTypeRequired, at, nil,
			"every %s needs a name; write one, or remove the entry", of)
	}
}

// openStackName demands a name that something in OpenStack can have, or that others refer to. Blanks within are
// allowed.
func (f *findings) openStackName(name string, at *field.Path, of string) {
	f.name(name, at, of)
	f.trimmed(name, at)
	if left := leftOver(name); left != "" {
		f.Found(ruleNameSuspicious, field.ErrorTypeInvalid, at, name,
			"%s has %s in it, which looks like a part of a template that was not filled in; write the name of the %s",
			quote(name), left, of)
	}
}

// trimmed demands that a text has no white space at its ends. It reports whether it has none. One that is empty is
// reported elsewhere.
func (f *findings) trimmed(text string, at *field.Path) bool {
	trimmed := strings.TrimSpace(text)
	if text == trimmed || trimmed == "" {
		return true
	}
	f.Found(ruleValueFormat, field.ErrorTypeInvalid, at, text,
		"%s %s has white space at its ends, with which it is another name; write %s", last(at), quote(text), quote(trimmed))
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

// oneName demands that a Shoot names one thing, and not a pattern for several. A name that is empty is reported by
// those who know which ones there are.
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
