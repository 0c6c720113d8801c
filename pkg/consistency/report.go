// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Report is what a check found. The Origin of each entry is the stable name of its rule (see [Rules]); its Detail is
// written for the person who wrote the manifest. Warnings have the same form as errors but never deny anything. The
// zero Report found nothing.
type Report struct {
	Errors, Warnings field.ErrorList
}

// merge appends what o found.
func (r *Report) merge(o Report) {
	r.Errors = append(r.Errors, o.Errors...)
	r.Warnings = append(r.Warnings, o.Warnings...)
}

// sorted orders both lists by path, so that the same input gives the same report.
func (r Report) sorted() Report {
	SortByPath(r.Errors)
	SortByPath(r.Warnings)
	return r
}

// SortByPath sorts findings, in place, by their field path: names in lexical order, indices in numerical order, a parent
// before its children. Findings at one path are ordered by rule, then by text.
func SortByPath(list field.ErrorList) {
	slices.SortStableFunc(list, func(a, b *field.Error) int {
		return cmp.Or(ComparePaths(a.Field, b.Field), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Detail, b.Detail))
	})
}

// ComparePaths orders two field paths as [SortByPath] does. It returns a negative number if a comes first.
func ComparePaths(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a = cutSegment(a)
		y, b = cutSegment(b)
		if c := compareSegments(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// cutSegment splits a path behind its first name or index.
func cutSegment(path string) (segment, rest string) {
	if i := strings.IndexAny(path[1:], ".["); i >= 0 {
		return path[:i+1], path[i+1:]
	}
	return path, ""
}

// compareSegments puts indices, by their number, before everything else. Digits without leading zeros are compared by
// their length first.
func compareSegments(a, b string) int {
	switch x, y := isIndex(a), isIndex(b); {
	case x && y:
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case x:
		return -1
	case y:
		return 1
	}
	return cmp.Compare(a, b)
}

// isIndex tells whether a segment is a number in brackets. A subscript with anything else in it is the key of a map.
func isIndex(segment string) bool {
	digits, found := strings.CutPrefix(segment, "[")
	digits, closed := strings.CutSuffix(digits, "]")
	return found && closed && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// finding builds an error of a rule. Its value is what the user wrote, as text, or nil if there is nothing to quote.
func finding(rule string, kind field.ErrorType, at *field.Path, value any, detail string) *field.Error {
	return (&field.Error{Type: kind, Field: at.String(), BadValue: value, Detail: detail}).WithOrigin(rule)
}
