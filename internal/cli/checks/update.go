// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/reserved"
)

// ValidateUpdate returns the errors of Gardener's API server for an update of a CloudProfile, with hints. The inputs determine its
// version.
func ValidateUpdate(g *input.Given, updated, old *v1beta1.CloudProfile) field.ErrorList {
	if g.ReservedInCore {
		return withHints(updated, reserved.ValidateUpdate(&g.Server, updated, old))
	}
	return withHints(updated, g.Server.ValidateUpdate(updated, old))
}

// ValidateNamespacedUpdate returns the errors of Gardener's API server for an update of a NamespacedCloudProfile with a parent. own are
// the errors of other rules, whose duplicates are left out.
func ValidateNamespacedUpdate(
	g *input.Given, updated, old *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, own field.ErrorList,
) field.ErrorList {
	repeated := func(err *field.Error) bool { return repeats(err, own) }
	if g.ReservedInCore {
		return withHints(updated, reserved.ValidateNamespacedUpdate(&g.Server, updated, old, parent, repeated))
	}
	return withHints(updated, g.Server.ValidateNamespaced(updated, old, parent, repeated))
}
