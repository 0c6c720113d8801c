// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"github.com/Masterminds/semver/v3"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/controller/shoot/maintenance/helper"
)

// nextKubernetes returns what maintenance makes of a version of Kubernetes: the latest patch or, by force, the next
// minor.
func (m *Maintainer) nextKubernetes(version string, autoUpdate bool) Outcome {
	key := pickable{version, autoUpdate}
	next, done := m.kubernetes[key]
	if !done {
		next = nextKubernetes(m.profile, version, autoUpdate)
		m.kubernetes[key] = next
	}
	return next
}

func nextKubernetes(profile *v1beta1.CloudProfileSpec, version string, autoUpdate bool) Outcome {
	found, current, err := v1beta1helper.KubernetesVersionExistsInCloudProfile(&v1beta1.CloudProfile{Spec: *profile}, version)
	if err != nil {
		return Outcome{Err: err}
	}
	forced := !found || v1beta1helper.VersionIsExpired(current)
	if !forced && !autoUpdate {
		return Outcome{}
	}
	to, err := helper.DetermineVersionForStrategy(profile.Kubernetes.Versions, version,
		v1beta1helper.GetLatestVersionForPatchAutoUpdate, v1beta1helper.GetVersionForForcefulUpdateToConsecutiveMinor, forced)
	return Outcome{Update{Version: to, Forced: forced}, err}
}

// atMost returns what becomes of a worker pool's version of Kubernetes, which is not updated past that of the control
// plane.
func atMost(o Outcome, version, controlPlane string) Outcome {
	if o.Version == "" {
		return o
	}
	to, err := semver.NewVersion(o.Version)
	limit, limitErr := semver.NewVersion(controlPlane)
	if err == nil && limitErr == nil && to.GreaterThan(limit) {
		o.Version = limit.String()
	}
	if o.Version == version {
		return Outcome{}
	}
	return o
}
