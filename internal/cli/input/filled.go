// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// What becomes of the images that a Shoot leaves to Gardener.

// Filling says what has become of a worker pool that leaves its image, or a part of the version, to Gardener: whether
// that is filled in, or why not. It is zero for others.
type Filling struct {
	Done bool
	Err  error
}

// FilledIn returns a Shoot with the images that Gardener and mutate-shoot fill in when it is created, and what it has
// filled in for each worker pool. The Shoot that is given is not changed.
func FilledIn(p AnyProfile, shoot *v1beta1.Shoot) (*v1beta1.Shoot, []Filling) {
	workers := shoot.Spec.Provider.Workers
	fillings := make([]Filling, len(workers))
	if !slices.ContainsFunc(workers, LeavesImage) {
		return shoot, fillings
	}
	filled, stored := shoot.DeepCopy(), AsStored(p, shoot)
	for i, pool := range provider.PoolsOf(stored) {
		if !LeavesImage(workers[i]) {
			continue
		}
		worker := &stored.Spec.Provider.Workers[i]
		image, err := FilledImage(p, worker, stored.Spec.Kubernetes.Version, resolve.Boots(p, pool))
		fillings[i] = Filling{err == nil && image != maintenance.Image{Name: pool.Image, Version: pool.Version}, err}
		if fillings[i].Done {
			SetImage(&filled.Spec.Provider.Workers[i], image)
		}
	}
	return filled, fillings
}

// About says of an image that boots nothing where it comes from, or why there is none. It is empty for one that is
// named.
func (f Filling) About(pool *provider.Pool) string {
	switch {
	case f.Done:
		return "; it is Gardener that fills in " + pool.Image + "@" + pool.Version
	case f.Err != nil:
		return "; Gardener fills in none: " + f.Err.Error()
	}
	return ""
}

// LeavesImage reports whether a worker may leave its image, or a part of the version, to Gardener: one that names a
// whole version does not.
func LeavesImage(worker v1beta1.Worker) bool {
	image := worker.Machine.Image
	return image == nil || image.Version == nil || strings.Count(*image.Version, ".") != 2
}

// AsStored returns a copy of a Shoot with Gardener's defaults, but for images. Where it finds no version of Kubernetes,
// there is what the Shoot names of one.
func AsStored(p AnyProfile, shoot *v1beta1.Shoot) *v1beta1.Shoot {
	stored := shoot.DeepCopy()
	gardener.SetDefaults(stored)
	fillKubernetes := func(version *string) {
		if found, err := gardenerrules.DefaultKubernetes(p.Spec(), *version); err == nil {
			*version = found
		}
	}
	fillKubernetes(&stored.Spec.Kubernetes.Version)
	for i := range stored.Spec.Provider.Workers {
		worker := &stored.Spec.Provider.Workers[i]
		if worker.Kubernetes != nil && worker.Kubernetes.Version != nil {
			fillKubernetes(worker.Kubernetes.Version)
		}
		architecture := gardenerrules.Architecture(p.Spec(), worker)
		worker.Machine.Architecture = &architecture
	}
	return stored
}

// FilledImage returns the image of a new worker pool: what it names or, as far as it leaves that to Gardener, what is
// filled in. boots is nil if it cannot be told what boots for the pool: then it is Gardener's choice.
func FilledImage(
	p AnyProfile, worker *v1beta1.Worker, kubernetes string, boots maintenance.Filter,
) (maintenance.Image, error) {
	if boots == nil {
		return gardenerrules.DefaultImage(p.Spec(), worker, nil)
	}
	return maintenance.Filled(p.Spec(), worker, kubernetes, boots)
}

// SetImage gives a worker an image, of which it may have had a part.
func SetImage(worker *v1beta1.Worker, image maintenance.Image) {
	if worker.Machine.Image == nil {
		worker.Machine.Image = &v1beta1.ShootMachineImage{}
	}
	worker.Machine.Image.Name, worker.Machine.Image.Version = image.Name, &image.Version
}

// StoredShoot returns a Shoot as the API server has it: with Gardener's defaults, and with images that are filled in as if
// it had been created with the profile. One that has all of that is returned itself.
func StoredShoot(p AnyProfile, shoot *v1beta1.Shoot) *v1beta1.Shoot {
	incomplete := func(w v1beta1.Worker) bool {
		return LeavesImage(w) || w.Machine.Architecture == nil || w.CRI == nil ||
			w.Kubernetes != nil && w.Kubernetes.Version != nil && strings.Count(*w.Kubernetes.Version, ".") != 2
	}
	workers := shoot.Spec.Provider.Workers
	if strings.Count(shoot.Spec.Kubernetes.Version, ".") == 2 && !slices.ContainsFunc(workers, incomplete) {
		return shoot
	}
	stored := AsStored(p, shoot)
	for i, pool := range provider.PoolsOf(stored) {
		worker := &stored.Spec.Provider.Workers[i]
		if !LeavesImage(*worker) {
			continue
		}
		if image, err := FilledImage(p, worker, stored.Spec.Kubernetes.Version, resolve.Boots(p, pool)); err == nil {
			SetImage(worker, image)
		}
	}
	return stored
}
