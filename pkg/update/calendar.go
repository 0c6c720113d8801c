// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
)

// Fate is what becomes of a version that a Shoot or a worker pool has.
type Fate struct {
	// Pool is the worker pool. Without a name it is the control plane of the Shoot.
	Pool
	// Action is not [maintenance.Stays].
	Action maintenance.Action
	// To is the version that it has then; empty if none is chosen.
	To string
	// BootsNothing says that the pool does not boot the version that it has then, which nobody refuses.
	BootsNothing bool
	// Worse says that it is stuck, fails or boots nothing, and would not without the update.
	Worse bool
}

// Expiry is an image version whose expiration date is another one after the update.
type Expiry struct {
	provider.ImageVersion
	// View is the name of the only view that sees it like this; empty if the profile itself does.
	View string
	// From and To are the dates; nil for none.
	From, To *time.Time
	// Pools have the version.
	Pools []Pool
	// Then is what becomes of them once the date has come, as far as they do not stay as they are. There is none without a date.
	Then []Fate
}

// Roll is a move of worker pools, by the next maintenance of their Shoots, that is not what it would be without the update.
type Roll struct {
	Image, From, To string
	// Action is Updated or Forced.
	Action maintenance.Action
	Pools  []Pool
}

// KubernetesChange is what the update changes about a version of Kubernetes.
type KubernetesChange struct {
	Version string
	// View is the name of the only view that sees it like this; empty if the profile itself does.
	View string
	Aspect
	// From and To are dates, as RFC 3339 has them, for [NewDate]; stages that lie ahead, in words, for [NewStages]; and classifications
	// otherwise. Nil is none.
	From, To *string
	// Then is what becomes of Shoots that have the version, once its date has come; or what the next maintenance does to Shoots because
	// of the version, and would not do without the update.
	Then []Fate
}

// Aspect is how something differs. Its values are part of the command line's JSON.
type Aspect string

// The aspects.
const (
	IsNew   Aspect = "added"
	IsGone  Aspect = "removed"
	Differs Aspect = "changed"
	// NewDate is about the expiration date of a version, NewClassification about its classification.
	NewDate           Aspect = "expires"
	NewClassification Aspect = "classification"
	// NewStages is about what the version is classified as later, but for its expiration.
	NewStages Aspect = "lifecycle"
	// ChosenInstead: nothing about the version. But maintenance chooses it where it chose another one before.
	ChosenInstead Aspect = "chosen"
)

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// textOf returns a date as RFC 3339 has it; nil for none.
func textOf(at *time.Time) *string {
	if at == nil {
		return nil
	}
	return new(at.Format(time.RFC3339))
}

// expiryKey tells expirations of one version apart.
type expiryKey struct {
	provider.ImageVersion
	from, to, view string
}

// kubernetesKey tells what changes about one version of Kubernetes apart.
type kubernetesKey struct {
	version string
	aspect  Aspect
	from    string
	to      string
	view    string
}

func keyOfText(text *string) string {
	if text == nil {
		return ""
	}
	return "=" + *text
}

// forecast is maintenance by one of the two profiles, at some time.
type forecast[R any] struct {
	*maintenance.Maintainer
	boots filters
	// looks has the outlooks of Shoots, by the common key of similar ones.
	looks map[string]*maintenance.Outlook
}

// at returns maintenance by the profiles before and after the update, at a time; now, if that has come already.
func (l *look[R]) at(when time.Time) *[2]forecast[R] {
	return memo.Get(l.forecasts, when, func() *[2]forecast[R] {
		was, is := l.was, l.is
		if after := when.Sub(l.now); after > 0 {
			workers := l.After.Provider().Workers()
			was = maintenance.NewMaintainer(l.library, maintenance.After(l.Before.Spec(), after), workers)
			is = maintenance.NewMaintainer(l.library, maintenance.After(l.After.Spec(), after), workers)
		}
		return &[2]forecast[R]{
			{was, l.wasBoots, map[string]*maintenance.Outlook{}}, {is, l.isBoots, map[string]*maintenance.Outlook{}},
		}
	})
}

// look returns the outlook of a Shoot. The reasons why its worker pools boot nothing do not matter.
func (s *forecast[R]) look(user *User, pools []provider.Pool, by maintenance.Admission) *maintenance.Outlook {
	return memo.Get(s.looks, s.Alike(user.Shoot, pools), func() *maintenance.Outlook {
		boots := make([]maintenance.Filter, len(pools))
		for i := range pools {
			if pools[i].Image != "" && pools[i].Version != "" {
				boots[i] = s.boots(pools[i])
			}
		}
		o := s.Look(user.Shoot, pools, boots, func(int, maintenance.Image) string { return "boots nothing" }, by)
		o.Core.Shoot, o.Written.Shoot = nil, nil // there may be tens of thousands
		return o
	})
}

// fateOf returns what becomes of something that an outlook is asked about, before and after the update; false if it stays as it is.
func fateOf(pool Pool, was, is func() (maintenance.Action, string)) (Fate, bool) {
	action, to := is()
	f := Fate{Pool: pool, Action: action, To: to}
	if action == maintenance.Stuck || action == maintenance.Fails {
		before, _ := was()
		f.To, f.Worse = "", before != maintenance.Stuck && before != maintenance.Fails
	}
	return f, action != maintenance.Stays
}

// dates collects the image versions whose expiration date is another one, and what becomes of the worker pools that have them: one
// date after the other, since what is known of a date is about a whole profile.
func (l *look[R]) dates(chosen [][]provider.Pool) {
	var changed []*Expiry
	for v := range l.After.Versions() {
		before := l.Before.Version(v.ID)
		if before == nil || l.After.Version(v.ID) != v.MachineImageVersion {
			continue
		}
		if from, to := versions.ExpiryOf(before.ExpirableVersion), versions.ExpiryOf(v.ExpirableVersion); !sameTime(from, to) {
			changed = append(changed, l.expiry(v.ID, from, to))
		}
	}
	var never time.Time
	slices.SortStableFunc(changed, func(a, b *Expiry) int { return ptr.Deref(a.To, never).Compare(ptr.Deref(b.To, never)) })
	for i, e := range changed {
		if i > 0 && !sameTime(e.To, changed[i-1].To) {
			delete(l.forecasts, afterwards(ptr.Deref(changed[i-1].To, never)))
		}
		for user := range l.Users {
			l.expires(e, user, chosen[user])
		}
	}
}

// afterwards is when an expiration date has come.
func afterwards(date time.Time) time.Time { return date.Add(time.Second) }

// expires adds the worker pools of a Shoot that have a version, and what becomes of them once its date has come.
func (l *look[R]) expires(e *Expiry, user int, pools []provider.Pool) {
	for k, pool := range pools {
		if (provider.ImageVersion{Image: pool.Image, Version: pool.Version}) != e.ImageVersion {
			continue
		}
		at := Pool{l.Users[user].Name(), pool.Name, l.index, user, k}
		e.Pools = append(e.Pools, at)
		if e.To == nil {
			continue
		}
		was, is := l.outlooks(*e.To, user, pools)
		fate, changes := fateOf(at, func() (maintenance.Action, string) { return was().Image(k) },
			func() (maintenance.Action, string) { return is().Image(k) })
		if changes {
			fate.BootsNothing = is().BootsNothing(k)
			fate.Worse = fate.Worse || fate.BootsNothing && !was().BootsNothing(k)
			e.Then = append(e.Then, fate)
		}
	}
}

// outlooks return what becomes of a Shoot once a date has come, before and after the update.
func (l *look[R]) outlooks(date time.Time, user int, pools []provider.Pool) (was, is func() *maintenance.Outlook) {
	forecasts := l.at(afterwards(date))
	return func() *maintenance.Outlook { return forecasts[0].look(&l.Users[user], pools, l.Admission) },
		func() *maintenance.Outlook { return forecasts[1].look(&l.Users[user], pools, l.Admission) }
}

// expiry returns the entry for a version, which the profile itself may have already.
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

// rolls collects the worker pools of a Shoot that the next maintenance moves to another version than without the update, and those for
// which it chooses one that Gardener refuses. What an expiration alone forces is an [Expiry].
func (l *look[R]) rolls(index int, user *User, pools []provider.Pool) {
	if !maintenance.UpdatesImages(user.Shoot) || !slices.ContainsFunc(pools, func(pool provider.Pool) bool {
		return pool.Image != "" && !l.sameVersions(pool.Image, pool.MachineType)
	}) {
		return
	}
	forecasts := l.at(l.now)
	was, is := forecasts[0].look(user, pools, l.Admission), forecasts[1].look(user, pools, l.Admission)
	for k, pool := range pools {
		if pool.Image == "" || pool.Version == "" {
			continue
		}
		before, former := was.Image(k)
		action, to := is.Image(k)
		if action == maintenance.Fails && before != action {
			l.fails(is, Pool{user.Name(), pool.Name, l.index, index, k}, pool)
		}
		if action != maintenance.Updated && action != maintenance.Forced || to == former {
			continue
		}
		roll := memo.Get(l.moves, [4]string{pool.Image, pool.Version, to, string(action)}, func() *Roll {
			l.Rolls = append(l.Rolls, &Roll{Image: pool.Image, From: pool.Version, To: to, Action: action})
			return l.Rolls[len(l.Rolls)-1]
		})
		roll.Pools = append(roll.Pools, Pool{user.Name(), pool.Name, l.index, index, k})
	}
}

// fails adds a worker pool for which maintenance chooses a version that Gardener refuses. One that the pool does not boot is [Blocked].
func (l *look[R]) fails(is *maintenance.Outlook, at Pool, pool provider.Pool) {
	why, chosen := is.Rejections[at.Index], is.Written.Images[at.Index].Version
	if why == "" || chosen == "" {
		return
	}
	if boots := l.isBoots(pool); boots != nil && !boots(pool.Image, chosen) {
		return
	}
	failing := memo.Get(l.failing, [3]string{pool.Image, chosen, why}, func() *Failing {
		l.Failing = append(l.Failing, &Failing{ImageVersion: provider.ImageVersion{Image: pool.Image, Version: chosen}, Why: why})
		return l.Failing[len(l.Failing)-1]
	})
	failing.Pools = append(failing.Pools, at)
}

// kubernetes collects what changes about versions of Kubernetes, and what becomes of the Shoots.
func (l *look[R]) kubernetes(chosen [][]provider.Pool) {
	was, is := l.Before.Spec().Kubernetes.Versions, l.After.Spec().Kubernetes.Versions
	if reflect.DeepEqual(was, is) {
		return
	}
	before, after := versionsOf(was), versionsOf(is)
	for _, v := range is {
		old, known := before[v.Version]
		if !known {
			l.kubernetesChange(v.Version, IsNew, nil, classificationOf(v))
			continue
		}
		if from, to := versions.ExpiryOf(old), versions.ExpiryOf(v); !sameTime(from, to) {
			l.kubernetesDate(l.kubernetesChange(v.Version, NewDate, textOf(from), textOf(to)), to, chosen)
		}
		if from, to := classificationOf(old), classificationOf(v); *from != *to {
			l.kubernetesChange(v.Version, NewClassification, from, to)
		}
		if from, to := stagesAhead(old, l.now), stagesAhead(v, l.now); from != to {
			l.kubernetesChange(v.Version, NewStages, &from, &to)
		}
	}
	for _, v := range was {
		if _, stays := after[v.Version]; !stays {
			l.kubernetesChange(v.Version, IsGone, classificationOf(v), nil)
		}
	}
	for i := range l.Users {
		if !l.Users[i].leaving() {
			l.kubernetesNext(i, chosen[i])
		}
	}
}

func versionsOf(versions []v1beta1.ExpirableVersion) map[string]v1beta1.ExpirableVersion {
	byName := map[string]v1beta1.ExpirableVersion{}
	for _, v := range versions {
		byName[v.Version] = v
	}
	return byName
}

// classificationOf returns the classification that a version has now, or had before it expired: one that is left out means supported.
func classificationOf(v v1beta1.ExpirableVersion) *string {
	now := versions.Classification(v)
	if expired := versions.ExpiryOf(v); expired != nil && now == v1beta1.ClassificationExpired { // the date says so already
		now = v1beta1.ClassificationSupported
		for _, stage := range versions.StagesOf(v) {
			if stage.From.Before(*expired) && stage.Classification != v1beta1.ClassificationUnavailable {
				now = stage.Classification
			}
		}
	}
	return new(string(now))
}

// kubernetesChange returns the entry for what changes about a version, which the profile itself may have already.
func (l *look[R]) kubernetesChange(version string, aspect Aspect, from, to *string) *KubernetesChange {
	key := kubernetesKey{version: version, aspect: aspect, from: keyOfText(from), to: keyOfText(to)}
	for _, key.view = range []string{"", l.Name} {
		if known := l.releases[key]; known != nil {
			return known
		}
	}
	k := &KubernetesChange{Version: version, View: l.Name, Aspect: aspect, From: from, To: to}
	l.releases[key] = k
	l.Kubernetes = append(l.Kubernetes, k)
	return k
}

// ownKubernetes calls visit for the control plane of a Shoot, and for each worker pool that has a version of its own; not for a Shoot that
// is being deleted.
func (l *look[R]) ownKubernetes(user int, visit func(pool int, version string, at Pool)) {
	u := &l.Users[user]
	if u.leaving() {
		return
	}
	visit(-1, u.Shoot.Spec.Kubernetes.Version, Pool{u.Name(), "", l.index, user, -1})
	for k := range u.Shoot.Spec.Provider.Workers {
		if w := &u.Shoot.Spec.Provider.Workers[k]; w.Kubernetes != nil && w.Kubernetes.Version != nil {
			visit(k, *w.Kubernetes.Version, Pool{u.Name(), w.Name, l.index, user, k})
		}
	}
}

// kubernetesDate adds what becomes of those who have a version once its date has come.
func (l *look[R]) kubernetesDate(change *KubernetesChange, date *time.Time, chosen [][]provider.Pool) {
	if date == nil {
		return
	}
	for i := range l.Users {
		l.ownKubernetes(i, func(pool int, version string, at Pool) {
			if version != change.Version {
				return
			}
			was, is := l.outlooks(*date, i, chosen[i])
			fate, changes := fateOf(at, func() (maintenance.Action, string) { return was().Kubernetes(pool) },
				func() (maintenance.Action, string) { return is().Kubernetes(pool) })
			if changes {
				change.Then = append(change.Then, fate)
			}
		})
	}
}

// kubernetesNext adds what the next maintenance of a Shoot does to its versions of Kubernetes, if that is not what it would do
// without the update: to the change of the version that it gets or, if nothing changes about that, to the one that it would have got,
// or that it has. What a date does stands there already.
func (l *look[R]) kubernetesNext(user int, pools []provider.Pool) {
	forecasts := l.at(l.now)
	was, is := forecasts[0].look(&l.Users[user], pools, l.Admission), forecasts[1].look(&l.Users[user], pools, l.Admission)
	l.ownKubernetes(user, func(pool int, version string, at Pool) {
		_, former := was.Kubernetes(pool)
		fate, changes := fateOf(at, func() (maintenance.Action, string) { return was.Kubernetes(pool) },
			func() (maintenance.Action, string) { return is.Kubernetes(pool) })
		if !changes || fate.To == former && !fate.Worse {
			return
		}
		for _, k := range l.Kubernetes {
			if fate.Action != maintenance.Updated && k.Version == version && slices.ContainsFunc(k.Then, func(f Fate) bool { return f.Pool == at }) {
				return
			}
		}
		change := l.changeOf(cmp.Or(fate.To, version), former, version)
		change.Then = append(change.Then, fate)
	})
}

// changeOf returns what changes about the first of some versions about which anything does; of the first, if nothing does.
func (l *look[R]) changeOf(versions ...string) *KubernetesChange {
	for _, version := range versions {
		for _, k := range l.Kubernetes {
			if k.Version == version && k.Aspect != NewDate && k.Aspect != NewStages && (k.View == "" || k.View == l.Name) {
				return k
			}
		}
	}
	return l.kubernetesChange(versions[0], ChosenInstead, nil, nil)
}
