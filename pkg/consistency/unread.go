// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/imageselector"
)

// unread holds the places of a provider config that could not be read. What follows from them would only repeat the
// error in other words, so the checks are silent about it.
type unread []string

// unreadPlaces finds the places in what a provider reports about its config, which stands at the path at.
func unreadPlaces(errs field.ErrorList, at *field.Path) unread {
	var places unread
	for _, err := range errs {
		switch err.Origin {
		case RuleSyntax, RuleUnknownField, RuleFieldType, RuleDuplicateKey:
			places = append(places, err.Field)
		case RuleConfigMissing, RuleConfigKind:
			places = append(places, at.String())
		}
	}
	return places
}

// touches tells whether a place is at, above or below the path.
func (u unread) touches(at *field.Path) bool {
	if len(u) == 0 {
		return false
	}
	path := at.String()
	return slices.ContainsFunc(u, func(place string) bool { return above(place, path) || above(path, place) })
}

// covers tells whether a place is at or above the path.
func (u unread) covers(at *field.Path) bool {
	if len(u) == 0 {
		return false
	}
	path := at.String()
	return slices.ContainsFunc(u, func(place string) bool { return above(place, path) })
}

// above tells whether a path is at or above another one.
func above(path, other string) bool {
	rest, found := strings.CutPrefix(other, path)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// maybeUnreadImage tells whether an image that seems to be missing may be one that could not be read: the list as a
// whole, perhaps for a misspelt key, or an image without a name.
func (p *Profile[R]) maybeUnreadImage() bool {
	if len(p.unread) == 0 {
		return false
	}
	return len(p.images) == 0 || p.unread.covers(p.at.Child("providerConfig", "machineImages")) ||
		slices.ContainsFunc(p.images, func(image imageselector.Image[R]) bool { return image.Name == "" && p.unread.touches(image.Path) })
}

// maybeUnreadVersion is the same for a version of an image.
func (p *Profile[R]) maybeUnreadVersion(entries *named[R]) bool {
	for _, image := range entries.images {
		if len(image.Versions) == 0 && p.unread.touches(image.Path) || p.unread.covers(image.Path.Child("versions")) {
			return true
		}
	}
	return slices.ContainsFunc(entries.versions[""], func(v *imageselector.Version[R]) bool { return p.unread.touches(v.Path) })
}
