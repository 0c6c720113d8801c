// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// NotAmong returns the error of a rule that a value is none of those that its profile has, with what the profile has, and
// the one that was probably meant. detail says what is wrong. A value that is empty is Required. has must not be empty.
func NotAmong(origin string, at *field.Path, value string, has []string, detail string) *field.Error {
	if value == "" {
		return finding(origin, field.ErrorTypeRequired, at, nil, detail+"; "+oneOf(value, has))
	}
	return finding(origin, field.ErrorTypeNotSupported, at, value, detail+"; "+oneOf(value, has))
}
