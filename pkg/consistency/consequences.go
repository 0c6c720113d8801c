// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WithoutConsequences returns what was found in a config that stands at the path at, without what only follows from the
// errors of decoding it: a Required for something that is there and could not be read, or whose name is misspelt. It may
// change found.
func WithoutConsequences(found, decoding field.ErrorList, at *field.Path) field.ErrorList {
	places := unreadPlaces(decoding, at)
	return slices.DeleteFunc(found, func(err *field.Error) bool {
		return err.Type == field.ErrorTypeRequired && places.explains(err.Field)
	})
}
