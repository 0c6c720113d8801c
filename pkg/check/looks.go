// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
)

// maxLooks bounds the comparisons of flavors and machine types in one check, because the product of image versions, flavors, regions and
// kinds of machine types may be very large. Combinations beyond the bound get no warning.
const maxLooks = 2_000_000

// kind is a set of usable machine types with the same capabilities, and with the same requirements of a worker pool without special
// settings. types holds their indices among the usable machine types.
type kind struct {
	machine, worker capability.Set
	types           []int
}

// kindsOfMachines returns the kinds of usable machine types, ordered by their first machine type. Usually there are few kinds.
func (c *checker[R]) kindsOfMachines() (kinds []kind) {
	places := map[[2]capability.Set]int{}
	for i, name := range c.profile.Usable() {
		machine, worker := c.machine(name), c.askedOn(name)
		place, known := places[[2]capability.Set{machine, worker}]
		if !known {
			place = len(kinds)
			places[[2]capability.Set{machine, worker}], kinds = place, append(kinds, kind{machine: machine, worker: worker})
		}
		kinds[place].types = append(kinds[place].types, i)
	}
	return kinds
}

// askedOn returns the requirements of a worker pool without special settings on a machine type.
func (c *checker[R]) askedOn(machineType string) capability.Set {
	return c.profile.AskBriefly(provider.Pool{MachineType: machineType}).Request.Worker
}

// typesAmong returns the usable machine types, in their order, for which a predicate holds. It stops at maxLooks.
func (c *checker[R]) typesAmong(holds func(machine, worker capability.Set) bool) []string {
	var found []int
	for _, k := range c.kinds {
		if c.looks >= maxLooks {
			break
		}
		if holds(k.machine, k.worker) {
			found = append(found, k.types...)
		}
	}
	slices.Sort(found)
	types := make([]string, 0, len(found))
	for _, i := range found {
		types = append(types, c.profile.Usable()[i])
	}
	return types
}

// fitsAny reports whether any of the offers fits a machine type.
func (c *checker[R]) fitsAny(machine capability.Set, offers sets.Set[capability.Set]) bool {
	c.looks += len(offers)
	for offer := range offers {
		if offer.Compatible(machine) {
			return true
		}
	}
	return false
}
