// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package texts knows the two texts of GEP-0054 (semantics S3): by which names each calls Gardener's own capabilities, and their values.
// Both mean the same. It is pure, and all of it may be used concurrently.
package texts

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// The capabilities that have a name in each text, and their values.
const (
	BootType        = "gardener-boot-type"
	BootTypeOfFirst = "gardener-bootType"
	Secure          = "secure"
	Standard        = "standard"

	UpdateType        = "gardener-update-type"
	UpdateTypeOfFirst = "gardener-updateType"
	InPlace           = "in-place"
	InPlaceOfFirst    = "inPlace"
	Rolling           = "rolling"
)

// text is what a capability of one text is in the other.
type text struct {
	name   string
	values map[string]string
	// second is set if the other text is the second.
	second bool
}

// others has, by either name of a capability, what it is in the other text.
var others = map[string]*text{
	BootTypeOfFirst:   {BootType, map[string]string{Secure: Secure, Standard: Standard}, true},
	UpdateTypeOfFirst: {UpdateType, map[string]string{InPlaceOfFirst: InPlace, Rolling: Rolling}, true},
	BootType:          {BootTypeOfFirst, map[string]string{Secure: Secure, Standard: Standard}, false},
	UpdateType:        {UpdateTypeOfFirst, map[string]string{InPlace: InPlaceOfFirst, Rolling: Rolling}, false},
}

// Names returns the capabilities that have a name in each text, by all of their names: that of the second text before that of the first, in the
// order of their priority. The caller owns the result.
func Names() []string { return []string{BootType, BootTypeOfFirst, UpdateType, UpdateTypeOfFirst} }

// Other returns the name that the other text has for a capability; empty if it has none.
func Other(name string) string {
	if other := others[name]; other != nil {
		return other.name
	}
	return ""
}

// OfFirst reports whether a name is one that the second text has replaced.
func OfFirst(name string) bool {
	other := others[name]
	return other != nil && other.second
}

// OfSecond reports whether a name is one that has replaced one of the first text.
func OfSecond(name string) bool {
	other := others[name]
	return other != nil && !other.second
}

// Canonical returns the name that the second text has for a capability, which stands for the feature. Any other name it returns as it is.
func Canonical(name string) string {
	if OfFirst(name) {
		return others[name].name
	}
	return name
}

// Translate returns a value of the capability of a name in the words of the other text. It reports whether the capability has another
// name there, and has the value.
func Translate(name, value string) (string, bool) {
	if other := others[name]; other != nil {
		translated, found := other.values[value]
		return translated, found
	}
	return "", false
}

// TranslateAll returns the values of the capability of a name in the words of the other text, in their order, without those that it does not
// have. The caller owns the result.
func TranslateAll(name string, values []string) []string {
	result := make([]string, 0, len(values))
	for _, value := range values {
		if translated, found := Translate(name, value); found {
			result = append(result, translated)
		}
	}
	return result
}

// Declared returns the values that capabilities declare for one, by that name or by its other one, in the words of that name. It reports whether
// they declare it. The result may share the values of c.
func Declared(c v1beta1.Capabilities, name string) (values []string, declared bool) {
	values, declared = c[name]
	other := others[name]
	if other == nil {
		return values, declared
	}
	translated, also := c[other.name]
	if !also {
		return values, declared
	}
	return append(slices.Clip(values), TranslateAll(other.name, translated)...), true
}

// InSecond returns capabilities by the names and in the words of the second text. A name that the second text does not have is as it is,
// with its values; of a name of the first text, values that the first text does not have are left out. The argument is not changed, and the
// result may share its values.
func InSecond(c v1beta1.Capabilities) v1beta1.Capabilities {
	all := make(v1beta1.Capabilities, len(c))
	for written := range c {
		name := Canonical(written)
		all[name], _ = Declared(c, name)
	}
	return all
}
