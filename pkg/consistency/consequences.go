// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/strictjson"
)

// WithoutConsequences returns what was found in a config that stands at the path at, without what only follows from the
// errors of decoding it: whatever is said about a value that could not be read, or about what it is a part of; and a
// Required for something whose name is misspelt. It may change found.
func WithoutConsequences(found, decoding field.ErrorList, at *field.Path) field.ErrorList {
	return unreadPlaces(decoding, at).explained(found)
}

// explained returns the findings without those that only follow from what could not be read. It may change them.
func (u unread) explained(found field.ErrorList) field.ErrorList {
	if len(u) == 0 {
		return found
	}
	return slices.DeleteFunc(found, func(err *field.Error) bool {
		return slices.ContainsFunc(u, func(place string) bool {
			return above(place, err.Field) || above(err.Field, place) || err.Type == field.ErrorTypeRequired && misspelt(place, err.Field)
		})
	})
}

// misspelt tells whether a name that is not known was meant to be the one at a path, or one above it.
func misspelt(place, path string) bool {
	beside, written := cutLast(place)
	rest, found := strings.CutPrefix(path, beside+".")
	if !found {
		return false
	}
	if end := strings.IndexAny(rest, ".["); end >= 0 {
		rest = rest[:end]
	}
	return strictjson.Closest(written, []string{rest}) != ""
}

// cutLast splits a path before its last name.
func cutLast(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}
