// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"
)

// Image is an image version, by its names in a CloudProfile.
type Image struct{ Name, Version string }

// String returns the image as NAME@VERSION.
func (i Image) String() string { return i.Name + "@" + i.Version }

// Filter reports whether a worker pool boots an image version. A nil Filter admits all.
type Filter func(image, version string) bool

// Admits reports whether the filter admits an image version.
func (f Filter) Admits(image, version string) bool { return f == nil || f(image, version) }

// ImageVersions returns a profile's image versions. If two have the same names, the first one wins.
func ImageVersions(profile *v1beta1.CloudProfileSpec) map[Image]*v1beta1.MachineImageVersion {
	versions := map[Image]*v1beta1.MachineImageVersion{}
	for i := range profile.MachineImages {
		image := &profile.MachineImages[i]
		for k := range image.Versions {
			if name := (Image{image.Name, image.Versions[k].Version}); versions[name] == nil {
				versions[name] = &image.Versions[k]
			}
		}
	}
	return versions
}

// NamedImage returns the image name and version of a worker; empty strings if they are left out.
func NamedImage(worker *v1beta1.Worker) Image {
	image := worker.Machine.Image
	if image == nil {
		return Image{}
	}
	return Image{image.Name, ptr.Deref(image.Version, "")}
}
