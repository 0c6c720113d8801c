// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"fmt"
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

// sheetOf returns the answers of a profile of a name as a page has them, whose texts are added to texts.
func sheetOf(name string, p input.AnyProfile, order capability.Order, texts *html.Texts) html.Profile {
	s := &sheet{
		Matrix: resolve.NewMatrix(p, order), compiled: p, texts: texts, order: order, other: capability.Gardener,
		kinds: map[string]int{}, keys: map[string]int{}, preferences: map[html.Preference]int{},
	}
	if order == capability.Gardener {
		s.other = capability.GEP33
	}
	s.out = html.Profile{
		Name: name, Order: order.String(), OtherOrder: s.other.String(), Regions: append([]string{}, s.Regions()...),
		Groups: []html.Group{}, Versions: []html.Version{}, Requests: []html.Request{}, Preferences: []html.Preference{},
	}
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
	texts        *html.Texts
	order, other capability.Order
	versions     []version
	// kinds of versions, keys of flavors, and preferences, by what tells them apart.
	kinds, keys map[string]int
	preferences map[html.Preference]int
}

// version is what is known of an image version besides its html.Version.
type version struct {
	resolve.Combination
	// supported is what its flavors support.
	supported []capability.Set
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

// indexOf returns the index of a key, which is the next one if it is new.
func indexOf[K comparable](known map[K]int, key K) (index int, isNew bool) {
	index, found := known[key]
	if !found {
		index = len(known)
		known[key] = index
	}
	return index, !found
}

func (s *sheet) addVersions() {
	states := map[[2]string]string{}
	for _, image := range slices.Backward(s.compiled.Spec().MachineImages) {
		for _, v := range slices.Backward(image.Versions) { // of two of one name the first counts
			states[[2]string{image.Name, v.Version}] = stateOf(v.ExpirableVersion)
		}
	}
	for _, of := range s.Versions() {
		v := html.Version{Image: of.Image, Name: of.Version, State: states[[2]string{of.Image, of.Version}], Flavors: []html.Flavor{}}
		flavors, supported := s.Flavors(of), s.Supported(of)
		kind := s.kindOf(flavors)
		v.Kind, _ = indexOf(s.kinds, kind)
		for i := range flavors {
			v.Flavors = append(v.Flavors, s.flavor(kind, &flavors[i], supported[i]))
		}
		s.out.Versions = append(s.out.Versions, v)
		s.versions = append(s.versions, version{of, supported})
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

func (s *sheet) flavor(kind string, flavor *imageselector.Flavor[any], supports capability.Set) html.Flavor {
	declared := s.Vocabulary().Format(flavor.Capabilities)
	f := html.Flavor{
		Declared: s.texts.Add(declared), Supports: s.texts.Add(s.Vocabulary().Format(supports.Capabilities())),
		References: []string{}, Missing: []int{},
	}
	f.Key, _ = indexOf(s.keys, fmt.Sprintf("%s|%s|%v", kind, declared, supports))
	for _, region := range s.Regions() {
		text, missing := "", 0
		if ref, found := flavor.Reference(region); found {
			text = report.Reference(ref)
		} else {
			missing = s.texts.Add(resolve.NoImageIn(flavor, region).String())
		}
		f.References, f.Missing = append(f.References, text), append(f.Missing, missing)
	}
	return f
}

// request returns the answers for a request.
func (s *sheet) request(request int) html.Request {
	worker, more := s.Settings(request)
	r := html.Request{Flag: explainFlag(worker, more), Answers: []html.Answers{}}
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
	for g := range s.out.Groups {
		a := &answers{sheet: s, request: request, types: s.out.Groups[g].Types}
		r.Answers = append(r.Answers, a.all())
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

// answers are those of a group of machine types, for one request.
type answers struct {
	*sheet
	out     html.Answers
	request int
	types   []string
	known   map[int]bool
	// asked is what the machine types are asked with.
	asked imageselector.Request
}

// all returns the answers.
func (a *answers) all() html.Answers {
	a.out = html.Answers{
		Blocks: make([]html.Block, len(a.kinds)), Outcomes: make([]html.Outcome, len(a.keys)),
		Pairs: map[string]int{}, Other: map[int]int{}, Whole: map[int]int{}, Asks: []string{},
	}
	a.known = map[int]bool{}
	for i := range a.versions {
		a.look(i)
	}
	var chosen strings.Builder
	for i := range a.versions {
		of := a.at(i)
		for r, region := range a.sheet.out.Regions {
			of.Region = region
			flavor := a.Choose(of, a.request)
			if flavor < 0 {
				chosen.WriteByte('.')
				a.out.Suggestions = append(a.out.Suggestions, a.texts.AddLines(written(func(w *bytes.Buffer) { ask.PrintSuggestions(w, a.Suggest(of, a.request)) })))
				continue
			}
			chosen.WriteRune('1' + rune(flavor))
			if other := a.ChooseBy(a.other, of, a.request); other != flavor {
				a.out.Other[i*len(a.sheet.out.Regions)+r] = other
			}
			a.compare(i, r)
		}
	}
	a.out.Chosen = chosen.String()
	return a.out
}

// at returns the combination of an image version with the first of the machine types, in the first region.
func (a *answers) at(version int) resolve.Combination {
	of := a.versions[version].Combination
	of.MachineType = a.types[0]
	if len(a.sheet.out.Regions) > 0 {
		of.Region = a.sheet.out.Regions[0]
	}
	return of
}

// look takes down what explain says of an image version, as far as that is not known of others.
func (a *answers) look(version int) {
	v := &a.sheet.out.Versions[version]
	block := &a.out.Blocks[v.Kind]
	news := func(f html.Flavor) bool { return !a.known[f.Key] }
	if len(block.Types) > 0 && len(v.Flavors) > 0 && !slices.ContainsFunc(v.Flavors, news) {
		return
	}
	r := a.Explain(a.at(version), a.request)
	if r.Reason != "" {
		a.out.Whole[version] = a.texts.Add(r.Message)
	}
	e := ask.AnswerFrom(a.compiled, r)
	a.asked, a.out.Settings, a.out.Asks = r.Decision.Request, ask.SettingsText(e), asksFor(a.compiled, &r)
	if len(block.Types) == 0 {
		*block = html.Block{Sides: e.Sets != nil}
		for _, e.MachineType = range a.types {
			e.LeftToDefault = a.compiled.LeftToDefault(e.MachineType)
			block.Types = append(block.Types, a.texts.AddLines(written(func(w *bytes.Buffer) { ask.PrintSupport(w, e) })))
		}
	}
	for i, f := range e.Flavors {
		if f.ExcludedBy == resolve.ByRegion { // which is said of each region
			f.Reason, f.Rejections = "", nil
		}
		o := html.Outcome{Lines: a.texts.AddLines(written(func(w *bytes.Buffer) { ask.PrintOutcome(w, e, f) }))}
		if len(f.Rejections) > 0 {
			o.Clause = a.texts.Add(f.Rejections[0].String())
		}
		key := v.Flavors[i].Key
		a.out.Outcomes[key], a.known[key] = o, true
	}
}

// compare takes down the comparisons that decide what an image version boots in a region.
func (a *answers) compare(version, region int) {
	v, best := &a.sheet.out.Versions[version], -1
	for next := range v.Flavors {
		f := &v.Flavors[next]
		switch {
		case a.out.Outcomes[f.Key].Clause != 0 || f.Missing[region] != 0:
			continue
		case best < 0:
			best = next
			continue
		}
		pair := fmt.Sprintf("%d,%d", v.Flavors[best].Key, f.Key)
		if _, found := a.out.Pairs[pair]; !found {
			sets := a.versions[version].supported
			a.out.Pairs[pair] = a.preference(capability.Compare(sets[best], sets[next], a.asked.Machine, a.asked.Worker, a.order))
		}
		if a.sheet.out.Preferences[a.out.Pairs[pair]].Sign > 0 {
			best = next
		}
	}
}

func (a *answers) preference(p capability.Preference) int {
	preference := html.Preference{Message: a.texts.Add(ask.Decided(p, html.Winner)), Sign: p.Sign}
	i, isNew := indexOf(a.preferences, preference)
	if isNew {
		a.sheet.out.Preferences = append(a.sheet.out.Preferences, preference)
	}
	return i
}

// written returns what a function writes.
func written(write func(*bytes.Buffer)) html.Lines {
	var text bytes.Buffer
	write(&text)
	return html.Lines(text.String())
}
