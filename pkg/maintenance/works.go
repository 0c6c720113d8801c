// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
)

// Image is an image version, by its names in a CloudProfile.
type Image = gardenerrules.Image

// Filter reports whether a worker pool boots an image version. A nil Filter admits all.
type Filter = gardenerrules.Filter

// Filled returns the image of a new worker pool in a landscape with mutate-shoot. It is Gardener's default or, if that does not work, the
// default among the versions that do (semantics S15). If none works, it is Gardener's default, which will be refused. A user's choice is
// kept. kubernetes is the control plane's version; boots admits the images that the pool boots.
func Filled(
	library gardenerrules.Library, profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, kubernetes string, boots Filter,
) (Image, error) {
	image, err := shoots.DefaultImage(library, profile, worker, nil)
	if err != nil || image == gardenerrules.NamedImage(worker) {
		return image, err
	}
	works := works(gardenerrules.ImageVersions(profile), worker, nil, kubernetes, boots)
	if works(image.Name, image.Version) {
		return image, nil
	}
	if other, err := shoots.DefaultImage(library, profile, worker, works); err == nil {
		return other, nil
	}
	return image, nil
}

// RefusedNew returns why Gardener's validation refuses an image for a new worker pool, whether or not it boots; empty if it is not refused.
// Even Gardener's own default may be refused. kubernetes is the control plane's version. See [gardenerrules.RefusesImage].
func RefusedNew(profile *v1beta1.CloudProfileSpec, image Image, worker *v1beta1.Worker, kubernetes string) string {
	return says(gardenerrules.RefusesImage(gardenerrules.ImageVersions(profile)[image], worker, nil, kubernetes))
}

// works returns a filter that admits the versions that a worker pool boots and that pass Gardener's validation. The versions are those of
// [gardenerrules.ImageVersions].
func works(
	versions map[Image]*v1beta1.MachineImageVersion, worker, before *v1beta1.Worker, kubernetes string, boots Filter,
) Filter {
	return func(image, version string) bool {
		return boots.Admits(image, version) &&
			gardenerrules.RefusesImage(versions[Image{Name: image, Version: version}], worker, before, kubernetes) == gardenerrules.Refusal{}
	}
}

// says returns a refusal in words; empty for none.
func says(r gardenerrules.Refusal) string {
	switch r.Reason {
	case gardenerrules.NotInProfile:
		return "the profile does not have it"
	case gardenerrules.Unavailable:
		return "it is not available"
	case gardenerrules.Expired:
		return "it is expired"
	case gardenerrules.NoInPlaceUpdates:
		return "it does not support updates in place"
	case gardenerrules.OtherKubelet:
		return fmt.Sprintf("it is for kubelets %s, and the worker pool has %s", r.Constraint, r.Asked)
	case gardenerrules.NoCRI:
		return "it has no " + r.Asked
	case gardenerrules.NoContainerRuntime:
		return "it has no container runtime " + r.Asked
	}
	return ""
}
