// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerrules"
)

// Image is a version of a machine image, by its names in a CloudProfile.
type Image = gardenerrules.Image

// Filter reports whether a worker pool boots a version of an image. Nil: it boots all.
type Filter = gardenerrules.Filter

// Default returns the image that Gardener fills in for a new worker pool if it has only the versions that a filter admits;
// see [gardenerrules.DefaultImage].
func Default(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, boots Filter) (Image, error) {
	return gardenerrules.DefaultImage(profile, worker, boots)
}

// Filled returns the image that a new worker pool gets where mutate-shoot is asked: what Gardener fills in or, if that
// does not work, what it would fill in if it had only the versions that do (semantics S15). If none works, it is what
// Gardener fills in, and will be refused. What the worker names is kept. kubernetes is the version of the control
// plane; boots reports what boots for the pool.
func Filled(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, kubernetes string, boots Filter) (Image, error) {
	image, err := Default(profile, worker, nil)
	if err != nil || image == gardenerrules.NamedImage(worker) {
		return image, err
	}
	works := Works(profile, worker, nil, kubernetes, boots)
	if works(image.Name, image.Version) {
		return image, nil
	}
	if other, err := Default(profile, worker, works); err == nil {
		return other, nil
	}
	return image, nil
}

// Replace returns what mutate-shoot makes of the version that maintenance has chosen for a worker pool, and whether it
// makes anything of it (semantics S15): if the version does not work, what Gardener's rule chooses over those that do,
// or, if Version is empty, the version that the pool has. old is the Shoot that there is and before its pool; shoot and
// after are what maintenance makes of them. boots reports what boots for the pool.
func Replace(
	profile *v1beta1.CloudProfileSpec, old, shoot *v1beta1.Shoot, before, after *v1beta1.Worker, boots Filter,
) (Outcome, bool) {
	works := Works(profile, after, before, shoot.Spec.Kubernetes.Version, boots)
	if works(after.Machine.Image.Name, *after.Machine.Image.Version) {
		return Outcome{}, false
	}
	// Gardener chooses images for the Kubernetes that there is, before it updates that.
	update, err := Next(profile, before, old.Spec.Kubernetes.Version, UpdatesImages(old), works)
	return Outcome{update, err}, true
}

// Works returns a filter that admits the versions which boot for a worker pool and pass Gardener's validation; see
// [Refused].
func Works(profile *v1beta1.CloudProfileSpec, worker, before *v1beta1.Worker, kubernetes string, boots Filter) Filter {
	return worksOf(gardenerrules.ImageVersions(profile), worker, before, kubernetes, boots)
}

// worksOf is [Works] for the versions of a profile as [gardenerrules.ImageVersions] returns them.
func worksOf(
	versions map[Image]*v1beta1.MachineImageVersion, worker, before *v1beta1.Worker, kubernetes string, boots Filter,
) Filter {
	return func(image, version string) bool {
		return boots.Admits(image, version) &&
			gardenerrules.RefusesImage(versions[Image{Name: image, Version: version}], worker, before, kubernetes) == gardenerrules.Refusal{}
	}
}

// Refused says why Gardener's validation refuses to give a worker pool an image, whatever boots; empty if it does not.
// What Gardener chooses need not pass it. before is the pool as it is stored, nil if it is new: only a pool that
// exists may have a version that is expired. See [gardenerrules.RefusesImage].
func Refused(profile *v1beta1.CloudProfileSpec, image Image, worker, before *v1beta1.Worker, kubernetes string) string {
	return says(gardenerrules.RefusesImage(gardenerrules.ImageVersions(profile)[image], worker, before, kubernetes))
}

// says puts a refusal into words; empty for none.
func says(r gardenerrules.Refusal) string {
	switch r.Reason {
	case gardenerrules.NotInProfile:
		return "the profile does not have it"
	case gardenerrules.Unavailable:
		return "it is not available"
	case gardenerrules.Expired:
		return "it is expired"
	case gardenerrules.OtherKubelet:
		return fmt.Sprintf("it is for kubelets %s, and the worker pool has %s", r.Constraint, r.Asked)
	case gardenerrules.NoCRI:
		return "it has no " + r.Asked
	case gardenerrules.NoContainerRuntime:
		return "it has no container runtime " + r.Asked
	}
	return ""
}
