// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/imageselector"
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
// S13), what is wrong with their providerConfig (S3), and what the provider's own rules say about the Shoot. domain is
// that of the Shoot's credentials, nil if it is not known, see [ShootQuestion]. Another provider type is
// reported once, and nothing else then; a region that the profile does not have without what only follows from that. A pool that leaves its image to Gardener is not reported. A Shoot without workers
// has nothing to check.
func (p *Profile[R]) CheckShoot(shoot *v1beta1.Shoot, domain *string) Report {
	pools := PoolsOf(shoot)
	if len(pools) == 0 {
		return Report{}
	}
	if err := p.checkType(shoot.Spec.Provider.Type); err != nil {
		return Report{Errors: field.ErrorList{err}}
	}
	var report Report
	unknown := p.CheckRegion(shoot.Spec.Region, field.NewPath("spec", "region"))
	if unknown != nil {
		report.Errors = append(report.Errors, unknown)
	}
	foreign := unknown != nil && !p.hasImagesIn(shoot.Spec.Region)
	for _, pool := range pools {
		r := p.ResolvePool(pool)
		if r.Err != nil && !r.Open && (!foreign || !r.lacksRegion()) {
			report.Errors = append(report.Errors, r.Err)
		}
		report.Errors = append(report.Errors, r.Further...)
	}
	if p.constraints != nil {
		report.merge(p.constraints.CheckShoot(ShootQuestion{Shoot: shoot, Profile: p.spec, Domain: domain}))
	}
	return report.sorted()
}

// DependsOnDomain tells whether what CheckShoot says about a Shoot may depend on the domain of its credentials. If not,
// nobody needs to look for them.
func (p *Profile[R]) DependsOnDomain(shoot *v1beta1.Shoot) bool {
	return p.constraints != nil && len(shoot.Spec.Provider.Workers) > 0 && p.constraints.DependsOnDomain(shoot)
}

// hasImagesIn tells whether any flavor refers to an image in a region.
func (p *Profile[R]) hasImagesIn(region string) bool {
	for _, image := range p.images {
		for _, version := range image.Versions {
			for _, flavor := range version.Flavors {
				if slices.ContainsFunc(flavor.Regional, func(r imageselector.Regional[R]) bool { return r.Region == region }) {
					return true
				}
			}
		}
	}
	return false
}

// lacksRegion tells whether flavors are out for no other reason than that they have no image in the region.
func (r *Resolution[R]) lacksRegion() bool {
	return len(r.Decision.Verdicts) > 0 && !slices.ContainsFunc(r.Decision.Verdicts, func(v imageselector.Verdict[R]) bool {
		return v.Reason != imageselector.ReasonRegion
	})
}

// checkType returns an error if a Shoot is of another provider than its profile. That it is of none Gardener reports.
func (p *Profile[R]) checkType(name string) *field.Error {
	if name == "" || name == p.spec.Type || p.spec.Type == "" {
		return nil
	}
	return finding(RuleProviderType, field.ErrorTypeInvalid, field.NewPath("spec", "provider", "type"), name, fmt.Sprintf(
		"the Shoot is for provider type %s, and its profile for %s; write %s, or refer to a profile of the other type", name, p.spec.Type, p.spec.Type))
}

// ProfileMissing returns the error for a reference at the path at to a profile that does not exist.
func ProfileMissing(at *field.Path, kind, name string) *field.Error {
	return finding(RuleProfileMissing, field.ErrorTypeNotFound, at, name, kind+" "+name+" does not exist; correct the name, or create it first")
}
