// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerrules"
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
	choices  *choices
	releases map[Image]*v1beta1.MachineImageVersion
	workers  provider.Workers
	boots    func(provider.Pool) func(image, version string) bool
	blocked  map[shaped]Blocked
}

// shaped is what decides whether a worker pool boots what Gardener chooses, and what it gets instead.
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
	return &Forecast{newChoices(profile), gardenerrules.ImageVersions(profile), workers, boots, map[shaped]Blocked{}}
}

// After returns a Forecast by an update of the profile, for the same provider. What both profiles say in the same way is
// looked at once, so that the two must not be asked at the same time.
func (f *Forecast) After(
	update *v1beta1.CloudProfileSpec, boots func(provider.Pool) func(image, version string) bool,
) *Forecast {
	return &Forecast{f.choices.after(update), gardenerrules.ImageVersions(update), f.workers, boots, map[shaped]Blocked{}}
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
		chosen := f.choices.of(shoot, worker)
		if chosen.Version != "" {
			blocked[i] = f.judge(shoot, worker, pools[i], chosen.Version)
		}
		if chosen.ends {
			break
		}
	}
	return blocked
}

// judge returns what becomes of a worker pool that does not boot the version chosen for it; the zero Blocked if it does, or
// if nobody can tell.
func (f *Forecast) judge(shoot *v1beta1.Shoot, worker *v1beta1.Worker, pool provider.Pool, chosen string) Blocked {
	key := shaped{ask(shoot, worker), f.workers.ShapeOf(&pool)}
	blocked, done := f.blocked[key]
	if done {
		return blocked
	}
	if boots := f.boots(pool); boots != nil && !boots(pool.Image, chosen) {
		works := worksOf(f.releases, worker, worker, shoot.Spec.Kubernetes.Version, boots)
		// An error says that there is none, so that the pool keeps what it has.
		instead := f.choices.ofThose(shoot, worker, works)
		blocked = Blocked{Image: Image{Name: pool.Image, Version: chosen}, Instead: instead.Version}
	}
	f.blocked[key] = blocked
	return blocked
}
