// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"slices"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/versions"
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

// At returns a copy of the profile whose versions keep the classifications of a time, at which a stage that begins just then has begun.
// Gardener's code reads the machine's clock, which runs on during the questions. The copy shares everything else with the profile: modify
// neither while the other is in use.
func At(profile *v1beta1.CloudProfileSpec, at time.Time) *v1beta1.CloudProfileSpec {
	version := func(v *v1beta1.ExpirableVersion) {
		*v = v1beta1.ExpirableVersion{Version: v.Version, Classification: new(versions.ClassificationOnce(*v, at))} //nolint:staticcheck // without a time
	}
	stopped := ptr.To(*profile)
	stopped.Kubernetes.Versions, stopped.MachineImages = slices.Clone(profile.Kubernetes.Versions), slices.Clone(profile.MachineImages)
	for i := range stopped.Kubernetes.Versions {
		version(&stopped.Kubernetes.Versions[i])
	}
	for i := range stopped.MachineImages {
		image := &stopped.MachineImages[i]
		image.Versions = slices.Clone(image.Versions)
		for k := range image.Versions {
			version(&image.Versions[k].ExpirableVersion)
		}
	}
	return stopped
}
