// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
)

// differingOrders warns about image versions of which the two preference orders pick different flavors for some usable
// machine type (semantics S5), once for each active version.
func (p *compiler[R]) differingOrders() finding.List {
	machines := sets.New[capability.Set]()
	for _, name := range p.usable {
		machines.Insert(p.machines[name].set)
	}
	var found finding.List
	for v := range versionsOf(p.spec) {
		if !v.active() {
			continue
		}
		differ := map[capability.Set]bool{}
		var last []capability.Set
		for _, region := range p.regions {
			offers := p.catalog.Offers(v.id.image, v.id.version, region)
			if slices.Equal(offers, last) {
				continue // mostly regions have the same
			}
			last = offers
			for machine := range machines {
				differ[machine] = differ[machine] || p.ordersDiffer(offers, machine)
			}
		}
		if types := p.typesAmong(func(machine capability.Set) bool { return differ[machine] }); len(types) > 0 {
			found = append(found, finding.New(ruleOrderDiffers, field.ErrorTypeInvalid, p.pathOf(v), v.Version, fmt.Sprintf(
				"%s: for machine %s %s the order of GEP-0033 and that of the gardener library pick different flavors",
				v.id, finding.Plural(types, "type"), finding.Few(types))))
		}
	}
	return found
}

// ordersDiffer reports whether the two orders pick different ones of the flavors that fit a machine type.
func (p *compiler[R]) ordersDiffer(offers []capability.Set, machine capability.Set) bool {
	var best [2]capability.Set
	for _, offer := range offers {
		if !offer.Fits(machine, p.ordinary) {
			continue
		}
		for i, order := range []capability.Order{capability.GEP33, capability.Gardener} {
			if best[i] == (capability.Set{}) || capability.Compare(offer, best[i], machine, p.ordinary, order).Sign < 0 {
				best[i] = offer
			}
		}
	}
	return best[0] != best[1]
}

// typesAmong returns the usable machine types, in their order, of which a predicate holds.
func (p *Profile[R]) typesAmong(holds func(machine capability.Set) bool) []string {
	var types []string
	for _, name := range p.usable {
		if holds(p.machines[name].set) {
			types = append(types, name)
		}
	}
	return types
}
