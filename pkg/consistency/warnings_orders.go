// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// offers numbers what image versions offer in a region. Most versions of a profile offer the same in most regions, so what
// follows from an offer is found out once for each number.
type offers struct {
	sets    map[capability.Set]uint64
	numbers map[string]int
	// all holds the offers by their numbers: what the flavors support that have a reference in the region, in the order
	// written.
	all [][]capability.Set
	// of holds the numbers of what versions offer in the regions of the profile.
	of map[imageVersion][]int
	// shape is a buffer.
	shape []byte
}

func newOffers() *offers {
	return &offers{sets: map[capability.Set]uint64{}, numbers: map[string]int{}, of: map[imageVersion][]int{}}
}

// number returns the number of an offer, equal for equal ones.
func (o *offers) number(offer []capability.Set) int {
	shape := o.shape[:0]
	for _, set := range offer {
		number, seen := o.sets[set]
		if !seen {
			number = uint64(len(o.sets))
			o.sets[set] = number
		}
		shape = binary.AppendUvarint(shape, number)
	}
	o.shape = shape
	number, known := o.numbers[string(shape)]
	if !known {
		number = len(o.all)
		o.numbers[string(shape)] = number
		o.all = append(o.all, offer)
	}
	return number
}

// in returns the numbers of what an image version offers in each of the regions; an offer without flavors has one, too.
func in[R any](o *offers, catalog *imageselector.Catalog[R], image, version string, regions []string) []int {
	id := imageVersion{image, version}
	numbers, known := o.of[id]
	if !known {
		numbers = make([]int, 0, len(regions))
		for _, region := range regions {
			numbers = append(numbers, o.number(catalog.Offers(image, version, region)))
		}
		o.of[id] = numbers
	}
	return numbers
}

// differingOrders warns about image versions of which the two preference orders pick different flavors for some usable
// machine type (semantics S5), once for each active version.
func (p *compiler[R]) differingOrders() finding.List {
	var found finding.List
	known, machines := p.offers, p.machineSets()
	var differing [][]bool // by the numbers of offers and of machine sets
	p.forEachActive(func(image *v1beta1.MachineImage, version *v1beta1.MachineImageVersion, at *field.Path) {
		differ := make([]bool, len(machines))
		for _, number := range in(known, p.catalog, image.Name, version.Version, p.regions) {
			for len(differing) <= number {
				differing = append(differing, p.ordersDiffer(known.all[len(differing)], machines))
			}
			for i, d := range differing[number] {
				differ[i] = differ[i] || d
			}
		}
		if !slices.Contains(differ, true) {
			return
		}
		types := p.typesAmong(func(machine capability.Set) bool { return differ[slices.Index(machines, machine)] })
		found = append(found, finding.New(ruleOrderDiffers, field.ErrorTypeInvalid, at, version.Version, fmt.Sprintf(
			"%s@%s: for machine %s %s the order of GEP-0033 and that of the gardener library pick different flavors",
			image.Name, version.Version, finding.Plural(types, "type"), finding.Few(types))))
	})
	return found
}

// forEachActive calls a function for each active image version of core, in order, with its path.
func (p *compiler[R]) forEachActive(visit func(*v1beta1.MachineImage, *v1beta1.MachineImageVersion, *field.Path)) {
	for i := range p.spec.MachineImages {
		image := &p.spec.MachineImages[i]
		for k := range image.Versions {
			if helper.VersionIsActive(image.Versions[k].ExpirableVersion) {
				visit(image, &image.Versions[k], p.at.Child("machineImages").Index(i).Child("versions").Index(k))
			}
		}
	}
}

// machineSets returns the distinct sets of the usable machine types, in their order.
func (p *Profile[R]) machineSets() []capability.Set {
	var sets []capability.Set
	seen := map[capability.Set]bool{}
	for _, name := range p.usable {
		if set := p.machines[name].set; !seen[set] {
			seen[set] = true
			sets = append(sets, set)
		}
	}
	return sets
}

// ordersDiffer reports for each machine set whether the two orders pick different flavors of an offer.
func (p *compiler[R]) ordersDiffer(offer, machines []capability.Set) []bool {
	differ := make([]bool, len(machines))
	for i, machine := range machines {
		gep33, gardener := -1, -1
		preferred := func(k, best int, order capability.Order) bool {
			return best < 0 || capability.Compare(offer[k], offer[best], machine, p.ordinary, order).Sign < 0
		}
		for k, set := range offer {
			if !set.Fits(machine, p.ordinary) {
				continue
			}
			if preferred(k, gep33, capability.GEP33) {
				gep33 = k
			}
			if preferred(k, gardener, capability.Gardener) {
				gardener = k
			}
		}
		differ[i] = gep33 != gardener
	}
	return differ
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
