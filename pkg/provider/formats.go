// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
)

// The findings below are for implementations of [Provider]: what only they can see, in the words that all share.

// ReferenceMissing returns the error for a reference, or a part of one, that is empty. what names it: "the image ID of
// the region".
func ReferenceMissing(at *field.Path, what string) *field.Error {
	return field.Required(at, what+" is missing").WithOrigin(RuleReferenceMissing)
}

// FormatMixed returns the error for a legacy field that stands beside capabilityFlavors, and says where images are, such as
// regions (semantics S7). A field that a flavor writes as a capability cannot be moved into it: use [Exclusive], or a finding
// that says as what capability to write it.
func FormatMixed(at *field.Path, legacy string) finding.Finding {
	return finding.New(RuleFormatMixed, field.ErrorTypeForbidden, at, nil,
		legacy+" and capabilityFlavors exclude each other: move the "+legacy+" into the flavors they belong to")
}

// ImageIgnored returns the warning for a version's image beside capabilityFlavors (semantics S7).
func ImageIgnored(at *field.Path, image string) finding.Finding {
	return finding.New(ruleImageIgnored, field.ErrorTypeForbidden, at, image,
		"image is ignored because the version has capabilityFlavors: move it into the flavor it belongs to, or remove it")
}

// FlavorArchitecture returns the error for an architecture that is written into a region of a flavor (semantics S6).
func FlavorArchitecture(at *field.Path, architecture string) finding.Finding {
	return finding.New(ruleFlavorArchitecture, field.ErrorTypeForbidden, at, architecture,
		"the architecture of a flavor is a capability: write capabilities: {architecture: ["+architecture+"]} and remove it here")
}

// NotSupported returns the error of a rule for a value that is none of those that are possible.
func NotSupported(rule string, at *field.Path, value string, possible []string) *field.Error {
	return (&field.Error{
		Type: field.ErrorTypeNotSupported, Field: at.String(), BadValue: value,
		Detail: fmt.Sprintf("%s is not possible here; write one of %s", finding.Quoted(value), strings.Join(possible, ", ")),
	}).WithOrigin(rule)
}

// Exclusive returns the error of a rule for fields of which only one can be set; at is the path of the second one that is
// set, where the error is reported. names are those of all fields of which one can be set. [finding.Of] makes a finding of it.
func Exclusive(rule string, at *field.Path, names ...string) *field.Error {
	return field.Forbidden(at, strings.Join(names, ", ")+" exclude each other: keep one of them").WithOrigin(rule)
}

// FieldIgnored returns the warning of a rule for a field that means nothing where it stands. because says why, as the end of
// a sentence.
func FieldIgnored(rule string, at *field.Path, because string) finding.Finding {
	return finding.New(rule, field.ErrorTypeForbidden, at, nil, "the field is ignored, because "+because+"; remove it")
}
