// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"iter"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
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

// choice is an active image version with the machine types on which warnings about it belong to the object.
type choice struct {
	entries.Version
	// written is the version as the object writes it.
	written entries.Version
	// inherited reports that the version is active in the parent, so that only machine types of the object count.
	inherited bool
	// kinds are those of the machine types that count.
	kinds []kind
}

// choices yields the active image versions, without those for which no machine type counts.
func (c *checker[R]) choices() iter.Seq[choice] {
	if c.parent == nil {
		return func(yield func(choice) bool) {
			for v := range c.Versions() {
				if v.Active() && !yield(choice{v, v, false, c.kinds}) {
					return
				}
			}
		}
	}
	written, own := map[provider.ImageVersion]entries.Version{}, c.ownKinds()
	for v := range c.Versions() {
		written[v.ID] = v
	}
	return func(yield func(choice) bool) {
		for v := range c.profile.Versions() {
			decided := choice{v, written[v.ID], isActive(c.parent.Version(v.ID)), c.kinds}
			if decided.inherited {
				decided.kinds = own
			}
			if v.Active() && len(decided.kinds) > 0 && !yield(decided) {
				return
			}
		}
	}
}

// isActive reports whether worker pools may still use an image version, which is nil if the profile does not have it.
func isActive(v *v1beta1.MachineImageVersion) bool {
	return v != nil && versions.Active(v.ExpirableVersion)
}

// ownKinds returns the kinds of machine types, with those of the object only.
func (c *checker[R]) ownKinds() (own []kind) {
	defined := sets.New(entries.MachineTypes(c.Spec)...)
	for _, k := range c.kinds {
		k.types = slices.DeleteFunc(slices.Clone(k.types), func(i int) bool { return !defined.Has(c.profile.Usable()[i]) })
		if len(k.types) > 0 {
			own = append(own, k)
		}
	}
	return own
}

// placeOf returns the place of a finding about a choice on some machine types: the image version, or the first of the machine types.
func (c *checker[R]) placeOf(v choice, types []string) *field.Path {
	if !v.inherited {
		return c.PathOf(v.written)
	}
	return c.At.Child("machineTypes").Index(slices.Index(entries.MachineTypes(c.Spec), types[0]))
}

// typesAmong returns the machine types of some kinds, in their order, for which a predicate holds. It stops at maxLooks.
func (c *checker[R]) typesAmong(kinds []kind, holds func(machine, worker capability.Set) bool) []string {
	var found []int
	for _, k := range kinds {
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
