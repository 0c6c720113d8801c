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

// CleanUp removes the Worker's server groups that no pool needs any more, because the pool is gone, no longer requests a group, or
// requests another policy. Call it at the end of a successful reconciliation, with the pools given to [Ensure] and its record. It returns
// the new record, sorted like that of Ensure.
//
// It removes recorded groups that still have the recorded name, and groups with the names that Ensure creates for this Shoot. A group
// that still has members is kept for a later call, because machines may still be terminating. If a recorded group has another name, it
// belongs to someone else: CleanUp removes the entry and keeps the group.
//
// An error names all groups that could not be removed; they stay in the record. Without pools and record, CleanUp does not call
// OpenStack, and compute may be nil.
func CleanUp(
	ctx context.Context, compute Compute, names Names, pools []Pool, have []v1alpha1.ServerGroupDependency,
) (record []v1alpha1.ServerGroupDependency, err error) {
	if len(pools) == 0 && len(have) == 0 {
		return nil, nil
	}
	return remove(ctx, compute, names, pools, have, func(g Group) bool { return len(g.Members) > 0 })
}

// Delete removes the server groups of a deleted Worker once its machines are gone. It removes all groups that [CleanUp] would consider,
// with or without members. It calls OpenStack even without a record.
func Delete(
	ctx context.Context, compute Compute, names Names, have []v1alpha1.ServerGroupDependency,
) (record []v1alpha1.ServerGroupDependency, err error) {
	return remove(ctx, compute, names, nil, have, func(Group) bool { return false })
}

// remove removes the groups that no pool needs, except those for which stays returns true.
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

// need determines the existing group that a pool needs.
func (r *removal) need(ctx context.Context, pool Pool) error {
	if err := r.keep(ctx, pool); err != nil {
		return err
	}
	if group, found := r.left(pool); found && r.ids[pool.Name] == "" {
		r.ids[pool.Name] = group.ID
	}
	return nil
}

// forget removes the group of an entry. It reports whether the entry can be dropped, because its group does not exist any more or belongs
// to someone else.
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

// delete deletes a group unless it stays, and reports whether it did.
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
