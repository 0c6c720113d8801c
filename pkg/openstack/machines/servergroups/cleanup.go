// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// CleanUp removes the server groups of the Worker that no pool needs any more: its pool is gone, does not ask for a
// group any more, or asks for another policy. It is for the end of a successful reconcile. pools and have are
// what Ensure was given and has returned. It returns what the record has to be now, sorted as that of Ensure.
//
// It removes what is recorded under the name that the group has, and what has a name as Ensure gives for this Shoot. A
// group that has members still is kept, and removed by a later call: machines may be going still. An entry whose group
// has another name is not ours; it is forgotten, and the group stays.
//
// If there is an error, it names all groups that could not be removed; these stay in the record. Without pools and
// without record OpenStack is not asked for anything, and compute may be nil.
func CleanUp(
	ctx context.Context, compute Compute, names Names, pools []Pool, have []v1alpha1.ServerGroupDependency,
) (record []v1alpha1.ServerGroupDependency, err error) {
	if len(pools) == 0 && len(have) == 0 {
		return nil, nil
	}
	return remove(ctx, compute, names, pools, have, func(g Group) bool { return len(g.Members) > 0 })
}

// Delete removes the server groups of a Worker that is deleted, when its machines are gone: all that [CleanUp] would find, with or
// without members. It asks OpenStack even without a record.
func Delete(
	ctx context.Context, compute Compute, names Names, have []v1alpha1.ServerGroupDependency,
) (record []v1alpha1.ServerGroupDependency, err error) {
	return remove(ctx, compute, names, nil, have, func(Group) bool { return false })
}

// remove removes the groups that no pool needs, but not those that stay.
func remove(
	ctx context.Context, compute Compute, names Names, pools []Pool, have []v1alpha1.ServerGroupDependency, stays func(Group) bool,
) ([]v1alpha1.ServerGroupDependency, error) {
	r := removal{ensuring: begin(compute, names, have), stays: stays}
	if err := names.check(); err != nil {
		return r.record, err
	}
	if err := r.list(ctx); err != nil {
		return r.record, err
	}
	for _, pool := range sorted(pools) {
		r.each(ctx, pool, r.need)
	}
	if err := r.errs.join(); err != nil {
		return r.record, err
	}
	r.sort()
	r.errs = grouped{one: "server group ", many: "server groups "}
	recorded := map[string]bool{}
	r.record = slices.DeleteFunc(r.record, func(entry v1alpha1.ServerGroupDependency) bool {
		recorded[entry.ID] = true
		return !r.taken(entry.ID) && r.forget(ctx, entry)
	})
	for _, group := range r.groups {
		if names.isOwn(group.Name) && !r.taken(group.ID) && !recorded[group.ID] {
			r.delete(ctx, group, strconv.Quote(group.Name))
		}
	}
	return r.record, r.errs.join()
}

// removal is a call of CleanUp or Delete.
type removal struct {
	*ensuring
	stays func(Group) bool
}

// need finds out which group a pool needs, if there is one.
func (r *removal) need(ctx context.Context, pool Pool) error {
	if err := r.keep(ctx, pool); err != nil {
		return err
	}
	if group, found := r.left(pool); found && r.ids[pool.Name] == "" {
		r.ids[pool.Name] = group.ID
	}
	return nil
}

// forget removes the group of an entry, and reports whether there is no such group any more, or never was.
func (r *removal) forget(ctx context.Context, entry v1alpha1.ServerGroupDependency) bool {
	subject := fmt.Sprintf("%q of worker pool %s", entry.Name, entry.PoolName)
	gone := false
	r.try(subject, func() error {
		group, err := r.Get(ctx, entry.ID)
		switch {
		case errors.Is(err, ErrNotFound):
			gone = true
			return nil
		case err != nil:
			return about("cannot read it", err)
		case group.Name != entry.Name:
			gone = true
			return nil
		}
		gone = r.delete(ctx, group, subject)
		return nil
	})
	return gone
}

// delete deletes a group unless it stays, and reports whether it has.
func (r *removal) delete(ctx context.Context, group Group, subject string) (deleted bool) {
	if r.stays(group) {
		return false
	}
	r.try(subject, func() error {
		if err := r.Delete(ctx, group.ID); err != nil {
			return about("cannot delete it", err)
		}
		deleted = true
		return nil
	})
	return deleted
}
