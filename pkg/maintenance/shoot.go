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

// Outcome is the effect of maintenance on a version.
type Outcome struct {
	// Version is the new version; empty if the old one stays.
	Version string
	// Forced reports whether the old version has expired, or can no longer be used.
	Forced bool
	// Err is the reason why there is no new version although an update is due. Version is empty then.
	Err error
}

// UpdatesImages reports whether maintenance updates image versions that have not expired.
func UpdatesImages(shoot *v1beta1.Shoot) bool {
	images, _ := autoUpdates(shoot)
	return images
}

// autoUpdates reports whether maintenance updates image versions and Kubernetes versions that have not expired.
func autoUpdates(shoot *v1beta1.Shoot) (images, kubernetes bool) {
	if shoot.Spec.Maintenance == nil || shoot.Spec.Maintenance.AutoUpdate == nil {
		return true, true
	}
	auto := shoot.Spec.Maintenance.AutoUpdate
	return ptr.Deref(auto.MachineImageVersion, true), auto.KubernetesVersion
}

// After returns a copy of the profile shifted by a duration, so that Gardener's code, which reads the machine's clock, sees classifications
// and expirations as of that time. A negative duration looks into the past. The copy shares everything else with the profile: modify
// neither while the other is in use.
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
