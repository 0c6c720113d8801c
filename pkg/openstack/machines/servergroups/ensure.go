// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// maxGets is how many server groups are asked for one by one; more than that are listed.
const maxGets = 4

// Ensure sees to it that each of the pools has a server group. pools are those that ask for one, in any order, and have
// is the record in the status of the Worker. It returns the ID of the group of each pool, by the name of the pool; and
// what the record has to be now.
//
// A pool keeps its recorded group if that exists, has the recorded name, and has the policy that the pool asks for: the
// ID is in the machine class, and another one would replace the machines. Otherwise the pool gets, if there is one, the
// group that its machine classes refer to, if that has the policy; else a group with the name that Ensure gives, as it is
// left behind when the record could not be written; else one with an old name, if it has members and these are all servers
// of the Shoot; else a new one.
//
// If there is an error, it is about all pools that have no group, and exposes Gardener's error codes. The
// record has to be written also then: it has what was created before. Entries that no pool needs any more stay in the
// record until [CleanUp] has removed their groups, so that there may be several for one pool: its own comes first. Else
// the record is sorted by the name of the pool. The caller owns what is returned; pools and have are not changed.
// Without pools OpenStack is not asked for anything, and compute may be nil.
func Ensure(
	ctx context.Context, compute Compute, names Names, pools []Pool, have []v1alpha1.ServerGroupDependency,
) (ids map[string]string, record []v1alpha1.ServerGroupDependency, err error) {
	e := begin(compute, names, have)
	if len(pools) == 0 {
		return e.ids, e.record, nil
	}
	if err := names.check(); err != nil {
		return e.ids, e.record, err
	}
	pools = sorted(pools)
	if e.recorded(pools) > maxGets {
		e.away = e.list(ctx)
	}
	for _, pool := range pools {
		e.each(ctx, pool, e.keep)
	}
	for _, pool := range pools {
		if _, has := e.ids[pool.Name]; !has && !e.errs.has(pool.Name) {
			e.each(ctx, pool, e.find)
		}
	}
	e.sort()
	return e.ids, e.record, e.errs.join()
}

// sorted returns the pools sorted by name.
func sorted(pools []Pool) []Pool {
	pools = slices.Clone(pools)
	slices.SortFunc(pools, func(a, b Pool) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Policy, b.Policy))
	})
	return pools
}

// ensuring is a call of Ensure.
type ensuring struct {
	project
	names  Names
	record []v1alpha1.ServerGroupDependency
	// ids are the groups of pools that have one by now, by the name of the pool.
	ids map[string]string
	// gone are the IDs in the record of groups that do not exist.
	gone map[string]bool
	errs grouped
	// away is the error after which nothing else is asked for; nil if there was none.
	away error
}

// begin begins a call with the record that there is.
func begin(compute Compute, names Names, have []v1alpha1.ServerGroupDependency) *ensuring {
	e := &ensuring{
		project: project{Compute: compute}, names: names, record: slices.Clone(have),
		ids: map[string]string{}, gone: map[string]bool{}, errs: ofPools(),
	}
	e.sort()
	return e
}

// recorded counts the entries of the record for pools.
func (e *ensuring) recorded(pools []Pool) int {
	count := 0
	for _, entry := range e.record {
		if slices.ContainsFunc(pools, func(p Pool) bool { return p.Name == entry.PoolName }) {
			count++
		}
	}
	return count
}

// each runs a step for a pool and records its error.
func (e *ensuring) each(ctx context.Context, pool Pool, step func(context.Context, Pool) error) {
	e.try(pool.Name, func() error { return step(ctx, pool) })
}

// try runs a step and records its error, as one about the subject. After an error that says that the service is away it
// does nothing, and that is the error about all others.
func (e *ensuring) try(subject string, step func() error) {
	err := e.away
	if err == nil {
		err = step()
	}
	if err != nil {
		e.errs.add(subject, err)
	}
	if isAway(err) {
		e.away = err
	}
}

// taken reports whether a group is that of a pool already.
func (e *ensuring) taken(id string) bool {
	for _, used := range e.ids {
		if used == id {
			return true
		}
	}
	return false
}

// keep gives a pool the group that is recorded for it, if that is the right one.
func (e *ensuring) keep(ctx context.Context, pool Pool) error {
	if pool.Policy == "" {
		return problem("serverGroup.policy of its providerConfig is empty; write anti-affinity or another policy, or remove serverGroup")
	}
	for _, entry := range e.record {
		if entry.PoolName != pool.Name || e.taken(entry.ID) {
			continue
		}
		switch group, err := e.Get(ctx, entry.ID); {
		case errors.Is(err, ErrNotFound):
			e.gone[entry.ID] = true
		case err != nil:
			return about(fmt.Sprintf("cannot read server group %q", entry.Name), err)
		case group.Name == entry.Name && group.Policy == pool.Policy:
			e.ids[pool.Name] = entry.ID
			return nil
		}
	}
	return nil
}

// find gives a pool a group that is not recorded, and creates one if there is none.
func (e *ensuring) find(ctx context.Context, pool Pool) error {
	if err := e.list(ctx); err != nil {
		return err
	}
	group, found := e.referred(pool)
	if !found {
		group, found = e.left(pool)
	}
	if !found {
		var err error
		if group, found, err = e.old(ctx, pool); err != nil {
			return err
		}
	}
	if !found {
		created, err := e.Create(ctx, e.names.of(pool), pool.Policy)
		if err != nil {
			return about(fmt.Sprintf("cannot create a server group with policy %s", pool.Policy), err)
		}
		group = created
	}
	e.ids[pool.Name] = group.ID
	// What is gone is forgotten only now: a service that has lost everything does not lose the record as well.
	e.record = slices.DeleteFunc(e.record, func(entry v1alpha1.ServerGroupDependency) bool {
		return entry.PoolName == pool.Name && (e.gone[entry.ID] || entry.ID == group.ID)
	})
	e.record = append(e.record, v1alpha1.ServerGroupDependency{PoolName: pool.Name, ID: group.ID, Name: group.Name})
	return nil
}

// referred returns the group that the machine classes of the pool refer to. Its name does not matter: the machines are in it.
func (e *ensuring) referred(pool Pool) (Group, bool) {
	return e.best(func(g Group) bool {
		return slices.Contains(pool.Refers, g.ID) && g.Policy == pool.Policy && !e.taken(g.ID)
	})
}

// left returns the group that was created for the pool and not recorded, or recorded for another one.
func (e *ensuring) left(pool Pool) (Group, bool) {
	return e.best(func(g Group) bool { return g.Name == e.names.of(pool) && g.Policy == pool.Policy && !e.taken(g.ID) })
}

// old returns the group that provider-openstack created for the pool in the past.
func (e *ensuring) old(ctx context.Context, pool Pool) (Group, bool, error) {
	for _, group := range e.groups {
		if !e.names.mayBeOld(group.Name, pool) || group.Policy != pool.Policy || e.taken(group.ID) {
			continue
		}
		own, err := e.ownMembers(ctx, group)
		if err != nil {
			return Group{}, false, about(fmt.Sprintf("cannot find out whose server group %q is", group.Name), err)
		}
		if own {
			return group, true, nil
		}
	}
	return Group{}, false, nil
}

// ownMembers reports whether a group has members, and all of them are servers of the Shoot.
func (e *ensuring) ownMembers(ctx context.Context, group Group) (bool, error) {
	own := false
	for _, server := range slices.Sorted(slices.Values(group.Members)) {
		metadata, err := e.Metadata(ctx, server)
		if errors.Is(err, ErrNotFound) {
			continue // it has been deleted meanwhile
		}
		if err != nil {
			return false, err
		}
		if _, own = metadata[e.names.label()]; !own {
			return false, nil
		}
	}
	return own, nil
}

// sort sorts the record by pool. Of several entries for one, that of its own group comes first.
func (e *ensuring) sort() {
	rank := func(entry v1alpha1.ServerGroupDependency) int {
		if e.ids[entry.PoolName] == entry.ID {
			return 0
		}
		return 1
	}
	slices.SortFunc(e.record, func(a, b v1alpha1.ServerGroupDependency) int {
		return cmp.Or(cmp.Compare(a.PoolName, b.PoolName), cmp.Compare(rank(a), rank(b)),
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.Name, b.Name))
	})
	e.record = slices.Compact(e.record)
}

// project is the compute service, whose server groups are listed once and only if they are needed.
type project struct {
	Compute
	listed bool
	// groups are sorted by name, then those with members first, then by ID.
	groups []Group
}

// list lists the groups if they are not yet.
func (p *project) list(ctx context.Context) error {
	if p.listed {
		return nil
	}
	groups, err := p.List(ctx)
	if err != nil {
		return about("cannot list the server groups", err)
	}
	empty := func(g Group) int { return min(len(g.Members), 1) }
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(empty(b), empty(a)), cmp.Compare(a.ID, b.ID))
	})
	p.listed, p.groups = true, groups
	return nil
}

// best returns the first group that fits.
func (p *project) best(fits func(Group) bool) (Group, bool) {
	if i := slices.IndexFunc(p.groups, fits); i >= 0 {
		return p.groups[i], true
	}
	return Group{}, false
}

// Get returns a group from the list, or else asks for it: lists of many groups come in pages, and groups that others
// remove meanwhile make one be left out.
func (p *project) Get(ctx context.Context, id string) (Group, error) {
	if group, found := p.best(func(g Group) bool { return g.ID == id }); found {
		return group, nil
	}
	return p.Compute.Get(ctx, id)
}
