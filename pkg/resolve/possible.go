// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// Combination is a possible worker pool: an image version on a machine type in a region.
type Combination struct{ Image, Version, MachineType, Region string }

// Answer returns the index of the flavor that a question about a combination gets, or -1 if there is none. It sets image, version and
// region of q.Request.
func Answer[R any](p *profile.Profile[R], q *profile.Question, of Combination) int {
	q.Request.Image, q.Request.Version, q.Request.Region = of.Image, of.Version, of.Region
	if q.Reason != "" {
		return -1
	}
	return p.Catalog().Choose(q.Request)
}

// Listed returns the image versions that core lists, in its order.
func Listed[R any](p *profile.Profile[R]) []provider.ImageVersion {
	var ids []provider.ImageVersion
	for v := range p.Versions() {
		ids = append(ids, v.ID)
	}
	return ids
}

// Distinct returns the distinct elements of the lists, in the order of their first occurrence.
func Distinct[T comparable](lists ...[]T) []T {
	seen := map[T]bool{}
	var all []T
	for _, list := range lists {
		for _, element := range list {
			if !seen[element] {
				seen[element] = true
				all = append(all, element)
			}
		}
	}
	return all
}

// Template is a special request that worker pools may make.
type Template struct {
	// Worker holds properties of the pool.
	Worker capability.Worker
	// More are further requirements, from its providerConfig or from a field such as volume.
	More []capability.Requirement
}

// Templates returns the possible requests of pools: the empty one, and one for each property, or provider setting, whose capability is
// offered.
func Templates(settings []capability.Requirement, offers func(name string) bool) []Template {
	templates := []Template{{}}
	if offers(capability.BootType) {
		templates = append(templates, Template{Worker: capability.Worker{SecureBoot: true}})
	}
	if offers(capability.UpdateType) {
		templates = append(templates, Template{Worker: capability.Worker{UpdateStrategy: v1beta1.AutoInPlaceUpdate}})
	}
	for _, setting := range settings { // except those that follow from a Combination or from the template above
		if !asksByType(setting) && setting.Because.String() != "updateStrategy" && offers(setting.Capability) {
			templates = append(templates, Template{More: []capability.Requirement{setting}})
		}
	}
	bySetting := func(q capability.Requirement) bool { return q.Capability == capability.GPUSupport }
	if offers(capability.GPUSupport) && !slices.ContainsFunc(settings, bySetting) {
		for _, gpu := range capability.GPUTypes() {
			templates = append(templates, Template{Worker: capability.Worker{GPU: &gpu}})
		}
	}
	return templates
}
