// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
)

// Choices returns the names among some that one can write, in their order, each of them once: it leaves out those that are
// empty or have white space at their ends, and patterns with a * where there can be none. The caller owns the slice.
func Choices(names []string) []string {
	known := make(map[string]bool, len(names))
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		again := known[name]
		known[name] = true
		return again || name == "" || name != strings.TrimSpace(name) || misplaced(name)
	})
}

// NotAmong returns the error of a rule that a value is none of those that its profile has, with what the profile has, and
// the one that was probably meant. detail says what is wrong. A value that is empty is Required. Of what the profile has
// only [Choices] are named; names with a * are patterns. If there is none, its operator has to be asked.
func NotAmong(origin string, at *field.Path, value string, has []string, detail string) finding.Finding {
	repair := "ask the operator of the profile for one"
	if has = Choices(has); len(has) > 0 {
		repair = oneOf(value, has)
	}
	if value == "" {
		return finding.New(origin, field.ErrorTypeRequired, at, nil, detail+"; "+repair)
	}
	return finding.New(origin, field.ErrorTypeNotSupported, at, value, detail+"; "+repair)
}
