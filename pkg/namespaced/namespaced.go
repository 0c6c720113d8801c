// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package namespaced computes the CloudProfile that a NamespacedCloudProfile and its parent result in (semantics S11): with what
// Gardener's controller merges, and with the provider config that admission merges into the status. Nobody needs to wait for the
// status, which may be older than the two.
//
// The functions change none of their arguments, and may be called concurrently. But for compiled profiles, what they return shares no memory
// with the arguments. Start reading at [Render].
package namespaced

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/render"
)

// Render returns the spec of the CloudProfile that a NamespacedCloudProfile and its parent result in, both being as the
// API server has them. The status of the object does not count. The error says that one of the two provider configs is
// not of the form that all have; the provider config of the spec is then the parent's, as it is in the status.
func Render[R any](
	cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile,
) (*v1beta1.CloudProfileSpec, error) {
	spec := Merge(object, parent)
	return spec, renderInto(spec, cloud, object)
}

// renderInto merges the provider config of a NamespacedCloudProfile into the parent's, which the spec has.
func renderInto[R any](spec *v1beta1.CloudProfileSpec, cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile) error {
	config, err := render.Merged(cloud, spec.MachineCapabilities, object, spec.ProviderConfig)
	if err == nil {
		spec.ProviderConfig = config
	}
	return err
}

// Merge returns what Gardener's controller writes into the status of a NamespacedCloudProfile, its parent being as the
// API server has it. The provider config is the parent's; changing it is left to others. Architectures, which Gardener
// lists in an order that changes from run to run, are sorted.
func Merge(object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile) *v1beta1.CloudProfileSpec {
	return gardenerrules.Merge(&object.Spec, &parent.Spec)
}

// Compile returns the profile that a NamespacedCloudProfile and its parent result in, both being as the API server has them. It keeps the
// parent, which must not be changed any more. A provider config that cannot be rendered is left out, as it is in the status; the error
// is that of [Render]. Who has compiled the parent already calls [Extend].
func Compile[R any](
	cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile,
) (*profile.Profile[R], error) {
	compiled, _ := profile.Compile(cloud, &parent.Spec, field.NewPath("spec"))
	return Extend(compiled, object)
}

// Extend is [Compile] for a parent that is compiled. It is the only way in which a NamespacedCloudProfile is compiled: mostly the profile
// has what the parent has, and only what the object adds is read and compared.
func Extend[R any](parent *profile.Profile[R], object *v1beta1.NamespacedCloudProfile) (*profile.Profile[R], error) {
	spec := gardenerrules.MergeShared(&object.Spec, parent.Spec())
	err := renderInto(spec, parent.Provider(), object)
	if err == nil {
		if extended := profile.Extend(parent, object, spec); extended != nil {
			return extended, nil
		}
	}
	compiled, _ := profile.Compile(parent.Provider(), spec, nil)
	return compiled, err
}
