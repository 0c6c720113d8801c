// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/pkg/provider"
)

// Use is the key of an image version of a profile, KIND [NAMESPACE/]NAME, in [Uses].
func Use(profile, image, version string) string { return profile + " " + image + "@" + version }

// Uses says who uses which image version of which profile, by what [Use] returns.
type Uses map[string][]string

// Add adds a user of a version, once.
func (u Uses) Add(key, by string) {
	if !slices.Contains(u[key], by) {
		u[key] = append(u[key], by)
	}
}

// AddShoots adds the Shoots among inputs, in their order.
func (u Uses) AddShoots(g *input.Given) {
	for _, s := range g.Shoots.All {
		for _, pool := range provider.PoolsOf(Completed(g, s.Object)) {
			for _, profile := range ProfilesOf(g, s.Object) {
				u.Add(Use(profile, pool.Image, pool.Version), "Shoot "+s.Name)
			}
		}
	}
}

// In returns what says who uses an image version of a profile.
func (u Uses) In(profile string) func(image, version string) []string {
	return func(image, version string) []string { return u[Use(profile, image, version)] }
}

// Completed returns a Shoot with the images that it leaves to Gardener.
func Completed(g *input.Given, shoot *v1beta1.Shoot) *v1beta1.Shoot {
	if p, _ := g.ProfileOf(shoot); p != nil {
		shoot, _ = g.FilledIn(p, shoot)
	}
	return shoot
}

// ProfilesOf returns the profile of a Shoot, KIND [NAMESPACE/]NAME, and the parent of that.
func ProfilesOf(g *input.Given, shoot *v1beta1.Shoot) []string {
	kind, name, _ := input.ProfileNameOf(shoot)
	if kind != "NamespacedCloudProfile" {
		return []string{"CloudProfile " + name}
	}
	name = shoot.Namespace + "/" + name
	profiles := []string{kind + " " + name}
	if s := g.Namespaced.ByName[name]; s != nil && s.Object != nil {
		profiles = append(profiles, "CloudProfile "+s.Object.Spec.Parent.Name)
	}
	return profiles
}
