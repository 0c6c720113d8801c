// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// Alike returns a function that reports whether a flavor of an image version of p is a given one, of p before an update or of a record
// of what machines boot (semantics S14): if both support the same by the vocabulary of p, with omissions filled in (S2) and with what
// p's version says of worker capabilities that are left out (S3). What p does not register is ignored, except for a worker capability
// of the provider: no flavor is one that had such a feature.
func (p *Profile[R]) Alike(id provider.ImageVersion, former *imageselector.Flavor[R]) func(*imageselector.Flavor[R]) bool {
	for _, d := range p.provider.Workers().Definitions() {
		had, declared := former.Capabilities[d.Name]
		if declared && !p.vocabulary.IsRegistered(d.Name) && !slices.Equal(had, []string{d.Undeclared}) {
			return func(*imageselector.Flavor[R]) bool { return false }
		}
	}
	was := p.Supports(id, former)
	return func(f *imageselector.Flavor[R]) bool { return p.Supports(id, f) == was }
}

// Supports returns what a flavor of an image version supports by the vocabulary of p, whether it is one of p's, or of a record of what
// machines boot (semantics S14): with omissions filled in (S2), and with what core says of worker capabilities that are left out (S3).
func (p *Profile[R]) Supports(id provider.ImageVersion, flavor *imageselector.Flavor[R]) capability.Set {
	set, _ := p.vocabulary.Flavor(flavor.Supported(p.vocabulary), Undeclared(p.core[id]), nil)
	return set
}

// Recall returns the index of the flavor, among those of records of what machines boot, that a request gets; -1 if none of them fits
// it (semantics S14). Of several that fit it is the best by S5. The flavors are taken for those of the requested image version, and
// are not changed.
func (p *Profile[R]) Recall(request imageselector.Request, recorded []imageselector.Flavor[R]) int {
	of := p.core[provider.ImageVersion{Image: request.Image, Version: request.Version}]
	version := imageselector.Version[R]{Version: request.Version, Flavors: recorded, Undeclared: Undeclared(of)}
	images := []imageselector.Image[R]{{Name: request.Image, Versions: []imageselector.Version[R]{version}}}
	return imageselector.NewCatalog(p.vocabulary, images).Choose(request)
}
