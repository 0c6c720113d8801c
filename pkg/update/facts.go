// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"cmp"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// View is what an update is to those who use a profile in one way: directly, or through a NamespacedCloudProfile of which it is
// the parent.
type View[R any] struct {
	// Name of that NamespacedCloudProfile, as NAMESPACE/NAME; empty for the profile itself.
	Name string
	// Before and After are the profile before and after the update, as the API server has them; of a NamespacedCloudProfile
	// what it results in. They are of the same provider, and have the same preference order.
	Before, After *profile.Profile[R]
	// Users are the Shoots that use it. Their order is that of the pools in all facts. Of those that are being deleted all that counts is
	// whether they are locked, for then their deletion does not end.
	Users []User
	// Admission is what is installed, which decides what maintenance does.
	Admission maintenance.Admission
	// All asks for facts about all that worker pools could be, and not only about what they are; and for Rolls and Kubernetes.
	All bool
	// Besides is what worker pools could ask for, besides nothing and each thing by itself.
	Besides []resolve.Template
	// Formerly returns which version a combination after the update has had before it, and whether the combination counts. It is
	// for what worker pools could be; those that there are name their version themselves. Nil: no version has another name.
	Formerly func(resolve.Combination) (version string, counts bool)
}

// User is a Shoot that uses a profile. Nothing of it is changed.
type User struct {
	// Shoot is as the API server has it: with Gardener's defaults, and with the images of its worker pools.
	Shoot *v1beta1.Shoot
	// Pools are the worker pools, as [provider.PoolsOf] returns them.
	Pools []provider.Pool
	// Child is a NamespacedCloudProfile through which the Shoot uses the profile that the view compares as it is by itself. What
	// such a one defines is not the profile's to change, and left out. Nil if there is none.
	Child *v1beta1.NamespacedCloudProfile
}

// Name returns the name of the Shoot, as NAMESPACE/NAME.
func (u *User) Name() string { return u.Shoot.Namespace + "/" + u.Shoot.Name }

// leaving reports whether the Shoot is being deleted.
func (u *User) leaving() bool { return u.Shoot.DeletionTimestamp != nil }

// Changes are the effects of an update, as facts without messages.
type Changes[R any] struct {
	// Choices are the combinations for which another image is booted, or one instead of none: of the worker pools that there are,
	// in their order; and of all that there could be, before those, if a view asks for them.
	Choices []*Choice[R]
	// Types are the machine types that are gone, and that worker pools use; sorted by name.
	Types []*TypeGone
	// Locks are the machine types that no core flavor of an image version fits any more, so that Gardener refuses every later
	// update of the Shoots (semantics S16); sorted by image, version and machine type.
	Locks []*Lock
	// Blocked are the image versions that Gardener's maintenance chooses for worker pools that do not boot them, and did not
	// choose before (semantics S15); sorted by image, version and what is chosen instead.
	Blocked []*Blocked
	// Failing are the image versions that Gardener's maintenance chooses for worker pools that boot them, and that Gardener refuses, and
	// did not choose or refuse before; sorted by image and version.
	Failing []*Failing
	// Expires are the image versions whose expiration date is another one; sorted by image and version.
	Expires []*Expiry
	// Rolls are the moves of worker pools by the next maintenance; sorted by image and versions.
	Rolls []*Roll
	// Kubernetes is what changes about versions of Kubernetes; sorted by version and aspect.
	Kubernetes []*KubernetesChange
	// Meanings are the flavors that mean something else, because a reserved capability about which they say nothing is registered in another
	// way than before, or only before or after the update; in the order of [capability.Reserved], and of the profile.
	Meanings []*Meaning
	// Faulty are the worker pools whose providerConfig has errors. Where it is not known with these what a pool asks for, nothing
	// else is said about it, but whether its Shoot is locked.
	Faulty []Pool
}

// Pool is a worker pool.
type Pool struct {
	// Shoot as NAMESPACE/NAME.
	Shoot string
	Name  string
	// View, User and Index are the indices of the view, of the Shoot among its users, and of the pool in the Shoot.
	View, User, Index int
}

// Choice is what an update does to what a combination boots. Worker pools are the same combination if they ask for the same.
type Choice[R any] struct {
	resolve.Combination
	// View is the name of the only view that sees it like this; empty if the profile itself does.
	View string
	// Requested is what is asked for after the update, without what is implied.
	Requested []capability.Requirement
	Boots[R]
	// Pools are the worker pools that are the combination, in the order of the views; nil if there are none.
	Pools []Pool
	// InUse says that a worker pool is the combination, even if nothing changes for it: where the update removes the region, new
	// pools boot nothing, and those that are there what they did.
	InUse bool
}

// Boots is what a worker pool boots before and after an update.
type Boots[R any] struct {
	// Before and After are what a new pool boots; nil if that is nothing.
	Before, After *R
	// Kept is what new machines of a pool that exists boot after the update, as long as its machine class keeps its name
	// (semantics S14): what the flavor of Before has for a reference then; or Before itself, if there is no After and the pool goes on
	// all the same. Nil if there is no Before; if the flavor is Gone, and there is an After, which they boot; or if they boot nothing,
	// where the policy of the provider is that.
	Kept *R
	// Gone says why the flavor of Before is not for the pool any more. If there is an After, new machines boot that; if there is none, it
	// says what is wrong with the mapping.
	Gone Gone
}

// Gone says why a flavor is not for worker pools any more.
type Gone int

// The reasons.
const (
	// NotGone: it is, or there is none.
	NotGone Gone = iota
	// Removed: the profile does not have it any more, or not in the region.
	Removed
	// Unfit: the profile has it, and it does not fit the pool any more.
	Unfit
)

// TypeGone is a machine type that the update removes, or that a profile which gets capabilities does not have.
type TypeGone struct {
	Name string
	// Locks says that the Shoots are locked (semantics S16), as they are where the profile has capabilities.
	Locks bool
	// Had says that the profile had the machine type before.
	Had   bool
	Pools []Pool
}

// Lock is a machine type that no core flavor of an image version fits.
type Lock struct {
	provider.ImageVersion
	MachineType string
	Pools       []Pool
}

// Blocked is an image version that maintenance chooses for worker pools that do not boot it.
type Blocked struct {
	provider.ImageVersion
	// Instead is the version that mutate-shoot gives the pools; empty if they keep theirs, and if it is not installed.
	Instead string
	Pools   []Pool
	// Example is the first of Pools, with the version that is chosen.
	Example provider.Pool
}

// Failing is an image version that maintenance chooses for worker pools and Gardener refuses: the maintenance of their Shoots fails.
type Failing struct {
	provider.ImageVersion
	// Why says why Gardener refuses it, as a sentence without a full stop.
	Why   string
	Pools []Pool
}

// Locked returns the worker pools whose Shoots are locked.
func (c *Changes[R]) Locked() map[Pool]bool {
	locked := map[Pool]bool{}
	add := func(pools []Pool) {
		for _, pool := range pools {
			locked[pool] = true
		}
	}
	for _, t := range c.Types {
		if t.Locks {
			add(t.Pools)
		}
	}
	for _, l := range c.Locks {
		add(l.Pools)
	}
	return locked
}

func (c *Changes[R]) sort() {
	byVersion := func(a, b provider.ImageVersion) int {
		return cmp.Or(cmp.Compare(a.Image, b.Image), cmp.Compare(a.Version, b.Version))
	}
	slices.SortFunc(c.Types, func(a, b *TypeGone) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Locks, func(a, b *Lock) int {
		return cmp.Or(byVersion(a.ImageVersion, b.ImageVersion), cmp.Compare(a.MachineType, b.MachineType))
	})
	slices.SortStableFunc(c.Expires, func(a, b *Expiry) int {
		return cmp.Or(byVersion(a.ImageVersion, b.ImageVersion), cmp.Compare(a.View, b.View))
	})
	slices.SortFunc(c.Rolls, func(a, b *Roll) int {
		return cmp.Or(cmp.Compare(a.Image, b.Image), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Action, b.Action))
	})
	slices.SortStableFunc(c.Kubernetes, func(a, b *KubernetesChange) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Aspect, b.Aspect), cmp.Compare(a.View, b.View))
	})
	slices.SortFunc(c.Failing, func(a, b *Failing) int {
		return cmp.Or(byVersion(a.ImageVersion, b.ImageVersion), cmp.Compare(a.Why, b.Why))
	})
	slices.SortFunc(c.Blocked, func(a, b *Blocked) int {
		return cmp.Or(byVersion(a.ImageVersion, b.ImageVersion), cmp.Compare(a.Instead, b.Instead))
	})
}
