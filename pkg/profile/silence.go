// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// ServesWith returns the values of a worker capability with which a flavor of an image version serves worker pools that ask for it, in the
// words of the vocabulary; as its set says, see package capability. The caller owns the result.
func (p *Profile[R]) ServesWith(id provider.ImageVersion, flavor *imageselector.Flavor[R], name string) []string {
	set, _ := p.vocabulary.Flavor(flavor.Supported(p.vocabulary), Undeclared(p.core[id]), nil)
	return set.ValuesIfAsked(name)
}

// RegistrationOf returns how the profile registers a reserved capability, under either of its names (semantics S3). It reports whether it
// does. The values belong to the profile.
func (p *Profile[R]) RegistrationOf(name string) (v1beta1.CapabilityDefinition, bool) {
	for _, def := range p.spec.MachineCapabilities {
		if texts.Canonical(def.Name) == texts.Canonical(name) {
			return def, true
		}
	}
	return v1beta1.CapabilityDefinition{}, false
}
