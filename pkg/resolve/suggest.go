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
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// Suggestion is one change to a worker pool with which it would get an image.
type Suggestion struct {
	// Kind is the thing to change: "version", "image" or "machine-type". Suggestions come in this order.
	Kind string `json:"kind"`
	// Value is the new value: a version, an image as name@version, or the name of a machine type.
	Value string `json:"value"`
	// remark is a caveat about a version, for example that it is deprecated, is a preview, or expires on a date. It is usually empty.
	remark string
}

// String returns the suggestion in the words of messages: version 1592.9.0 (deprecated).
func (s Suggestion) String() string {
	return s.kind() + " " + s.value()
}

// kind returns the thing to change, in words: "machine type".
func (s Suggestion) kind() string { return strings.ReplaceAll(s.Kind, "-", " ") }

// value returns the new value with the remark.
func (s Suggestion) value() string {
	if s.remark == "" {
		return s.Value
	}
	return s.Value + " (" + s.remark + ")"
}

// maxSuggestions is the number of suggestions in an error (semantics S13).
const maxSuggestions = 3

// bootingType is a usable machine type that meets a request, with its capabilities.
type bootingType struct {
	name string
	set  capability.Set
}

// suggest returns up to three changes that would help: the best of each kind, then the next ones. request is the pool's request, including
// more. Its Machine is the zero Set if the machine type is unknown. Previews are suggested only if nothing else helps.
func (p Resolver[R]) suggest(pool provider.Pool, request imageselector.Request, more ...capability.Requirement) []Suggestion {
	var types []Suggestion
	if p.mayHave(&pool) { // otherwise another machine type does not help
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

// suggestImages returns the best fitting versions of the requested image, and the best fitting version of each other image. Images with a
// supported version come first, then the others, both in the profile's order. choose returns the best of some versions.
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

// wanted is a worker pool's request without a version, with the other properties that Gardener compares with a version.
type wanted struct {
	imageselector.Request
	kubelet, runtimes string
}

// refuses reports whether Gardener refuses an image version for a worker pool, which may exist: because of its kubelet, container runtimes
// or updates in place, or because the version is unavailable.
func refuses(pool *provider.Pool, v *v1beta1.MachineImageVersion) bool {
	worker := &v1beta1.Worker{CRI: pool.CRI, UpdateStrategy: &pool.Worker.UpdateStrategy}
	if gardenerrules.UpdatedInPlace(worker) && (v.InPlaceUpdates == nil || !v.InPlaceUpdates.Supported) {
		return true
	}
	return gardenerrules.RefusesImage(v, worker, worker, pool.Kubelet) != gardenerrules.Refusal{}
}

// mayHave reports whether Gardener lets a worker pool use its image version. It is true if the profile lacks the version.
func (p Resolver[R]) mayHave(pool *provider.Pool) bool {
	v := p.Version(provider.ImageVersion{Image: pool.Image, Version: pool.Version})
	return v == nil || !refuses(pool, v)
}

// Works returns a function that reports whether a worker pool could use an image version on a machine type instead of its own. The pool
// must boot (see [Boots]), and Gardener must not refuse it because of its kubelet, container runtimes, zones or update strategy. Works
// returns nil if the pool's providerConfig has an error. The function is not safe for concurrent use.
func Works[R any](p *profile.Profile[R], pool provider.Pool) func(machineType, image, version string) bool {
	if len(p.Ask(pool).Errors) > 0 {
		return nil
	}
	resolver, questions := Resolver[R]{Profile: p}, map[string]profile.Question{}
	lacks := gardenerrules.InRegion(p.Spec(), pool.Region)
	return func(machineType, image, version string) bool {
		asked := pool
		asked.MachineType, asked.Image, asked.Version = machineType, image, version
		q := memo.Get(questions, machineType, func() profile.Question { return p.Ask(asked) })
		q.Request.Image, q.Request.Version = image, version
		return q.Reason == "" && p.Boots(q.Request) && resolver.mayHave(&asked) && len(lacks.MachineType(machineType, pool.Zones)) == 0
	}
}

// fittingVersions returns the active versions of an image that meet a request, that Gardener does not refuse for the pool, and that have no
// error in the profile.
func (p Resolver[R]) fittingVersions(image *v1beta1.MachineImage, pool *provider.Pool, request imageselector.Request) versions.Choices {
	request.Image, request.Version = image.Name, ""
	return memo.Get(p.versions, wanted{request, pool.Kubelet, gardenerrules.RuntimesOf(pool.CRI)}, func() versions.Choices {
		var fitting []v1beta1.ExpirableVersion
		for i := range image.Versions {
			v := &image.Versions[i]
			request.Version = v.Version
			if versions.Active(v.ExpirableVersion) && !refuses(pool, v) && p.Boots(request) && p.CauseOf("", request) == "" {
				fitting = append(fitting, v.ExpirableVersion)
			}
		}
		return versions.NewChoices(fitting)
	})
}

// suggestMachineTypes returns usable machine types that meet a request. If the profile lacks the pool's machine type, the one that was
// probably meant comes first, and then those with the longest common beginning of their names. Otherwise those of the same architecture come
// first, ordered by the number of differing capabilities. Ties are in the profile's order.
func (p Resolver[R]) suggestMachineTypes(pool provider.Pool, request imageselector.Request, more []capability.Requirement) []Suggestion {
	meant := ""
	_, known := p.Machine(pool.MachineType)
	if !known {
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
		case !known:
			byRank = append(byRank, ranked{other.name, len(pool.MachineType) - alike(pool.MachineType, other.name)})
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

// alike returns the number of bytes at the beginning of two names that are equal.
func alike(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// ranked is a machine type with its rank among the suggestions. The lowest rank comes first.
type ranked struct {
	name string
	rank int
}

// meantType returns the machine type of the profile that a name probably misspells, or "".
func (p Resolver[R]) meantType(name string) string {
	return words.Slip(name, p.MachineTypes())
}

// differences counts the registered capabilities for which two machine types have different values. The architecture outweighs all others
// together.
func (p Resolver[R]) differences(a, b capability.Set) int {
	return memo.Get(p.distances, [2]capability.Set{a, b}, func() (count int) {
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
		return count
	})
}

// asksByType reports whether a setting is about a worker pool's machine, so that its requirement may depend on the machine type.
func asksByType(setting capability.Requirement) bool {
	name, _, _ := strings.Cut(setting.Because.String(), ".")
	return name == "machine"
}

// bootingTypes returns the usable machine types, in the profile's order, that meet the pool's request. If a provider setting depends on the
// machine type, the request is evaluated for each.
func (p Resolver[R]) bootingTypes(pool provider.Pool, request imageselector.Request, more []capability.Requirement) []bootingType {
	request.Machine = capability.Set{}
	typesAsk := slices.ContainsFunc(p.Provider().Workers().Settings(), asksByType)
	if typesAsk { // requirements that do not depend on the machine type
		pool.MachineType = ""
		request.Worker = p.Ask(pool, more...).Request.Worker
	}
	known := p.types
	if pool.Architecture != "" {
		known = nil
	}
	return memo.Get(known, request, func() (booting []bootingType) {
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
		return booting
	})
}

// advice returns two continuations of the error about a pool: a hint, such as the name that was probably meant, and the suggestions, if that
// does not suffice. Both are empty if the profile has to be repaired first. request is the pool's request, including more.
func (p Resolver[R]) advice(r *Resolution[R], request imageselector.Request, more ...capability.Requirement) (hint, work string) {
	if r.cause != "" {
		return "", ""
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
		meant = words.Slip(r.Pool.Image, entries.Images(p.Spec())) // the image itself if the profile has it
		request.Image = meant
	}
	unknown := meant == "" || meant == r.Pool.Image // then only the provider config lacks it
	switch work = wouldWork(r.Suggestions); {
	case work == "" && r.lacking != "" && r.Pool.Name != "": // without a name, the question is about the machine type
		return "; choose a machine type that has it, or have the profile's operator correct " + r.lacking + " of this one", ""
	case unknown && work == "":
		return p.instead(r), ""
	case unknown:
		return "", "; " + work
	case work == "" || !unmet && p.Boots(request) && profile.Suits(request.Machine, r.Pool.Architecture):
		return words.DidYouMean(meant), ""
	default:
		return words.DidYouMean(meant), " " + work
	}
}

// instead continues the error about a machine type or image that the profile does not have with what it has. It returns "" for other errors,
// for a pool that names no image, and for an image that is only not mapped.
func (p Resolver[R]) instead(r *Resolution[R]) string {
	var has []string
	switch images := entries.Images(p.Spec()); {
	case r.Reason == profile.ReasonUnknownMachineType:
		has = p.Usable()
	case r.Reason == imageselector.ReasonUnknownImage && r.Pool.Image != "" && !slices.Contains(images, r.Pool.Image):
		has = images
	}
	if len(has) == 0 {
		return ""
	}
	return "; it has " + words.Few(has)
}

// wouldWork formats suggestions, or returns "" if there are none.
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
	separator := "; or " // the kinds are alternatives
	if len(suggestions) == 2 {
		separator = " or "
	}
	return "would work: " + strings.Join(kinds, separator)
}
