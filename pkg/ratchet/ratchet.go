// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package ratchet decides which errors an update may keep (semantics S10). An error that the stored object has already is not the fault of
// an update that leaves the offending part unchanged. Start reading at [Excuse].
//
// The package knows no rules and no providers. A [finding.Finding] carries the data that decide whether two findings are the same. This
// package decides how elements of Gardener's lists are identified.
package ratchet

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
)

// Judged is an object with the report of a check.
type Judged struct {
	// Object is the root of the findings' paths. It can be marshalled to JSON.
	Object any
	Report finding.Report
}

// Excuse returns the report about an updated object, with errors that the stored object also has as warnings. Both reports are from the
// same checks. Each error of the stored object excuses one error of the updated one.
//
// Two errors are the same if they agree in rule, type, value, [finding.Finding.About] and the names on their paths, but not necessarily in
// indices, and if no part of their [finding.Finding.Extent] has changed. List elements are identified by their name or version, their
// region and their domain; regions by their name and architecture; flavors by their capabilities; elements without any of these by all
// their content. If an element is there twice, either may be the one reported. So errors of the type Duplicate are the same if they are
// about the same name, and errors about flavors if the flavors are written with the same values.
//
// Silenced errors excuse others, and need an excuse, like reported ones: an update must not make things worse around a part that is
// unreadable. Silenced errors without an excuse become errors of the result if it has no others.
//
// If the report about updated leaves errors out ([finding.Report]), none is excused, because it is unknown whether those are new.
//
// A warning that was an error says that it is older than the update. Excuse does not modify its arguments, which share findings with the
// result. The result is sorted, unless there is nothing to excuse: then it is the report about updated itself.
func Excuse(updated, stored Judged) finding.Report {
	if len(updated.Report.Errors) == 0 || len(stored.Report.Errors) == 0 || updated.Report.ErrorsLeftOut {
		return updated.Report
	}
	shared := interner{}
	was, is := treeOf(stored.Object, shared), treeOf(updated.Object, shared)
	known := excuses{}
	for _, f := range slices.Concat(stored.Report.Errors, stored.Report.Silenced) {
		for _, id := range was.identities(f) {
			known[id]++
		}
	}
	left := updated.Report
	left.Errors, left.Warnings = nil, slices.Clone(left.Warnings)
	for _, f := range updated.Report.Errors {
		if known.excuse(is.identities(f)) {
			left.Warnings = append(left.Warnings, older(f))
		} else {
			left.Errors = append(left.Errors, f)
		}
	}
	if len(left.Errors) == 0 {
		left.Errors = slices.DeleteFunc(slices.Clone(left.Silenced), func(f finding.Finding) bool {
			return known.excuse(is.identities(f))
		})
	}
	return left.Sorted()
}

// older returns an error of the stored object as a warning.
func older(f finding.Finding) finding.Finding {
	err := *f.Error
	err.Detail = "older than this update: " + err.Detail
	f.Error, f.Concern = &err, finding.Older
	return f
}

// excuses counts the findings that each identity may still excuse.
type excuses map[identity]int

// excuse reports whether findings with all these identities are excused, and if so, uses up an excuse for each.
func (e excuses) excuse(ids []identity) bool {
	for i, id := range ids {
		if e[id] == 0 {
			for _, used := range ids[:i] {
				e[used]++
			}
			return false
		}
		e[id]--
	}
	return true
}

// identity identifies a finding: two findings are the same if their identities are equal.
type identity struct {
	rule, about          string
	kind                 field.ErrorType
	place, value, extent string
}

// identities returns the identities of a finding's parts, or its own if it has none.
func (t *tree) identities(f finding.Finding) []identity {
	parts := f.Parts
	if len(parts) == 0 {
		parts = finding.List{f}
	}
	ids := make([]identity, 0, len(parts))
	for _, part := range parts {
		ids = append(ids, t.identify(part))
	}
	return ids
}

func (t *tree) identify(f finding.Finding) identity {
	place, at, flavor := t.walk(f.Place, f.Type == field.ErrorTypeDuplicate)
	id := identity{rule: f.Origin, about: f.About, kind: f.Type, place: place, extent: t.extent(f.Extent)}
	switch _, omitted := f.BadValue.(field.OmitValueType); {
	case f.BadValue == nil || flavor: // a flavor's value is in the order of the vocabulary, which may change
	case omitted: // too long to be shown, or a secret
		id.value = t.says(at)
	default:
		id.value = fmt.Sprint(f.BadValue)
	}
	return id
}
