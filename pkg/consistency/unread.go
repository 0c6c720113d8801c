// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"slices"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
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

// extend adds to errors about what could not be read in the provider config what is not checked because of them
// (semantics S10): the image version around it, or the image, or everything if the config as a whole is not what it
// should be. It changes errs in place.
func (p *compiler[R]) extend(errs finding.List) {
	config, core := p.at.Child("providerConfig"), p.at.Child("machineImages")
	depth := len(finding.PathOf(config))
	known := map[place][]finding.Path{} // many errors may be about one version
	for i := range errs {
		unread, below := provider.UnreadIn(errs[i:i+1], config), errs[i].Place[min(depth, len(errs[i].Place)):]
		switch {
		case len(unread) == 0:
		case unread.Covers(config), len(p.images) == 0, below[0].Name == "machineImages" && len(below) == 1:
			errs[i] = errs[i].In(config, core)
		case below[0].Name == "machineImages" && below[1].Index < len(p.images):
			errs[i].Extent = p.around(below, known)
		}
	}
}

// place is where an image version stands, or an image as a whole.
type place struct {
	imageVersion
	whole bool
}

// around returns the image version, on both sides, in which a path below the provider config is; or the image. known
// holds what was returned before.
func (p *compiler[R]) around(below finding.Path, known map[place][]finding.Path) []finding.Path {
	image := &p.images[below[1].Index]
	at := place{imageVersion{image: image.Name}, true}
	if len(below) >= 4 && below[2].Name == "versions" && below[3].Index < len(image.Versions) {
		at.version, at.whole = image.Versions[below[3].Index].Version, false
	}
	if paths, found := known[at]; found {
		return paths
	}
	places := p.placesOf(at.imageVersion)
	if at.whole {
		places = p.placesOfImage(image.Name)
	}
	for _, path := range places {
		known[at] = append(known[at], finding.PathOf(path))
	}
	return known[at]
}
