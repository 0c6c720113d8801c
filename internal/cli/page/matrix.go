// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"slices"
	"strings"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/ask"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// The answers of a profile to every possible request of a worker pool: as data, and as texts of a page.

// cell is the answer for one combination. Its JSON is an interface: published fields keep their names and meanings.
type cell struct {
	Image       string `json:"image"`
	Version     string `json:"version"`
	MachineType string `json:"machineType"`
	Region      string `json:"region"`
	// Requested are the requests of the worker pool, without implied ones. It is never nil, so that it is a list in JSON.
	Requested []capability.Requirement `json:"requested"`
	// UnavailableZones are the zones of the region that lack the machine type, which exclude new worker pools. Empty for none.
	UnavailableZones []string `json:"unavailableZones,omitempty"`
	// Reference has the provider's form; nil if no image was found. Error is the reason.
	Reference any    `json:"reference,omitempty"`
	Error     string `json:"error,omitempty"`
}

// cells returns the answers for each image version, machine type, region and request, in this order.
func cells(p input.AnyProfile) []cell {
	m := resolve.NewMatrix(p)
	lacks := map[string]gardenerrules.Unavailability{}
	for _, region := range m.Regions() {
		lacks[region] = gardenerrules.InRegion(p.Spec(), region)
	}
	types, regions, all := m.MachineTypes(), m.Regions(), []cell{}
	for _, of := range m.Versions() {
		for _, of.MachineType = range types {
			for _, of.Region = range regions {
				for request := range m.Requests() {
					all = append(all, cellOf(m, of, request, lacks[of.Region]))
				}
			}
		}
	}
	return all
}

func cellOf(m *resolve.Matrix[any], of resolve.Combination, request int, lacks gardenerrules.Unavailability) cell {
	c := cell{
		UnavailableZones: lacks.MachineType(of.MachineType, lacks.Zones()),
		Image:            of.Image, Version: of.Version, MachineType: of.MachineType, Region: of.Region,
		Requested: append([]capability.Requirement{}, m.Requested(of.MachineType, request)...),
	}
	if chosen := m.Choose(of, request); chosen >= 0 {
		c.Reference, _ = m.Flavors(of)[chosen].Reference(of.Region)
		return c
	}
	c.Error = m.Explain(of, request).Err.Detail
	return c
}

// sheetOf returns the answers of a profile in the form of a page, with the states of its versions at a time.
func sheetOf(name string, p input.AnyProfile, at time.Time) html.Profile {
	s := &sheet{Matrix: resolve.NewMatrix(p), compiled: p, supported: map[string]capability.Set{}}
	order := p.Order()
	s.out = html.Profile{
		Name: name, Order: order.String(), OtherOrder: order.Other().String(), Regions: s.Regions(),
		ByFlag: order != provider.PoliciesOf(p.Provider()).Order,
	}
	for _, types := range s.Groups() {
		isUsable := func(name string) bool { return slices.Contains(p.Usable(), name) }
		s.out.Groups = append(s.out.Groups, html.Group{
			Types: types, Unusable: slices.DeleteFunc(slices.Clone(types), isUsable),
			Capabilities: s.Vocabulary().Format(s.Capabilities(types[0])),
		})
	}
	s.out.Unavailable = unavailable(p.Spec())
	s.addVersions(maintenance.At(p.Spec(), at), at)
	for request := range s.Requests() {
		s.out.Requests = append(s.out.Requests, s.request(request))
	}
	return s.out
}

// unavailable maps region and machine type to a text with the zones that lack the machine type.
func unavailable(profile *v1beta1.CloudProfileSpec) map[string]map[string]string {
	all := map[string]map[string]string{}
	for i := range profile.Regions {
		region := profile.Regions[i].Name
		lacks := gardenerrules.InRegion(profile, region)
		for k := range profile.MachineTypes {
			name := profile.MachineTypes[k].Name
			without := lacks.MachineType(name, lacks.Zones())
			if len(without) == 0 {
				continue
			}
			if all[region] == nil {
				all[region] = map[string]string{}
			}
			all[region][name] = words.Plural(without, "zone") + " " + words.And(without)
		}
	}
	return all
}

// sheet builds a [html.Profile].
type sheet struct {
	*resolve.Matrix[any]
	out      html.Profile
	compiled input.AnyProfile
	// supported maps the kind of a version, followed by the declared capabilities of a flavor, to the supported ones.
	supported map[string]capability.Set
}

// addVersions adds the image versions. then is the profile as of the time at, which determines their states.
func (s *sheet) addVersions(then *v1beta1.CloudProfileSpec, at time.Time) {
	for _, of := range s.Versions() {
		flavors, supported := s.Flavors(of), s.Supported(of)
		core, _ := v1beta1helper.FindMachineImageVersion(s.compiled.Spec().MachineImages, of.Image, of.Version)
		v := html.Version{Image: of.Image, Name: of.Version, Kind: s.kindOf(&core, flavors)}
		stopped, _ := v1beta1helper.FindMachineImageVersion(then.MachineImages, of.Image, of.Version)
		if state := v1beta1helper.CurrentLifecycleClassification(stopped.ExpirableVersion); state != v1beta1.ClassificationSupported {
			v.State, v.Since = string(state), since(core.ExpirableVersion, state)
		}
		v.Next = versions.Ahead(core.ExpirableVersion, at)
		if expiry := versions.ExpiryOf(core.ExpirableVersion); expiry != nil {
			v.Expires = expiry.Format(time.DateOnly)
		}
		var verdicts []imageselector.Verdict[any]
		for i := range flavors {
			f := s.flavor(&flavors[i], supported[i])
			v.Flavors, s.supported[v.Kind+f.Declared] = append(v.Flavors, f), supported[i]
			verdicts = append(verdicts, imageselector.Verdict[any]{Flavor: &flavors[i], Set: supported[i]})
		}
		var undeclared strings.Builder
		ask.PrintUndeclared(&undeclared, s.Vocabulary(), verdicts)
		v.Undeclared = html.Lines(undeclared.String())
		s.out.Versions = append(s.out.Versions, v)
	}
}

// since returns the day on which a stage of a version begins, or "" if it is not set.
func since(v v1beta1.ExpirableVersion, state v1beta1.VersionClassification) string {
	for _, stage := range v.Lifecycle {
		if stage.Classification == state && stage.StartTime != nil {
			return stage.StartTime.UTC().Format(time.DateOnly)
		}
	}
	return ""
}

// kindOf identifies image versions for which explain shows the same capabilities. It lists the unregistered worker capabilities that
// their flavors declare, and says whether core supports updates in place, which gives flavors another undeclared value (semantics S3).
func (s *sheet) kindOf(core *v1beta1.MachineImageVersion, flavors []imageselector.Flavor[any]) string {
	var kind strings.Builder
	if core.InPlaceUpdates != nil && core.InPlaceUpdates.Supported {
		kind.WriteString("in place ")
	}
	for _, d := range s.Vocabulary().WorkerCapabilities() {
		declares := func(f imageselector.Flavor[any]) bool {
			_, declared := texts.Declared(f.Capabilities, d.Name)
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
	if len(more) > 0 && !provider.FollowsFromPool(more[0]) {
		workers := s.compiled.Provider().Workers()
		config := configAsking(workers, more[0])
		r.Config, r.Rolling = html.Lines(config), html.Lines(rollingOf(workers, config))
	}
	r.Label = strings.Join(ask.Settings(append(worker.Requirements(nil), more...)), ", ")
	r.Answers = func(yield func(html.Answers) bool) {
		for _, g := range s.out.Groups {
			if !yield(s.answers(request, g.Types)) {
				return
			}
		}
	}
	return r
}

// explainFlag returns the flag of explain for a request.
func explainFlag(worker capability.Worker, more []capability.Requirement) string {
	switch {
	case worker.SecureBoot:
		return "--secure-boot"
	case worker.UpdateStrategy != "":
		return "--update-strategy " + string(worker.UpdateStrategy)
	case worker.GPU != nil:
		return "--gpu " + *worker.GPU
	case len(more) > 0 && !provider.FollowsFromPool(more[0]):
		return "--worker-config workerconfig.yaml"
	case len(more) > 0 && more[0].Because.String() == "volume":
		return "--volume 50Gi"
	}
	return ""
}

// asksFor returns the settings that cause requirements which the profile does not ignore. It never returns nil.
func asksFor(p input.AnyProfile, requirements []capability.Requirement) []string {
	return ask.Settings(slices.DeleteFunc(slices.Clone(requirements), p.Vocabulary().Ignores))
}

// asksAndBoots returns Asks and Boots of [html.Pools] for a worker pool.
func asksAndBoots(p input.AnyProfile, pool provider.Pool) (asks []string, boots string) {
	q := p.Ask(pool)
	if len(q.Errors) > 0 {
		return nil, ""
	}
	if r := resolve.Pool(p, pool); r.Err == nil {
		boots = report.Reference(r.Reference)
	}
	return asksFor(p, q.Requirements), boots
}

// answers returns the answers for a group of machine types and one request.
func (s *sheet) answers(request int, types []string) html.Answers {
	a := &answers{
		sheet: s, request: request, types: types, Answers: html.Answers{Kinds: map[string]html.Kind{}, Whole: map[int]string{}},
	}
	for i := range s.out.Versions {
		a.look(i)
		a.compare(&s.out.Versions[i])
		a.addCells(&s.out.Versions[i])
	}
	return a.Answers
}

// answers builds [html.Answers].
type answers struct {
	*sheet
	html.Answers
	request int
	types   []string
	// asked is the request in the decisions about the machine types.
	asked imageselector.Request
}

// at returns the combination of an image version with the first machine type, in the first region.
func (a *answers) at(v *html.Version) resolve.Combination {
	of := resolve.Combination{Image: v.Image, Version: v.Name, MachineType: a.types[0]}
	if len(a.out.Regions) > 0 {
		of.Region = a.out.Regions[0]
	}
	return of
}

// look adds the texts of explain for an image version, unless another version has the same.
func (a *answers) look(version int) {
	v := &a.out.Versions[version]
	kind, known := a.Kinds[v.Kind]
	isNew := func(f html.Flavor) bool { _, known := kind.Outcomes[f.Declared]; return !known }
	if known && len(v.Flavors) > 0 && !slices.ContainsFunc(v.Flavors, isNew) {
		return
	}
	r := a.Explain(a.at(v), a.request)
	a.Settings, a.Asks = ask.SettingsText(r.Requirements), asksFor(a.compiled, r.Requirements)
	if r.Reason != "" {
		a.Whole[version] = r.Message
	} else {
		a.asked = r.Decision.Request
	}
	if !known {
		kind = html.Kind{Outcomes: map[string]html.Outcome{}, Comparisons: map[string]html.Preference{}}
		for _, r.Pool.MachineType = range a.types {
			kind.Support = append(kind.Support, written(func(w *bytes.Buffer) { kind.Sides = ask.PrintSupport(w, a.compiled, &r) }))
		}
		a.Kinds[v.Kind] = kind
	}
	for i := range r.Decision.Verdicts {
		verdict := &r.Decision.Verdicts[i]
		if verdict.Reason == imageselector.ReasonRegion { // each region has its own text
			verdict.Reason = ""
		}
		o := html.Outcome{Lines: written(func(w *bytes.Buffer) { ask.PrintOutcome(w, a.compiled, &r, verdict, kind.Sides) })}
		if out := resolve.Rejections(verdict, r.Pool.Region); len(out) > 0 {
			o.Clause = out[0].String()
		}
		kind.Outcomes[v.Flavors[i].Declared] = o
	}
}

// addCells adds the image that an image version boots in each region.
func (a *answers) addCells(v *html.Version) {
	cells, of := make([]html.Cell, len(a.out.Regions)), a.at(v)
	for i := range cells {
		c := &cells[i]
		of.Region = a.out.Regions[i]
		if c.Flavor = a.Choose(of, a.request); c.Flavor < 0 {
			c.Advice = written(func(w *bytes.Buffer) { ask.PrintSuggestions(w, a.Suggest(of, a.request)) })
			continue
		}
		c.Other = a.ChooseBy(a.compiled.Order().Other(), of, a.request)
	}
	a.Cells = append(a.Cells, cells)
}

// compare adds the comparisons of an image version's flavors that fit the machine types.
func (a *answers) compare(v *html.Version) {
	kind := a.Kinds[v.Kind]
	var fitting []string
	for _, f := range v.Flavors {
		if outcome, seen := kind.Outcomes[f.Declared]; seen && outcome.Clause == "" {
			fitting = append(fitting, f.Declared)
		}
	}
	for i, next := range fitting {
		for _, best := range fitting[:i] {
			if _, known := kind.Comparisons[best+next]; !known {
				p := capability.Compare(a.supported[v.Kind+best], a.supported[v.Kind+next], a.asked.Machine, a.asked.Worker, a.compiled.Order())
				kind.Comparisons[best+next] = html.Preference{Message: ask.Decided(p, html.Winner), Sign: p.Sign}
			}
		}
	}
}

// written returns the output of a function.
func written(write func(*bytes.Buffer)) html.Lines {
	var text bytes.Buffer
	write(&text)
	return html.Lines(text.String())
}
