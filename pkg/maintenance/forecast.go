// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"strings"

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
	known   map[question]verdict
}

// question is what decides about a worker pool, and verdict what is decided.
type (
	question struct {
		shape                        provider.Shape
		kubernetes, kubelet, runtime string
		autoUpdate                   bool
	}
	verdict struct {
		blocked Blocked
		// ends says that maintenance does not look at the images of further pools.
		ends bool
	}
)

// NewForecast returns a Forecast by a profile, which must not be changed as long as it is asked. boots returns what
// reports whether a worker pool boots a version of an image; nil if nobody can tell.
func NewForecast(
	profile *v1beta1.CloudProfileSpec, workers provider.Workers,
	boots func(provider.Pool) func(image, version string) bool,
) *Forecast {
	return &Forecast{profile, workers, boots, map[question]verdict{}}
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
		q := question{
			shape: f.workers.ShapeOf(&pools[i]), kubernetes: shoot.Spec.Kubernetes.Version, runtime: runtimesOf(worker),
			autoUpdate: UpdatesImages(shoot),
		}
		if worker.Kubernetes != nil {
			q.kubelet = ptr.Deref(worker.Kubernetes.Version, "")
		}
		v, done := f.known[q]
		if !done {
			v = f.judge(worker, pools[i], q)
			f.known[q] = v
		}
		if blocked[i] = v.blocked; v.ends {
			break
		}
	}
	return blocked
}

func (f *Forecast) judge(worker *v1beta1.Worker, pool provider.Pool, q question) verdict {
	update, ends, err := next(f.profile, worker, q.kubernetes, q.autoUpdate, nil)
	if err != nil || update.Version == "" {
		return verdict{ends: ends}
	}
	boots := f.boots(pool)
	if boots == nil || boots(pool.Image, update.Version) {
		return verdict{}
	}
	// An error says that there is none, so that the pool keeps what it has.
	works := Works(f.profile, worker, worker, q.kubernetes, boots)
	instead, _ := Next(f.profile, worker, q.kubernetes, q.autoUpdate, works)
	return verdict{blocked: Blocked{Image: Image{pool.Image, update.Version}, Instead: instead.Version}}
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
