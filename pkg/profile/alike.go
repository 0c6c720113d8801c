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

// Alike returns a function that reports whether a flavor of an image version in p is the same as a former one: from before an update, or
// from a record of what machines boot (semantics S14). They are the same if they support the same by the vocabulary of p, with omissions
// filled in (S2), and with p's values for omitted worker capabilities (S3). Capabilities that p does not register are ignored, except
// worker capabilities of the provider: no flavor is the same as one that had such a feature.
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

// Supports returns the capabilities of a flavor by the vocabulary of p. The flavor may be p's, or from a record of what machines boot
// (semantics S14). Omissions are filled in (S2), with core's values for omitted worker capabilities (S3).
func (p *Profile[R]) Supports(id provider.ImageVersion, flavor *imageselector.Flavor[R]) capability.Set {
	set, _ := p.vocabulary.Flavor(flavor.Supported(p.vocabulary), Undeclared(p.core[id]), nil)
	return set
}

// Recall returns the index of the flavor that a request gets among those of records of what machines boot, or -1 if none fits (semantics
// S14). If several fit, it is the best by S5. The flavors are treated as flavors of the requested image version, and are not modified.
func (p *Profile[R]) Recall(request imageselector.Request, recorded []imageselector.Flavor[R]) int {
	of := p.core[provider.ImageVersion{Image: request.Image, Version: request.Version}]
	version := imageselector.Version[R]{Version: request.Version, Flavors: recorded, Undeclared: Undeclared(of)}
	images := []imageselector.Image[R]{{Name: request.Image, Versions: []imageselector.Version[R]{version}}}
	return imageselector.NewCatalog(p.vocabulary, images).Choose(request)
}
