// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

// Choices returns the names among some that one can write, in their order, each of them once: it leaves out those
// that are empty or have white space at their ends, and patterns with a * where there can be none. The caller owns
// the slice.
func Choices(names []string) []string {
	known := make(map[string]bool, len(names))
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		again := known[name]
		known[name] = true
		return again || name == "" || name != strings.TrimSpace(name) || misplaced(name)
	})
}

// NotAmong adds the error of a rule that a value is none of those that its profile has, with what the profile has,
// and the one that was probably meant. detail says what is wrong. A value that is empty is Required. Of what the
// profile has only [Choices] are named; names with a * are patterns. If there is none, its operator has to be asked.
func NotAmong(found *finding.Report, rule finding.Rule, at *field.Path, value string, has []string, detail string) {
	repair := "ask the operator of the profile for one"
	if has = Choices(has); len(has) > 0 {
		repair = oneOf(value, has)
	}
	if value == "" {
		found.Found(rule, field.ErrorTypeRequired, at, nil, "%s; %s", detail, repair)
	} else {
		found.Found(rule, field.ErrorTypeNotSupported, at, value, "%s; %s", detail, repair)
	}
}

// oneOf says which values there are, and which of them was probably meant.
func oneOf(value string, values []string) string {
	supported := "supported are " + finding.Few(listed(values))
	if question := didYouMean(value, values); question != "" {
		return question + " " + supported
	}
	return supported
}

// listed returns names for a list of what there is. Patterns are named as such, and names with blanks quoted.
func listed(values []string) []string {
	list := make([]string, 0, len(values))
	for _, value := range values {
		switch {
		case value == "*":
			value = "any name"
		case isPattern(value):
			value = "names like " + value
		case strings.ContainsFunc(value, unicode.IsSpace):
			value = strconv.Quote(value)
		}
		list = append(list, value)
	}
	return list
}

// didYouMean asks whether another value was meant; empty if there is none that is similar, or more than anyone would
// compare. Nobody means a pattern.
func didYouMean(value string, values []string) string {
	const maxCompared = 100
	if len(values) > maxCompared {
		return ""
	}
	values = slices.DeleteFunc(slices.Clone(values), isPattern)
	meant := strictjson.Closest(value, values)
	if i := slices.IndexFunc(values, func(v string) bool { return beginsLike(value, v) }); i >= 0 && meant == "" {
		meant = values[i]
	}
	if meant == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", meant)
}

// beginsLike reports whether most of a long name is as another one begins, in whatever case.
func beginsLike(written, name string) bool {
	const long = 12
	n := len(name)/2 + 1
	return len(name) >= long && len(written) >= n && len(written) <= 2*len(name) && strings.EqualFold(written[:n], name[:n])
}

// last returns what stands at the end of a path.
func last(at *field.Path) string {
	path := at.String()
	return path[strings.LastIndexByte(path, '.')+1:]
}

// quote quotes what the user wrote, or the beginning of it.
func quote(written string) string {
	const maxQuoted = 80
	if utf8.RuneCountInString(written) > maxQuoted {
		written = string([]rune(written)[:maxQuoted]) + "..."
	}
	return strconv.Quote(written)
}
