// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/update"
)

// Narrowing an update to selected worker pools, as if the others were not among the inputs. The facts are computed
// for all worker pools of a Shoot first, because the effect of maintenance on one of them may depend on the others.

// asked is the set of selected worker pools; nil selects all pools of the Shoots in the views.
type asked map[Pool]bool

// asked returns the worker pools in views that the filter admits. It fails if the views have no users.
func (u *Update) asked(views []update.View[any]) (asked, error) {
	said := u.Filter.Said()
	if said == "" || len(views) == 0 {
		return nil, nil
	}
	of, users := asked{}, 0
	for v := range views {
		users += len(views[v].Users)
		for i := range views[v].Users {
			user := &views[v].Users[i]
			for k := range user.Pools {
				if u.Filter.Admits(&user.Pools[k]) {
					of[Pool{user.Name(), user.Pools[k].Name}] = true
				}
			}
		}
	}
	switch {
	case users == 0:
		return nil, fmt.Errorf("nobody who uses %s %s matches %s%s", u.Kind, u.Name, said, u.Filter.MeantPool())
	case !u.Filter.OfPools():
		return nil, nil
	}
	return of, nil
}

// among returns the selected worker pools among pools.
func (a asked) among(pools []update.Pool) []update.Pool {
	return slices.DeleteFunc(slices.Clone(pools), func(p update.Pool) bool { return !a[Pool{p.Shoot, p.Name}] })
}

// none reduces a list to the selected worker pools, and reports whether it has none of them.
func (a asked) none(pools *[]update.Pool) bool {
	*pools = a.among(*pools)
	return len(*pools) == 0
}

// fates returns the fates of selected worker pools. It drops control planes.
func (a asked) fates(all []update.Fate) []update.Fate {
	return slices.DeleteFunc(slices.Clone(all), func(f update.Fate) bool { return !a[Pool{f.Shoot, f.Name}] })
}

// narrow reduces the facts to those about selected worker pools and those about no particular user.
func (a asked) narrow(facts *update.Changes[any], views []update.View[any]) {
	if a == nil {
		return
	}
	for _, c := range facts.Choices {
		if left := a.among(c.Pools); len(left) < len(c.Pools) {
			c.Pools, c.InUse = left, len(left) > 0
		}
	}
	facts.Types = slices.DeleteFunc(facts.Types, func(t *update.TypeGone) bool { return a.none(&t.Pools) })
	facts.Locks = slices.DeleteFunc(facts.Locks, func(l *update.Lock) bool { return a.none(&l.Pools) })
	facts.Volumes = slices.DeleteFunc(facts.Volumes, func(l *update.VolumeLock) bool { return a.none(&l.Pools) })
	facts.Blocked = slices.DeleteFunc(facts.Blocked, func(b *update.Blocked) bool {
		if a.none(&b.Pools) {
			return true
		}
		first := b.Pools[0]
		b.Example = views[first.View].Users[first.User].Pools[first.Index]
		b.Example.Version = b.Version
		return false
	})
	facts.Failing = slices.DeleteFunc(facts.Failing, func(f *update.Failing) bool { return a.none(&f.Pools) })
	facts.Rolls = slices.DeleteFunc(facts.Rolls, func(r *update.Roll) bool { return a.none(&r.Pools) })
	facts.Expires = slices.DeleteFunc(facts.Expires, func(e *update.Expiry) bool {
		e.Then = a.fates(e.Then)
		return a.none(&e.Pools) && !e.Changes()
	})
	facts.Kubernetes = slices.DeleteFunc(facts.Kubernetes, func(k *update.KubernetesChange) bool {
		k.Then = a.fates(k.Then)
		return !k.Changes() && len(k.Then) == 0
	})
	facts.Faulty = a.among(facts.Faulty)
}

// refusals keeps the refusals that concern selected worker pools, or no worker pools at all.
func (a asked) refusals(refused []Change) []Change {
	if a == nil {
		return refused
	}
	var left []Change
	for _, c := range refused {
		pools := slices.DeleteFunc(slices.Clone(c.Pools), func(p Pool) bool { return !a[p] })
		if len(pools) > 0 || c.Count == 0 {
			c.Pools, c.Count = pools, len(pools)
			left = append(left, c)
		}
	}
	return left
}

// users returns copies of the views in which the Shoots have only the selected worker pools, to attribute uses to them.
func (a asked) users(views []update.View[any]) []update.View[any] {
	if a == nil {
		return views
	}
	views = slices.Clone(views)
	for v := range views {
		views[v].Users = slices.Clone(views[v].Users)
		for i := range views[v].Users {
			user := &views[v].Users[i]
			shoot := *user.Shoot
			shoot.Spec.Provider.Workers = slices.DeleteFunc(slices.Clone(shoot.Spec.Provider.Workers), func(w v1beta1.Worker) bool {
				return !a[Pool{user.Name(), w.Name}]
			})
			user.Shoot = &shoot
		}
	}
	return views
}
