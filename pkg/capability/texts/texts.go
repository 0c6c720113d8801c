// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package texts translates between the two texts of GEP-0054 (semantics S3), which have different names for Gardener's own capabilities and
// their values. The names are synonyms. All functions are pure and safe for concurrent use.
package texts

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// The capabilities that both texts name, and their values.
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

// text is the counterpart of a capability in the other text.
type text struct {
	name   string
	values map[string]string
	// second is set if the other text is the second.
	second bool
}

// others has the counterpart of each capability, by its name in either text.
var others = map[string]*text{
	BootTypeOfFirst:   {BootType, map[string]string{Secure: Secure, Standard: Standard}, true},
	UpdateTypeOfFirst: {UpdateType, map[string]string{InPlaceOfFirst: InPlace, Rolling: Rolling}, true},
	BootType:          {BootTypeOfFirst, map[string]string{Secure: Secure, Standard: Standard}, false},
	UpdateType:        {UpdateTypeOfFirst, map[string]string{InPlace: InPlaceOfFirst, Rolling: Rolling}, false},
}

// Names returns all names of the capabilities that both texts name, by priority, each name of the second text before its counterpart. The
// caller owns the result.
func Names() []string { return []string{BootType, BootTypeOfFirst, UpdateType, UpdateTypeOfFirst} }

// Other returns the capability's name in the other text; empty if it has none.
func Other(name string) string {
	if other := others[name]; other != nil {
		return other.name
	}
	return ""
}

// OfFirst reports whether the second text has replaced the name.
func OfFirst(name string) bool {
	other := others[name]
	return other != nil && other.second
}

// OfSecond reports whether the name replaces one of the first text.
func OfSecond(name string) bool {
	other := others[name]
	return other != nil && !other.second
}

// Canonical returns the capability's name in the second text, which identifies the feature. Any other name is returned unchanged.
func Canonical(name string) string {
	if OfFirst(name) {
		return others[name].name
	}
	return name
}

// Translate returns the counterpart of a capability's value in the other text. It reports whether the capability has another name there and
// has the value.
func Translate(name, value string) (string, bool) {
	if other := others[name]; other != nil {
		translated, found := other.values[value]
		return translated, found
	}
	return "", false
}

// TranslateAll returns the counterparts of a capability's values in the other text, in their order, without values that have none. The
// caller owns the result.
func TranslateAll(name string, values []string) []string {
	result := make([]string, 0, len(values))
	for _, value := range values {
		if translated, found := Translate(name, value); found {
			result = append(result, translated)
		}
	}
	return result
}

// Declared returns the values that c declares for a capability under either name, in the words of the given name. It reports whether c
// declares the capability. The result may share the values of c.
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

// InSecond translates capabilities to the second text. Names that it does not know are copied with their values. For a name of the first
// text, values that the first text does not have are omitted. The argument is not modified; the result may share its values.
func InSecond(c v1beta1.Capabilities) v1beta1.Capabilities {
	all := make(v1beta1.Capabilities, len(c))
	for written := range c {
		name := Canonical(written)
		all[name], _ = Declared(c, name)
	}
	return all
}
