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
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/render"
)

// changes returns what is to be changed in an object that is about to be written; old returns the one that is stored,
// nil on creation. The error is about what that needs, and no fault of the object.
type changes[T any, P object[T]] func(ctx context.Context, object P, old func() (P, error)) ([]render.Change, error)

// mutating returns the handler that answers with a patch of exactly these changes.
func mutating[T any, P object[T]](kind schema.GroupVersionKind, changes changes[T, P]) admission.Handler {
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

// filled turns core flavors into changes of an object. An update that leaves the rest of the spec alone changes
// nothing.
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

// cloudProfileFilling fills in the core flavors of CloudProfiles (semantics S12).
type cloudProfileFilling[R any] struct{ provider provider.Provider[R] }

func (c cloudProfileFilling[R]) changes(
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

// namespacedFilling fills in the core flavors of the versions that NamespacedCloudProfiles define (semantics S12).
type namespacedFilling[R any] struct {
	provider provider.Provider[R]
	lookup   *lookup[R]
}

func (c namespacedFilling[R]) changes(
	ctx context.Context, object *v1beta1.NamespacedCloudProfile, old func() (*v1beta1.NamespacedCloudProfile, error),
) ([]render.Change, error) {
	if len(object.Spec.MachineImages) == 0 || object.Spec.ProviderConfig == nil {
		return nil, nil
	}
	if before, err := old(); err != nil || before != nil && sameNamespacedCloudProfile(object, before) {
		return nil, err
	}
	parent, _, err := c.lookup.cloudProfile(ctx, object.Spec.Parent.Name, field.NewPath("spec", "parent", "name"))
	if err != nil || parent == nil { // it is for the validation to deny
		return nil, err
	}
	return filled(consistency.FillNamespacedCloudProfile(c.provider, object, parent.spec))
}

// rendering merges the provider config of a NamespacedCloudProfile into the one that Gardener has copied from its
// parent into the status (semantics S11).
type rendering[R any] struct{ provider provider.Provider[R] }

func (r rendering[R]) changes(
	ctx context.Context, object *v1beta1.NamespacedCloudProfile, _ func() (*v1beta1.NamespacedCloudProfile, error),
) ([]render.Change, error) {
	status := &object.Status.CloudProfileSpec
	if object.Generation != object.Status.ObservedGeneration || status.Type != r.provider.Type() {
		return nil, nil // Gardener has yet to render the spec as it is
	}
	found, err := render.Config(r.provider, status.MachineCapabilities, object, status.ProviderConfig)
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
