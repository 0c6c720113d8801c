// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
)

// Matrix answers for all possible worker pools of a profile: each image version on each machine type in each region, with each possible
// request. Its answers equal those of [Explain], for tens of thousands of combinations. It is not safe for concurrent use. [NewMatrix]
// makes one.
type Matrix[R any] struct {
	Resolver[R]
	templates []Template
	// questions maps each machine type to a pool's questions on it, one for each template.
	questions map[string][]profile.Question
}

// NewMatrix returns the matrix of a profile, with the profile's preference order.
func NewMatrix[R any](p *profile.Profile[R]) *Matrix[R] {
	m := &Matrix[R]{
		Resolver: *NewResolver(p), templates: Templates(p.Provider().Workers().Settings(), p.Offers),
		questions: map[string][]profile.Question{},
	}
	for _, name := range m.MachineTypes() {
		for i := range m.templates {
			q := p.Ask(m.pool(Combination{MachineType: name}, i), m.templates[i].More...)
			m.questions[name] = append(m.questions[name], q)
		}
	}
	return m
}

// Requests returns the number of possible requests of a worker pool. Explain and Choose identify a request by its index. The first asks for
// nothing special. Each of the others is one setting, or one property like secure boot, whose capability the profile offers.
func (m *Matrix[R]) Requests() int { return len(m.templates) }

// Settings returns the content of a request: a property of the worker pool, or requirements from a setting in its providerConfig, with
// paths relative to the pool. Both are empty for the first request. The caller owns the slice.
func (m *Matrix[R]) Settings(request int) (capability.Worker, []capability.Requirement) {
	return m.templates[request].Worker, slices.Clone(m.templates[request].More)
}

// Requested returns the explicit requirements of a pool on a machine type with a request; nil if there are none.
func (m *Matrix[R]) Requested(machineType string, request int) []capability.Requirement {
	return m.questions[machineType][request].Requested()
}

// MachineTypes returns the distinct names of all machine types, in the order of the profile.
func (m *Matrix[R]) MachineTypes() []string {
	return Distinct(entries.MachineTypes(m.Spec()))
}

// Versions returns the distinct image versions that core lists, in the order of the profile, without region and machine type.
func (m *Matrix[R]) Versions() []Combination {
	var versions []Combination
	for _, id := range Distinct(Listed(m.Profile)) {
		versions = append(versions, Combination{Image: id.Image, Version: id.Version})
	}
	return versions
}

// Groups returns the names of the machine types, grouped by equal answers for every image version, region and request. Groups, and the
// machine types in each, are in the order of the profile.
func (m *Matrix[R]) Groups() [][]string {
	var groups [][]string
	index := map[string]int{}
	for _, name := range m.MachineTypes() {
		var key strings.Builder
		for _, q := range m.questions[name] {
			fmt.Fprintln(&key, q.Request.Machine, q.Request.Worker, q.Reason != "")
			for _, r := range q.Requested() {
				fmt.Fprintf(&key, "%q %q %q\n", r.Capability, r.Values, r.Setting)
			}
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

// Capabilities returns the capabilities of a machine type of the profile, with omissions filled in.
func (m *Matrix[R]) Capabilities(machineType string) v1beta1.Capabilities {
	machine, _ := m.Machine(machineType)
	return machine.Set.Capabilities()
}

// Choose returns the index of the flavor that a worker pool of this combination boots with a request, or -1 if there is none.
func (m *Matrix[R]) Choose(of Combination, request int) int {
	return Answer(m.Profile, &m.questions[of.MachineType][request], of)
}

// ChooseBy is like [Matrix.Choose], with another preference order.
func (m *Matrix[R]) ChooseBy(order capability.Order, of Combination, request int) int {
	q := m.questions[of.MachineType][request]
	q.Request.Order = order
	return Answer(m.Profile, &q, of)
}

// Flavors returns the flavors of an image version, in their order. The profile owns them, and they must not be modified.
func (m *Matrix[R]) Flavors(of Combination) []imageselector.Flavor[R] {
	return m.Catalog().Flavors(of.Image, of.Version)
}

// Supported returns the capabilities of each flavor of an image version, with omissions filled in, in the order of [Matrix.Flavors].
func (m *Matrix[R]) Supported(of Combination) []capability.Set {
	d := m.Catalog().Decide(imageselector.Request{Image: of.Image, Version: of.Version})
	sets := make([]capability.Set, 0, len(d.Verdicts))
	for i := range d.Verdicts {
		sets = append(sets, d.Verdicts[i].Set)
	}
	return sets
}

// Explain is like the function [Explain], for a worker pool of this combination with a request. Settings of a providerConfig apply without
// one.
func (m *Matrix[R]) Explain(of Combination, request int) Resolution[R] {
	return m.resolve(m.pool(of, request), true, m.templates[request].More...)
}

// Suggest returns the suggestions of Explain for a combination without an image.
func (m *Matrix[R]) Suggest(of Combination, request int) []Suggestion {
	q := m.questions[of.MachineType][request]
	if len(q.Unmet) > 0 {
		return nil
	}
	q.Request.Image, q.Request.Version, q.Request.Region = of.Image, of.Version, of.Region
	return m.suggest(m.pool(of, request), q.Request, m.templates[request].More...)
}

func (m *Matrix[R]) pool(of Combination, request int) provider.Pool {
	return provider.Pool{
		Image: of.Image, Version: of.Version, MachineType: of.MachineType, Region: of.Region,
		Worker: m.templates[request].Worker,
	}
}
