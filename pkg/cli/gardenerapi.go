// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/reserved"
	"github.com/capkit/capkit/pkg/consistency"
)

// reservedFlag adds the flag of the commands that run Gardener's own validation.
func reservedFlag(cmd *cobra.Command, reservedInCore *bool) {
	cmd.Flags().BoolVar(reservedInCore, "reserved-in-core", false,
		"check as a Gardener would that accepts the reserved gardener- capabilities of GEP-0054 in machineCapabilities, "+
			"machine types and core flavors; v1.150 refuses them")
}

// validate returns what Gardener's API server says about a CloudProfile, or a NamespacedCloudProfile without its
// parent.
func (g *garden) validate(object runtime.Object) field.ErrorList {
	if g.reservedInCore {
		return reserved.Validate(object)
	}
	return withHints(object, gardener.Validate(object))
}

// validateNamespaced returns what it says about a NamespacedCloudProfile and its parent. own is what our rules say
// about the object; what says the same is left out.
func (g *garden) validateNamespaced(
	object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, own field.ErrorList,
) field.ErrorList {
	repeated := func(err *field.Error) bool { return repeats(err, own) }
	if g.reservedInCore {
		return reserved.ValidateNamespaced(object, parent, repeated)
	}
	return withHints(object, gardener.ValidateNamespaced(object, parent, repeated))
}

// repeats reports whether an error of Gardener's says about an inherited version what one of ours says.
func repeats(err *field.Error, own field.ErrorList) bool {
	version, overridden := strings.CutSuffix(err.Field, ".capabilityFlavors")
	if !overridden {
		version, overridden = strings.CutSuffix(err.Field, ".architectures")
	}
	return overridden && slices.ContainsFunc(own, func(o *field.Error) bool {
		return o.Origin == consistency.RuleVersionInherited && strings.HasPrefix(o.Field, version+".")
	})
}

// withHints says, where core refuses one of Gardener's own capabilities in an object, where to declare it.
func withHints(object runtime.Object, errs field.ErrorList) field.ErrorList {
	profile, _ := object.(*v1beta1.CloudProfile)
	for _, err := range errs {
		name, _ := err.BadValue.(string)
		hint := "; "
		var i int
		_, other := fmt.Sscanf(err.Field, "spec.machineCapabilities[%d].name", &i)
		if other == nil && profile != nil && err.Type == field.ErrorTypeForbidden { // to register it
			name, hint = profile.Spec.MachineCapabilities[i].Name, "; leave it out: "
		}
		if reserved.Is(name) {
			err.Detail += hint + name + " is known without being registered, and declared on flavors of the provider config only"
		}
	}
	return errs
}
