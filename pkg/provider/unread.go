// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

// Unread holds the places of a config that could not be read. What follows from them would only repeat the error in other
// words, so checks are silent about it. The zero Unread is that of a config without such places.
type Unread []string

// UnreadIn returns the places in what decoding a config, which stands at the path at, has reported. Other findings count
// for nothing.
func UnreadIn(errs finding.List, at *field.Path) Unread {
	var places Unread
	for _, err := range errs {
		switch err.Origin {
		case strictjson.OriginSyntax, strictjson.OriginUnknownField, strictjson.OriginFieldType, strictjson.OriginDuplicateKey:
			places = append(places, err.Field)
		case ruleConfigMissing, RuleConfigKind:
			places = append(places, text(at))
		}
	}
	return places
}

// Touches reports whether a place is at, above or below the path.
func (u Unread) Touches(at *field.Path) bool {
	if len(u) == 0 {
		return false
	}
	path := text(at)
	return slices.ContainsFunc(u, func(place string) bool { return finding.Above(place, path) || finding.Above(path, place) })
}

// Covers reports whether a place is at or above the path.
func (u Unread) Covers(at *field.Path) bool {
	if len(u) == 0 {
		return false
	}
	path := text(at)
	return slices.ContainsFunc(u, func(place string) bool { return finding.Above(place, path) })
}

// Silence returns a report in which the errors are silenced, and the warnings left out, that only follow from what could
// not be read: whatever is said about such a value, or about what it is a part of; and a Required for something whose name
// is misspelt. The order stays.
func (u Unread) Silence(report finding.Report) finding.Report {
	if len(u) == 0 {
		return report
	}
	told := finding.Report{Silenced: report.Silenced}
	for _, err := range report.Errors {
		if u.explains(err) {
			told.Silenced = append(told.Silenced, err)
		} else {
			told.Errors = append(told.Errors, err)
		}
	}
	for _, warning := range report.Warnings {
		if !u.explains(warning) {
			told.Warnings = append(told.Warnings, warning)
		}
	}
	return told
}

func (u Unread) explains(f finding.Finding) bool {
	return slices.ContainsFunc(u, func(place string) bool {
		return finding.Above(place, f.Field) || finding.Above(f.Field, place) ||
			f.Type == field.ErrorTypeRequired && misspelt(place, f.Field)
	})
}

// misspelt reports whether a name that is not known was meant to be the one at a path, or one above it.
func misspelt(place, path string) bool {
	name := strings.LastIndexByte(place, '.') + 1
	beside, found := strings.CutPrefix(path, place[:name])
	if end := strings.IndexAny(beside, ".["); end >= 0 {
		beside = beside[:end]
	}
	return found && strictjson.Closest(place[name:], []string{beside}) != ""
}
