// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/worker"
)

// InFormat returns records in the profile's format: with the architecture if the profile is legacy, and otherwise with capabilities.
// Records have the other format if the profile has gained or lost its capabilities since, and its extension may understand only the
// profile's format. legacy is the result of Vocabulary.Legacy of the compiled profile.
//
// In a legacy profile, the first architecture is used, and a record with only other capabilities stays as it is. A record with neither
// stays as well; all extensions read it as amd64. Implied stays. The arguments are not modified. The caller owns the list, but not the
// capabilities.
func InFormat[R any](records []worker.Record[R], legacy bool) []worker.Record[R] {
	var converted []worker.Record[R]
	for _, r := range records {
		switch architectures := r.Capabilities[capability.Architecture]; {
		case legacy && len(architectures) > 0:
			r.Architecture, r.Capabilities = architectures[0], nil
		case !legacy && len(r.Capabilities) == 0 && r.Architecture != "":
			r.Capabilities = v1beta1.Capabilities{capability.Architecture: {r.Architecture}}
			r.Architecture = ""
		}
		converted = append(converted, r)
	}
	return converted
}

// ReadStatus decodes a Worker's status.providerStatus into status, a pointer to the provider's WorkerStatus. If raw is nil or empty, status
// is left alone. Unknown fields are ignored, because a later release may have written them; another kind is an error. After an error, do
// not use status.
func ReadStatus(raw *runtime.RawExtension, kind schema.GroupVersionKind, status any) error {
	if raw == nil || len(raw.Raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw.Raw, status); err != nil {
		return fmt.Errorf("status.providerStatus of the Worker cannot be read: %w", err)
	}
	var is metav1.TypeMeta
	if err := json.Unmarshal(raw.Raw, &is); err != nil {
		return fmt.Errorf("status.providerStatus of the Worker cannot be read: %w", err)
	}
	if version := kind.GroupVersion().String(); is.APIVersion != version || is.Kind != kind.Kind {
		return fmt.Errorf("status.providerStatus of the Worker is of apiVersion %q and kind %q; only %s of %s can be read",
			is.APIVersion, is.Kind, kind.Kind, version)
	}
	return nil
}

// PatchStatus writes a Worker's status.providerStatus if it differs, and updates the Worker unless there is an error. It patches nothing
// else, because genericactuator and Gardener's controller write other fields of the status.
func PatchStatus(ctx context.Context, c client.Client, worker *extensionsv1alpha1.Worker, status *runtime.RawExtension) error {
	before := worker.DeepCopy()
	worker.Status.ProviderStatus = status
	if err := (sparing{c}).Status().Patch(ctx, worker, client.MergeFrom(before)); err != nil {
		worker.Status.ProviderStatus = before.Status.ProviderStatus
		return fmt.Errorf("writing the status of the Worker: %w", err)
	}
	return nil
}
