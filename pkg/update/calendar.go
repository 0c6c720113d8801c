// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
)

// Fate is the future of a Shoot's or worker pool's version.
type Fate struct {
	// Pool is the worker pool. Without a name it is the Shoot's control plane.
	Pool
	// Action is not [maintenance.Stays].
	Action maintenance.Action
	// To is the resulting version; empty if none is chosen.
	To string
	// BootsNothing reports whether the pool cannot boot the resulting version, although nothing refuses it.
	BootsNothing bool
	// Worse reports whether the version is stuck, fails or boots nothing, and would not without the update.
	Worse bool
}

// Expiry is an image version whose expiration date the update changes, or on whose unchanged date it leaves worker pools stuck.
type Expiry struct {
	provider.ImageVersion
	// View is the name of the only view with this change; empty if the profile itself has it.
	View string
	// From and To are the dates; nil for none.
	From, To *time.Time
	// Pools are the worker pools with the version; for an unchanged date, only those whose fate is worse than without the update.
	Pools []Pool
	// Then are the pools' fates after the date To, without pools that keep their version; empty if To is nil.
	Then []Fate
}

// Changes reports whether the update changes the date.
func (e *Expiry) Changes() bool { return !sameTime(e.From, e.To) }

// Roll is an effect of the next maintenance on worker pools that differs from the effect without the update.
type Roll struct {
	Image, From string
	// To is the version that the pools get; empty if they keep From.
	To string
	// Action is Updated or Forced. Without To, it is Stays for pools that would get another version without the update, and Stuck for pools
	// that would not be stuck.
	Action maintenance.Action
	Pools  []Pool
}

// KubernetesChange is a change of a Kubernetes version.
type KubernetesChange struct {
	Version string
	// View is the name of the only view with this change; empty if the profile itself has it.
	View string
	Aspect
	// From and To are dates in RFC 3339 for [NewDate], upcoming stages in words for [NewStages], and otherwise classifications. Nil means
	// none.
	From, To *string
	// Then are the fates of the Shoots and worker pools that have the version, once its date has passed. For other aspects, they are
	// effects of the next maintenance because of the version that would not occur without the update.
	Then []Fate
}

// Changes reports whether the update changes the version itself, and not only its fates.
func (k *KubernetesChange) Changes() bool { return keyOfText(k.From) != keyOfText(k.To) }

// Aspect is the kind of a difference. Its values are part of the command's JSON.
type Aspect string

// The aspects.
const (
	IsNew   Aspect = "added"
	IsGone  Aspect = "removed"
	Differs Aspect = "changed"
	// NewDate: the version's expiration date differs; NewClassification: its classification.
	NewDate           Aspect = "expires"
	NewClassification Aspect = "classification"
	// NewStages: the version's later classifications differ, apart from its expiration.
	NewStages Aspect = "lifecycle"
	// ChosenInstead: the version itself is unchanged, but maintenance chooses it instead of another one.
	ChosenInstead Aspect = "chosen"
)

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// kubernetesKey distinguishes the changes of one Kubernetes version.
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

// forecast predicts maintenance by one of the two profiles, at some time.
type forecast[R any] struct {
	*maintenance.Maintainer
	boots filters
	// looks has the outlooks of Shoots, keyed by [maintenance.Maintainer.Alike].
	looks map[string]*maintenance.Outlook
}

// at returns the forecasts before and after the update for a time. A past time means now.
func (l *look[R]) at(when time.Time) *[2]forecast[R] {
	return memo.Get(l.forecasts, when, func() *[2]forecast[R] {
		was, is := l.was, l.is
		if when.After(l.now) {
			workers := l.After.Provider().Workers()
			was = maintenance.NewMaintainer(l.library, maintenance.At(l.Before.Spec(), when), workers)
			is = maintenance.NewMaintainer(l.library, maintenance.At(l.After.Spec(), when), workers)
		}
		return &[2]forecast[R]{
			{was, l.wasBoots, map[string]*maintenance.Outlook{}}, {is, l.isBoots, map[string]*maintenance.Outlook{}},
		}
	})
}

// look returns a Shoot's outlook. It does not need the reasons why worker pools boot nothing.
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

// fateOf returns the fate that two outlooks, before and after the update, have for a version; false if the version stays.
func fateOf(pool Pool, was, is func() (maintenance.Action, string)) (Fate, bool) {
	action, to := is()
	f := Fate{Pool: pool, Action: action, To: to}
	if action == maintenance.Stuck || action == maintenance.Fails {
		before, _ := was()
		f.To, f.Worse = "", before != maintenance.Stuck && before != maintenance.Fails
	}
	return f, action != maintenance.Stays
}

// outlooks returns a Shoot's outlooks just after a date, before and after the update.
func (l *look[R]) outlooks(date time.Time, user int, pools []provider.Pool) (was, is func() *maintenance.Outlook) {
	forecasts := l.at(date)
	return func() *maintenance.Outlook { return forecasts[0].look(&l.Users[user], pools, l.Admission) },
		func() *maintenance.Outlook { return forecasts[1].look(&l.Users[user], pools, l.Admission) }
}

// rolls collects a Shoot's worker pools that the next maintenance moves to another version than without the update, no longer moves, or leaves
// stuck, and pools for which it chooses a version that Gardener refuses. If only an expiration causes that, it is an [Expiry]. Of a Shoot without
// automatic updates, it collects the pools that get stuck.
func (l *look[R]) rolls(index int, user *User, pools []provider.Pool) {
	if l.sameChoices(pools) {
		return
	}
	forecasts := l.at(l.now)
	was, is := forecasts[0].look(user, pools, l.Admission), forecasts[1].look(user, pools, l.Admission)
	for k, pool := range pools {
		if pool.Image == "" || pool.Version == "" {
			continue
		}
		before, _ := was.Image(k)
		action, to := is.Image(k)
		if action == maintenance.Fails && before != action {
			l.fails(is, Pool{user.Name(), pool.Name, l.index, index, k}, pool)
		}
		if action != maintenance.Stuck && !maintenance.UpdatesImages(user.Shoot) || !l.rolled(k, pool, was, is) {
			continue
		}
		if action == maintenance.Stays || action == maintenance.Stuck {
			to = ""
		}
		roll := memo.Get(l.moves, [4]string{pool.Image, pool.Version, to, string(action)}, func() *Roll {
			l.Rolls = append(l.Rolls, &Roll{Image: pool.Image, From: pool.Version, To: to, Action: action})
			return l.Rolls[len(l.Rolls)-1]
		})
		roll.Pools = append(roll.Pools, Pool{user.Name(), pool.Name, l.index, index, k})
	}
}

// rolled reports whether the next maintenance leaves a worker pool with another version than without the update, or stuck, and nothing else says
// so: an [Expiry], a [Choice] if the pool no longer boots its version, [Blocked] if it cannot boot what is chosen.
func (l *look[R]) rolled(k int, pool provider.Pool, was, is *maintenance.Outlook) bool {
	before, former := was.Image(k)
	switch action, to := is.Image(k); action {
	case maintenance.Updated:
		return to != former
	case maintenance.Forced:
		return to != former && !l.expiresAnew(pool)
	case maintenance.Stays, maintenance.Stuck:
		found, chosen := l.comparison.pool(pool), is.Core.Images[k].Version
		lost := found.Before != nil && found.After == nil
		blocked := chosen != "" && !maintenance.Filter(l.isBoots(pool)).Admits(pool.Image, chosen)
		differs := former != pool.Version || action == maintenance.Stuck && before == maintenance.Stays
		return differs && !l.expiresAnew(pool) && !lost && !blocked
	}
	return false
}

// fails adds a worker pool for which maintenance chooses a version that Gardener refuses, or whose own version Gardener refuses with the Shoot's
// kubelet. If the pool cannot boot what is chosen, it is [Blocked]. If its volume is too small, Gardener refuses any version; the update has
// caused that only if it is a [VolumeLock].
func (l *look[R]) fails(is *maintenance.Outlook, at Pool, pool provider.Pool) {
	why, id := is.Rejections[at.Index], provider.ImageVersion{Image: pool.Image, Version: is.Written.Images[at.Index].Version}
	if why == "" || gardenerrules.VolumeTooSmall(l.After.Spec(), pool.MachineType, pool.Volume) != nil {
		return
	}
	kept := id.Version == ""
	if kept {
		id.Version = pool.Version
		shoot, v := l.Users[at.User].Shoot, l.After.Version(id)
		worker := &shoot.Spec.Provider.Workers[at.Index]
		if v == nil || gardenerrules.RefusesKubelet(v, worker, shoot.Spec.Kubernetes.Version) == (gardenerrules.Refusal{}) {
			return
		}
	}
	if boots := l.isBoots(pool); boots != nil && !boots(id.Image, id.Version) {
		return
	}
	failing := memo.Get(l.failing, [4]string{id.Image, id.Version, why, strconv.FormatBool(kept)}, func() *Failing {
		l.Failing = append(l.Failing, &Failing{ImageVersion: id, Kept: kept, Why: why})
		return l.Failing[len(l.Failing)-1]
	})
	failing.Pools = append(failing.Pools, at)
}

// kubernetes collects the changes of Kubernetes versions, and the fates of the Shoots.
func (l *look[R]) kubernetes(chosen [][]provider.Pool) {
	was, is := l.Before.Spec().Kubernetes.Versions, l.After.Spec().Kubernetes.Versions
	same := reflect.DeepEqual(was, is)
	before, after := versionsOf(was), versionsOf(is)
	for _, v := range is {
		old, known := before[v.Version]
		if !known {
			l.kubernetesChange(v.Version, IsNew, nil, classificationOf(v))
			continue
		}
		if from, to, differ := l.datesOf(old, v); differ || to != nil && to.After(l.now) {
			l.kubernetesDate(v.Version, from, to, same, chosen)
		}
		l.kubernetesStages(old, v)
	}
	for _, v := range was {
		if _, stays := after[v.Version]; !stays {
			l.kubernetesChange(v.Version, IsGone, classificationOf(v), nil)
		}
	}
	fails := l.failures()
	for i := range l.Users {
		if !l.Users[i].leaving() && (!same || !fails[l.Users[i].Name()] && !l.sameChoices(chosen[i])) {
			l.kubernetesNext(i, chosen[i])
		}
	}
}

// kubernetesStages collects the changes of a version's classification and later stages.
func (l *look[R]) kubernetesStages(old, v v1beta1.ExpirableVersion) {
	if versions.SameFrom(l.now, old, v) {
		return
	}
	if from, to := classificationOf(old), classificationOf(v); *from != *to {
		l.kubernetesChange(v.Version, NewClassification, from, to)
	}
	if from, to := stagesAhead(old, l.now), stagesAhead(v, l.now); from != to {
		l.kubernetesChange(v.Version, NewStages, &from, &to)
	}
}

// failures returns the Shoots whose maintenance fails by other facts about the update.
func (l *look[R]) failures() map[string]bool {
	shoots := map[string]bool{}
	add := func(pools []Pool) {
		for _, pool := range pools {
			shoots[pool.Shoot] = true
		}
	}
	add(slices.Collect(maps.Keys(l.Locked())))
	for _, f := range l.Failing {
		add(f.Pools)
	}
	if l.Admission == maintenance.Validates {
		for _, b := range l.Changes.Blocked {
			add(b.Pools)
		}
	}
	return shoots
}

func versionsOf(versions []v1beta1.ExpirableVersion) map[string]v1beta1.ExpirableVersion {
	byName := map[string]v1beta1.ExpirableVersion{}
	for _, v := range versions {
		byName[v.Version] = v
	}
	return byName
}

// classificationOf returns a version's current classification, or its last one before it expired. The default is supported.
func classificationOf(v v1beta1.ExpirableVersion) *string {
	now := versions.Classification(v)
	if expired := versions.ExpiryOf(v); expired != nil && now == v1beta1.ClassificationExpired { // the date says this already
		now = v1beta1.ClassificationSupported
		for _, stage := range versions.StagesOf(v) {
			if stage.From.Before(*expired) && stage.Classification != v1beta1.ClassificationUnavailable {
				now = stage.Classification
			}
		}
	}
	return new(string(now))
}

// kubernetesChange returns the entry for a change of a version. The profile itself may have it already.
func (l *look[R]) kubernetesChange(version string, aspect Aspect, from, to *string) *KubernetesChange {
	key := kubernetesKey{version: version, aspect: aspect, from: keyOfText(from), to: keyOfText(to)}
	for _, key.view = range []string{"", l.Name} {
		if known := l.changedKubernetes[key]; known != nil {
			return known
		}
	}
	k := &KubernetesChange{Version: version, View: l.Name, Aspect: aspect, From: from, To: to}
	l.changedKubernetes[key] = k
	l.Kubernetes = append(l.Kubernetes, k)
	return k
}

// ownKubernetes calls visit for a Shoot's control plane, with the index -1, and for each worker pool that sets a Kubernetes version. It
// skips a Shoot that is being deleted.
func (l *look[R]) ownKubernetes(user int, visit func(version string, at Pool)) {
	u := &l.Users[user]
	if u.leaving() {
		return
	}
	visit(u.Shoot.Spec.Kubernetes.Version, Pool{u.Name(), "", l.index, user, -1})
	for k := range u.Shoot.Spec.Provider.Workers {
		if w := &u.Shoot.Spec.Provider.Workers[k]; w.Kubernetes != nil && w.Kubernetes.Version != nil {
			visit(*w.Kubernetes.Version, Pool{u.Name(), w.Name, l.index, user, k})
		}
	}
}

// kubernetesDate adds the change of a version's date, and the fates of the Shoots and worker pools that have the version, once the date has
// passed. For an unchanged date, it adds only fates that get worse on it, and not before. same reports whether all versions are unchanged.
func (l *look[R]) kubernetesDate(version string, from, to *time.Time, same bool, chosen [][]provider.Pool) {
	unchanged := sameTime(from, to)
	change := func() *KubernetesChange { return l.kubernetesChange(version, NewDate, textOf(from), textOf(to)) }
	if !unchanged {
		change()
	}
	if to == nil {
		return
	}
	for i := range l.Users {
		if unchanged && same && l.sameChoices(chosen[i]) {
			continue
		}
		l.ownKubernetes(i, func(own string, at Pool) {
			if own != version {
				return
			}
			fate, changes := l.kubernetesFate(*to, at, chosen[i])
			if unchanged {
				now, _ := l.kubernetesFate(l.now, at, chosen[i])
				changes = fate.Worse && !now.Worse
			}
			if changes {
				k := change()
				k.Then = append(k.Then, fate)
			}
		})
	}
}

// kubernetesFate returns the fate of a Shoot's or worker pool's Kubernetes version just after a date; false if it stays.
func (l *look[R]) kubernetesFate(date time.Time, at Pool, pools []provider.Pool) (Fate, bool) {
	was, is := l.outlooks(date, at.User, pools)
	return fateOf(at, func() (maintenance.Action, string) { return was().Kubernetes(at.Index) },
		func() (maintenance.Action, string) { return is().Kubernetes(at.Index) })
}

// kubernetesNext adds the effect of a Shoot's next maintenance on its Kubernetes versions, if it differs from the effect without the
// update. The effect belongs to a change of the resulting version, else of the version without the update, else of the Shoot's own version.
// It is omitted if a changed date has it already.
func (l *look[R]) kubernetesNext(user int, pools []provider.Pool) {
	forecasts := l.at(l.now)
	was, is := forecasts[0].look(&l.Users[user], pools, l.Admission), forecasts[1].look(&l.Users[user], pools, l.Admission)
	l.ownKubernetes(user, func(version string, at Pool) {
		_, former := was.Kubernetes(at.Index)
		fate, changes := fateOf(at, func() (maintenance.Action, string) { return was.Kubernetes(at.Index) },
			func() (maintenance.Action, string) { return is.Kubernetes(at.Index) })
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

// changeOf returns the change of the first version that has one, except of its date or later stages. If none has one, it is [ChosenInstead]
// for the first.
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
