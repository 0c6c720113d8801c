// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// What becomes of the images that a Shoot leaves to Gardener.

// filling says what has become of a worker pool that leaves its image, or a part of the version, to Gardener: whether
// that is filled in, or why not. It is zero for others.
type filling struct {
	done bool
	err  error
}

// filledIn returns a Shoot with the images that Gardener and mutate-shoot fill in when it is created, and what it has
// filled in for each worker pool. The Shoot that is given is not changed.
func filledIn(p anyProfile, shoot *v1beta1.Shoot) (*v1beta1.Shoot, []filling) {
	workers := shoot.Spec.Provider.Workers
	fillings := make([]filling, len(workers))
	if !slices.ContainsFunc(workers, leavesImage) {
		return shoot, fillings
	}
	filled, stored := shoot.DeepCopy(), asStored(p, shoot)
	for i, pool := range provider.PoolsOf(stored) {
		if !leavesImage(workers[i]) {
			continue
		}
		worker := &stored.Spec.Provider.Workers[i]
		image, err := filledImage(p, worker, stored.Spec.Kubernetes.Version, resolve.Boots(p, pool))
		fillings[i] = filling{err == nil && image != maintenance.Image{Name: pool.Image, Version: pool.Version}, err}
		if fillings[i].done {
			setImage(&filled.Spec.Provider.Workers[i], image)
		}
	}
	return filled, fillings
}

// about says of an image that boots nothing where it comes from, or why there is none. It is empty for one that is
// named.
func (f filling) about(pool *provider.Pool) string {
	switch {
	case f.done:
		return "; it is Gardener that fills in " + pool.Image + "@" + pool.Version
	case f.err != nil:
		return "; Gardener fills in none: " + f.err.Error()
	}
	return ""
}

// leavesImage reports whether a worker may leave its image, or a part of the version, to Gardener: one that names a
// whole version does not.
func leavesImage(worker v1beta1.Worker) bool {
	image := worker.Machine.Image
	return image == nil || image.Version == nil || strings.Count(*image.Version, ".") != 2
}

// asStored returns a copy of a Shoot with Gardener's defaults, but for images. Where it finds no version of Kubernetes,
// there is what the Shoot names of one.
func asStored(p anyProfile, shoot *v1beta1.Shoot) *v1beta1.Shoot {
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

// filledImage returns the image of a new worker pool: what it names or, as far as it leaves that to Gardener, what is
// filled in. boots is nil if it cannot be told what boots for the pool: then it is Gardener's choice.
func filledImage(
	p anyProfile, worker *v1beta1.Worker, kubernetes string, boots maintenance.Filter,
) (maintenance.Image, error) {
	if boots == nil {
		return gardenerrules.DefaultImage(p.Spec(), worker, nil)
	}
	return maintenance.Filled(p.Spec(), worker, kubernetes, boots)
}

// setImage gives a worker an image, of which it may have had a part.
func setImage(worker *v1beta1.Worker, image maintenance.Image) {
	if worker.Machine.Image == nil {
		worker.Machine.Image = &v1beta1.ShootMachineImage{}
	}
	worker.Machine.Image.Name, worker.Machine.Image.Version = image.Name, &image.Version
}

// sayFilledIn says in the errors about images where these come from, and returns errors about pools for which Gardener
// finds none to fill in, as far as they have no error yet.
func sayFilledIn(p anyProfile, shoot *v1beta1.Shoot, fillings []filling, errs finding.List) field.ErrorList {
	var none field.ErrorList
	for i, pool := range provider.PoolsOf(shoot) {
		if fillings[i] == (filling{}) {
			continue
		}
		a, about := answerTo(p, pool), fillings[i].about(&pool)
		k := slices.IndexFunc(errs, func(f finding.Finding) bool { return a.refused != nil && a.isSaidBy(f) })
		switch {
		case k >= 0:
			errs[k].Detail += about
		case a.refused != nil && fillings[i].err != nil:
			at := pool.Path.Child("machine", "image").String()
			none = append(none, problem(gardener.RuleCore, field.ErrorTypeInvalid, at, pool.Image, "%s", a.Error+about))
		}
	}
	return none
}

// storedShoot returns a Shoot as the API server has it: with Gardener's defaults, and with images that are filled in as if
// it had been created with the profile. One that has all of that is returned itself.
func storedShoot(p anyProfile, shoot *v1beta1.Shoot) *v1beta1.Shoot {
	incomplete := func(w v1beta1.Worker) bool {
		return leavesImage(w) || w.Machine.Architecture == nil || w.CRI == nil ||
			w.Kubernetes != nil && w.Kubernetes.Version != nil && strings.Count(*w.Kubernetes.Version, ".") != 2
	}
	workers := shoot.Spec.Provider.Workers
	if strings.Count(shoot.Spec.Kubernetes.Version, ".") == 2 && !slices.ContainsFunc(workers, incomplete) {
		return shoot
	}
	stored := asStored(p, shoot)
	for i, pool := range provider.PoolsOf(stored) {
		worker := &stored.Spec.Provider.Workers[i]
		if !leavesImage(*worker) {
			continue
		}
		if image, err := filledImage(p, worker, stored.Spec.Kubernetes.Version, resolve.Boots(p, pool)); err == nil {
			setImage(worker, image)
		}
	}
	return stored
}
