// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package shoots

import (
	"github.com/Masterminds/semver/v3"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/versions"
)

// ImageDue reports whether maintenance updates a worker pool's image version, and whether the update is forced. image has the versions that
// the pool can have. The update is forced if the current version is not among them or has expired. autoUpdate is the Shoot's setting for
// image versions.
//
// It is the rule of shouldMachineImageVersionBeUpdated (pkg/controllermanager/controller/shoot/maintenance).
func ImageDue(image *v1beta1.MachineImage, current *v1beta1.ShootMachineImage, autoUpdate bool) (due, forced bool) {
	is := gardenerrules.FindImageVersion(image, ptr.Deref(current.Version, ""))
	forced = current.Name != image.Name || is == nil || versions.Expired(is.ExpirableVersion)
	return forced || autoUpdate, forced
}

// KubernetesDue reports whether maintenance updates a Kubernetes version, and whether the update is forced: it is if the profile lacks the
// version, or the version has expired. autoUpdate is the Shoot's setting for Kubernetes. The error names an invalid version.
//
// It is the rule of shouldKubernetesVersionBeUpdated (pkg/controllermanager/controller/shoot/maintenance).
func KubernetesDue(
	library gardenerrules.Library, profile *v1beta1.CloudProfileSpec, version string, autoUpdate bool,
) (due, forced bool, err error) {
	found, current, err := library.FindKubernetesVersion(profile, version)
	if err != nil {
		return false, false, err
	}
	forced = !found || versions.Expired(current)
	return forced || autoUpdate, forced, nil
}

// KubeletAtMost returns the Kubernetes version that maintenance gives a worker pool with its own version: the chosen one, but not later
// than the control plane's version after maintenance.
//
// It is the rule of the closure for worker pools in reconcile (pkg/controllermanager/controller/shoot/maintenance).
func KubeletAtMost(chosen, controlPlane string) string {
	version, err := semver.NewVersion(chosen)
	limit, limitErr := semver.NewVersion(controlPlane)
	if err == nil && limitErr == nil && version.GreaterThan(limit) {
		return limit.String()
	}
	return chosen
}

// KubeletTooOld reports whether Gardener refuses a Shoot because a worker pool's Kubernetes version is too far behind the control plane's.
//
// It copies the lower bound of validateWorkerGroupAndControlPlaneKubernetesVersion (pkg/api/core/validation).
func KubeletTooOld(kubelet, controlPlane string) bool {
	version, err := semver.NewVersion(kubelet)
	limit, limitErr := semver.NewVersion(controlPlane)
	return err == nil && limitErr == nil && limit.Major() == version.Major() && limit.Minor() > version.Minor()+3
}
