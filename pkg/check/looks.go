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

// maxLooks bounds how often a check looks whether a flavor fits a machine type: the product of image versions, their flavors, regions
// and kinds of machine types may be very large. What is behind gets no warning.
const maxLooks = 2_000_000

// kind are usable machine types that support the same, and on which a worker pool without special settings asks for the same, by their
// places among them.
type kind struct {
	machine, worker capability.Set
	types           []int
}

// kindsOfMachines returns the kinds of usable machine types, in the order of their first ones: many support the same.
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

// askedOn returns what a worker pool without special settings asks for on a machine type.
func (c *checker[R]) askedOn(machineType string) capability.Set {
	return c.profile.AskBriefly(provider.Pool{MachineType: machineType}).Request.Worker
}

// typesAmong returns the usable machine types, in their order, of which a predicate holds, as far as there are looks left.
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

// fitsAny reports whether one of some offers fits a machine type.
func (c *checker[R]) fitsAny(machine capability.Set, offers sets.Set[capability.Set]) bool {
	c.looks += len(offers)
	for offer := range offers {
		if offer.Compatible(machine) {
			return true
		}
	}
	return false
}
