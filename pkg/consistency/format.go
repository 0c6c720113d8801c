// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The findings below are for implementations of [Provider]: what only they can see, in the words that all share.

// ReferenceMissing returns the error for a reference, or a part of one, that is empty. what names it: "the image ID of
// the region".
func ReferenceMissing(at *field.Path, what string) *field.Error {
	return finding(RuleReferenceMissing, field.ErrorTypeRequired, at, nil, what+" is missing")
}

// FormatMixed returns the error for a legacy field that stands beside capabilityFlavors (semantics S7).
func FormatMixed(at *field.Path, legacy string) *field.Error {
	return finding(RuleFormatMixed, field.ErrorTypeForbidden, at, nil,
		legacy+" and capabilityFlavors exclude each other: move the "+legacy+" into the flavors they belong to")
}

// ImageIgnored returns the warning for a version's image beside capabilityFlavors (semantics S7).
func ImageIgnored(at *field.Path, image string) *field.Error {
	return finding(RuleImageIgnored, field.ErrorTypeForbidden, at, image,
		"image is ignored because the version has capabilityFlavors: move it into the flavor it belongs to, or remove it")
}

// FlavorArchitecture returns the error for an architecture that is written into a region of a flavor (semantics S6).
func FlavorArchitecture(at *field.Path, architecture string) *field.Error {
	return finding(RuleFlavorArchitecture, field.ErrorTypeForbidden, at, architecture,
		"the architecture of a flavor is a capability: write capabilities: {architecture: ["+architecture+"]} and remove it here")
}
