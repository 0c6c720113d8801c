// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
)

// Shoot is one that uses a profile.
type Shoot struct {
	// Name as NAMESPACE/NAME.
	Name string
	// Object is as the API server has it: with Gardener's defaults and the images of all worker pools. A pool without an image
	// is left out. It is not changed.
	Object *v1beta1.Shoot
}

// View is what an update is to the Shoots that use a profile in one way: directly, or through a NamespacedCloudProfile of
// which it is the parent.
type View[R any] struct {
	// Name of that NamespacedCloudProfile, as NAMESPACE/NAME; empty for the profile itself.
	Name string
	// Old and New are the profile before and after the update, as the API server has them; of a NamespacedCloudProfile
	// what it results in.
	Old, New *consistency.Profile[R]
	// OldSpec and NewSpec are what these were compiled from.
	OldSpec, NewSpec *v1beta1.CloudProfileSpec
	Shoots           []Shoot
	// Order is the preference order by which worker pools get their images.
	Order capability.Order
	// Formerly says which version each combination had before the update, and which combinations count; see
	// [consistency.Comparison.Renamed]. Nil: no version has another name.
	Formerly func(consistency.Combination) (version string, counts bool)
}

// Unread is a worker pool of which it is not known what it asks for, since its providerConfig has errors. Nothing is said
// about it, but whether its Shoot is locked.
type Unread struct {
	// View and Shoot are indices, Pool is one of the Shoot's workers.
	View, Shoot, Pool int
}

// Of returns what an update does to those who use a profile, as it is seen in each of the views: everything but what is
// refused. The first view is that of the profile itself. What the others see in the same way is said once. Shoots that are
// being deleted are for the caller to leave out. The changes are those of [Sort]; nil if nothing changes.
//
// It takes time in proportion to the Shoots: worker pools that are alike are looked at once.
func Of[R any](workers provider.Workers, views []View[R]) ([]Change, []Unread) {
	p := &planner[R]{
		workers: workers, images: map[imageKey]*imageEntry[R]{}, locks: map[lockKey]*Change{},
		blocked: map[maintenance.Image]*Change{},
	}
	for i := range views {
		p.look(i, &views[i])
	}
	changes := p.changes()
	Sort(changes)
	return changes, p.unread
}

// planner collects changes.
type planner[R any] struct {
	workers provider.Workers
	images  map[imageKey]*imageEntry[R]
	// order has the entries of images, as they were found.
	order   []*imageEntry[R]
	locks   map[lockKey]*Change
	blocked map[maintenance.Image]*Change
	unread  []Unread
}

// asked is a combination with what is asked for, as JSON.
type asked struct {
	consistency.Combination
	requested string
}

// imageKey is what one entry about images is about.
type imageKey struct {
	asked
	// before, after and kept are JSON.
	before, after, kept string
	// view is the name of the only one that sees it like this.
	view string
}

// imageEntry is a combination for which the image changes.
type imageEntry[R any] struct {
	imageKey
	change    consistency.Change[R]
	requested []capability.Requirement
	pools     []Pool
	// inUse says that a worker pool is such a combination. If it is not among the pools all the same, it boots what it did.
	inUse bool
	// whyNot says why one of the pools boots nothing after the update; nil without pools.
	whyNot func() string
}

// lockKey is what one entry about locks is about: the image is zero where the machine type is gone.
type lockKey struct {
	image       maintenance.Image
	machineType string
}

// sight is what a view is looked at with.
type sight[R any] struct {
	*View[R]
	// index of the view.
	index      int
	comparison *consistency.Comparison[R]
	was, is    *maintenance.Forecast
	// known has the entry of each change, nil if nothing changes.
	known map[*consistency.Change[R]]*imageEntry[R]
	// regional has the entries about regions that the update removes.
	regional map[asked]*imageEntry[R]
}

// look takes down what is seen in a view.
func (p *planner[R]) look(index int, v *View[R]) {
	was := maintenance.NewForecast(v.OldSpec, p.workers, v.Old.Boots)
	s := &sight[R]{
		v, index, consistency.NewComparison(v.Old, v.New, v.Order), was, was.After(v.NewSpec, v.New.Boots),
		map[*consistency.Change[R]]*imageEntry[R]{}, map[asked]*imageEntry[R]{},
	}
	s.comparison.Renamed(v.Formerly)
	for combination, change := range s.comparison.Combinations() {
		entry := p.entry(v, combination, &change)
		if change.Regional && change.After == nil {
			s.regional[entry.asked] = entry
		}
	}
	for i := range v.Shoots {
		pools := provider.PoolsOf(v.Shoots[i].Object)
		for k := range pools {
			if pools[k].Version == "" {
				pools[k].Image = "" // which package maintenance leaves out
			}
			if pools[k].Image != "" {
				p.lookAt(s, i, k, &pools[k])
			}
		}
		p.forecast(s, &v.Shoots[i], pools)
	}
}

// lookAt takes down what becomes of a worker pool, whose index in the Shoot is given as well as that of the Shoot.
func (p *planner[R]) lookAt(s *sight[R], shoot, index int, pool *provider.Pool) {
	named := Pool{s.Shoots[shoot].Name, pool.Name}
	p.lock(s.comparison, pool, named)
	change := s.comparison.Pool(*pool)
	if change.Unreadable {
		p.unread = append(p.unread, Unread{s.index, shoot, index})
		return
	}
	entry, done := s.known[change]
	if !done {
		s.use(combinationOf(pool), change)
		if !change.Same() {
			entry = p.entry(s.View, combinationOf(pool), change)
		}
	}
	s.known[change] = entry
	if entry == nil {
		return
	}
	if entry.whyNot == nil {
		entry.whyNot = func() string { return s.comparison.WhyNot(*pool) }
	}
	entry.pools = append(entry.pools, named)
}

// use takes down that a worker pool is a combination, if that is in a region which the update removes.
func (s *sight[R]) use(of consistency.Combination, change *consistency.Change[R]) {
	if len(s.regional) == 0 {
		return
	}
	if entry := s.regional[asked{of, keyOf(change.Requested)}]; entry != nil {
		entry.inUse = true
	}
}

// forecast takes down what maintenance chooses for the worker pools of a Shoot. Where none of them can be chosen anything else
// than before, there is nothing to look at.
func (p *planner[R]) forecast(s *sight[R], shoot *Shoot, pools []provider.Pool) {
	if !slices.ContainsFunc(pools, func(pool provider.Pool) bool {
		return pool.Image != "" && !s.comparison.SameVersions(pool.Image, pool.MachineType)
	}) {
		return
	}
	before := sync.OnceValue(func() []maintenance.Blocked { return s.was.Blocked(shoot.Object, pools) })
	for i, now := range s.is.Blocked(shoot.Object, pools) {
		if now != (maintenance.Blocked{}) && now != before()[i] {
			p.block(s.View, now, pools[i], Pool{shoot.Name, pools[i].Name})
		}
	}
}

func combinationOf(pool *provider.Pool) consistency.Combination {
	return consistency.Combination{
		Image: pool.Image, Version: pool.Version, MachineType: pool.MachineType, Region: pool.Region,
	}
}

// entry returns the entry of a change, which it adds if the profile itself does not see it in the same way.
func (p *planner[R]) entry(v *View[R], of consistency.Combination, change *consistency.Change[R]) *imageEntry[R] {
	key := imageKey{
		asked:  asked{of, keyOf(change.Requested)},
		before: keyOf(change.Before), after: keyOf(change.After), kept: keyOf(change.Kept),
	}
	for _, key.view = range []string{"", v.Name} {
		if entry := p.images[key]; entry != nil {
			return entry
		}
	}
	entry := &imageEntry[R]{imageKey: key, change: *change, requested: change.Requested}
	p.images[key] = entry
	p.order = append(p.order, entry)
	return entry
}

// lock takes down that the Shoot of a worker pool is locked.
func (p *planner[R]) lock(comparison *consistency.Comparison[R], pool *provider.Pool, named Pool) {
	by := comparison.Locks(*pool)
	if by == consistency.NoLock {
		return
	}
	change := Change{
		Kind: Locked, MachineType: pool.MachineType,
		Message: "the machine type is removed: Gardener answers every later update of these Shoots that the service is not " +
			"available, even the confirmation of their deletion; put it back with usable: false until nobody uses it",
	}
	if by == consistency.LockedByFlavors {
		change.Image, change.Version = pool.Image, pool.Version
		change.Message = "no flavor in core fits the machine type any more: Gardener refuses every later update of these " +
			"Shoots, even the confirmation of their deletion; leave that as it was"
	}
	key := lockKey{maintenance.Image{Name: change.Image, Version: change.Version}, pool.MachineType}
	if p.locks[key] == nil {
		p.locks[key] = &change
	}
	p.locks[key].Pools = append(p.locks[key].Pools, named)
}

// block takes down that maintenance chooses a version for a worker pool that does not boot it.
func (p *planner[R]) block(v *View[R], blocked maintenance.Blocked, pool provider.Pool, named Pool) {
	change := p.blocked[blocked.Image]
	if change == nil {
		pool.Name, pool.Version = "", blocked.Image.Version
		change = &Change{
			Kind: Maintenance, Image: blocked.Image.Name, Version: blocked.Image.Version,
			Message: fmt.Sprintf("Gardener's maintenance is going to choose it for these worker pools, which do not boot it: %s; "+
				"give the version what they need, or classify it as preview", v.New.ResolvePool(pool).Message),
		}
		p.blocked[blocked.Image] = change
	}
	change.Pools = append(change.Pools, named)
}

// changes returns what was taken down.
func (p *planner[R]) changes() []Change {
	var changes []Change
	add := func(c Change) {
		c.Count = len(c.Pools)
		if c.Pools == nil {
			c.Pools = []Pool{}
		}
		changes = append(changes, c)
	}
	for _, c := range p.locks {
		add(*c)
	}
	for _, c := range p.blocked {
		add(*c)
	}
	for _, entry := range p.order {
		for _, c := range entry.changes() {
			add(c)
		}
	}
	return changes
}

// changes returns the changes that an entry stands for.
func (e *imageEntry[R]) changes() []Change {
	c := Change{
		Profile: e.view, Image: e.Image, Version: e.Version, MachineType: e.MachineType, Region: e.Region,
		Requested: e.requested, Pools: e.pools,
	}
	switch before, after := e.change.Before, e.change.After; {
	case before == nil:
		c.Kind, c.To = New, *after
	case after == nil && len(e.pools) == 0 && e.inUse:
		return nil
	case after == nil && len(e.pools) == 0:
		c.Kind, c.From = Gone, *before
	case after == nil:
		c.Kind, c.From, c.Message = NoMachines, *before, e.whyNot()
	default:
		c.Kind, c.From = OtherImage, *before
		return e.otherImages(c)
	}
	return []Change{c}
}

// otherImages returns a change for each of the times at which another image is booted.
func (e *imageEntry[R]) otherImages(c Change) []Change {
	var changes []Change
	add := func(when When, to R) {
		c.When, c.To = when, to
		changes = append(changes, c)
	}
	switch {
	case e.kept == "null":
		add(Now, *e.change.After)
	case e.kept != e.before:
		add(Now, *e.change.Kept)
	}
	if e.kept != "null" && e.kept != e.after {
		add(NextRoll, *e.change.After)
	}
	return changes
}
