// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"errors"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capkit/capkit/internal/testing/fakenova"
	"github.com/capkit/capkit/pkg/openstack/machines/servergroups"
)

// delegateFor returns a delegate for the situation, with a seed that has its Worker and these objects.
func delegateFor(t *testing.T, s *situation, o *fakenova.OpenStack, objects ...client.Object) *delegate {
	t.Helper()
	s.cluster.Shoot.UID = "be9f9c04-7053-4bb2-9883-e28ba6ace0ea"
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), machinev1alpha1.AddToScheme(scheme), extensionsv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	seed := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(s.worker).WithObjects(append(objects, s.worker)...).Build()
	made, err := NewDelegateFactory(seed, seed, nil).WorkerDelegate(t.Context(), s.worker, s.cluster)
	if err != nil {
		t.Fatal(err)
	}
	d := made.(*delegate)
	d.connect = func(ctx context.Context) (servergroups.Compute, error) {
		return servergroups.Connect(ctx, servergroups.Credentials{Secret: o.Secret()}, o.Region)
	}
	return d
}

// If the record of a server group is lost and the group has no members, the group that the machine classes refer to is used. Any other
// one would replace the machines.
func TestServerGroupOfTheMachineClasses(t *testing.T) {
	s, o := situationOf(t, seven), fakenova.New(t, false)
	id := o.Put(s.cluster.Shoot.Status.TechnicalID+"-group-0bQxV7PzKa", "soft-anti-affinity")
	s.status.ServerGroupDependencies[0].ID = id
	before := planned(t, s).pools[6].classes[0]
	s.worker.Status.ProviderStatus = nil
	d := delegateFor(t, s, o, before.DeepCopy())
	if err := d.PreReconcileHook(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := d.status.ServerGroupDependencies; len(got) != 1 || got[0].ID != id || got[0].PoolName != "group" {
		t.Errorf("the record is %+v, of %+v", got, o.Groups())
	}
	s.status = d.status
	if again := planned(t, s).pools[6].classes[0]; again.Name != before.Name {
		t.Errorf("%s is replaced by %s", before.Name, again.Name)
	}
}

// Hooks can be called on their own, and in any order.
func TestEachHookAlone(t *testing.T) {
	for name, hook := range map[string]func(*delegate, context.Context) error{
		"PreReconcileHook": (*delegate).PreReconcileHook, "PostReconcileHook": (*delegate).PostReconcileHook,
		"PreDeleteHook": (*delegate).PreDeleteHook, "PostDeleteHook": (*delegate).PostDeleteHook,
	} {
		t.Run(name, func(t *testing.T) {
			s, o := situationOf(t, seven), fakenova.New(t, false)
			if err := hook(delegateFor(t, s, o), t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// If the process dies just after it creates a server group, the group is not recorded. The next reconciliation of the pool uses it. If
// none follows, deleting the Worker removes it; the deletion does not depend on that.
func TestServerGroupThatWasNotRecorded(t *testing.T) {
	o := fakenova.New(t, false)
	name := ""
	for range 2 { // the second one has no record of the group that the first one created
		s := situationOf(t, seven)
		s.worker.Status.ProviderStatus = nil
		d := delegateFor(t, s, o)
		if err := d.PreReconcileHook(t.Context()); err != nil {
			t.Fatal(err)
		}
		groups := o.Groups()
		if len(groups) != len(d.groupPools()) || len(groups) == 0 {
			t.Fatalf("%d server groups for %d pools", len(groups), len(d.groupPools()))
		}
		name = groups[0].Name
	}
	for _, answers := range []bool{false, true} {
		s := situationOf(t, seven)
		s.worker.Status.ProviderStatus = nil
		d := delegateFor(t, s, o)
		for i := range d.worker.Spec.Pools {
			d.worker.Spec.Pools[i].ProviderConfig = nil
		}
		d.worker.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
		o.Break(func(int, string, string) *fakenova.Fault {
			if answers {
				return nil
			}
			return &fakenova.Fault{Status: 503, Body: "away"}
		})
		if err := d.PostDeleteHook(t.Context()); err != nil {
			t.Fatalf("OpenStack answers: %t: %v", answers, err)
		}
	}
	for _, g := range o.Groups() {
		if g.Name == name {
			t.Errorf("%s is left over", name)
		}
	}
}
