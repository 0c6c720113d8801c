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

// Use returns the key of an image version in [Uses]. profile is KIND [NAMESPACE/]NAME.
func Use(profile, image, version string) string { return profile + " " + image + "@" + version }

// Uses maps image versions of profiles, by [Use], to their users.
type Uses map[string][]string

// Add adds a user of a version, unless it is there.
func (u Uses) Add(key, by string) {
	if !slices.Contains(u[key], by) {
		u[key] = append(u[key], by)
	}
}

// AddShoots adds the Shoots among the inputs as users, in their order.
func (u Uses) AddShoots(g *input.Given) {
	for _, s := range g.Shoots.All {
		for _, pool := range provider.PoolsOf(Completed(g, s.Object)) {
			for _, profile := range ProfilesOf(g, s.Object) {
				u.Add(Use(profile, pool.Image, pool.Version), "Shoot "+s.Name)
			}
		}
	}
}

// In returns a function that returns the users of an image version in a profile.
func (u Uses) In(profile string) func(image, version string) []string {
	return func(image, version string) []string { return u[Use(profile, image, version)] }
}

// Completed returns a Shoot with the images that Gardener fills in.
func Completed(g *input.Given, shoot *v1beta1.Shoot) *v1beta1.Shoot {
	if p, _ := g.ProfileOf(shoot); p != nil {
		shoot, _ = g.FilledIn(p, shoot)
	}
	return shoot
}

// ProfilesOf returns a Shoot's profile as KIND [NAMESPACE/]NAME, and the profile's parent if it has one.
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
