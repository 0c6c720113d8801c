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

// ImageDue reports whether maintenance updates the image version of a worker pool, and whether by force: the image has the
// versions that the pool can have, and the one that it has is not among them, or expired. autoUpdate says that the Shoot
// has its image versions updated automatically.
//
// It is the rule of shouldMachineImageVersionBeUpdated (pkg/controllermanager/controller/shoot/maintenance).
func ImageDue(image *v1beta1.MachineImage, current *v1beta1.ShootMachineImage, autoUpdate bool) (due, forced bool) {
	is := gardenerrules.FindImageVersion(image, ptr.Deref(current.Version, ""))
	forced = current.Name != image.Name || is == nil || versions.Expired(is.ExpirableVersion)
	return forced || autoUpdate, forced
}

// KubernetesDue reports whether maintenance updates a version of Kubernetes, and whether by force: if the profile does not
// have it, or has it expired. autoUpdate says that the Shoot has its Kubernetes updated automatically. The error says that a
// version cannot be read.
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

// KubeletAtMost returns the version of Kubernetes that maintenance gives a worker pool with a version of its own, where it has
// chosen one: at most that of the control plane, as maintained.
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
