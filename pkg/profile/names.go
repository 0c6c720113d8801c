// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
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

// Meant returns the worker capability that a registered name was probably meant to be; empty if it is one or like none.
func (p *Profile[R]) Meant(name string) string {
	var known []string
	for _, d := range p.provider.Workers().Definitions() {
		known = append(known, d.Name)
		if strings.EqualFold(p.provider.Type()+"-"+name, d.Name) {
			return d.Name
		}
	}
	if meant := words.Closest(name, known); meant != name {
		return meant
	}
	return ""
}

// Misspelt returns the registered name by which a worker capability was probably meant; empty if there is none.
func (p *Profile[R]) Misspelt(name string) string {
	for _, def := range p.vocabulary.Definitions() {
		if p.Meant(def.Name) == name {
			return def.Name
		}
	}
	return ""
}

// ValuesOf returns the values that a worker capability is defined with.
func (p *Profile[R]) ValuesOf(name string) []string {
	for _, d := range p.vocabulary.WorkerCapabilities() {
		if d.Name == name {
			return d.Values
		}
	}
	return nil
}
