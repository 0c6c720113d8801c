// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package proof is how commands that change profiles prove what they made: they apply one update after the other to copies of their inputs.
package proof

import (
	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/landscape"
)

// CopyOf returns a copy of inputs without their findings, for a Gardener that accepts reserved capabilities in core or not.
func CopyOf(g *input.Given, reservedInCore bool) *input.Given {
	copied := &input.Given{
		Providers: g.Providers, Landscape: landscape.Landscape{Server: g.Server}, Namespace: g.Namespace, ReservedInCore: reservedInCore,
	}
	g.TakeOver(copied, nil)
	return copied
}

// After returns a copy of what [CopyOf] returns, in which profiles can be replaced.
func After(now *input.Given) *input.Given {
	return &input.Given{
		Providers: now.Providers, Landscape: landscape.Landscape{Server: now.Server}, Namespace: now.Namespace, Shoots: now.Shoots,
		Profiles: now.Profiles.Clone(), Namespaced: now.Namespaced.Clone(), ReservedInCore: now.ReservedInCore,
	}
}

// Replace puts what an object becomes into the inputs after the update of it, and returns the update.
func Replace[T any](now, after *input.Objects[T], becomes *input.Source[T]) *changes.Pair[T] {
	old := now.ByName[becomes.Name]
	updated := becomes.UpdateOf(old.Object)
	after.Replace(updated)
	return &changes.Pair[T]{Old: old, Updated: updated}
}
