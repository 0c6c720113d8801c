// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"fmt"
	"reflect"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
)

// Of returns the facts of [update.Of] in words, in the order of [Sort]; nil if there are none.
func Of[R any](views ...update.View[R]) []Change {
	facts := update.Of(gardenerlib.Library{}, views...)
	return inWords(false, &facts, views)
}

// inWords converts facts about views to changes, in the order of [Sort]. For a comparison, an image change describes
// new pools only, and so has no time.
func inWords[R any](compares bool, facts *update.Changes[R], views []update.View[R]) []Change {
	w := writer[R]{views: views, compares: compares}
	for _, t := range facts.Types {
		if t.Locks {
			w.add(Change{
				Kind: Locked, MachineType: t.Name,
				Message: "the machine type is removed: Gardener rejects all later updates of these Shoots (\"service unavailable\"), " +
					"even the confirmation of their deletion; put it back with usable: false until nobody uses it",
			}, t.Pools)
		}
	}
	for _, l := range facts.Locks {
		w.add(Change{
			Kind: Locked, MachineType: l.MachineType, Image: l.Image, Version: l.Version,
			Message: "no flavor in core fits the machine type any more: Gardener refuses every later update of these " +
				"Shoots, even the confirmation of their deletion; revert this",
		}, l.Pools)
	}
	for _, l := range facts.Volumes {
		w.add(Change{
			Kind: Locked, VolumeType: l.VolumeType, MachineType: l.MachineType,
			Message: fmt.Sprintf("the minimum size is %s, and their volumes are smaller: Gardener refuses every later update of these Shoots that "+
				"leaves the volumes as they are, even the confirmation of their deletion; raise it once all volumes are large enough", l.Minimum),
		}, l.Pools)
	}
	w.blocked(facts.Blocked)
	for _, f := range facts.Failing {
		message := "Gardener's maintenance would choose it for these worker pools, and the maintenance of their Shoots then fails as a whole: %s; " +
			"classify it as preview until they can have it"
		if f.Kept {
			message = "these worker pools have it, and Gardener refuses every later update of their Shoots that leaves it, maintenance included: %s; revert this"
		}
		w.add(Change{Kind: Maintenance, Image: f.Image, Version: f.Version, Message: fmt.Sprintf(message, f.Why)}, f.Pools)
	}
	for _, e := range facts.Expires {
		w.add(Change{
			Kind: Expires, Profile: e.View, Image: e.Image, Version: e.Version, From: dateOf(e.From), To: dateOf(e.To), Then: fates(e.Then),
		}, e.Pools)
	}
	for _, k := range facts.Kubernetes {
		c := Change{Kind: Kubernetes, Profile: k.View, Version: k.Version, Change: k.Aspect, Then: fates(k.Then)}
		if k.Aspect != update.ChosenInstead {
			c.From, c.To = k.From, k.To
		}
		w.add(c, nil)
	}
	for _, r := range facts.Rolls {
		w.add(Change{Kind: WillUpdate, Image: r.Image, From: r.From, To: orNull(r.To), Action: r.Action}, r.Pools)
	}
	for _, m := range facts.Meanings {
		w.add(Change{
			Kind: Meaning, Profile: m.View, Image: m.Image, Version: m.Version, Capability: m.Capability, Change: m.How,
			Flavor: m.Flavor, FlavorText: views[0].After.Vocabulary().Format(m.Flavor), From: m.From, To: m.To,
		}, nil)
	}
	for _, choice := range facts.Choices {
		w.choice(choice)
	}
	Sort(w.changes)
	return w.changes
}

// orNull returns a version. It returns nil, which JSON leaves out, if there is none.
func orNull(version string) any {
	if version == "" {
		return nil
	}
	return version
}

// dateOf formats a date as RFC 3339. It returns nil, which is null in JSON, if there is no date.
func dateOf(at *time.Time) *string {
	if at == nil {
		return nil
	}
	return new(at.Format(time.RFC3339))
}

// fates converts fates to their JSON form.
func fates(found []update.Fate) []Fate {
	var fates []Fate
	for _, f := range found {
		fate := Fate{Shoot: f.Shoot, Pool: f.Name, Action: f.Action, To: f.To, worse: f.Worse}
		if f.BootsNothing {
			fate.Boots = new(bool)
		}
		fates = append(fates, fate)
	}
	return fates
}

// offers converts offers to changes.
func offers(found []update.Offer) []Change {
	var w writer[any]
	for _, o := range found {
		c := Change{
			Kind: Offer, Path: o.Path, Change: o.How, From: o.From, To: o.To, Lost: o.Lost, Used: append([]string{}, o.Used...), Unavailable: o.Unavailable,
		}
		if o.Kept && len(o.Pools) > 0 {
			c.Message = "existing worker pools keep it, and new ones cannot choose it"
		}
		w.add(c, o.Pools)
	}
	return w.changes
}

// writer converts facts to changes.
type writer[R any] struct {
	views    []update.View[R]
	compares bool
	changes  []Change
}

func (w *writer[R]) add(c Change, pools []update.Pool) {
	c.Count, c.Pools = len(pools), make([]Pool, 0, len(pools))
	for _, pool := range pools {
		c.Pools = append(c.Pools, Pool{pool.Shoot, pool.Name})
	}
	w.changes = append(w.changes, c)
}

// afterMaintenance describes what follows if maintenance chooses a version that pools cannot boot.
var afterMaintenance = map[maintenance.Admission]string{
	maintenance.GardenerAlone: "; they are moved to it anyway, and can then create no machines",
	maintenance.Validates:     "; the maintenance of their Shoots then fails as a whole",
}

// blocked adds one change for each version that maintenance chooses, whatever the pools get instead. Equal versions are adjacent.
func (w *writer[R]) blocked(all []*update.Blocked) {
	for len(all) > 0 {
		id, pools, n := all[0].ImageVersion, []update.Pool(nil), 0
		for n < len(all) && all[n].ImageVersion == id {
			pools = append(pools, all[n].Pools...)
			n++
		}
		view := &w.views[all[0].Pools[0].View]
		w.add(Change{
			Kind: Maintenance, Image: id.Image, Version: id.Version,
			Message: fmt.Sprintf("Gardener's maintenance would choose it for these worker pools, but they cannot boot it: %s%s; "+
				"give the version what they need, or classify it as preview",
				resolve.WhyNot(view.After, all[0].Example), afterMaintenance[view.Admission]),
		}, pools)
		all = all[n:]
	}
}

// choice adds the changes for a choice.
func (w *writer[R]) choice(f *update.Choice[R]) {
	c := Change{
		Profile: f.View, Image: f.Image, Version: f.Version, MachineType: f.MachineType, Region: f.Region, Requested: f.Requested,
	}
	switch {
	case f.Before == nil:
		c.Kind, c.To = New, *f.After
	case f.After == nil && len(f.Pools) == 0 && f.InUse:
		return
	case f.After == nil && len(f.Pools) == 0:
		c.Kind, c.From = Gone, *f.Before
	case f.After == nil:
		pool := f.Pools[0]
		view := &w.views[pool.View]
		c.Kind, c.From, c.Message = NoMachines, *f.Before, resolve.WhyNot(view.After, view.Users[pool.User].Pools[pool.Index])
		if f.Kept != nil {
			c.Kind = Kept
		}
	default:
		c.Kind, c.From = OtherImage, *f.Before
		w.otherImages(c, f)
		return
	}
	w.add(c, f.Pools)
}

// otherImages adds a change for each time at which another image is booted: now, at the next roll, or both.
func (w *writer[R]) otherImages(c Change, f *update.Choice[R]) {
	if w.compares {
		c.To = *f.After
		w.add(c, f.Pools)
		return
	}
	now := f.Kept
	if now == nil {
		now = f.After
	}
	if !reflect.DeepEqual(now, f.Before) {
		c.When, c.To = Now, *now
		w.add(c, f.Pools)
	}
	if !reflect.DeepEqual(now, f.After) {
		c.When, c.To = NextRoll, *f.After
		w.add(c, f.Pools)
	}
}

// UsersOf converts Shoots to the users of a view. The Shoots must be as the API server stores them, with Gardener's
// defaults and the images of all worker pools. A pool without an image is left out. The Shoots are not modified.
func UsersOf(shoots []*v1beta1.Shoot) []update.User {
	users := make([]update.User, 0, len(shoots))
	for _, shoot := range shoots {
		users = append(users, update.User{Shoot: shoot, Pools: provider.PoolsOf(shoot)})
	}
	return users
}
