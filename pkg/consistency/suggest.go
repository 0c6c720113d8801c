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
	// Kind says what to change: "version", "image" or "machine-type", suggested in this order.
	Kind string `json:"kind"`
	// Value to change it to: a version, an image as name@version, or the name of a machine type.
	Value string `json:"value"`
}

// maxSuggestions is how many things that would work an error names (semantics S13).
const maxSuggestions = 3

// suggest returns up to three changes that would help: first the best of each kind, then the next ones. request is what
// the pool asks for; its Machine is the zero Set if there is no such machine type.
func (p *Profile[R]) suggest(pool provider.Pool, request imageselector.Request) []Suggestion {
	kinds := [][]Suggestion{p.suggestMachineTypes(pool, request)}
	if suits(request.Machine, pool.Architecture) { // else only another machine type can help
		versions, images := p.suggestImages(request)
		kinds = [][]Suggestion{versions, images, kinds[0]}
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

// suggestImages returns the other active versions of the image asked for that fit, newest first, and the newest fitting
// version of other images, in the profile's order.
func (p *Profile[R]) suggestImages(request imageselector.Request) (versions, images []Suggestion) {
	for i := range p.spec.MachineImages {
		image := &p.spec.MachineImages[i]
		if image.Name == request.Image {
			for _, version := range p.fittingVersions(image, request) {
				versions = append(versions, Suggestion{"version", version})
			}
		} else if len(images) < maxSuggestions {
			if fitting := p.fittingVersions(image, request); len(fitting) > 0 {
				images = append(images, Suggestion{"image", image.Name + "@" + fitting[0]})
			}
		}
	}
	return versions, images
}

// fittingVersions returns the active versions of an image that would meet a request, newest first; versions that are
// not semantic come last.
func (p *Profile[R]) fittingVersions(image *v1beta1.MachineImage, request imageselector.Request) []string {
	var fitting []string
	parsed := map[string]*semver.Version{}
	request.Image = image.Name
	for _, v := range image.Versions {
		request.Version = v.Version
		if !helper.VersionIsActive(v.ExpirableVersion) || !p.boots(request) {
			continue
		}
		version, err := semver.NewVersion(v.Version)
		if err != nil {
			version = &semver.Version{}
		}
		fitting, parsed[v.Version] = append(fitting, v.Version), version
	}
	slices.SortFunc(fitting, func(a, b string) int { return cmp.Or(parsed[b].Compare(parsed[a]), cmp.Compare(a, b)) })
	return fitting
}

// suggestMachineTypes returns usable machine types that would meet a request, those of the architecture of the pool's
// first, else in the profile's order.
func (p *Profile[R]) suggestMachineTypes(pool provider.Pool, request imageselector.Request) []Suggestion {
	var alike, others []Suggestion
	own := request.Machine.Values(capability.Architecture)
	for _, name := range p.usable {
		other := pool
		other.MachineType = name
		request.Machine, _ = p.machineOf(other)
		if name == pool.MachineType || !suits(request.Machine, pool.Architecture) || !p.boots(request) {
			continue
		}
		suggestion := Suggestion{"machine-type", name}
		if slices.Equal(request.Machine.Values(capability.Architecture), own) {
			alike = append(alike, suggestion)
		} else {
			others = append(others, suggestion)
		}
	}
	return slices.Concat(alike, others)
}

// boots reports whether some flavor meets a request.
func (p *Profile[R]) boots(request imageselector.Request) bool { return p.all.Choose(request) >= 0 }

// wouldWork puts suggestions into words, to follow an error.
func wouldWork(suggestions []Suggestion) string {
	if len(suggestions) == 0 {
		return ""
	}
	words := make([]string, 0, len(suggestions))
	for _, s := range suggestions {
		words = append(words, strings.ReplaceAll(s.Kind, "-", " ")+" "+s.Value)
	}
	return "; would work: " + strings.Join(words, ", ")
}
