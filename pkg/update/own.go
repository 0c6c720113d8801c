// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// own are the definitions of a NamespacedCloudProfile: its machine types, its image versions, and every image in whose versions it changes
// anything.
type own struct {
	types, images sets.Set[string]
	versions      sets.Set[provider.ImageVersion]
}

func ownOf(child *v1beta1.NamespacedCloudProfile) own {
	o := own{sets.New[string](), sets.New[string](), sets.New[provider.ImageVersion]()}
	for i := range child.Spec.MachineTypes {
		o.types.Insert(child.Spec.MachineTypes[i].Name)
	}
	for _, image := range child.Spec.MachineImages {
		o.images.Insert(image.Name)
		for i := range image.Versions {
			if profile.Describes(&image.Versions[i]) {
				o.versions.Insert(provider.ImageVersion{Image: image.Name, Version: image.Versions[i].Version})
			}
		}
	}
	return o
}

// without returns worker pools without the machine types and images that the NamespacedCloudProfile defines. Its parent cannot take those
// away, only the rest.
func (o own) without(pools []provider.Pool) []provider.Pool {
	pools = slices.Clone(pools)
	for i := range pools {
		pool := &pools[i]
		if o.versions.Has(provider.ImageVersion{Image: pool.Image, Version: pool.Version}) {
			pool.Image, pool.Version = "", ""
		}
		if o.types.Has(pool.MachineType) {
			pool.MachineType = ""
		}
	}
	return pools
}

// following filters the result of [own.without]. It drops the image of a pool if the child defines the machine type, or lists the image,
// because the parent alone does not decide what maintenance chooses then.
func (o own) following(pools []provider.Pool) []provider.Pool {
	pools = slices.Clone(pools)
	for i := range pools {
		if pools[i].MachineType == "" || o.images.Has(pools[i].Image) {
			pools[i].Image = ""
		}
	}
	return pools
}
