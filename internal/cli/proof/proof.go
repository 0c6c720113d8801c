// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package proof has common parts of commands that change profiles and prove the result: they read the changed files as inputs, see [Files],
// and apply one update after the other to copies of their inputs, see [CopyOf].
package proof

import (
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/landscape"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
)

// empty returns inputs without objects, in the landscape of g.
func empty(g *input.Given) *input.Given {
	return &input.Given{Providers: g.Providers, Landscape: landscape.Landscape{Server: g.Server}, Namespace: g.Namespace, Names: g.Names.Again()}
}

// CopyOf returns a copy of inputs without their findings. reservedInCore makes it for a Gardener that accepts reserved capabilities in
// core.
func CopyOf(g *input.Given, reservedInCore bool) *input.Given {
	copied := empty(g)
	copied.ReservedInCore = reservedInCore
	g.TakeOver(copied, nil)
	return copied
}

// ForLater reports whether a CloudProfile among the inputs registers a capability that Gardener reserves, so that it needs a later
// Gardener.
func ForLater(g *input.Given) bool {
	return slices.ContainsFunc(g.Profiles.All, func(s *input.Source[v1beta1.CloudProfile]) bool {
		return s.Object != nil && slices.ContainsFunc(s.Object.Spec.MachineCapabilities, func(c v1beta1.CapabilityDefinition) bool {
			return strings.HasPrefix(c.Name, capability.ReservedPrefix)
		})
	})
}

// Linted returns lint's findings about the profiles among the inputs.
func Linted(g *input.Given) []report.Finding {
	for _, s := range g.Profiles.All {
		checks.Profile(g, s)
	}
	for _, s := range g.Namespaced.All {
		checks.Namespaced(g, s)
	}
	return g.Findings
}

// After returns a copy of inputs from [CopyOf], in which profiles can be replaced.
func After(now *input.Given) *input.Given {
	after := empty(now)
	after.ReservedInCore, after.Shoots = now.ReservedInCore, now.Shoots
	after.Profiles, after.Namespaced = now.Profiles.Clone(), now.Namespaced.Clone()
	return after
}

// OfProfile returns the update of a CloudProfile, and replaces it in the inputs after the update.
func OfProfile(now, after *input.Given, becomes *input.Source[v1beta1.CloudProfile]) *changes.Update {
	return &changes.Update{
		Kind: "CloudProfile", Name: becomes.Name, Profile: replace(&now.Profiles, &after.Profiles, becomes), Before: now, After: after,
	}
}

// OfNamespaced is [OfProfile] for a NamespacedCloudProfile.
func OfNamespaced(now, after *input.Given, becomes *input.Source[v1beta1.NamespacedCloudProfile]) *changes.Update {
	return &changes.Update{
		Kind: "NamespacedCloudProfile", Name: becomes.Name, Namespaced: replace(&now.Namespaced, &after.Namespaced, becomes), Before: now, After: after,
	}
}

func replace[T any](now, after *input.Objects[T], becomes *input.Source[T]) *changes.Pair[T] {
	old := now.ByName[becomes.Name]
	updated := becomes.UpdateOf(old.Object)
	after.Replace(updated)
	return &changes.Pair[T]{Old: old, Updated: updated}
}
