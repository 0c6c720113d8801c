// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/provider"
)

// Action is the effect of the next maintenance on a version. Its values are part of the command's JSON.
type Action string

// The actions, in the order of their severity.
const (
	// Stuck: the version can no longer be used, and nothing replaces it.
	Stuck Action = "stuck"
	// Fails: the API server refuses the maintenance of the whole Shoot.
	Fails Action = "fails"
	// Forced: the version can no longer be used, and another one replaces it.
	Forced Action = "forced"
	// Updated: there is a newer version, and the Shoot gets it.
	Updated Action = "updated"
	// Stays: the version stays, and can be used.
	Stays Action = "stays"
)

// Admission says which parts of capkit's admission component a landscape runs. Each value includes the ones before it.
type Admission int

// The values.
const (
	// GardenerAlone: the component is not installed. Gardener stores a version that boots nothing.
	GardenerAlone Admission = iota
	// Validates: a Shoot with a new version that boots nothing is refused.
	Validates
	// Corrects: mutate-shoot replaces Gardener's choice by a version that boots (semantics S15).
	Corrects
)

// Outlook is the result of a Shoot's next maintenance, including the API server's reaction.
type Outlook struct {
	// Core is the result of Gardener's controller, and Written the same after mutate-shoot (semantics S15). They are equal without that
	// webhook.
	Core, Written Maintained
	// Rejections are the reasons of the API server to refuse it, for each worker pool. Rejected is the index of the first one, -1 if the
	// API server accepts the Shoot.
	Rejections []string
	Rejected   int

	pools []provider.Pool
	// lost reports, for each worker pool, whether its version can no longer be used; bootless, whether Gardener stores a version that the
	// pool does not boot.
	lost, bootless []bool
}

// Look returns the result of a Shoot's next maintenance. The Shoot is as the API server has it, and its pools are those of
// [provider.PoolsOf]. A pool without an image or version is [Stuck]. boots has a filter for each pool, nil if it is unknown what the pool
// boots. whyNot returns a non-empty reason why a pool, by its index, does not boot an image. by says which admission components are
// installed.
func (m *Maintainer) Look(
	shoot *v1beta1.Shoot, pools []provider.Pool, boots []Filter, whyNot func(pool int, image Image) string, by Admission,
) *Outlook {
	o := &Outlook{Core: m.Maintain(shoot), pools: pools, lost: make([]bool, len(pools)), bootless: make([]bool, len(pools))}
	o.Written = o.Core
	if by == Corrects {
		o.Written.Shoot, o.Written.Images = o.Core.Shoot.DeepCopy(), slices.Clone(o.Core.Images)
	}
	workers := shoot.Spec.Provider.Workers
	for i := range pools {
		o.lost[i] = m.Lost(&pools[i], boots[i])
		if by != Corrects || boots[i] == nil || o.Core.Images[i].Version == "" {
			continue
		}
		outcome, replaced := m.Replace(shoot, o.Core.Shoot, &workers[i], &o.Core.Shoot.Spec.Provider.Workers[i], &pools[i], boots[i])
		if replaced {
			o.Written.Images[i] = outcome
			version := cmp.Or(outcome.Version, pools[i].Version)
			o.Written.Shoot.Spec.Provider.Workers[i].Machine.Image.Version = &version
		}
	}
	o.Rejections = m.Rejections(shoot, o.Written.Shoot, func(i int, image Image) string {
		if by == GardenerAlone || boots[i] != nil && boots[i](image.Name, image.Version) {
			return ""
		}
		return whyNot(i, image)
	})
	o.Rejected = slices.IndexFunc(o.Rejections, func(reason string) bool { return reason != "" })
	for i := range pools {
		if by == GardenerAlone && boots[i] != nil {
			_, to := o.Image(i)
			o.bootless[i] = !boots[i](pools[i].Image, to)
		}
	}
	return o
}

// BootsNothing reports whether a worker pool does not boot its version after the maintenance, and the landscape runs no component of capkit
// that would have refused it.
func (o *Outlook) BootsNothing(pool int) bool { return o.bootless[pool] }

// Alike returns a key that is equal for Shoots with the same result of [Maintainer.Look], provided that boots is the same for pools of the
// same shape. Keys of different Maintainers are not comparable.
func (m *Maintainer) Alike(shoot *v1beta1.Shoot, pools []provider.Pool) string {
	_, kubernetes := autoUpdates(shoot)
	text := []byte(shoot.Spec.Kubernetes.Version)
	text = strconv.AppendBool(append(text, ' '), kubernetes)
	for i := range pools {
		worker := &shoot.Spec.Provider.Workers[i]
		asks := request{machineType: worker.Machine.Type, kubelet: kubeletOf(worker), runtimes: gardenerrules.RuntimesOf(worker.CRI)}
		key := shaped{asks, m.workers.ShapeOf(&pools[i])}
		if worker.Machine.Image != nil && worker.Machine.Image.Version != nil {
			key.request = requestOf(shoot, worker)
		}
		number := memo.Get(m.numbers, key, func() int { return len(m.numbers) })
		text = strconv.AppendInt(append(text, ' '), int64(number), 36)
		if m.tooSmall(worker) != "" {
			text = append(text, '!')
		}
		if gardenerrules.UpdatePending(shoot, worker) {
			text = append(text, '~')
		}
	}
	return string(text)
}

// Lost reports whether a worker pool can no longer use its version: the profile lacks it, it has expired, or the pool is known not to boot
// it.
func (m *Maintainer) Lost(pool *provider.Pool, boots Filter) bool {
	return m.Gone(Image{Name: pool.Image, Version: pool.Version}) != "" || boots != nil && !boots(pool.Image, pool.Version)
}

// Image returns the effect on a worker pool's image, and the version that the pool then has.
func (o *Outlook) Image(pool int) (action Action, to string) {
	from, outcome := o.pools[pool].Version, o.Written.Images[pool]
	to = cmp.Or(outcome.Version, from)
	switch {
	case o.Rejected >= 0 && to != from:
		return Fails, from
	case to != from && outcome.Forced:
		return Forced, to
	case to != from:
		return Updated, to
	case o.lost[pool]:
		return Stuck, from
	case o.Rejected >= 0 && o.Rejections[pool] != "":
		return Fails, from
	case outcome.Err != nil && outcome.Forced:
		return Stuck, from
	}
	return Stays, from
}

// Kubernetes returns the effect on the control plane's Kubernetes version or, if pool is not -1, on that of a worker pool that sets one. to
// is empty unless the version changes.
func (o *Outlook) Kubernetes(pool int) (action Action, to string) {
	outcome := o.Core.Kubernetes
	if pool >= 0 {
		outcome = o.Core.Kubelets[pool]
	}
	switch {
	case outcome.Version != "" && o.Rejected >= 0:
		return Fails, ""
	case outcome.Version != "" && outcome.Forced:
		return Forced, outcome.Version
	case outcome.Version != "":
		return Updated, outcome.Version
	case outcome.Err != nil && outcome.Forced:
		return Stuck, ""
	}
	return Stays, ""
}
