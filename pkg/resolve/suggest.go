// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// Suggestion is one change to a worker pool after which an image would be found.
type Suggestion struct {
	// Kind says what to change: "version", "image" or "machine-type", suggested in this order.
	Kind string `json:"kind"`
	// Value to change it to: a version, an image as name@version, or the name of a machine type.
	Value string `json:"value"`
	// remark is what a user has to know of a version: that it is deprecated, or a preview, and when it expires. Mostly empty.
	remark string
}

// String returns the suggestion as messages say it: version 1592.9.0 (deprecated).
func (s Suggestion) String() string {
	return s.kind() + " " + s.value()
}

// kind returns what to change, in words: "machine type".
func (s Suggestion) kind() string { return strings.ReplaceAll(s.Kind, "-", " ") }

// value returns what to change it to, with the remark.
func (s Suggestion) value() string {
	if s.remark == "" {
		return s.Value
	}
	return s.Value + " (" + s.remark + ")"
}

// maxSuggestions is how many things that would work an error names (semantics S13).
const maxSuggestions = 3

// bootingType is a usable machine type that meets a request, and what it supports.
type bootingType struct {
	name string
	set  capability.Set
}

// suggest returns up to three changes that would help: first the best of each kind, then the next ones. request is what
// the pool asks for, together with more; its Machine is the zero Set if there is no such machine type. Previews are suggested if nothing
// else helps.
func (p Resolver[R]) suggest(pool provider.Pool, request imageselector.Request, more ...capability.Requirement) []Suggestion {
	var types []Suggestion
	if p.mayHave(&pool) { // else another machine type does not help
		types = p.suggestMachineTypes(pool, request, more)
	}
	if !profile.Suits(request.Machine, pool.Architecture) { // only another machine type can help
		return bestOf(types)
	}
	others, images := p.suggestImages(&pool, request, versions.Choices.Near)
	suggestions := bestOf(others, images, types)
	if len(suggestions) == 0 {
		suggestions = bestOf(p.suggestImages(&pool, request, versions.Choices.Previews))
	}
	return suggestions
}

// bestOf returns up to three suggestions: the first of each kind, then the next ones.
func bestOf(kinds ...[]Suggestion) []Suggestion {
	var suggestions []Suggestion
	for rank := range maxSuggestions {
		for _, kind := range kinds {
			if rank < len(kind) && len(suggestions) < maxSuggestions {
				suggestions = append(suggestions, kind[rank])
			}
		}
	}
	return suggestions
}

// suggestImages returns the best other versions of the image asked for that fit, and the best fitting version of other images:
// first of those that have a supported one, else in the profile's order. choose returns the best of some versions.
func (p Resolver[R]) suggestImages(
	pool *provider.Pool, request imageselector.Request,
	choose func(fitting versions.Choices, version string, most int) []versions.Choice,
) (others, images []Suggestion) {
	var deprecated []Suggestion
	for i := range p.Spec().MachineImages {
		image := &p.Spec().MachineImages[i]
		if image.Name == request.Image {
			for _, c := range choose(p.fittingVersions(image, pool, request), request.Version, maxSuggestions) {
				others = append(others, Suggestion{"version", c.Version, c.Remark})
			}
			continue
		}
		if len(images) == maxSuggestions {
			continue
		}
		for _, c := range choose(p.fittingVersions(image, pool, request), "", 1) {
			suggestion := Suggestion{"image", image.Name + "@" + c.Version, c.Remark}
			if c.Supported {
				images = append(images, suggestion)
			} else {
				deprecated = append(deprecated, suggestion)
			}
		}
	}
	return others, append(images, deprecated...)
}

// wanted is a request of a worker pool for some version of an image, with all else that Gardener compares a version with.
type wanted struct {
	imageselector.Request
	kubelet, runtimes string
}

// refuses reports whether Gardener does not let a worker pool, which may exist, have an image version because of its kubelet, its
// container runtimes or updates in place, or since it is unavailable.
func refuses(pool *provider.Pool, v *v1beta1.MachineImageVersion) bool {
	worker := &v1beta1.Worker{CRI: pool.CRI, UpdateStrategy: &pool.Worker.UpdateStrategy}
	if gardenerrules.UpdatedInPlace(worker) && (v.InPlaceUpdates == nil || !v.InPlaceUpdates.Supported) {
		return true
	}
	return gardenerrules.RefusesImage(v, worker, worker, pool.Kubelet) != gardenerrules.Refusal{}
}

// mayHave reports whether Gardener lets a worker pool have the image version that it names, unless the profile has none of that name.
func (p Resolver[R]) mayHave(pool *provider.Pool) bool {
	v := p.Version(provider.ImageVersion{Image: pool.Image, Version: pool.Version})
	return v == nil || !refuses(pool, v)
}

// Works returns a function that reports whether a worker pool could have a version of an image on a machine type, instead of its own: it
// would boot, see [Boots], and Gardener does not refuse it for the pool's kubelet, container runtimes, zones or way of updating. Nil: the
// pool's providerConfig has an error. The function is not safe for concurrent use.
func Works[R any](p *profile.Profile[R], pool provider.Pool) func(machineType, image, version string) bool {
	if len(p.Ask(pool).Errors) > 0 {
		return nil
	}
	resolver, questions := Resolver[R]{Profile: p}, map[string]profile.Question{}
	lacks := gardenerrules.InRegion(p.Spec(), pool.Region)
	return func(machineType, image, version string) bool {
		asked := pool
		asked.MachineType, asked.Image, asked.Version = machineType, image, version
		q, known := questions[machineType]
		if !known {
			q = p.Ask(asked)
			questions[machineType] = q
		}
		q.Request.Image, q.Request.Version = image, version
		return q.Reason == "" && p.Boots(q.Request) && resolver.mayHave(&asked) && len(lacks.MachineType(machineType, pool.Zones)) == 0
	}
}

// fittingVersions returns the active versions of an image that would meet a request, and that Gardener lets the pool have.
func (p Resolver[R]) fittingVersions(image *v1beta1.MachineImage, pool *provider.Pool, request imageselector.Request) versions.Choices {
	request.Image, request.Version = image.Name, ""
	key := wanted{request, pool.Kubelet, gardenerrules.RuntimesOf(pool.CRI)}
	choices, done := p.versions[key]
	if done {
		return choices
	}
	var fitting []v1beta1.ExpirableVersion
	for i := range image.Versions {
		v := &image.Versions[i]
		request.Version = v.Version
		if versions.Active(v.ExpirableVersion) && !refuses(pool, v) && p.Boots(request) && p.CauseOf("", request) == "" {
			fitting = append(fitting, v.ExpirableVersion)
		}
	}
	choices = versions.NewChoices(fitting)
	if p.versions != nil {
		p.versions[key] = choices
	}
	return choices
}

// suggestMachineTypes returns usable machine types that would meet a request: first the one that is meant if that of the
// pool is misspelt, then those of its architecture, then those that differ from it in fewer capabilities, else in the
// profile's order.
func (p Resolver[R]) suggestMachineTypes(pool provider.Pool, request imageselector.Request, more []capability.Requirement) []Suggestion {
	meant := ""
	if _, found := p.Machine(pool.MachineType); !found {
		meant = p.meantType(pool.MachineType)
	}
	booting := p.bootingTypes(pool, request, more)
	lacks := gardenerrules.InRegion(p.Spec(), pool.Region)
	byRank := make([]ranked, 0, len(booting))
	for _, other := range booting {
		switch {
		case other.name == pool.MachineType, len(lacks.MachineType(other.name, pool.Zones)) > 0:
		case other.name == meant:
			byRank = append(byRank, ranked{other.name, -1})
		default:
			byRank = append(byRank, ranked{other.name, p.differences(request.Machine, other.set)})
		}
	}
	slices.SortStableFunc(byRank, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	var suggestions []Suggestion
	for _, other := range byRank[:min(len(byRank), maxSuggestions)] {
		suggestions = append(suggestions, Suggestion{Kind: "machine-type", Value: other.name})
	}
	return suggestions
}

// ranked is a machine type with its rank among the suggestions, the lowest first.
type ranked struct {
	name string
	rank int
}

// meantType returns the machine type of the profile that a name was probably meant to be; empty if none.
func (p Resolver[R]) meantType(name string) string {
	return words.Slip(name, p.MachineTypes())
}

// meantImage returns the image of the profile that a name was probably meant to be, which may be the same; empty if none.
func (p Resolver[R]) meantImage(name string) string {
	return words.Slip(name, entries.Images(p.Spec()))
}

// differences counts the registered capabilities of which two machine types support other values. The architecture counts
// for more than all others together.
func (p Resolver[R]) differences(a, b capability.Set) int {
	count, known := p.distances[[2]capability.Set{a, b}]
	if known {
		return count
	}
	definitions := p.Vocabulary().Definitions()
	for _, d := range definitions {
		switch {
		case slices.Equal(a.Values(d.Name), b.Values(d.Name)):
		case d.Name == capability.Architecture:
			count += len(definitions)
		default:
			count++
		}
	}
	if p.distances != nil {
		p.distances[[2]capability.Set{a, b}] = count
	}
	return count
}

// asksByType reports whether a setting is about the machine of a worker pool, so that another machine type may ask for something else.
func asksByType(setting capability.Requirement) bool {
	name, _, _ := strings.Cut(setting.Because.String(), ".")
	return name == "machine"
}

// bootingTypes returns the usable machine types that would meet what the pool requests on them, in the profile's order. Mostly that is the
// request itself; but a machine type may ask for something.
func (p Resolver[R]) bootingTypes(pool provider.Pool, request imageselector.Request, more []capability.Requirement) []bootingType {
	request.Machine = capability.Set{}
	typesAsk := slices.ContainsFunc(p.Provider().Workers().Settings(), asksByType)
	if typesAsk { // what it requests whatever its machine type is
		pool.MachineType = ""
		request.Worker = p.Ask(pool, more...).Request.Worker
	}
	key := request
	keep := p.types != nil && pool.Architecture == ""
	if booting, done := p.types[key]; keep && done {
		return booting
	}
	var booting []bootingType
	for _, name := range p.Usable() {
		pool.MachineType = name
		if typesAsk {
			q := p.Ask(pool, more...)
			if q.Reason != "" {
				continue
			}
			request.Worker = q.Request.Worker
		}
		request.Machine, _ = p.MachineFor(&pool)
		if profile.Suits(request.Machine, pool.Architecture) && p.Boots(request) && p.CauseOf(name, request) == "" {
			booting = append(booting, bootingType{name, request.Machine})
		}
	}
	if keep {
		p.types[key] = booting
	}
	return booting
}

// advice says, to follow the error about a pool, which name was probably meant, unless that is all it takes what would work, and
// nothing if the profile has to be repaired first. request is what the pool asks for, together with more.
func (p Resolver[R]) advice(r *Resolution[R], request imageselector.Request, more ...capability.Requirement) string {
	if r.cause != "" {
		return ""
	}
	meant, unmet := "", false
	switch r.Reason {
	case profile.ReasonUnknownMachineType:
		if meant = p.meantType(r.Pool.MachineType); meant != "" {
			pool := r.Pool
			pool.MachineType = meant
			q := p.Ask(pool, more...)
			request, unmet = q.Request, len(q.Unmet) > 0
		}
	case imageselector.ReasonUnknownImage:
		meant = p.meantImage(r.Pool.Image)
		request.Image = meant
	}
	unknown := meant == "" || meant == r.Pool.Image // which the provider config lacks
	switch work := wouldWork(r.Suggestions); {
	case work == "" && r.lacking != "" && r.Pool.Name != "": // else somebody asks about the machine type
		return "; choose a machine type that has it, or have the profile's operator correct " + r.lacking + " of this one"
	case unknown && work == "":
		return ""
	case unknown:
		return "; " + work
	case work == "" || !unmet && p.Boots(request) && profile.Suits(request.Machine, r.Pool.Architecture):
		return words.DidYouMean(meant)
	default:
		return words.DidYouMean(meant) + " " + work
	}
}

// wouldWork puts suggestions into words; empty if there are none.
func wouldWork(suggestions []Suggestion) string {
	if len(suggestions) == 0 {
		return ""
	}
	kinds, values := []string{}, map[string][]string{}
	for _, s := range suggestions {
		if values[s.Kind] == nil {
			kinds = append(kinds, s.Kind)
		}
		values[s.Kind] = append(values[s.Kind], s.value())
	}
	for i, kind := range kinds {
		kinds[i] = Suggestion{Kind: kind}.kind() + " " + words.Or(values[kind])
	}
	separator := "; or " // none of them is for another one
	if len(suggestions) == 2 {
		separator = " or "
	}
	return "would work: " + strings.Join(kinds, separator)
}
