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
// errors of decoding it: a Required for something that is there and could not be read, or whose name is misspelt. It may
// change found.
func WithoutConsequences(found, decoding field.ErrorList, at *field.Path) field.ErrorList {
	return unreadPlaces(decoding, at).explained(found)
}

// explained returns the findings without a Required that only follows from what could not be read. It may change them.
func (u unread) explained(found field.ErrorList) field.ErrorList {
	if len(u) == 0 {
		return found
	}
	return slices.DeleteFunc(found, func(err *field.Error) bool {
		return err.Type == field.ErrorTypeRequired && u.explains(err.Field)
	})
}

// explains tells whether something is missing at a path because it could not be read: it is there, or above or below,
// or its name is misspelt.
func (u unread) explains(path string) bool {
	parent, name := cutLast(path)
	return slices.ContainsFunc(u, func(place string) bool {
		beside, written := cutLast(place)
		return above(place, path) || above(path, place) || beside == parent && strictjson.Closest(written, []string{name}) != ""
	})
}

// cutLast splits a path before its last name.
func cutLast(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}
