// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PoolsOf returns the questions that the worker pools of a Shoot ask, in their order; none for a Shoot without workers.
func PoolsOf(shoot *v1beta1.Shoot) []Pool {
	at := field.NewPath("spec", "provider", "workers")
	pools := make([]Pool, 0, len(shoot.Spec.Provider.Workers))
	for i := range shoot.Spec.Provider.Workers {
		pools = append(pools, PoolOf(&shoot.Spec.Provider.Workers[i], shoot.Spec.Region, at.Index(i)))
	}
	return pools
}

// CheckShoot reports the worker pools of a Shoot that get no image from its profile, with what would work (semantics
// S13), and what is wrong with their providerConfig as far as it asks for an image (S3). A region that the profile does not have is reported once, and nothing about pools then. A pool that leaves its
// image to Gardener is not reported.
func (p *Profile[R]) CheckShoot(shoot *v1beta1.Shoot) Report {
	pools := PoolsOf(shoot)
	if len(pools) == 0 {
		return Report{}
	}
	if err := p.CheckRegion(shoot.Spec.Region, field.NewPath("spec", "region")); err != nil {
		return Report{Errors: field.ErrorList{err}}
	}
	var report Report
	for _, pool := range pools {
		r := p.ResolvePool(pool)
		if r.Err != nil && !r.Open {
			report.Errors = append(report.Errors, r.Err)
		}
		report.Errors = append(report.Errors, r.Further...)
	}
	return report.sorted()
}

// ProfileMissing returns the error for a reference at the path at to a profile that does not exist.
func ProfileMissing(at *field.Path, kind, name string) *field.Error {
	return finding(RuleProfileMissing, field.ErrorTypeNotFound, at, name, kind+" "+name+" does not exist; correct the name, or create it first")
}
