// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Outcome is what maintenance makes of a version.
type Outcome struct {
	Update
	// Err says that an update is due, and why there is none. Version is empty then.
	Err error
}

// UpdatesImages reports whether maintenance updates image versions that are not expired.
func UpdatesImages(shoot *v1beta1.Shoot) bool {
	images, _ := autoUpdates(shoot)
	return images
}

// autoUpdates reports whether maintenance updates versions of images and of Kubernetes that are not expired.
func autoUpdates(shoot *v1beta1.Shoot) (images, kubernetes bool) {
	if shoot.Spec.Maintenance == nil || shoot.Spec.Maintenance.AutoUpdate == nil {
		return true, true
	}
	auto := shoot.Spec.Maintenance.AutoUpdate
	return ptr.Deref(auto.MachineImageVersion, true), auto.KubernetesVersion
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
	releases := sync.OnceValue(func() map[Image]*v1beta1.MachineImageVersion { return releasesOf(profile) })
	return func(image, version string) bool {
		return boots.admits(image, version) && refuses(releases()[Image{image, version}], worker, before, kubernetes) == ""
	}
}

// worksOf does so with the versions of a profile as [releasesOf] returns them.
func worksOf(
	releases map[Image]*v1beta1.MachineImageVersion, worker, before *v1beta1.Worker, kubernetes string, boots Filter,
) Filter {
	return func(image, version string) bool {
		return boots.admits(image, version) && refuses(releases[Image{image, version}], worker, before, kubernetes) == ""
	}
}

// After returns a copy of a profile in which the versions stand as they will, or did, some time from now, by their
// classifications and expirations: Gardener's own code goes by the clock of the machine.
func After(profile *v1beta1.CloudProfileSpec, some time.Duration) *v1beta1.CloudProfileSpec {
	shifted := profile.DeepCopy()
	shift := func(t *metav1.Time) {
		if t != nil {
			t.Time = t.Add(-some)
		}
	}
	version := func(v *v1beta1.ExpirableVersion) {
		shift(v.ExpirationDate) //nolint:staticcheck // as people write it
		for i := range v.Lifecycle {
			shift(v.Lifecycle[i].StartTime)
		}
	}
	for i := range shifted.Kubernetes.Versions {
		version(&shifted.Kubernetes.Versions[i])
	}
	for i := range shifted.MachineImages {
		for k := range shifted.MachineImages[i].Versions {
			version(&shifted.MachineImages[i].Versions[k].ExpirableVersion)
		}
	}
	return shifted
}

// releaseOf returns a version of a profile; nil if there is none.
func releaseOf(profile *v1beta1.CloudProfileSpec, image Image) *v1beta1.MachineImageVersion {
	for i := range profile.MachineImages {
		versions := profile.MachineImages[i].Versions
		for k := range versions {
			if profile.MachineImages[i].Name == image.Name && versions[k].Version == image.Version {
				return &versions[k]
			}
		}
	}
	return nil
}

// releasesOf returns the versions of a profile, of two that are the same the first.
func releasesOf(profile *v1beta1.CloudProfileSpec) map[Image]*v1beta1.MachineImageVersion {
	releases := map[Image]*v1beta1.MachineImageVersion{}
	for i := range profile.MachineImages {
		for k := range profile.MachineImages[i].Versions {
			v := &profile.MachineImages[i].Versions[k]
			if image := (Image{profile.MachineImages[i].Name, v.Version}); releases[image] == nil {
				releases[image] = v
			}
		}
	}
	return releases
}
