// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"slices"

	"github.com/capkit/capkit/pkg/imageselector"
)

// maybeUnreadImage reports whether an image that seems to be missing may be one that could not be read: the list as a
// whole, perhaps for a misspelt key, or an image without a name.
func (p *compiler[R]) maybeUnreadImage() bool {
	if len(p.unread) == 0 {
		return false
	}
	return len(p.images) == 0 || p.unread.Covers(p.at.Child("providerConfig", "machineImages")) ||
		slices.ContainsFunc(p.images, func(image imageselector.Image[R]) bool { return image.Name == "" && p.unread.Touches(image.Path) })
}

// maybeUnreadVersion does the same for a version of an image.
func (p *compiler[R]) maybeUnreadVersion(entries *imageEntries[R]) bool {
	for _, image := range entries.images {
		if len(image.Versions) == 0 && p.unread.Touches(image.Path) || p.unread.Covers(image.Path.Child("versions")) {
			return true
		}
	}
	return slices.ContainsFunc(entries.versions[""], func(v *imageselector.Version[R]) bool { return p.unread.Touches(v.Path) })
}
