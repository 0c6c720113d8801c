// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// FlavorIn returns a function that reports whether a flavor of another profile, mostly an update, is a given one of p's image version:
// if they are written with the same values, in whatever order, or if they support the same once omissions are filled in. The
// two vocabularies may differ.
func (p *Profile[R]) FlavorIn(
	other *Profile[R], id provider.ImageVersion, flavor v1beta1.Capabilities,
) func(imageselector.Flavor[R]) bool {
	full := p.inFull(id, flavor)
	return func(f imageselector.Flavor[R]) bool {
		return sameValues(flavor, f.Capabilities) || sameValues(full, other.inFull(id, f.Capabilities))
	}
}

// inFull returns the capabilities of a flavor with omissions filled in (semantics S2), by canonical names. Of the provider's worker
// capabilities (S3) those that are left out stay so. Of reserved ones it has what worker pools get that ask for them, so that a
// flavor which says in full what it has is the same once they are registered.
func (p *Profile[R]) inFull(id provider.ImageVersion, written v1beta1.Capabilities) v1beta1.Capabilities {
	full := clone(written)
	for name, values := range Undeclared(p.core[id]) {
		if _, declared := texts.Declared(written, name); !declared && !p.vocabulary.IsRegistered(name) {
			full[name] = values
		}
	}
	set, _ := p.vocabulary.Flavor(full, nil, nil)
	full = set.Capabilities()
	for _, d := range capability.Reserved() {
		values, declared := texts.Declared(full, d.Name)
		switch {
		case declared:
		case p.vocabulary.IsRegistered(d.Name): // by the first text, and left out
			continue
		default:
			values = set.Values(d.Name)
		}
		delete(full, p.vocabulary.InWords(capability.Requirement{Capability: d.Name}).Capability)
		full[d.Name] = values
	}
	return full
}

// sameValues reports whether two flavors have the same capabilities with the same values, in whatever order.
func sameValues(a, b v1beta1.Capabilities) bool {
	within := func(values, others []string) bool {
		return !slices.ContainsFunc(values, func(value string) bool { return !slices.Contains(others, value) })
	}
	return maps.EqualFunc(a, b, func(values, others v1beta1.CapabilityValues) bool {
		return within(values, others) && within(others, values)
	})
}
