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

// View is an update as seen by one group of a profile's users: the direct ones, or those of a NamespacedCloudProfile whose parent it is.
type View[R any] struct {
	// Name of that NamespacedCloudProfile, as NAMESPACE/NAME; empty for the profile itself.
	Name string
	// Before and After are the profile before and after the update, as the API server has them; for a NamespacedCloudProfile, its merge
	// with the parent. They have the same provider and the same preference order.
	Before, After *profile.Profile[R]
	// Users are the Shoots that use the profile. All facts list pools in this order. Of a Shoot that is being deleted only locks are
	// reported, because a lock keeps its deletion from completing.
	Users []User
	// Admission says which admission components are installed. Maintenance depends on it.
	Admission maintenance.Admission
	// All requests choices for possible worker pools, not only for existing ones. It also requests Rolls, Failing and Kubernetes.
	All bool
	// Besides are further requests of possible worker pools. A pool without requests, and each single request whose capability is offered,
	// are always included.
	Besides []resolve.Template
	// Formerly maps a combination after the update to its image version before, and reports whether to include the combination. It applies
	// to possible worker pools only, because existing ones name their version. Nil: no version was renamed.
	Formerly func(resolve.Combination) (version string, counts bool)
}

// User is a Shoot that uses a profile. The package does not modify it.
type User struct {
	// Shoot is as the API server has it: with Gardener's defaults, and with the images of its worker pools.
	Shoot *v1beta1.Shoot
	// Pools are the worker pools, as returned by [provider.PoolsOf].
	Pools []provider.Pool
	// Child is the NamespacedCloudProfile through which the Shoot uses the profile, if the view compares the parent. The child's own
	// definitions are ignored, because the parent cannot change them. Nil if the Shoot uses the view's profile directly.
	Child *v1beta1.NamespacedCloudProfile
}

// Name returns the Shoot's name, as NAMESPACE/NAME.
func (u *User) Name() string { return u.Shoot.Namespace + "/" + u.Shoot.Name }

// leaving reports whether the Shoot is being deleted.
func (u *User) leaving() bool { return u.Shoot.DeletionTimestamp != nil }

// Changes are the effects of an update, as facts without messages.
type Changes[R any] struct {
	// Choices are the combinations whose image changes, including from or to none. For each view, possible worker pools come first if it
	// requests them, then the existing ones, in their order.
	Choices []*Choice[R]
	// Same counts the combinations that boot the same image before and after the update, without special requests, in the first view. Only if
	// that has All.
	Same int
	// Types are the missing machine types that worker pools use; sorted by name.
	Types []*TypeGone
	// Locks are the machine types that no longer fit any core flavor of an image version, so that Gardener refuses every later update of
	// the Shoots (semantics S16); sorted by image, version and machine type.
	Locks []*Lock
	// Volumes are the minimum sizes above the volumes of worker pools, so that Gardener refuses every later update of the Shoots that leaves
	// them as small (semantics S16); sorted by volume type, machine type and size.
	Volumes []*VolumeLock
	// Blocked are the image versions that Gardener's maintenance would choose for worker pools that cannot boot them, and would not have
	// chosen before (semantics S15); sorted by image, version and replacement.
	Blocked []*Blocked
	// Failing are the image versions that Gardener's maintenance chooses for worker pools that can boot them, or that these keep, but that
	// Gardener then refuses, unlike before; sorted by image, version and reason. Only for views with All.
	Failing []*Failing
	// Expires are the image versions with a changed expiration date; sorted by image and version.
	Expires []*Expiry
	// Rolls are the moves of worker pools by the next maintenance that differ from those without the update; sorted by image and versions.
	// Only for views with All.
	Rolls []*Roll
	// Kubernetes are the changes of Kubernetes versions; sorted by version and aspect. Only for views with All.
	Kubernetes []*KubernetesChange
	// Meanings are the flavors that leave out a reserved capability and change their meaning because the update changes the capability's
	// registration; in the order of [capability.Reserved], and of the profile.
	Meanings []*Meaning
	// Faulty are the worker pools whose providerConfig has errors. If the errors hide a pool's requests, Choices leave the pool out.
	Faulty []Pool
}

// Pool is a worker pool.
type Pool struct {
	// Shoot as NAMESPACE/NAME.
	Shoot string
	Name  string
	// View, User and Index are the indices of the view, of the Shoot among its users, and of the pool in the Shoot. A control plane has the
	// index -1.
	View, User, Index int
}

// Choice is the effect of an update on the image of a combination. Worker pools with the same combination and requests share a Choice.
type Choice[R any] struct {
	resolve.Combination
	// View is the name of the only view with this choice; empty if the profile itself has it.
	View string
	// Requested are the requests after the update, without implied ones.
	Requested []capability.Requirement
	Boots[R]
	// Pools are the worker pools with this combination, in the order of the views; nil if there are none.
	Pools []Pool
	// InUse reports whether a worker pool has this combination, even if nothing changes for the pool. If the update removes the region, for
	// example, new pools boot nothing, but existing ones carry on.
	InUse bool
}

// Boots are the images that a worker pool boots before and after an update.
type Boots[R any] struct {
	// Before and After are the references for a new pool; nil if it boots nothing.
	Before, After *R
	// Kept is what new machines of an existing pool boot after the update while its machine class keeps its name (semantics S14). It is the
	// new reference of Before's flavor, or Before itself if After is nil and the pool carries on. It is nil if Before is nil, if the flavor
	// is Gone and After replaces it, or if the provider's policy is to boot nothing.
	Kept *R
	// Gone is the reason why Before's flavor no longer serves the pool. New machines then boot After. If After is nil, it tells what is
	// wrong with the mapping.
	Gone Gone
}

// Gone is the reason why a flavor no longer serves a worker pool.
type Gone int

// The reasons.
const (
	// NotGone: the flavor still serves the pool, or there was none.
	NotGone Gone = iota
	// Removed: the profile no longer has the flavor, or not in the region.
	Removed
	// Unfit: the profile has the flavor, but it no longer fits the pool.
	Unfit
)

// TypeGone is a machine type that the update removes, or that is missing from a profile that gains capabilities.
type TypeGone struct {
	Name string
	// Locks reports whether the Shoots are locked (semantics S16), as is the case in a profile with capabilities.
	Locks bool
	// Had reports whether the profile had the machine type before.
	Had   bool
	Pools []Pool
}

// Lock is a machine type that no core flavor of an image version fits.
type Lock struct {
	provider.ImageVersion
	MachineType string
	Pools       []Pool
}

// VolumeLock is a minimum size above the volumes of worker pools.
type VolumeLock struct {
	VolumeType string
	// MachineType is set if it demands the minimum, and not the volume type.
	MachineType string
	// Minimum is the size, as 50Gi.
	Minimum string
	Pools   []Pool
}

// Blocked is an image version that Gardener's maintenance would choose for worker pools that cannot boot it.
type Blocked struct {
	provider.ImageVersion
	// Instead is the version that mutate-shoot gives the pools; empty if they keep theirs, or if the webhook is not installed.
	Instead string
	Pools   []Pool
	// Example is the first of Pools, with the chosen version.
	Example provider.Pool
}

// Failing is an image version that maintenance chooses for worker pools, or that they keep, but Gardener refuses, so that the maintenance of
// their Shoots fails.
type Failing struct {
	provider.ImageVersion
	// Kept reports whether the pools have the version already. Gardener then refuses every update of their Shoots.
	Kept bool
	// Why is Gardener's reason, as a sentence without a full stop.
	Why   string
	Pools []Pool
}

// Locked returns the worker pools whose Shoots the update locks.
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
	for _, l := range c.Volumes {
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
	slices.SortFunc(c.Volumes, func(a, b *VolumeLock) int {
		return cmp.Or(cmp.Compare(a.VolumeType, b.VolumeType), cmp.Compare(a.MachineType, b.MachineType), cmp.Compare(a.Minimum, b.Minimum))
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
	slices.SortStableFunc(c.Failing, func(a, b *Failing) int {
		return cmp.Or(byVersion(a.ImageVersion, b.ImageVersion), cmp.Compare(a.Why, b.Why))
	})
	slices.SortFunc(c.Blocked, func(a, b *Blocked) int {
		return cmp.Or(byVersion(a.ImageVersion, b.ImageVersion), cmp.Compare(a.Instead, b.Instead))
	})
}
