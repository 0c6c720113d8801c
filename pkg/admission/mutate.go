// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"gomodules.xyz/jsonpatch/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/render"
)

// filled turns core flavors into changes of an object.
func filled(flavors []profile.Filled) []jsonpatch.Operation {
	patch := make([]jsonpatch.Operation, 0, len(flavors))
	for _, f := range flavors {
		path := fmt.Sprintf("/spec/machineImages/%d/versions/%d/capabilityFlavors", f.Image, f.Version)
		patch = append(patch, jsonpatch.NewOperation("add", path, f.Flavors))
	}
	return patch
}

// fillCloudProfile fills in the core flavors of CloudProfiles (semantics S12), unless an update leaves the spec alone.
func (c *component[R]) fillCloudProfile(
	_ context.Context, object *v1beta1.CloudProfile, old func() (*v1beta1.CloudProfile, error),
) ([]jsonpatch.Operation, error) {
	if object.Spec.Type != c.provider.Type() {
		return nil, nil
	}
	flavors := profile.FillCloudProfile(c.provider, &object.Spec)
	if len(flavors) == 0 {
		return nil, nil
	}
	if before, err := old(); err != nil || before != nil && sameCloudProfile(object, before) {
		return nil, err
	}
	return filled(flavors), nil
}

// fillNamespacedCloudProfile fills in those of the versions that NamespacedCloudProfiles define (semantics S12).
func (c *component[R]) fillNamespacedCloudProfile(
	ctx context.Context, object *v1beta1.NamespacedCloudProfile, old func() (*v1beta1.NamespacedCloudProfile, error),
) ([]jsonpatch.Operation, error) {
	if len(object.Spec.MachineImages) == 0 || object.Spec.ProviderConfig == nil {
		return nil, nil
	}
	if before, err := old(); err != nil || before != nil && sameNamespacedCloudProfile(object, before) {
		return nil, err
	}
	parent, _, err := c.parentOf(ctx, object)
	if err != nil || parent == nil { // it is for the validation to deny
		return nil, err
	}
	return filled(profile.FillNamespacedCloudProfile(c.provider, object, parent.Spec())), nil
}

// renderStatus merges the provider config of a NamespacedCloudProfile into the one that Gardener has copied from its
// parent into the status (semantics S11).
func (c *component[R]) renderStatus(
	ctx context.Context, object *v1beta1.NamespacedCloudProfile, _ func() (*v1beta1.NamespacedCloudProfile, error),
) ([]jsonpatch.Operation, error) {
	status := &object.Status.CloudProfileSpec
	if object.Generation != object.Status.ObservedGeneration || status.Type != c.provider.Type() {
		return nil, nil // Gardener has yet to render the spec as it is
	}
	found, err := render.Config(c.provider, status.MachineCapabilities, object, status.ProviderConfig)
	if err != nil { // a config that nobody can read; it must not keep Gardener from writing the rest of the status
		reason := shown(err.Error(), maxErrorText)
		log.FromContext(ctx).Info("Not merging the provider config into the status", "reason", reason)
		return nil, nil
	}
	patch := make([]jsonpatch.Operation, 0, len(found))
	for _, c := range found {
		patch = append(patch, jsonpatch.NewOperation(c.Op, "/status/cloudProfileSpec/providerConfig"+c.Path, c.Value))
	}
	return patch, nil
}
