// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// Combination is what a worker pool could be: an image version on a machine type in a region.
type Combination struct{ Image, Version, MachineType, Region string }

// Answer returns the index of the flavor that a question about a combination gets, -1 if there is none. It completes the
// request.
func Answer[R any](p *profile.Profile[R], q *profile.Question, of Combination) int {
	q.Request.Image, q.Request.Version, q.Request.Region = of.Image, of.Version, of.Region
	if q.Reason != "" {
		return -1
	}
	return p.Catalog().Choose(q.Request)
}

// Listed returns the image versions that core lists, in order.
func Listed[R any](p *profile.Profile[R]) []provider.ImageVersion {
	var ids []provider.ImageVersion
	for v := range p.Versions() {
		ids = append(ids, v.ID)
	}
	return ids
}

// Distinct returns what is in any of the lists, each once, in the order of the lists.
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

// Template is something that worker pools may ask for.
type Template struct {
	// Worker are properties of the pool.
	Worker capability.Worker
	// More is what it asks for besides, by its providerConfig or by a field such as volume.
	More []capability.Requirement
}

// followsFromQuestion reports whether a setting is a part of a [Combination], such as the machine type, or a property of the
// worker pool: that is asked for wherever it is so.
func followsFromQuestion(setting capability.Requirement) bool {
	name, _, _ := strings.Cut(setting.Because.String(), ".")
	return name == "machine" || name == "updateStrategy"
}

// Templates returns what pools may ask for: nothing; and each thing whose capability is offered, by itself. settings are
// those of the provider.
func Templates(settings []capability.Requirement, offers func(name string) bool) []Template {
	templates := []Template{{}}
	if offers(capability.BootType) {
		templates = append(templates, Template{Worker: capability.Worker{SecureBoot: true}})
	}
	if offers(capability.UpdateType) {
		templates = append(templates, Template{Worker: capability.Worker{UpdateStrategy: v1beta1.AutoInPlaceUpdate}})
	}
	for _, setting := range settings {
		if !followsFromQuestion(setting) && offers(setting.Capability) {
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
