// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/extensions"
	"github.com/gardener/gardener/pkg/utils/gardener/shootstate"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capkit/capkit/internal/testing/fakenova"
	"github.com/capkit/capkit/test/seed"
)

// When a control plane moves, Gardener takes along machines, machine sets, and the objects in status.resources. Here Gardener's own code
// moves them.
func TestControlPlaneMigration(t *testing.T) {
	t.Parallel()
	openstack := fakenova.New(t, false)
	o := inOpenStack(t, openstack)
	o.Profile = profileOf(t, profileSpec, "https://keystone.example.com/v3/", openstack.Keystone(),
		"{architecture: [amd64], hypervisor: [virtualized]}, {architecture: [amd64], hypervisor: [baremetal]}]",
		"{architecture: [amd64], hypervisor: [baremetal]}]",
		"      - {capabilities: {architecture: [amd64], hypervisor: [virtualized]}, regions: [{name: europe, id: virt-2}]}\n", "")
	shoot := newShoot(t, o)
	c := run(t, shoot, ours)
	create(t, shoot, pool("kept", "any", "2.0.0", seed.Size(2, 2)), pool("listed", "virt", "1.0.0"), pool("group", "virt", "1.0.0", grouped("affinity")))
	want := map[string][]string{"kept": {"bare-2", "bare-2"}, "listed": {"amd-1"}, "group": {"amd-1"}}
	machines := names(expectMachines(t, shoot, want))

	// By now the one pool could boot a better flavor, and the version of the others is no longer listed.
	later := profileOf(t, profileSpec, "https://keystone.example.com/v3/", openstack.Keystone(), listed1, "", provided1, "")
	check(t, shoot.ChangeProfile(t.Context(), func(p *v1beta1.CloudProfile) { p.Spec = later.Spec }))
	worker := reconcile(t, shoot, nil)
	status, classes := providerStatus(t, worker), classesOf(t, shoot)

	check(t, shoot.ScaleManager(t.Context(), 0))
	check(t, shoot.Ask(t.Context(), v1beta1constants.GardenerOperationMigrate, nil))
	expectSucceeded(t, shoot)
	eventually(t, func(context.Context) error { // the controller's last step, after it has reported success
		if finalizers := mustGet(t, shoot).Finalizers; len(finalizers) > 0 {
			return fmt.Errorf("the Worker has finalizers: %q", finalizers)
		}
		return nil
	})
	c.stop()
	state := stateOf(t, shoot)
	empty(t, shoot)
	restore(t, shoot, state, &extensionsv1alpha1.Worker{Spec: worker.Spec})
	run(t, shoot, ours)
	worker = expectSucceeded(t, shoot)

	if diff := gocmp.Diff(machines, names(expectMachines(t, shoot, want))); diff != "" {
		t.Errorf("the machines (-before +after):\n%s", diff)
	}
	if diff := gocmp.Diff(classes, classesOf(t, shoot)); diff != "" {
		t.Errorf("the machine classes (-before +after):\n%s", diff)
	}
	if diff := gocmp.Diff(status, providerStatus(t, worker)); diff != "" {
		t.Errorf("the status (-before +after):\n%s", diff)
	}
	if groups := openstack.Groups(); len(groups) != 1 {
		t.Errorf("the server groups: %v", groups)
	}
	expectUnchanged(t, shoot)
	reconcile(t, shoot, func(w *extensionsv1alpha1.Worker) {
		seed.Size(3, 3)(&w.Spec.Pools[0])
		seed.Size(2, 2)(&w.Spec.Pools[1])
	})
	expectMachines(t, shoot, map[string][]string{"kept": {"bare-2", "bare-2", "bare-2"}, "listed": {"amd-1", "amd-1"}, "group": {"amd-1"}})
}

// classesOf returns the machine classes' fields that determine machines, by name.
func classesOf(t testing.TB, shoot *seed.Shoot) map[string]string {
	t.Helper()
	classes, err := shoot.Classes(t.Context())
	check(t, err)
	found := map[string]string{}
	for _, class := range classes {
		var spec any
		check(t, json.Unmarshal(class.ProviderSpec.Raw, &spec))
		found[class.Name] = asJSON(t, spec)
	}
	return found
}

// stateOf returns the ShootState that the gardenlet writes into the garden.
func stateOf(t testing.TB, shoot *seed.Shoot) *v1beta1.ShootState {
	t.Helper()
	garden := fake.NewClientBuilder().WithScheme(seed.Scheme()).Build()
	owner := &v1beta1.Shoot{}
	owner.Namespace, owner.Name = "garden-worker", shoot.Name
	check(t, garden.Create(t.Context(), owner))
	check(t, shootstate.Deploy(t.Context(), clock.RealClock{}, garden, theSeed(t).Client(), owner, shoot.Name, true))
	state := &v1beta1.ShootState{}
	check(t, garden.Get(t.Context(), client.ObjectKeyFromObject(owner), state))
	return state
}

// empty deletes the objects of a Worker but not its servers, like on a seed that the gardenlet has moved it from.
func empty(t testing.TB, shoot *seed.Shoot) {
	t.Helper()
	c := theSeed(t).Client()
	worker := mustGet(t, shoot)
	check(t, c.Delete(t.Context(), worker))
	lists := append(seed.Decisive(), &corev1.ConfigMapList{})
	for _, list := range lists {
		check(t, c.List(t.Context(), list, client.InNamespace(shoot.Name)))
		check(t, meta.EachListItem(list, func(o runtime.Object) error {
			object := o.(client.Object)
			if name := object.GetName(); name == seed.Credentials || name == seed.UserData {
				return nil
			}
			patch := client.MergeFrom(object.DeepCopyObject().(client.Object))
			object.SetFinalizers(nil)
			if err := c.Patch(t.Context(), object, patch); err != nil {
				return err
			}
			return client.IgnoreNotFound(c.Delete(t.Context(), object))
		}))
	}
	eventually(t, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(worker), worker); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the Worker is still there: %w", err)
		}
		machines := &machinev1alpha1.MachineList{}
		if err := c.List(ctx, machines, client.InNamespace(shoot.Name)); err != nil || len(machines.Items) > 0 {
			return fmt.Errorf("there are %d machines left: %w", len(machines.Items), err)
		}
		return nil
	})
}

// restore creates the Worker like the gardenlet on the new seed.
func restore(t testing.TB, shoot *seed.Shoot, state *v1beta1.ShootState, worker *extensionsv1alpha1.Worker) {
	t.Helper()
	worker.Namespace, worker.Name = shoot.Name, seed.WorkerName
	check(t, extensions.RestoreExtensionWithDeployFunction(t.Context(), theSeed(t).Client(), state, extensionsv1alpha1.WorkerResource,
		func(ctx context.Context, operation string) (extensionsv1alpha1.Object, error) {
			return worker, shoot.Create(ctx, worker, operation)
		}))
}
