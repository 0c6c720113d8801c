// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package ratchet decides what an update may keep (semantics S10): an error that the stored object has already is not
// the fault of an update that leaves the offending part alone. Start reading at [Excuse].
//
// The package knows no rule and no provider. What makes two findings the same is data on them, see [finding.Finding];
// what the elements of Gardener's lists are known by is here.
package ratchet

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
)

// Judged is an object and what a check has found in it.
type Judged struct {
	// Object is what the paths of the findings go into. It can be marshalled into JSON.
	Object any
	Report finding.Report
}

// Excuse returns the report about an object that is about to be written, with the errors as warnings that the stored
// object has as well, judged by the same checks. Each error of the stored object excuses one of the new one.
//
// Two errors are the same if they agree in rule, type, value, [finding.Finding.About] and in the names on their paths,
// not in indices, and if no part of their [finding.Finding.Extent] has changed. Elements of lists are known by their
// name or version and the region and the domain that they are for, regions by their architecture as well, flavors by
// their capabilities; what has none of these is known by all that it says. Where something is there twice, it does not
// matter which of the two is reported: errors of the type Duplicate are the same if they are about the same name, and
// those about flavors if the flavors are written with the same values.
//
// Silenced errors excuse others, and need an excuse, like those that are reported: where something could not be read,
// an update must not make worse what is around it. They become errors of the result if nothing else is refused.
//
// If the report about updated leaves errors out ([finding.Report]), none is excused: nobody knows whether those are new.
//
// A warning that was an error says that it is older than the update. The arguments are not changed, and share findings
// with the result. The result is sorted, unless it is the report about updated itself, since there is nothing to
// excuse.
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
	f.Error = &err
	return f
}

// excuses are how many findings of an identity there may be.
type excuses map[identity]int

// excuse reports whether there may be a finding with these identities. If so, there may be one less.
func (e excuses) excuse(ids []identity) bool {
	for _, id := range ids {
		if e[id] == 0 {
			return false
		}
	}
	for _, id := range ids {
		e[id]--
	}
	return true
}

// identity is what makes two findings the same.
type identity struct {
	rule, about          string
	kind                 field.ErrorType
	place, value, extent string
}

// identities returns those of the parts of a finding, or its own if it has none.
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
	case f.BadValue == nil || flavor: // a flavor is quoted in the order of the vocabulary, which may change
	case omitted: // too long to be shown, or a secret
		id.value = t.says(at)
	default:
		id.value = fmt.Sprint(f.BadValue)
	}
	return id
}
