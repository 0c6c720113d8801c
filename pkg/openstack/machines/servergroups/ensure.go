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

// maxGets is the largest number of server groups that are read one by one. More are listed.
const maxGets = 4

// Ensure ensures that each pool has a server group. pools are the pools that request one, in any order, and have is the record in the
// status of the Worker. Ensure returns the group ID of each pool by pool name, and the new record.
//
// A pool keeps its recorded group if that exists and has the recorded name and the requested policy. The ID is part of the machine class,
// and another one would replace the machines. Otherwise the pool gets the first of these with the requested policy: the group that its
// machine classes refer to; a group with the name that Ensure would give it, left behind by a failed write of the record; a group with an
// old name whose members exist and are all servers of the Shoot; or a new group.
//
// An error names all pools without a group, and exposes Gardener's error codes. The caller must write the record even then, because it
// contains groups created before the error. Entries that no pool needs any more stay in the record until [CleanUp] has removed their
// groups. The record is sorted by pool name; of several entries for a pool, its own group comes first. The caller owns the results; pools
// and have are not modified. Without pools, Ensure does not call OpenStack, and compute may be nil.
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
	// ids maps the names of pools to their groups found so far.
	ids map[string]string
	// gone are the recorded IDs of groups that do not exist.
	gone map[string]bool
	errs grouped
	// away is the error after which the service is not called again; nil if there was none.
	away error
}

// begin starts a call with the present record.
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

// try runs a step and records its error under the subject. If the service is away, it runs no further steps, and records the same error
// for each of them.
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

// taken reports whether a pool already has a group.
func (e *ensuring) taken(id string) bool {
	for _, used := range e.ids {
		if used == id {
			return true
		}
	}
	return false
}

// keep gives a pool its recorded group, if that is the right one.
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

// find gives a pool an unrecorded group, and creates one if necessary.
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
	// Entries of missing groups are removed only now, so that a service that has lost all groups does not empty the record.
	e.record = slices.DeleteFunc(e.record, func(entry v1alpha1.ServerGroupDependency) bool {
		return entry.PoolName == pool.Name && (e.gone[entry.ID] || entry.ID == group.ID)
	})
	e.record = append(e.record, v1alpha1.ServerGroupDependency{PoolName: pool.Name, ID: group.ID, Name: group.Name})
	return nil
}

// referred returns the group that the pool's machine classes refer to. Its name is irrelevant, because the machines are in it.
func (e *ensuring) referred(pool Pool) (Group, bool) {
	return e.best(func(g Group) bool {
		return slices.Contains(pool.Refers, g.ID) && g.Policy == pool.Policy && !e.taken(g.ID)
	})
}

// left returns the group that was created for the pool but is not recorded, or is recorded for another pool.
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

// ownMembers reports whether a group has members that are all servers of the Shoot.
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

// sort sorts the record by pool. Of several entries for a pool, that of its own group comes first.
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

// project is the compute service. It lists the server groups at most once, when they are needed.
type project struct {
	Compute
	listed bool
	// groups are sorted by name, then groups with members first, then by ID.
	groups []Group
}

// list lists the groups unless it already has.
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

// Get returns a group from the list, or else reads it. Lists of many groups have pages, and concurrent deletions can make a page skip a
// group.
func (p *project) Get(ctx context.Context, id string) (Group, error) {
	if group, found := p.best(func(g Group) bool { return g.ID == id }); found {
		return group, nil
	}
	return p.Compute.Get(ctx, id)
}
