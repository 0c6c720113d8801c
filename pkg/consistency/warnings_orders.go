// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/capkit/capkit/pkg/finding"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// choice is what an image version offers in a region, where that is more than one flavor.
type choice struct {
	// shape is equal for equal offers, of whatever version and region: many of them are.
	shape  string
	region string
}

// choiceOf is a choice as a machine type has it.
type choiceOf struct {
	shape   string
	machine capability.Set
}

// differingOrders warns about image versions of which the two preference orders pick different flavors for some usable
// machine type (semantics S5), once for each active version.
func (p *compiler[R]) differingOrders() finding.List {
	var found finding.List
	numbers, known := map[capability.Set]uint64{}, map[choiceOf]bool{}
	for i, image := range p.spec.MachineImages {
		for k, version := range image.Versions {
			if !helper.VersionIsActive(version.ExpirableVersion) {
				continue
			}
			choices := p.choices(image.Name, version.Version, numbers)
			types := p.typesThatDiffer(image.Name, version.Version, choices, known)
			if len(types) > 0 {
				found = append(found, finding.New(RuleOrderDiffers, field.ErrorTypeInvalid,
					p.at.Child("machineImages").Index(i).Child("versions").Index(k), version.Version, fmt.Sprintf(
						"%s@%s: for machine %s %s the order of GEP-0033 and that of the gardener library pick different flavors",
						image.Name, version.Version, finding.Plural(types, "type"), finding.Few(types))))
			}
		}
	}
	return found
}

// typesThatDiffer returns the usable machine types for which the orders differ in one of the choices. known holds what
// was found out so far.
func (p *compiler[R]) typesThatDiffer(image, version string, choices []choice, known map[choiceOf]bool) []string {
	differ := func(machine capability.Set) bool {
		return slices.ContainsFunc(choices, func(c choice) bool {
			differs, done := known[choiceOf{c.shape, machine}]
			if !done {
				differs = p.ordersDiffer(machine, image, version, c.region)
				known[choiceOf{c.shape, machine}] = differs
			}
			return differs
		})
	}
	return p.typesAmong(differ)
}

// choices returns the distinct choices that an image version offers in the regions of the profile. numbers holds a number
// for each set seen so far.
func (p *compiler[R]) choices(image, version string, numbers map[capability.Set]uint64) []choice {
	var choices []choice
	for _, region := range p.regions {
		offers := p.catalog.Offers(image, version, region)
		if len(offers) < 2 {
			continue
		}
		shape := make([]byte, 0, len(offers))
		for _, offer := range offers {
			number, seen := numbers[offer]
			if !seen {
				number = uint64(len(numbers))
				numbers[offer] = number
			}
			shape = binary.AppendUvarint(shape, number)
		}
		if !slices.ContainsFunc(choices, func(c choice) bool { return c.shape == string(shape) }) {
			choices = append(choices, choice{string(shape), region})
		}
	}
	return choices
}

func (p *compiler[R]) ordersDiffer(set capability.Set, image, version, region string) bool {
	r := imageselector.Request{Image: image, Version: version, Region: region, Machine: set, Worker: p.ordinary}
	gep33 := p.catalog.Choose(r)
	r.Order = capability.Gardener
	return gep33 != p.catalog.Choose(r)
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
