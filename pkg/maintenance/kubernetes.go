// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/controller/shoot/maintenance/helper"

	"github.com/capkit/capkit/pkg/gardenerrules"
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
	due, forced, err := gardenerrules.KubernetesDue(profile, version, autoUpdate)
	if err != nil || !due {
		return Outcome{Err: err}
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
	if o.Version = gardenerrules.KubeletAtMost(o.Version, controlPlane); o.Version == version {
		return Outcome{}
	}
	return o
}
