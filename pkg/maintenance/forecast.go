// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"strings"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/provider"
)

// Blocked is a version that Gardener's maintenance chooses for a worker pool which does not boot it. The zero Blocked
// says that there is none.
type Blocked struct {
	// Image that maintenance chooses.
	Image Image
	// Instead is the version that mutate-shoot gives the pool (semantics S15); empty if it keeps the one that it has.
	Instead string
}

// Forecast says of many Shoots what their maintenance would choose by one profile. Worker pools that are alike are
// looked at once. It is not safe for concurrent use.
type Forecast struct {
	profile *v1beta1.CloudProfileSpec
	workers provider.Workers
	boots   func(provider.Pool) func(image, version string) bool
	offers  map[question]offer
	choices map[question]choice
	blocked map[shaped]Blocked
}

// question is what Gardener goes by when it chooses a version for a worker pool.
type question struct {
	machineType, image, version, architecture string
	strategy                                  v1beta1.MachineUpdateStrategy
	kubernetes, kubelet, runtime              string
	autoUpdate                                bool
}

// offer is what Gardener chooses from: the question has no autoUpdate then, and a version only if that matters. The error is
// one after which it looks at no further worker pool.
type offer struct {
	allowed *v1beta1.MachineImage
	err     error
}

// choice is what Gardener chooses: empty if that is nothing new. ends says that it looks at no further worker pool.
type choice struct {
	version string
	ends    bool
}

// shaped is what decides whether a worker pool boots that, and what it gets instead.
type shaped struct {
	question
	provider.Shape
}

// NewForecast returns a Forecast by a profile, which must not be changed as long as it is asked. boots returns what
// reports whether a worker pool boots a version of an image; nil if nobody can tell.
func NewForecast(
	profile *v1beta1.CloudProfileSpec, workers provider.Workers,
	boots func(provider.Pool) func(image, version string) bool,
) *Forecast {
	return &Forecast{profile, workers, boots, map[question]offer{}, map[question]choice{}, map[shaped]Blocked{}}
}

// Blocked returns, for each worker pool of a Shoot, the version that its next maintenance chooses and that the pool does
// not boot. The pools are those of [provider.PoolsOf]; one without an image is left out. Nothing is changed.
func (f *Forecast) Blocked(shoot *v1beta1.Shoot, pools []provider.Pool) []Blocked {
	blocked := make([]Blocked, len(pools))
	for i := range pools {
		if pools[i].Image == "" {
			continue
		}
		worker := &shoot.Spec.Provider.Workers[i]
		q := ask(shoot, worker, &pools[i])
		chosen, done := f.choices[q]
		if !done {
			chosen = f.choose(worker, q)
			f.choices[q] = chosen
		}
		if chosen.version != "" {
			blocked[i] = f.judge(worker, pools[i], q, chosen.version)
		}
		if chosen.ends {
			break
		}
	}
	return blocked
}

func (f *Forecast) choose(worker *v1beta1.Worker, q question) choice {
	autoUpdate := q.autoUpdate
	q.autoUpdate = false
	if !v1beta1helper.IsUpdateStrategyInPlace(&q.strategy) {
		q.version = ""
	}
	o, done := f.offers[q]
	if !done {
		o.allowed, o.err = allowedVersions(f.profile, worker, q.kubernetes, nil)
		f.offers[q] = o
	}
	if o.err != nil {
		return choice{ends: true}
	}
	update, _ := pick(o.allowed, worker.Machine.Image, autoUpdate) // there is no version if there is an error
	return choice{version: update.Version}
}

// judge returns what becomes of a worker pool that does not boot the version chosen for it; the zero Blocked if it does, or
// if nobody can tell.
func (f *Forecast) judge(worker *v1beta1.Worker, pool provider.Pool, q question, chosen string) Blocked {
	key := shaped{q, f.workers.ShapeOf(&pool)}
	blocked, done := f.blocked[key]
	if done {
		return blocked
	}
	if boots := f.boots(pool); boots != nil && !boots(pool.Image, chosen) {
		works := Works(f.profile, worker, worker, q.kubernetes, boots)
		// An error says that there is none, so that the pool keeps what it has.
		instead, _ := Next(f.profile, worker, q.kubernetes, q.autoUpdate, works)
		blocked = Blocked{Image: Image{pool.Image, chosen}, Instead: instead.Version}
	}
	f.blocked[key] = blocked
	return blocked
}

// ask returns what Gardener goes by.
func ask(shoot *v1beta1.Shoot, worker *v1beta1.Worker, pool *provider.Pool) question {
	q := question{
		machineType: pool.MachineType, image: pool.Image, version: pool.Version, architecture: pool.Architecture,
		strategy: pool.Worker.UpdateStrategy, kubernetes: shoot.Spec.Kubernetes.Version, runtime: runtimesOf(worker),
		autoUpdate: UpdatesImages(shoot),
	}
	if worker.Kubernetes != nil {
		q.kubelet = ptr.Deref(worker.Kubernetes.Version, "")
	}
	return q
}

// runtimesOf names the container runtimes of a worker.
func runtimesOf(worker *v1beta1.Worker) string {
	if worker.CRI == nil {
		return ""
	}
	names := []string{string(worker.CRI.Name)}
	for _, runtime := range worker.CRI.ContainerRuntimes {
		names = append(names, runtime.Type)
	}
	return strings.Join(names, "/")
}
