// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package namespaced computes the CloudProfile that a NamespacedCloudProfile and its parent result in (semantics S11): with what
// Gardener's controller merges, and with the provider config that admission merges into the status. Nobody needs to wait for the
// status, which may be older than the two.
//
// The functions change none of their arguments, share no memory with them, and may be called concurrently. Start reading at
// [Render].
package namespaced

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

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
	changes, err := render.Config(cloud, spec.MachineCapabilities, object, spec.ProviderConfig)
	if err != nil {
		return spec, err
	}
	config, err := render.Apply(changes, spec.ProviderConfig)
	if err == nil {
		spec.ProviderConfig = config
	}
	return spec, err
}

// Merge returns what Gardener's controller writes into the status of a NamespacedCloudProfile, its parent being as the
// API server has it. The provider config is the parent's; changing it is left to others. Architectures, which Gardener
// lists in an order that changes from run to run, are sorted.
func Merge(object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile) *v1beta1.CloudProfileSpec {
	return gardenerrules.Merge(&object.Spec, &parent.Spec)
}

// Compile returns the profile that a NamespacedCloudProfile and its parent result in, both being as the API server has them. It is the
// only way in which a NamespacedCloudProfile is compiled. A provider config that cannot be rendered is left out, as it is in the
// status; the error is that of [Render].
func Compile[R any](
	cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile,
) (*profile.Profile[R], error) {
	spec, err := Render(cloud, object, parent)
	compiled, _ := profile.Compile(cloud, spec, nil)
	return compiled, err
}
