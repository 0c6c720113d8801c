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

// InFormat returns records, which are not changed, in the format of the profile: the architecture if it is legacy, and else
// capabilities. Records are in the other one if they are from before the profile had capabilities, or from when it had some, and
// its extension may understand no other than that of the profile. Legacy is what Vocabulary.Legacy says of the compiled profile.
// In a legacy profile the first architecture counts, and a record with other capabilities only stays as it is; so does
// one that says neither, which all extensions take for amd64. Implied stays. The caller owns the list, but not the capabilities.
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

// ReadStatus decodes the status.providerStatus of a Worker into a pointer to the provider's WorkerStatus. Nothing, which is nil or
// empty, leaves it as it is. Fields that it does not know do not matter, as a later release may have written them; another
// kind does, and is an error. After an error the status is not to be used.
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

// PatchStatus writes the status.providerStatus of a Worker, if it has another one, and changes the Worker accordingly, unless there is an
// error. It patches nothing else, since genericactuator and Gardener's controller write other fields of the status.
func PatchStatus(ctx context.Context, c client.Client, worker *extensionsv1alpha1.Worker, status *runtime.RawExtension) error {
	before := worker.DeepCopy()
	worker.Status.ProviderStatus = status
	if err := (sparing{c}).Status().Patch(ctx, worker, client.MergeFrom(before)); err != nil {
		worker.Status.ProviderStatus = before.Status.ProviderStatus
		return fmt.Errorf("writing the status of the Worker: %w", err)
	}
	return nil
}
