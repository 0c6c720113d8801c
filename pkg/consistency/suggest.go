// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"cmp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// Suggestion is one change to a worker pool after which an image would be found.
type Suggestion struct {
	// Kind of what to change.
	Kind SuggestionKind `json:"kind"`
	// Value to change it to: a version, an image as name@version, or the name of a machine type.
	Value string `json:"value"`
}

// SuggestionKind names what a [Suggestion] changes. Its values are part of the command line's JSON.
type SuggestionKind string

// The kinds, in the order in which they are suggested.
const (
	SuggestVersion     SuggestionKind = "version"
	SuggestImage       SuggestionKind = "image"
	SuggestMachineType SuggestionKind = "machine-type"
)

// maxSuggestions is how many things that would work an error names (semantics S13).
const maxSuggestions = 3

// suggest returns up to three changes that would help: first the best of each kind, then the next ones. machine is what
// the pool's machine type supports, or the zero Set if there is no such machine type; worker is what the pool requests.
func (p *Profile[R]) suggest(pool provider.Pool, machine, worker capability.Set) []Suggestion {
	kinds := [][]Suggestion{p.suggestMachineTypes(pool, machine, worker)}
	if suits(machine, pool.Architecture) { // else only another machine type can help
		kinds = [][]Suggestion{p.suggestVersions(pool, machine, worker), p.suggestImages(pool, machine, worker), kinds[0]}
	}
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

// suggestVersions returns other active versions of the pool's image that fit, newest first.
func (p *Profile[R]) suggestVersions(pool provider.Pool, machine, worker capability.Set) []Suggestion {
	var suggestions []Suggestion
	for i := range p.spec.MachineImages {
		if image := &p.spec.MachineImages[i]; image.Name == pool.Image {
			for _, version := range p.fittingVersions(image, pool, machine, worker) {
				suggestions = append(suggestions, Suggestion{SuggestVersion, version})
			}
		}
	}
	return suggestions[:min(len(suggestions), maxSuggestions)]
}

// suggestImages returns the newest fitting version of every other image, in the profile's order.
func (p *Profile[R]) suggestImages(pool provider.Pool, machine, worker capability.Set) []Suggestion {
	var suggestions []Suggestion
	for i := range p.spec.MachineImages {
		image := &p.spec.MachineImages[i]
		if image.Name == pool.Image || len(suggestions) == maxSuggestions {
			continue
		}
		if versions := p.fittingVersions(image, pool, machine, worker); len(versions) > 0 {
			suggestions = append(suggestions, Suggestion{SuggestImage, image.Name + "@" + versions[0]})
		}
	}
	return suggestions
}

// fittingVersions returns the active versions of an image that the machine type boots in the pool's region, newest
// first; versions that are not semantic come last.
func (p *Profile[R]) fittingVersions(image *v1beta1.MachineImage, pool provider.Pool, machine, worker capability.Set) []string {
	type parsed struct {
		text    string
		version *semver.Version
	}
	var fitting []parsed
	for _, v := range image.Versions {
		if helper.VersionIsActive(v.ExpirableVersion) && p.fits(machine, worker, image.Name, v.Version, pool.Region) {
			version, err := semver.NewVersion(v.Version)
			if err != nil {
				version = &semver.Version{}
			}
			fitting = append(fitting, parsed{v.Version, version})
		}
	}
	slices.SortStableFunc(fitting, func(a, b parsed) int { return cmp.Or(b.version.Compare(a.version), cmp.Compare(a.text, b.text)) })
	versions := make([]string, 0, len(fitting))
	for _, v := range fitting {
		versions = append(versions, v.text)
	}
	return versions
}

// suggestMachineTypes returns usable machine types on which the pool's image version boots, those of the pool's own
// architecture first, else in the profile's order.
func (p *Profile[R]) suggestMachineTypes(pool provider.Pool, machine, worker capability.Set) []Suggestion {
	var alike, others []Suggestion
	for i := range p.spec.MachineTypes {
		t := &p.spec.MachineTypes[i]
		candidate := pool
		candidate.MachineType = t.Name
		set, _ := p.machineOf(candidate)
		if t.Usable != nil && !*t.Usable || t.Name == pool.MachineType || !suits(set, pool.Architecture) ||
			!p.fits(set, worker, pool.Image, pool.Version, pool.Region) {
			continue
		}
		suggestion := Suggestion{SuggestMachineType, t.Name}
		if slices.Equal(set.Values(capability.Architecture), machine.Values(capability.Architecture)) {
			alike = append(alike, suggestion)
		} else {
			others = append(others, suggestion)
		}
	}
	suggestions := slices.Concat(alike, others)
	return suggestions[:min(len(suggestions), maxSuggestions)]
}

// fits reports whether an image version boots in a region on a machine type, for a request.
func (p *Profile[R]) fits(machine, worker capability.Set, image, version, region string) bool {
	return p.all.Choose(imageselector.Request{Image: image, Version: version, Region: region, Machine: machine, Worker: worker}) >= 0
}

// wouldWork puts suggestions into words, to follow an error.
func wouldWork(suggestions []Suggestion) string {
	if len(suggestions) == 0 {
		return ""
	}
	words := make([]string, 0, len(suggestions))
	for _, s := range suggestions {
		words = append(words, strings.ReplaceAll(string(s.Kind), "-", " ")+" "+s.Value)
	}
	return "; would work: " + strings.Join(words, ", ")
}
