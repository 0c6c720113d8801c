// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// Matrix answers for everything that a worker pool could be by one profile: each image version on each machine type in
// each region, for each thing that it may ask for. It answers as [Profile.ExplainPool] does, for tens of thousands of
// combinations. It is not safe for concurrent use. [NewMatrix] makes one.
type Matrix[R any] struct {
	suggester[R]
	order     capability.Order
	templates []template
	// questions are what a pool asks for on a machine type, one for each of the templates.
	questions map[string][]question
}

// NewMatrix returns the matrix of a profile, by a preference order.
func NewMatrix[R any](p *Profile[R], order capability.Order) *Matrix[R] {
	m := &Matrix[R]{
		suggester: newSuggester(p), order: order, templates: templates(p.provider.Workers().Settings(), p.offers),
		questions: make(map[string][]question, len(p.machines)),
	}
	for _, name := range m.MachineTypes() {
		for i := range m.templates {
			q := p.question(m.pool(Combination{MachineType: name}, i), m.templates[i].more...)
			q.request.Order = order
			m.questions[name] = append(m.questions[name], q)
		}
	}
	return m
}

// Requests returns how many things a worker pool may ask for. Explain and Choose know them by their indices: the first
// is to ask for nothing special, each of the others is one setting, or a property like secure boot, whose capability the
// profile offers.
func (m *Matrix[R]) Requests() int { return len(m.templates) }

// Settings returns what the request of an index is in itself: a property of the worker pool, or what a setting of its
// providerConfig asks for, whose path is below the pool. Neither is set for the first.
func (m *Matrix[R]) Settings(request int) (capability.Worker, []capability.Requirement) {
	return m.templates[request].worker, slices.Clone(m.templates[request].more)
}

// Requested returns what a pool on a machine type of the profile asks for with the request of an index, without what is
// implied; nil for nothing. It belongs to the matrix.
func (m *Matrix[R]) Requested(machineType string, request int) []capability.Requirement {
	return m.questions[machineType][request].requested
}

// MachineTypes returns the names of all machine types, each once, in the order of the profile.
func (m *Matrix[R]) MachineTypes() []string {
	return union(namesOf(m.spec.MachineTypes), nil)
}

// Regions returns the regions, each once, in the order of the profile. The caller owns the slice.
func (m *Matrix[R]) Regions() []string { return union(m.regions, nil) }

// Versions returns the image versions that core lists, each once, in the order of the profile. Region and machine type
// are empty.
func (m *Matrix[R]) Versions() []Combination {
	var versions []Combination
	for _, id := range union(m.listed(), nil) {
		versions = append(versions, Combination{Image: id.image, Version: id.version})
	}
	return versions
}

// Groups returns the names of the machine types, those together that get the same answers for every image version in
// every region, whatever is asked for. Groups, and the machine types of each, are in the order of the profile.
func (m *Matrix[R]) Groups() [][]string {
	var groups [][]string
	index, known := map[string]int{}, map[string]int{}
	for _, name := range m.MachineTypes() {
		var key strings.Builder
		for _, q := range m.questions[name] {
			text := fmt.Sprint(q.request.Machine, q.request.Worker, q.refused)
			for _, r := range q.requested {
				text += fmt.Sprintf("%q %q %q", r.Capability, r.Values, r.Setting)
			}
			if _, found := known[text]; !found {
				known[text] = len(known)
			}
			fmt.Fprint(&key, known[text], " ")
		}
		i, found := index[key.String()]
		if !found {
			i = len(groups)
			index[key.String()], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], name)
	}
	return groups
}

// Capabilities returns what a machine type of the profile supports.
func (m *Matrix[R]) Capabilities(machineType string) v1beta1.Capabilities {
	return m.machines[machineType].set.Capabilities()
}

// Choose returns the index of the flavor that a worker pool boots which is such a combination, with the request of an
// index; -1 if there is none.
func (m *Matrix[R]) Choose(of Combination, request int) int {
	return m.answer(&m.questions[of.MachineType][request], of)
}

// ChooseBy does so by another preference order.
func (m *Matrix[R]) ChooseBy(order capability.Order, of Combination, request int) int {
	q := m.questions[of.MachineType][request]
	q.request.Order = order
	return m.answer(&q, of)
}

// Flavors returns the flavors of an image version, in their order. They belong to the profile and must not be changed.
func (m *Matrix[R]) Flavors(of Combination) []imageselector.Flavor[R] {
	return m.all.Flavors(of.Image, of.Version)
}

// Supported returns what each of the flavors supports, with omissions filled in, in their order.
func (m *Matrix[R]) Supported(of Combination) []capability.Set {
	d := m.all.Decide(imageselector.Request{Image: of.Image, Version: of.Version})
	sets := make([]capability.Set, 0, len(d.Verdicts))
	for i := range d.Verdicts {
		sets = append(sets, d.Verdicts[i].Set)
	}
	return sets
}

// Explain answers as [Profile.ExplainPool] does for a worker pool which is such a combination, with the request of an
// index. What a providerConfig asks for is taken to be asked for; the pool has none.
func (m *Matrix[R]) Explain(of Combination, request int) Resolution[R] {
	return m.resolve(m.pool(of, request), true, m.templates[request].more...)
}

// Suggest returns what Explain suggests for a combination for which there is no image.
func (m *Matrix[R]) Suggest(of Combination, request int) []Suggestion {
	q := m.questions[of.MachineType][request]
	if q.unmet {
		return nil
	}
	q.request.Image, q.request.Version, q.request.Region = of.Image, of.Version, of.Region
	return m.suggest(m.pool(of, request), q.request)
}

func (m *Matrix[R]) pool(of Combination, request int) provider.Pool {
	return provider.Pool{
		Image: of.Image, Version: of.Version, MachineType: of.MachineType, Region: of.Region, Order: m.order,
		Worker: m.templates[request].worker,
	}
}

// template is what worker pools may ask for.
type template struct {
	worker capability.Worker
	more   []capability.Requirement
}

// templates returns what pools may ask for: nothing; and each thing whose capability is offered, by itself. settings are
// those of the provider.
func templates(settings []capability.Requirement, offers func(name string) bool) []template {
	templates := []template{{}}
	if offers(capability.BootType) {
		templates = append(templates, template{worker: capability.Worker{SecureBoot: true}})
	}
	if offers(capability.UpdateType) {
		templates = append(templates, template{worker: capability.Worker{UpdateStrategy: v1beta1.AutoInPlaceUpdate}})
	}
	for _, setting := range settings {
		// What follows from the pool, such as its machine type, is asked for wherever it is so.
		if strings.HasPrefix(setting.Because.String(), "providerConfig") && offers(setting.Capability) {
			templates = append(templates, template{more: []capability.Requirement{setting}})
		}
	}
	bySetting := func(q capability.Requirement) bool { return q.Capability == capability.GPUSupport }
	if offers(capability.GPUSupport) && !slices.ContainsFunc(settings, bySetting) {
		for _, gpu := range capability.GPUTypes() {
			templates = append(templates, template{worker: capability.Worker{GPU: &gpu}})
		}
	}
	return templates
}
