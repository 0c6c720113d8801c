// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package constraints

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/consistency"
)

// CheckShoot checks a Shoot's configs, and what they may have in the profile.
func (c constraints) CheckShoot(_ consistency.ShootQuestion) consistency.Report {
	return consistency.Report{}
}

// CheckShootUpdate reports what an update changes that cannot be changed.
func (Rules) CheckShootUpdate(_, _ *v1beta1.Shoot) consistency.Report {
	return consistency.Report{}
}
