// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package policy has what extensions decide in different ways: see [Policies]. A provider chooses them, as a provider.PolicyChooser.
package policy

import (
	"cmp"

	"github.com/capkit/capkit/pkg/capability"
)

// Policies are what extensions decide in different ways. The zero Policies are the defaults.
type Policies struct {
	// Order ranks the flavors that fit a worker pool (semantics S5).
	Order capability.Order
	// CoreFollows says that core's flavors are overwritten where they do not correspond to the provider config (semantics S12). By
	// default they are filled in where there are none, and what an operator wrote is never overwritten.
	CoreFollows bool
	// Undecided is what becomes of a worker pool that exists and whose image cannot be decided, since the mapping is wrong
	// (semantics S14).
	Undecided Undecided
	// MappedIn is where images are mapped to references, if not in the provider config of a profile: "machineImages in the
	// configuration of the extension". Messages about a missing mapping name it. Such a provider derives the references of these images, as
	// a provider.ReferenceDeriver, or its Decode adds the images to those of each config.
	MappedIn string
}

// Mapping returns what messages call the place where images are mapped: MappedIn, or the provider config by the name that is given.
func (p Policies) Mapping(config string) string { return cmp.Or(p.MappedIn, config) }

// Undecided is what becomes of a worker pool whose image cannot be decided by the profile. What becomes of a version that the
// profile does not list any more does not depend on it.
type Undecided int

// The policies. Where a pool goes on, an Event says what is wrong.
const (
	// GoesOn: a pool that exists goes on with what its machine class boots, as long as the name of the class stays the same, and
	// with a record of the Worker's status that fits when the name changes. A new pool is refused.
	GoesOn Undecided = iota
	// Recalls: a new pool, too, gets a record of its image version that fits, if another pool of the Worker has booted it.
	Recalls
	// Fails: the pool is refused, and with it the reconciliation of its Worker, until the mapping is right.
	Fails
)

// Check reports values that are none, and policies that contradict each other.
func (p Policies) Check(wrong func(format string, args ...any)) {
	if p.Order != capability.GEP33 && p.Order != capability.Gardener {
		wrong("the policy Order is %d, which is no preference order: choose capability.GEP33 or capability.Gardener", int(p.Order))
	}
	if p.Undecided < GoesOn || p.Undecided > Fails {
		wrong("the policy Undecided is %d, which is none: choose GoesOn, Recalls or Fails of package policy",
			int(p.Undecided))
	}
	if p.CoreFollows && p.MappedIn != "" {
		wrong("by the policy CoreFollows, core's flavors follow the provider config, and by the policy MappedIn, images are mapped in %s: leave one of the two out",
			p.MappedIn)
	}
}
