// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"slices"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Outcome is what maintenance makes of a version.
type Outcome struct {
	// Version is the new one; empty if the old one stays.
	Version string
	// Forced says that the old one is expired, or none of those that there can be.
	Forced bool
	// Err says why there is no new version, although an update is due. Version is empty then.
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

// After returns a profile in which the versions stand as they will, or did, some time from now, by their
// classifications and expirations: Gardener's own code goes by the clock of the machine. All else it shares with the profile. Neither must
// be changed as long as the other is used.
func After(profile *v1beta1.CloudProfileSpec, some time.Duration) *v1beta1.CloudProfileSpec {
	shift := func(t *metav1.Time) *metav1.Time {
		if t == nil {
			return nil
		}
		return new(metav1.NewTime(t.Add(-some)))
	}
	version := func(v *v1beta1.ExpirableVersion) {
		v.ExpirationDate = shift(v.ExpirationDate) //nolint:staticcheck // as people write it
		v.Lifecycle = slices.Clone(v.Lifecycle)
		for i := range v.Lifecycle {
			v.Lifecycle[i].StartTime = shift(v.Lifecycle[i].StartTime)
		}
	}
	shifted := ptr.To(*profile)
	shifted.Kubernetes.Versions, shifted.MachineImages = slices.Clone(profile.Kubernetes.Versions), slices.Clone(profile.MachineImages)
	for i := range shifted.Kubernetes.Versions {
		version(&shifted.Kubernetes.Versions[i])
	}
	for i := range shifted.MachineImages {
		image := &shifted.MachineImages[i]
		image.Versions = slices.Clone(image.Versions)
		for k := range image.Versions {
			version(&image.Versions[k].ExpirableVersion)
		}
	}
	return shifted
}
