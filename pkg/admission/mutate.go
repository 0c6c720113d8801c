// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/render"
)

// mutating returns the handler that answers with a patch of exactly these changes of an object that is about to be
// written; old returns the one that is stored, nil on creation. The error is no fault of the object.
func mutating[T any, P object[T]](
	kind schema.GroupVersionKind,
	changes func(ctx context.Context, object P, old func() (P, error)) ([]render.Change, error),
) admission.Handler {
	return handle(kind, func(ctx context.Context, object P, old func() (P, error)) admission.Response {
		found, err := changes(ctx, object, old)
		if err != nil {
			return failed(ctx, err)
		}
		patches := make([]jsonpatch.Operation, 0, len(found))
		for _, c := range found {
			patches = append(patches, jsonpatch.NewOperation(c.Op, c.Path, c.Value))
		}
		return admission.Patched("", patches...)
	})
}

// filled turns core flavors into changes of an object.
func filled(flavors []consistency.Filled) ([]render.Change, error) {
	found := make([]render.Change, 0, len(flavors))
	for _, f := range flavors {
		value, err := json.Marshal(f.Flavors)
		if err != nil {
			return nil, fmt.Errorf("writing core flavors: %w", err)
		}
		found = append(found, render.Change{
			Op: "add", Value: value,
			Path: fmt.Sprintf("/spec/machineImages/%d/versions/%d/capabilityFlavors", f.Image, f.Version),
		})
	}
	return found, nil
}

// fillCloudProfile fills in the core flavors of CloudProfiles (semantics S12), unless an update leaves the spec alone.
func (c *component[R]) fillCloudProfile(
	_ context.Context, object *v1beta1.CloudProfile, old func() (*v1beta1.CloudProfile, error),
) ([]render.Change, error) {
	if object.Spec.Type != c.provider.Type() {
		return nil, nil
	}
	flavors := consistency.FillCloudProfile(c.provider, &object.Spec)
	if len(flavors) == 0 {
		return nil, nil
	}
	if before, err := old(); err != nil || before != nil && sameCloudProfile(object, before) {
		return nil, err
	}
	return filled(flavors)
}

// fillNamespacedCloudProfile fills in those of the versions that NamespacedCloudProfiles define (semantics S12).
func (c *component[R]) fillNamespacedCloudProfile(
	ctx context.Context, object *v1beta1.NamespacedCloudProfile, old func() (*v1beta1.NamespacedCloudProfile, error),
) ([]render.Change, error) {
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
	return filled(consistency.FillNamespacedCloudProfile(c.provider, object, parent.spec))
}

// renderStatus merges the provider config of a NamespacedCloudProfile into the one that Gardener has copied from its
// parent into the status (semantics S11).
func (c *component[R]) renderStatus(
	ctx context.Context, object *v1beta1.NamespacedCloudProfile, _ func() (*v1beta1.NamespacedCloudProfile, error),
) ([]render.Change, error) {
	status := &object.Status.CloudProfileSpec
	if object.Generation != object.Status.ObservedGeneration || status.Type != c.provider.Type() {
		return nil, nil // Gardener has yet to render the spec as it is
	}
	found, err := render.Config(c.provider, status.MachineCapabilities, object, status.ProviderConfig)
	if err != nil { // a config that nobody can read; it must not keep Gardener from writing the rest of the status
		reason := cut(err.Error(), maxErrorText)
		log.FromContext(ctx).Info("Not merging the provider config into the status", "reason", reason)
		return nil, nil
	}
	for i := range found {
		found[i].Path = "/status/cloudProfileSpec/providerConfig" + found[i].Path
	}
	return found, nil
}
