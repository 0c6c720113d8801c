// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Findings are what a check found. Warnings deny nothing. The zero Findings found nothing.
type Findings struct {
	Errors, Warnings field.ErrorList
}

// Add appends what other found.
func (f *Findings) Add(other Findings) {
	f.Errors = append(f.Errors, other.Errors...)
	f.Warnings = append(f.Warnings, other.Warnings...)
}

// finding builds an error of a rule. Its value is what the user wrote, or nil if there is nothing to quote.
func finding(origin string, kind field.ErrorType, at *field.Path, value any, detail string) *field.Error {
	return (&field.Error{Type: kind, Field: at.String(), BadValue: value, Detail: detail}).WithOrigin(origin)
}
