// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package clouds is the table of the providers of this module: the one place that names them all, but for those by description, which
// package described has. The command, the generators and the tests that hold for every cloud go by it. A new provider is added here, and to
// nothing else outside of its own folders.
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

// All returns the providers, in the order of their types. The caller owns the slice.
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
