// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/worker/kit"
)

// managerOf is a manager with a client only.
type managerOf struct {
	manager.Manager

	client client.Client
}

func (m managerOf) GetClient() client.Client { return m.client }

func TestWithoutEmptyPatches(t *testing.T) {
	worker, class := aWorker(""), classNamed("a", "1", nil)
	s := seedWith(t, worker, class)
	c := kit.WithoutEmptyPatches(managerOf{client: s}).GetClient()

	before := class.DeepCopy()
	check(t, c.Patch(t.Context(), class, client.MergeFrom(before)))
	check(t, c.Patch(t.Context(), class, client.StrategicMergeFrom(before)))
	check(t, c.Status().Patch(t.Context(), worker, client.MergeFrom(worker.DeepCopy())))
	s.expectWrites(t, 0, "without a change")

	class.Provider = "other"
	check(t, c.Patch(t.Context(), class, client.MergeFrom(before)))
	old := worker.DeepCopy()
	worker.Status.MachineDeploymentsLastUpdateTime, worker.Status.MachineDeployments = nil, []extensionsv1alpha1.MachineDeployment{{Name: "d"}}
	check(t, c.Status().Patch(t.Context(), worker, client.MergeFrom(old)))
	s.expectWrites(t, 2, "with changes")
	s.get(t, class)
	s.get(t, worker)
	if class.Provider != "other" || len(worker.Status.MachineDeployments) != 1 {
		t.Errorf("%+v, %+v", class, worker.Status)
	}
	// A patch with an optimistic lock is not empty: it must fail if the object has changed.
	check(t, c.Patch(t.Context(), class, client.MergeFromWithOptions(class.DeepCopy(), client.MergeFromWithOptimisticLock{})))
	s.expectWrites(t, 1, "with an optimistic lock")
}
