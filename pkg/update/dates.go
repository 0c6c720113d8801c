// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"slices"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
)

// expiryKey distinguishes the changed expirations of one version.
type expiryKey struct {
	provider.ImageVersion
	from, to, view string
}

// datesOf returns the expiration dates of a version before and after the update, and whether that is a change. It is none if both have passed,
// or if the version has expired without a date.
func (c *collector[R]) datesOf(before, after v1beta1.ExpirableVersion) (from, to *time.Time, differ bool) {
	from, to = versions.ExpiryOf(before), versions.ExpiryOf(after)
	return from, to, !sameTime(from, to) && !versions.SameFrom(c.now, before, after) && (to != nil || !versions.Expired(after))
}

// textOf returns a date in RFC 3339; nil for none.
func textOf(at *time.Time) *string {
	if at == nil {
		return nil
	}
	return new(at.Format(time.RFC3339))
}

// dates collects the image versions with a changed expiration date, and those with an unchanged one on which worker pools get stuck because
// of the update, with the fates of their worker pools. It visits one date after the other, and drops the forecasts of the previous one,
// because each holds a whole profile.
func (l *look[R]) dates(chosen [][]provider.Pool) {
	var dated []*Expiry
	for v := range l.After.Versions() {
		before := l.Before.Version(v.ID)
		if before == nil || l.After.Version(v.ID) != v.MachineImageVersion {
			continue
		}
		switch from, to, differ := l.datesOf(before.ExpirableVersion, v.ExpirableVersion); {
		case differ:
			dated = append(dated, l.expiry(v.ID, from, to))
		case l.All && to != nil && to.After(l.now):
			dated = append(dated, &Expiry{ImageVersion: v.ID, From: to, To: to})
		}
	}
	var never time.Time
	slices.SortStableFunc(dated, func(a, b *Expiry) int { return ptr.Deref(a.To, never).Compare(ptr.Deref(b.To, never)) })
	for i, e := range dated {
		if i > 0 && !sameTime(e.To, dated[i-1].To) {
			delete(l.forecasts, ptr.Deref(dated[i-1].To, never))
		}
		for user := range l.Users {
			l.expires(e, user, chosen[user])
		}
	}
}

// expires adds a Shoot's worker pools that have the version, and their fates once the date has passed. For an unchanged date, it adds only pools
// that get worse on it, and not before.
func (l *look[R]) expires(e *Expiry, user int, pools []provider.Pool) {
	unchanged := !e.Changes()
	if unchanged && l.sameChoices(pools) {
		return
	}
	for k, pool := range pools {
		if (provider.ImageVersion{Image: pool.Image, Version: pool.Version}) != e.ImageVersion {
			continue
		}
		at := Pool{l.Users[user].Name(), pool.Name, l.index, user, k}
		var fate Fate
		changes := false
		if e.To != nil {
			fate, changes = l.imageFate(*e.To, at, pools)
		}
		if unchanged {
			if now, _ := l.imageFate(l.now, at, pools); !fate.Worse || now.Worse {
				continue
			}
			e = l.expiry(e.ImageVersion, e.From, e.To)
		}
		e.Pools = append(e.Pools, at)
		if changes {
			e.Then = append(e.Then, fate)
		}
	}
}

// imageFate returns the fate of a worker pool's image version just after a date; false if it stays.
func (l *look[R]) imageFate(date time.Time, at Pool, pools []provider.Pool) (Fate, bool) {
	was, is := l.outlooks(date, at.User, pools)
	fate, changes := fateOf(at, func() (maintenance.Action, string) { return was().Image(at.Index) },
		func() (maintenance.Action, string) { return is().Image(at.Index) })
	if changes {
		fate.BootsNothing = is().BootsNothing(at.Index)
		fate.Worse = fate.Worse || fate.BootsNothing && !was().BootsNothing(at.Index)
	}
	return fate, changes
}

// expiry returns the entry for a version. The profile itself may have it already.
func (l *look[R]) expiry(id provider.ImageVersion, from, to *time.Time) *Expiry {
	key := expiryKey{ImageVersion: id, from: keyOfText(textOf(from)), to: keyOfText(textOf(to))}
	for _, key.view = range []string{"", l.Name} {
		if known := l.expiries[key]; known != nil {
			return known
		}
	}
	e := &Expiry{ImageVersion: id, View: l.Name, From: from, To: to}
	l.expiries[key] = e
	l.Expires = append(l.Expires, e)
	return e
}

// expiresAnew reports whether the update changes the expiration date of a worker pool's version.
func (l *look[R]) expiresAnew(pool provider.Pool) bool {
	id := provider.ImageVersion{Image: pool.Image, Version: pool.Version}
	before, after := l.Before.Version(id), l.After.Version(id)
	if before == nil || after == nil {
		return false
	}
	_, _, differ := l.datesOf(before.ExpirableVersion, after.ExpirableVersion)
	return differ
}
