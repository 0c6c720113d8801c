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
// p's version says of worker capabilities that are left out (S3). What p does not register counts for nothing, but for a worker capability
// of the provider: no flavor is one that had such a feature.
func (p *Profile[R]) Alike(id provider.ImageVersion, former *imageselector.Flavor[R]) func(*imageselector.Flavor[R]) bool {
	for _, d := range p.provider.Workers().Definitions() {
		had, declared := former.Capabilities[d.Name]
		if declared && !p.vocabulary.IsRegistered(d.Name) && !slices.Equal(had, []string{d.Undeclared}) {
			return func(*imageselector.Flavor[R]) bool { return false }
		}
	}
	undeclared := Undeclared(p.core[id])
	supported := func(f *imageselector.Flavor[R]) capability.Set {
		set, _ := p.vocabulary.Flavor(f.Supported(p.vocabulary), undeclared, nil)
		return set
	}
	was := supported(former)
	return func(f *imageselector.Flavor[R]) bool { return supported(f) == was }
}
