// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
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
