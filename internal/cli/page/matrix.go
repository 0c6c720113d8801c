// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/cli/ask"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// The answers of a profile to everything that a worker pool could ask: as data, and taken apart into the texts of a page.

// cell is the answer for one combination. Its JSON is an interface: a field once published keeps its name and meaning.
type cell struct {
	Image       string `json:"image"`
	Version     string `json:"version"`
	MachineType string `json:"machineType"`
	Region      string `json:"region"`
	// Requested is what the worker pool asks for, without what is implied. Empty rather than nil: in JSON it is a list.
	Requested []capability.Requirement `json:"requested"`
	// Reference is the provider's own form; nil if no image was found. Error says why not.
	Reference any    `json:"reference,omitempty"`
	Error     string `json:"error,omitempty"`
}

// cells yields the answers for each image version, machine type, region and request, in this order.
func cells(p input.AnyProfile, order capability.Order) iter.Seq[cell] {
	m := resolve.NewMatrix(p, order)
	types, regions := m.MachineTypes(), m.Regions()
	return func(yield func(cell) bool) {
		for _, of := range m.Versions() {
			for _, of.MachineType = range types {
				for _, of.Region = range regions {
					for request := range m.Requests() {
						if !yield(cellOf(m, of, request)) {
							return
						}
					}
				}
			}
		}
	}
}

func cellOf(m *resolve.Matrix[any], of resolve.Combination, request int) cell {
	c := cell{
		Image: of.Image, Version: of.Version, MachineType: of.MachineType, Region: of.Region,
		Requested: m.Requested(of.MachineType, request),
	}
	if c.Requested == nil {
		c.Requested = []capability.Requirement{}
	}
	if chosen := m.Choose(of, request); chosen >= 0 {
		c.Reference, _ = m.Flavors(of)[chosen].Reference(of.Region)
		return c
	}
	c.Error = m.Explain(of, request).Err.Detail
	return c
}

// sheetOf returns the answers of a profile of a name as a page has them.
func sheetOf(name string, p input.AnyProfile, order capability.Order) html.Profile {
	s := &sheet{
		Matrix: resolve.NewMatrix(p, order), compiled: p, order: order, other: capability.Gardener, supported: map[string]capability.Set{},
	}
	if order == capability.Gardener {
		s.other = capability.GEP33
	}
	s.out = html.Profile{Name: name, Order: order.String(), OtherOrder: s.other.String(), Regions: s.Regions()}
	s.addGroups()
	s.addVersions()
	for request := range s.Requests() {
		s.out.Requests = append(s.out.Requests, s.request(request))
	}
	return s.out
}

// sheet makes a [html.Profile].
type sheet struct {
	*resolve.Matrix[any]
	out          html.Profile
	compiled     input.AnyProfile
	order, other capability.Order
	// supported is what flavors support, by what they declare.
	supported map[string]capability.Set
}

func (s *sheet) addGroups() {
	unusable := map[string]bool{}
	for _, t := range s.compiled.Spec().MachineTypes {
		unusable[t.Name] = !ptr.Deref(t.Usable, true)
	}
	for _, types := range s.Groups() {
		g := html.Group{Types: types, Capabilities: s.Vocabulary().Format(s.Capabilities(types[0]))}
		for _, name := range types {
			if unusable[name] {
				g.Unusable = append(g.Unusable, name)
			}
		}
		s.out.Groups = append(s.out.Groups, g)
	}
}

func (s *sheet) addVersions() {
	states := map[[2]string]string{}
	for _, image := range slices.Backward(s.compiled.Spec().MachineImages) {
		for _, v := range slices.Backward(image.Versions) { // of two of one name the first counts
			states[[2]string{image.Name, v.Version}] = stateOf(v.ExpirableVersion)
		}
	}
	for _, of := range s.Versions() {
		flavors, supported := s.Flavors(of), s.Supported(of)
		v := html.Version{Image: of.Image, Name: of.Version, State: states[[2]string{of.Image, of.Version}], Kind: s.kindOf(flavors)}
		for i := range flavors {
			f := s.flavor(&flavors[i], supported[i])
			v.Flavors, s.supported[f.Declared] = append(v.Flavors, f), supported[i]
		}
		s.out.Versions = append(s.out.Versions, v)
	}
}

// stateOf is empty for a version that is simply supported.
func stateOf(v v1beta1.ExpirableVersion) string {
	if state := v1beta1helper.CurrentLifecycleClassification(v); state != v1beta1.ClassificationSupported {
		return string(state)
	}
	return ""
}

// kindOf tells image versions apart about which explain shows other capabilities: by the worker capabilities that are not
// registered and that their flavors declare.
func (s *sheet) kindOf(flavors []imageselector.Flavor[any]) string {
	var kind strings.Builder
	for _, d := range s.Vocabulary().WorkerCapabilities() {
		declares := func(f imageselector.Flavor[any]) bool {
			_, declared := f.Capabilities[d.Name]
			return declared
		}
		if !s.Vocabulary().IsRegistered(d.Name) && slices.ContainsFunc(flavors, declares) {
			kind.WriteString(d.Name + " ")
		}
	}
	return kind.String()
}

func (s *sheet) flavor(flavor *imageselector.Flavor[any], supports capability.Set) html.Flavor {
	f := html.Flavor{Declared: s.Vocabulary().Format(flavor.Capabilities), Supports: supports.String()}
	for _, region := range s.out.Regions {
		text, missing := "", ""
		if ref, found := flavor.Reference(region); found {
			text = report.Reference(ref)
		} else {
			missing = resolve.NoImageIn(flavor, region).String()
		}
		f.References, f.Missing = append(f.References, text), append(f.Missing, missing)
	}
	return f
}

// request returns the answers for a request.
func (s *sheet) request(request int) html.Request {
	worker, more := s.Settings(request)
	r := html.Request{Flag: explainFlag(worker, more)}
	if len(more) > 0 {
		r.Config = html.Lines(configAsking(s.compiled.Provider().Workers(), more[0]))
	}
	var settings []string
	for _, q := range append(worker.Requirements(nil), more...) {
		if !q.Implied {
			settings = append(settings, q.Setting)
		}
	}
	r.Label = strings.Join(settings, ", ")
	r.Answers = func(yield func(html.Answers) bool) {
		for _, g := range s.out.Groups {
			if !yield(s.answers(request, g.Types)) {
				return
			}
		}
	}
	return r
}

// explainFlag returns the flag of explain that asks for something.
func explainFlag(worker capability.Worker, more []capability.Requirement) string {
	switch {
	case worker.SecureBoot:
		return "--secure-boot"
	case worker.UpdateStrategy != "":
		return "--update-strategy " + string(worker.UpdateStrategy)
	case worker.GPU != nil:
		return "--gpu " + *worker.GPU
	case len(more) > 0:
		return "--worker-config workerconfig.yaml"
	}
	return ""
}

// asksFor returns the settings by which a worker pool asks for something that counts, in words: an empty list, never nil, if
// there are none.
func asksFor(p input.AnyProfile, r *resolve.Resolution[any]) []string {
	asks := []string{}
	for _, q := range r.Requirements {
		if !q.Implied && !p.Vocabulary().Ignores(q) {
			asks = append(asks, q.Setting)
		}
	}
	return asks
}

// asksAndBoots returns what a worker pool asks for and boots, as [html.Pools] has it.
func asksAndBoots(p input.AnyProfile, pool provider.Pool) (asks []string, boots string) {
	if resolve.Boots(p, pool) == nil {
		return nil, ""
	}
	r := resolve.Explain(p, pool)
	if r.Err == nil {
		boots = report.Reference(r.Reference)
	}
	return asksFor(p, &r), boots
}

// answers returns the answers of a group of machine types, for one request.
func (s *sheet) answers(request int, types []string) html.Answers {
	a := &answers{
		sheet: s, request: request, types: types, Answers: html.Answers{Kinds: map[string]html.Kind{}, Whole: map[int]string{}},
	}
	for i := range s.out.Versions {
		a.look(i)
		a.addCells(&s.out.Versions[i])
	}
	return a.Answers
}

// answers makes [html.Answers].
type answers struct {
	*sheet
	html.Answers
	request int
	types   []string
	// asked is what the machine types are asked with.
	asked imageselector.Request
}

// at returns the combination of an image version with the first of the machine types, in the first region.
func (a *answers) at(v *html.Version) resolve.Combination {
	of := resolve.Combination{Image: v.Image, Version: v.Name, MachineType: a.types[0]}
	if len(a.out.Regions) > 0 {
		of.Region = a.out.Regions[0]
	}
	return of
}

// look adds what explain says of an image version, as far as that is not known of others.
func (a *answers) look(version int) {
	v := &a.out.Versions[version]
	kind, known := a.Kinds[v.Kind]
	isNew := func(f html.Flavor) bool { _, known := kind.Outcomes[f.Declared]; return !known }
	if known && len(v.Flavors) > 0 && !slices.ContainsFunc(v.Flavors, isNew) {
		return
	}
	r := a.Explain(a.at(v), a.request)
	e := ask.AnswerFrom(a.compiled, r)
	a.Settings, a.Asks = ask.SettingsText(e), asksFor(a.compiled, &r)
	if r.Reason != "" {
		a.Whole[version] = r.Message
	} else {
		a.asked = r.Decision.Request
	}
	if !known {
		kind = html.Kind{Sides: e.Sets != nil, Outcomes: map[string]html.Outcome{}, Comparisons: map[string]html.Preference{}}
		for _, e.MachineType = range a.types {
			e.LeftToDefault = a.compiled.LeftToDefault(e.MachineType)
			kind.Support = append(kind.Support, written(func(w *bytes.Buffer) { ask.PrintSupport(w, e) }))
		}
		a.Kinds[v.Kind] = kind
	}
	for i, f := range e.Flavors {
		if f.ExcludedBy == resolve.ByRegion { // which is said of each region
			f.Reason, f.Rejections = "", nil
		}
		o := html.Outcome{Lines: written(func(w *bytes.Buffer) { ask.PrintOutcome(w, e, f) })}
		if len(f.Rejections) > 0 {
			o.Clause = f.Rejections[0].String()
		}
		kind.Outcomes[v.Flavors[i].Declared] = o
	}
}

// addCells adds what an image version boots in each region, and the comparisons that decide it.
func (a *answers) addCells(v *html.Version) {
	cells, of := make([]html.Cell, len(a.out.Regions)), a.at(v)
	for i := range cells {
		c := &cells[i]
		of.Region = a.out.Regions[i]
		if c.Flavor = a.Choose(of, a.request); c.Flavor < 0 {
			c.Advice = written(func(w *bytes.Buffer) { ask.PrintSuggestions(w, a.Suggest(of, a.request)) })
			continue
		}
		c.Other = a.ChooseBy(a.other, of, a.request)
		a.compare(v, i)
	}
	a.Cells = append(a.Cells, cells)
}

// compare adds the comparisons that decide what an image version boots in a region.
func (a *answers) compare(v *html.Version, region int) {
	kind, best, isFirst := a.Kinds[v.Kind], "", true
	for i := range v.Flavors {
		next := v.Flavors[i].Declared
		switch {
		case kind.Outcomes[next].Clause != "" || v.Flavors[i].Missing[region] != "":
			continue
		case isFirst:
			best, isFirst = next, false
			continue
		}
		known, found := kind.Comparisons[best+next]
		if !found {
			p := capability.Compare(a.supported[best], a.supported[next], a.asked.Machine, a.asked.Worker, a.order)
			known = html.Preference{Message: ask.Decided(p, html.Winner), Sign: p.Sign}
			kind.Comparisons[best+next] = known
		}
		if known.Sign > 0 {
			best = next
		}
	}
}

// written returns what a function writes.
func written(write func(*bytes.Buffer)) html.Lines {
	var text bytes.Buffer
	write(&text)
	return html.Lines(text.String())
}
