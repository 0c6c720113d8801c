// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"maps"
	"slices"

	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// Provider is a [provider.Provider] whose type of reference the command need not know. [For] makes one.
type Provider = provider.Provider[any]

// anyProfile is a compiled profile of any provider; nil if there is none.
type anyProfile = *profile.Profile[any]

// For makes a provider known to the command.
func For[R any](cloud provider.Provider[R]) Provider { return provider.Untyped(cloud) }

// byType returns providers in the order of their types.
func byType(providers map[string]Provider) []Provider {
	return slices.SortedFunc(maps.Values(providers), func(a, b Provider) int { return cmp.Compare(a.Type(), b.Type()) })
}
