// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package namespaced computes the CloudProfile that results from merging a NamespacedCloudProfile into its parent (semantics S11). It
// combines the merge of Gardener's controller with the provider config that admission merges into the status. Callers need not wait for the
// status, which may be older than the two objects.
//
// All functions are safe for concurrent use, and do not modify their arguments. Except for compiled profiles, results share no memory with
// the arguments. Start reading at [Render].
package namespaced

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/render"
)

// Render returns the CloudProfile spec that results from a NamespacedCloudProfile and its parent, both as stored by the API server. It
// ignores the status of the object. If one of the provider configs is malformed, it returns an error, and a spec with the parent's provider
// config, as in the status.
func Render[R any](
	cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile,
) (*v1beta1.CloudProfileSpec, error) {
	spec := Merge(object, parent)
	return spec, renderInto(spec, cloud, object)
}

// renderInto merges the provider config of a NamespacedCloudProfile into the parent's, which spec holds.
func renderInto[R any](spec *v1beta1.CloudProfileSpec, cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile) error {
	config, err := render.Merged(cloud, spec.MachineCapabilities, object, spec.ProviderConfig)
	if err == nil {
		spec.ProviderConfig = config
	}
	return err
}

// Merge returns the spec that Gardener's controller writes into the status of a NamespacedCloudProfile, given its parent as stored by the
// API server. The provider config is the parent's. Architectures are sorted, because Gardener lists them in a random order.
func Merge(object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile) *v1beta1.CloudProfileSpec {
	return gardenerrules.Merge(&object.Spec, &parent.Spec)
}

// Compile returns the profile that results from a NamespacedCloudProfile and its parent, both as stored by the API server. It keeps the
// parent, which must not be modified afterwards. If the provider configs cannot be merged, it uses the parent's, as in the status, and
// returns the error of [Render]. Callers that have compiled the parent use [Extend].
func Compile[R any](
	cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile,
) (*profile.Profile[R], error) {
	compiled, _ := profile.Compile(cloud, &parent.Spec, field.NewPath("spec"))
	return Extend(compiled, object)
}

// Extend is like [Compile], with a compiled parent. NamespacedCloudProfiles are compiled here only. If the object only adds to its parent,
// Extend reads and compares just the additions.
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
