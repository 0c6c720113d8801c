// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package policy holds the decisions in which extensions differ: see [Policies]. A provider chooses them as a provider.PolicyChooser.
package policy

import (
	"cmp"

	"github.com/capkit/capkit/pkg/capability"
)

// Policies are the decisions in which extensions differ. The zero Policies are the defaults.
type Policies struct {
	// Order ranks the flavors that fit a worker pool (semantics S5).
	Order capability.Order
	// CoreFollows overwrites core's flavors where they do not correspond to the provider config (semantics S12). By default, only missing
	// flavors are filled in, and flavors that an operator wrote are never overwritten.
	CoreFollows bool
	// Undecided decides about existing worker pools whose image cannot be decided because the mapping is wrong (semantics S14).
	Undecided Undecided
	// MappedIn names the place where images are mapped to references, if that is not the provider config of a profile: "machineImages in
	// the configuration of the extension". Messages about a missing mapping name it. The provider then derives the references of these
	// images as a provider.ReferenceDeriver, or its Decode adds the images to those of each config.
	MappedIn string
}

// Mapping returns the place where images are mapped, for messages: MappedIn, or config, the name of the provider config.
func (p Policies) Mapping(config string) string { return cmp.Or(p.MappedIn, config) }

// Undecided says what happens to a worker pool whose image the profile cannot decide. It does not apply to image versions that the profile
// no longer lists.
type Undecided int

// The policies. If a pool carries on, an Event reports the mistake.
const (
	// GoesOn lets an existing pool carry on: with the image of its machine class while the class keeps its name, and with a fitting record
	// of the Worker's status when the name changes. A new pool is refused.
	GoesOn Undecided = iota
	// Recalls also gives a new pool a fitting record of its image version, if another pool of the Worker has booted it.
	Recalls
	// Fails refuses the pool, and so the reconciliation of its Worker, until the mapping is repaired.
	Fails
)

// Check reports invalid values, and policies that contradict each other.
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
