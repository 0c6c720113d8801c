// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// OriginNameSuspicious is the rule about names that were probably not meant.
const OriginNameSuspicious = "name-suspicious"

// name demands that the name of something, such as a region, is not empty.
func (f *Findings) name(name string, at *field.Path, of string) {
	if strings.TrimSpace(name) == "" {
		f.fail(OriginNameMissing, field.ErrorTypeRequired, at, nil, "every %s needs a name; write one, or remove the entry", of)
	}
}

// openStackName demands a name that something in OpenStack can have, or that others refer to. Blanks within are allowed.
func (f *Findings) openStackName(name string, at *field.Path, of string) {
	f.name(name, at, of)
	f.trimmed(name, at)
	if left := leftOver(name); left != "" {
		f.warn(OriginNameSuspicious, field.ErrorTypeInvalid, at, name, "%s has %s in it, which looks like a part of a template that was not filled in; write the name of the %s", quote(name), left, of)
	}
}

// trimmed demands that a text has no white space at its ends. It returns whether it has none. One that is empty is reported
// elsewhere.
func (f *Findings) trimmed(text string, at *field.Path) bool {
	trimmed := strings.TrimSpace(text)
	if text == trimmed || trimmed == "" {
		return true
	}
	f.fail(OriginValueFormat, field.ErrorTypeInvalid, at, text, "%s %s has white space at its ends, with which it is another name; write %s", last(at), quote(text), quote(trimmed))
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

// wildcards warns about what is a wildcard elsewhere, and stands for itself in the name of a floating pool.
func (f *Findings) wildcards(name string, at *field.Path) {
	if leftOver(name) != "" {
		return
	}
	for _, wildcard := range []string{".*", "?", "["} {
		if strings.Contains(name, wildcard) {
			f.warn(OriginNameSuspicious, field.ErrorTypeInvalid, at, name, "floating pool %s: only * is a wildcard, and %s stands for itself; write a name, or a pattern such as fp-pool-*", quote(name), quote(strings.TrimSuffix(wildcard, "*")))
			return
		}
	}
}

// misplaced reports whether a name has a * that is neither its first nor its last letter, or a second one.
func misplaced(name string) bool {
	rest, found := strings.CutSuffix(name, "*")
	if !found {
		rest = strings.TrimPrefix(name, "*")
	}
	return strings.Contains(rest, "*")
}

// isPattern reports whether a name of a floating pool stands for several.
func isPattern(name string) bool { return strings.Contains(name, "*") }

// oneName demands that a Shoot names one thing, and not a pattern for several. A name that is empty is reported by those who
// know which ones there are.
func (f *Findings) oneName(origin, name string, at *field.Path, of string) {
	if f.trimmed(name, at) && isPattern(name) {
		f.fail(origin, field.ErrorTypeInvalid, at, name, "%s is a pattern, and a Shoot has one %s; write its whole name, without a *", quote(name), of)
	}
}

// IsOneName reports whether a name that a Shoot writes can be looked up: it has no white space at its ends, unless it is nothing
// else, and is no pattern. What is wrong with others is reported where their config is checked.
func IsOneName(name string) bool {
	trimmed := strings.TrimSpace(name)
	return (name == trimmed || trimmed == "") && !isPattern(name)
}
