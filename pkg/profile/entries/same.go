// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package entries

import (
	"maps"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/imageselector"
)

// SameReferences reports whether two flavors have the same references, in the same order.
func SameReferences[R any](a, b *imageselector.Flavor[R]) bool {
	if (a.Global == nil) != (b.Global == nil) || a.Global != nil && !reflect.DeepEqual(a.Global.Ref, b.Global.Ref) {
		return false
	}
	return slices.EqualFunc(a.Regional, b.Regional, func(x, y imageselector.Regional[R]) bool {
		return x.Region == y.Region && reflect.DeepEqual(x.Ref, y.Ref)
	})
}

// SameValues reports whether two flavors have the same capabilities with the same values, in any order.
func SameValues(a, b v1beta1.Capabilities) bool {
	within := func(values, others []string) bool {
		return !slices.ContainsFunc(values, func(value string) bool { return !slices.Contains(others, value) })
	}
	return maps.EqualFunc(a, b, func(values, others v1beta1.CapabilityValues) bool {
		return within(values, others) && within(others, values)
	})
}
