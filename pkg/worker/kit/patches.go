// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// WithoutEmptyPatches returns a manager whose client does not send patches that change nothing, and that is otherwise the same. It is for
// genericactuator.NewActuator, which patches each machine deployment in each reconciliation, even if it is unchanged: for a Worker with 100
// pools in 3 zones, this saves 300 requests.
func WithoutEmptyPatches(mgr manager.Manager) manager.Manager { return sparingManager{mgr} }

type sparingManager struct{ manager.Manager }

// GetClient returns the manager's client, without empty patches.
func (m sparingManager) GetClient() client.Client { return sparing{m.Manager.GetClient()} }

// sparing is a client without empty patches.
type sparing struct{ client.Client }

// Patch patches an object if that changes anything. If not, the object stays as it is, even if it no longer exists in the cluster.
func (s sparing) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if empty, err := isEmpty(obj, patch); empty || err != nil {
		return err
	}
	return s.Client.Patch(ctx, obj, patch, opts...)
}

// Status returns the client for the status, without empty patches.
func (s sparing) Status() client.SubResourceWriter { return sparingStatus{s.Client.Status()} }

type sparingStatus struct{ client.SubResourceWriter }

// Patch patches a status if that changes anything.
func (s sparingStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if empty, err := isEmpty(obj, patch); empty || err != nil {
		return err
	}
	return s.SubResourceWriter.Patch(ctx, obj, patch, opts...)
}

// isEmpty reports whether a patch changes nothing, which a merge patch shows as an empty object.
func isEmpty(obj client.Object, patch client.Patch) (bool, error) {
	data, err := patch.Data(obj)
	return err == nil && string(data) == "{}", err
}

// patchChanged patches an object if that changes anything.
func patchChanged(ctx context.Context, c client.Client, obj client.Object, patch client.Patch) error {
	return sparing{c}.Patch(ctx, obj, patch)
}
