// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// Shoots that leave fields to Gardener, as the API server stores them.

// Filling describes the image of a worker pool that leaves its image, or a part of the version, to Gardener. It is zero for other pools.
type Filling struct {
	// By is the component that has filled it in; empty if none has.
	By Filler
	// Gardener is the image that Gardener selects; zero if it selects none. Err is the reason for that, or for Gardener's refusal of the
	// image.
	Gardener maintenance.Image
	Err      error
	// Instead is the image that mutate-shoot would select, if it is not installed; zero for none.
	Instead maintenance.Image
}

// Filler is a component that fills in an image. Its values are part of the command line's JSON.
type Filler string

// The values.
const (
	ByGardener Filler = "gardener"
	// ByCapkit means that Gardener has selected an image that does not boot, and that mutate-shoot has replaced it.
	ByCapkit Filler = "capkit"
)

// About returns the origin of an image that does not boot, or the reason why there is none, as the end of a message. It is empty for an
// image that the Shoot names.
func (f Filling) About() string {
	var none maintenance.Image
	switch {
	case f.Gardener == none && f.Err != nil:
		return "; Gardener selects none: " + f.Err.Error()
	case f.Gardener == none:
		return ""
	}
	text := fmt.Sprintf("; Gardener selects %s because the Shoot names no full version", f.Gardener)
	colon := ":"
	if f.Err != nil {
		text += fmt.Sprintf(", and refuses it: %v", f.Err)
		colon = ";"
	}
	if f.Instead != none {
		text += fmt.Sprintf("%s name %s, which boots (capkit's mutate-shoot would select it)", colon, f.Instead)
	}
	return text
}

// leavesImage reports whether a worker leaves its image, or a part of the version, to Gardener.
func leavesImage(worker v1beta1.Worker) bool {
	image := worker.Machine.Image
	return image == nil || image.Version == nil || !isVersion(*image.Version)
}

// FilledIn returns a Shoot as written, with the images that [Given.StoredShoot] fills in, and a Filling for each worker pool.
func (in *Given) FilledIn(p AnyProfile, shoot *v1beta1.Shoot) (*v1beta1.Shoot, []Filling) {
	shoot = in.Server.WithArchitecture(shoot)
	workers := shoot.Spec.Provider.Workers
	if !slices.ContainsFunc(workers, leavesImage) {
		return shoot, make([]Filling, len(workers))
	}
	filled := shoot.DeepCopy()
	stored, fillings := in.StoredShoot(p, shoot)
	for i := range fillings {
		if fillings[i].By != "" {
			filled.Spec.Provider.Workers[i].Machine.Image = stored.Spec.Provider.Workers[i].Machine.Image
		}
	}
	return filled, fillings
}

// StoredShoot returns a Shoot as the API server stores it on creation with a profile, and a Filling for each worker pool. It has
// Gardener's defaults, complete Kubernetes versions if the profile has them, and images. If mutate-shoot is installed, they are images
// that boot. The given Shoot is not modified. It is returned itself if it was stored before and lacks nothing.
func (in *Given) StoredShoot(p AnyProfile, shoot *v1beta1.Shoot) (*v1beta1.Shoot, []Filling) {
	fillings := make([]Filling, len(shoot.Spec.Provider.Workers))
	if shoot.UID != "" && isVersion(shoot.Spec.Kubernetes.Version) && !slices.ContainsFunc(shoot.Spec.Provider.Workers, incomplete) {
		return shoot, fillings
	}
	stored := in.Server.WithArchitecture(shoot).DeepCopy()
	gardener.SetDefaults(stored)
	fillKubernetes(p, &stored.Spec.Kubernetes.Version)
	for i := range stored.Spec.Provider.Workers {
		worker := &stored.Spec.Provider.Workers[i]
		if worker.Kubernetes != nil && worker.Kubernetes.Version != nil {
			fillKubernetes(p, worker.Kubernetes.Version)
		}
		architecture := gardenerrules.Architecture(p.Spec(), worker)
		worker.Machine.Architecture = &architecture
	}
	for i, pool := range provider.PoolsOf(stored) {
		if worker := &stored.Spec.Provider.Workers[i]; leavesImage(*worker) {
			fillings[i] = fillImage(p, worker, pool, stored.Spec.Kubernetes.Version, in.Admission.Of(p.Spec().Type))
		}
	}
	return stored, fillings
}

// incomplete reports whether a worker leaves a field to Gardener.
func incomplete(w v1beta1.Worker) bool {
	return leavesImage(w) || w.Machine.Architecture == nil || w.CRI == nil ||
		w.Kubernetes != nil && w.Kubernetes.Version != nil && !isVersion(*w.Kubernetes.Version)
}

// isVersion reports whether a version is complete.
func isVersion(version string) bool { return strings.Count(version, ".") == 2 }

func fillKubernetes(p AnyProfile, version *string) {
	if found, err := shoots.DefaultKubernetes(p.Spec(), *version); err == nil {
		*version = found
	}
}

// fillImage fills in the image of a new worker pool. If it is unknown which images boot, that is Gardener's choice. It does not fill in
// an image that Gardener would then refuse.
func fillImage(p AnyProfile, worker *v1beta1.Worker, pool provider.Pool, kubernetes string, by maintenance.Admission) Filling {
	image, err := shoots.DefaultImage(gardenerlib.Library{}, p.Spec(), worker, nil)
	if err != nil || image == (maintenance.Image{Name: pool.Image, Version: pool.Version}) {
		return Filling{Err: err}
	}
	f := Filling{By: ByGardener, Gardener: image}
	if boots := resolve.Boots(p, pool); boots != nil {
		// No error is possible, because the image can be filled in.
		other, _ := maintenance.Filled(gardenerlib.Library{}, p.Spec(), worker, kubernetes, boots)
		switch {
		case other == image:
		case by == maintenance.Corrects:
			f.By, image = ByCapkit, other
		default:
			f.Instead = other
		}
	}
	if reason := maintenance.RefusedNew(p.Spec(), image, worker, kubernetes); reason != "" {
		f.By, f.Err = "", errors.New(reason)
		return f
	}
	if worker.Machine.Image == nil {
		worker.Machine.Image = &v1beta1.ShootMachineImage{}
	}
	worker.Machine.Image.Name, worker.Machine.Image.Version = image.Name, &image.Version
	return f
}
