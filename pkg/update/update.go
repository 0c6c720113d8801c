// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// Of reports how an update affects the users of a profile. It compares Before and After of each view, and does not report refusals. The
// first view must be the profile's own. A fact that several views share is reported once. The library supplies Gardener's decisions about
// maintenance and locks.
//
// The caller owns the result, but must not modify the references and requirements in it, which are shared. Of is safe for concurrent use.
// Its result depends only on the arguments and on the current time, which decides which versions have expired. The running time is
// proportional to the number of distinct worker pools, plus the number of possible combinations for a view with All.
func Of[R any](library gardenerrules.Library, views ...View[R]) Changes[R] {
	c := &collector[R]{
		library: library,
		choices: map[choiceKey]*Choice[R]{}, gone: map[string]*TypeGone{}, locks: map[lockKey]*Lock{},
		volumes: map[volumeLockKey]*VolumeLock{},
		blocked: map[maintenance.Blocked]*Blocked{}, expiries: map[expiryKey]*Expiry{}, moves: map[[4]string]*Roll{},
		failing:           map[[4]string]*Failing{},
		changedKubernetes: map[kubernetesKey]*KubernetesChange{}, ownMeanings: sets.New[string](), now: time.Now(),
	}
	for i := range views {
		c.view(i, &views[i])
	}
	c.sort()
	return c.Changes
}

// collector collects the facts of all views.
type collector[R any] struct {
	Changes[R]
	library gardenerrules.Library
	choices map[choiceKey]*Choice[R]
	gone    map[string]*TypeGone
	locks   map[lockKey]*Lock
	volumes map[volumeLockKey]*VolumeLock
	blocked map[maintenance.Blocked]*Blocked

	expiries          map[expiryKey]*Expiry
	moves             map[[4]string]*Roll
	failing           map[[4]string]*Failing
	changedKubernetes map[kubernetesKey]*KubernetesChange
	// ownMeanings has the profile's own meanings, as JSON.
	ownMeanings sets.Set[string]
	now         time.Time
}

// asked is a combination with its requests, as JSON.
type asked struct {
	resolve.Combination
	requested string
}

// choiceKey identifies a choice.
type choiceKey struct {
	asked
	// before, after and kept are JSON.
	before, after, kept string
	gone                Gone
	// view is the name of the only view with this choice.
	view string
}

type lockKey struct {
	provider.ImageVersion
	machineType string
}

// volumeLockKey identifies a [VolumeLock].
type volumeLockKey struct{ volumeType, machineType, minimum string }

// volumeKey has what decides whether a volume is too small.
type volumeKey struct{ machineType, volumeType, size string }

// look is the state for one view.
type look[R any] struct {
	*collector[R]
	*View[R]
	index int
	comparison[R]
	// was and is evaluate maintenance and locks before and after the update.
	was, is           *maintenance.Maintainer
	wasBoots, isBoots filters
	// known has the choice of each comparison, nil if nothing changes.
	known map[*compared[R]]*Choice[R]
	// regional has the choices about regions that the update removes.
	regional map[asked]*Choice[R]
	// tooSmall has the minimum that the update raises above each volume, nil if it does not.
	tooSmall  map[volumeKey]*gardenerrules.Minimum
	forecasts map[time.Time]*[2]forecast[R]
}

// view collects the facts of a view.
func (c *collector[R]) view(index int, v *View[R]) {
	workers := v.After.Provider().Workers()
	l := &look[R]{
		collector: c, View: v, index: index, comparison: compare(v.Before, v.After),
		was: maintenance.NewMaintainer(c.library, v.Before.Spec(), workers), is: maintenance.NewMaintainer(c.library, v.After.Spec(), workers),
		wasBoots: bootsBy(v.Before), isBoots: bootsBy(v.After),
		known: map[*compared[R]]*Choice[R]{}, regional: map[asked]*Choice[R]{}, tooSmall: map[volumeKey]*gardenerrules.Minimum{},
		forecasts: map[time.Time]*[2]forecast[R]{},
	}
	l.meanings()
	if v.All {
		l.all()
	}
	owned := map[*v1beta1.NamespacedCloudProfile]own{}
	all := make([][]provider.Pool, len(v.Users)) // without images that the profile does not decide
	for i := range v.Users {
		user := &v.Users[i]
		pools, chosen := user.Pools, user.Pools
		if user.Child != nil {
			o := memo.Get(owned, user.Child, func() own { return ownOf(user.Child) })
			pools = o.without(user.Pools)
			chosen = o.following(pools)
		}
		if user.leaving() {
			for k := range pools {
				l.lock(Pool{user.Name(), pools[k].Name, index, i, k}, &pools[k], false)
			}
			continue
		}
		for k := range pools {
			l.pool(Pool{user.Name(), pools[k].Name, index, i, k}, &pools[k])
		}
		l.maintain(i, user, chosen)
		if v.All {
			l.rolls(i, user, chosen)
		}
		all[i] = chosen
	}
	l.dates(all)
	if v.All {
		l.kubernetes(all)
	}
}

// filters return the filter of a worker pool: whether it boots an image version.
type filters func(provider.Pool) func(image, version string) bool

// bootsBy returns the filters of a profile. Worker pools of one shape share a filter, which memoizes its answers. The filter is nil if it
// is unknown what the pool boots.
func bootsBy[R any](p *profile.Profile[R]) filters {
	known := map[provider.Shape]func(image, version string) bool{}
	return func(pool provider.Pool) func(image, version string) bool {
		return memo.Get(known, p.Provider().Workers().ShapeOf(&pool), func() func(image, version string) bool {
			boots, asked := resolve.Boots(p, pool), map[provider.ImageVersion]bool{}
			if boots == nil {
				return nil
			}
			return func(image, version string) bool {
				return memo.Get(asked, provider.ImageVersion{Image: image, Version: version}, func() bool { return boots(image, version) })
			}
		})
	}
}

// pool collects the effect on a worker pool.
func (l *look[R]) pool(at Pool, pool *provider.Pool) {
	if pool.Image == "" || pool.Version == "" { // a NamespacedCloudProfile defines the image, or Gardener has found none
		l.lock(at, pool, true)
		return
	}
	found := l.comparison.pool(*pool)
	l.lock(at, pool, found.Before != nil)
	if found.faulty {
		l.Faulty = append(l.Faulty, at)
	}
	if found.unread {
		return
	}
	choice := memo.Get(l.known, found, func() *Choice[R] {
		if used := l.regional[asked{combinationOf(pool), keyOf(found.requested)}]; used != nil {
			used.InUse = true
		}
		if found.same() {
			return nil
		}
		choice := l.choice(combinationOf(pool), found)
		choice.InUse = true
		return choice
	})
	if choice != nil {
		choice.Pools = append(choice.Pools, at)
	}
}

func combinationOf(pool *provider.Pool) resolve.Combination {
	return resolve.Combination{
		Image: pool.Image, Version: pool.Version, MachineType: pool.MachineType, Region: pool.Region,
	}
}

// choice returns the choice for a comparison. It adds one unless the profile itself, or the view, has it already.
func (l *look[R]) choice(of resolve.Combination, found *compared[R]) *Choice[R] {
	key := choiceKey{
		asked:  asked{of, keyOf(found.requested)},
		before: keyOf(found.Before), after: keyOf(found.After), kept: keyOf(found.Kept), gone: found.Gone,
	}
	for _, key.view = range []string{"", l.Name} {
		if choice := l.choices[key]; choice != nil {
			return choice
		}
	}
	choice := &Choice[R]{Combination: of, View: key.view, Requested: found.requested, Boots: found.Boots}
	l.choices[key] = choice
	l.Choices = append(l.Choices, choice)
	return choice
}

// keyOf returns a value as JSON.
func keyOf(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// lock collects a worker pool's machine type if it is removed and the pool got machines before, and new locks of its Shoot (semantics S16).
func (l *look[R]) lock(at Pool, pool *provider.Pool, booted bool) {
	l.lockByVolume(at, pool)
	if pool.MachineType == "" {
		return // a NamespacedCloudProfile defines it
	}
	_, had := l.Before.Machine(pool.MachineType)
	_, has := l.After.Machine(pool.MachineType)
	image := gardenerrules.Image{Name: pool.Image, Version: pool.Version}
	was, is := shoots.NoLock, shoots.NoLock
	if !l.sameLocks(pool) {
		was, is = l.was.Lock(pool.MachineType, image), l.is.Lock(pool.MachineType, image)
	}
	switch {
	case had && !has && booted || is == shoots.LockedByType && is != was:
		gone := memo.Get(l.gone, pool.MachineType, func() *TypeGone {
			l.Types = append(l.Types, &TypeGone{Name: pool.MachineType, Locks: is == shoots.LockedByType, Had: had})
			return l.Types[len(l.Types)-1]
		})
		gone.Pools = append(gone.Pools, at)
	case is != shoots.NoLock && is != was:
		key := lockKey{provider.ImageVersion{Image: pool.Image, Version: pool.Version}, pool.MachineType}
		lock := memo.Get(l.locks, key, func() *Lock {
			l.Locks = append(l.Locks, &Lock{ImageVersion: key.ImageVersion, MachineType: key.machineType})
			return l.Locks[len(l.Locks)-1]
		})
		lock.Pools = append(lock.Pools, at)
	}
}

// lockByVolume collects a minimum size that the update raises above a worker pool's volume.
func (l *look[R]) lockByVolume(at Pool, pool *provider.Pool) {
	if pool.Volume == nil || pool.Volume.Type == nil {
		return
	}
	minimum := memo.Get(l.tooSmall, volumeKey{pool.MachineType, *pool.Volume.Type, pool.Volume.VolumeSize}, func() *gardenerrules.Minimum {
		if gardenerrules.VolumeTooSmall(l.Before.Spec(), pool.MachineType, pool.Volume) != nil {
			return nil
		}
		return gardenerrules.VolumeTooSmall(l.After.Spec(), pool.MachineType, pool.Volume)
	})
	if minimum == nil {
		return
	}
	key := volumeLockKey{volumeType: *pool.Volume.Type, minimum: minimum.Size.String()}
	if minimum.OfMachineType {
		key.machineType = pool.MachineType
	}
	lock := memo.Get(l.volumes, key, func() *VolumeLock {
		l.Volumes = append(l.Volumes, &VolumeLock{VolumeType: key.volumeType, MachineType: key.machineType, Minimum: key.minimum})
		return l.Volumes[len(l.Volumes)-1]
	})
	lock.Pools = append(lock.Pools, at)
}

// maintain collects the choices of maintenance that a Shoot's worker pools cannot boot. It does nothing if the choices cannot have changed.
func (l *look[R]) maintain(index int, user *User, pools []provider.Pool) {
	if l.sameChoices(pools) {
		return
	}
	before := sync.OnceValue(func() []maintenance.Blocked { return l.was.Blocked(user.Shoot, pools, l.wasBoots) })
	for i, now := range l.is.Blocked(user.Shoot, pools, l.isBoots) {
		if now == (maintenance.Blocked{}) || now == before()[i] {
			continue
		}
		if l.Admission != maintenance.Corrects {
			now.Instead = ""
		}
		blocked := memo.Get(l.blocked, now, func() *Blocked {
			example := pools[i]
			example.Version = now.Image.Version
			id := provider.ImageVersion{Image: now.Image.Name, Version: now.Image.Version}
			l.Blocked = append(l.Blocked, &Blocked{ImageVersion: id, Instead: now.Instead, Example: example})
			return l.Blocked[len(l.Blocked)-1]
		})
		blocked.Pools = append(blocked.Pools, Pool{user.Name(), pools[i].Name, l.index, index, i})
	}
}
