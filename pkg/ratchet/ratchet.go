// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ratchet

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
)

// Judged is an object and what a check has found in it.
type Judged struct {
	// Object is what the paths of the findings go into. It can be marshalled into JSON.
	Object any
	Report finding.Report
}

// Excuse returns the report about an object that is about to be written, with the errors as warnings that the stored object
// has as well, judged by the same checks. Each error of the stored object excuses one of the new one.
//
// Two errors are the same if they agree in rule, type, value, [finding.Finding.About] and in the names on their paths, not
// in indices, and if no part of their [finding.Finding.Extent] has changed. Elements of lists are known by their name or
// version and the region and the domain that they are for, regions by their architecture as well, flavors by their
// capabilities; what has none of these is known by all that it says. Where something is there twice, it does not matter
// which of the two is reported: errors of the type Duplicate are the same if they are about the same name, and those about
// flavors if the flavors are written with the same values.
//
// The arguments are not changed, and share findings with the result. It is sorted if the report about updated is.
func Excuse(updated, stored Judged) finding.Report {
	if len(updated.Report.Errors) == 0 || len(stored.Report.Errors) == 0 {
		return updated.Report
	}
	shared := numbers{}
	was, is := treeOf(stored.Object, shared), treeOf(updated.Object, shared)
	excused := make(map[identity]int, len(stored.Report.Errors))
	for _, f := range stored.Report.Errors {
		excused[was.identify(f)]++
	}
	left := finding.Report{Warnings: slices.Clone(updated.Report.Warnings)}
	for _, f := range updated.Report.Errors {
		id := is.identify(f)
		if excused[id] == 0 {
			left.Errors = append(left.Errors, f)
			continue
		}
		excused[id]--
		left.Warnings = append(left.Warnings, f)
	}
	return left.Sorted()
}

// identity is what makes two findings the same.
type identity struct {
	rule, about  string
	kind         field.ErrorType
	place, value string
	extent       int
}

func (t *tree) identify(f finding.Finding) identity {
	place, flavor := t.known(f.Place, f.Type == field.ErrorTypeDuplicate)
	id := identity{rule: f.Origin, about: f.About, kind: f.Type, place: place, extent: t.extent(f.Extent)}
	switch _, omitted := f.BadValue.(field.OmitValueType); {
	case f.BadValue == nil || flavor: // a flavor is quoted in the order of the vocabulary, which may change
	case omitted: // too long to be shown, or a secret
		id.value = strconv.Itoa(t.says(t.at(f.Place)))
	default:
		id.value = fmt.Sprint(f.BadValue)
	}
	return id
}
