// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package clouds is the table of this module's providers, and the only place that names them all; providers by description are in package
// described. The command, the generators, and the tests of laws for every cloud use it. A new provider is added here, and otherwise only in
// its own folders.
package clouds

import (
	"cmp"
	"slices"

	"github.com/capkit/capkit/pkg/alicloud"
	"github.com/capkit/capkit/pkg/aws"
	"github.com/capkit/capkit/pkg/azure"
	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/gcp"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// All returns the providers, sorted by type. The caller owns the slice.
func All() []provider.Provider[any] {
	all := []provider.Provider[any]{
		provider.Untyped(alicloud.Provider{}),
		provider.Untyped(aws.Provider{}),
		provider.Untyped(azure.Provider{}),
		provider.Untyped(gcp.Provider{}),
		provider.Untyped(local.Provider{}),
		provider.Untyped(openstack.With(gardenerlib.Library{})),
	}
	for _, cloud := range described.BuiltIn() {
		all = append(all, provider.Untyped(cloud))
	}
	slices.SortFunc(all, func(a, b provider.Provider[any]) int { return cmp.Compare(a.Type(), b.Type()) })
	return all
}
