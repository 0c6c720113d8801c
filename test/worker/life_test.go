// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/seed"
)

// zoned returns a pool change that sets its zones.
func zoned(zones ...string) func(*extensionsv1alpha1.WorkerPool) {
	return func(p *extensionsv1alpha1.WorkerPool) { p.Zones = zones }
}

// sized returns a Worker change that sets the size of its first pool.
func sized(size int32) func(*extensionsv1alpha1.Worker) {
	return func(w *extensionsv1alpha1.Worker) { seed.Size(size, size)(&w.Spec.Pools[0]) }
}

// updated returns a Worker change that updates the first pool's image version like the gardenlet, with another node agent.
func updated(version string) func(*extensionsv1alpha1.Worker) {
	return func(w *extensionsv1alpha1.Worker) {
		p := &w.Spec.Pools[0]
		p.MachineImage.Version, p.NodeAgentSecretName = version, ptr.To("gardener-node-agent-"+p.Name+"-"+version)
	}
}

func TestPoolsAreScaled(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	create(t, shoot, pool("web", "virt", "1.0.0", seed.Size(2, 2)), pool("arm", "arm", "1.0.0"))
	before := expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1"}, "arm": {"arm-1"}})
	expectUnchanged(t, shoot)

	reconcile(t, shoot, sized(3))
	after := names(expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1", "amd-1"}, "arm": {"arm-1"}}))
	for _, name := range names(before) {
		if !slices.Contains(after, name) {
			t.Errorf("%s is replaced when its pool is scaled up", name)
		}
	}
	reconcile(t, shoot, sized(1))
	for _, name := range names(expectMachines(t, shoot, map[string][]string{"web": {"amd-1"}, "arm": {"arm-1"}})) {
		if !slices.Contains(after, name) {
			t.Errorf("%s is new although its pool was scaled down", name)
		}
	}
}

// Machines have the root disk and networks of their machine class.
func TestVolumesAndPorts(t *testing.T) {
	t.Parallel()
	const bare = `{name: bare, cpu: "8", gpu: "0", memory: 16Gi, `
	shoot := newShoot(t, &seed.ShootOptions{Profile: profileOf(t, profileSpec, bare, bare+"storage: {class: standard, type: local, size: 100Gi}, ")})
	run(t, shoot, ours)
	volume := func(v *extensionsv1alpha1.Volume) func(*extensionsv1alpha1.WorkerPool) {
		return func(p *extensionsv1alpha1.WorkerPool) { p.Volume = v }
	}
	check(t, shoot.Fail(t.Context(), seed.Failures{VolumeTypes: map[string]string{"slow": "Volume type slow could not be found"}}))
	create(t, shoot,
		pool("own", "virt", "1.0.0", volume(nil)),
		pool("sized", "virt", "1.0.0", volume(&extensionsv1alpha1.Volume{Size: "50Gi"})),
		pool("typed", "virt", "1.0.0", volume(&extensionsv1alpha1.Volume{Size: "60Gi", Type: ptr.To("fast")})),
		pool("storage", "bare", "1.0.0", volume(nil)),
		pool("both", "bare", "1.0.0", volume(&extensionsv1alpha1.Volume{Size: "70Gi"})),
	)
	want := map[string]string{"own": "", "sized": "50", "typed": "60 fast", "storage": "100 local", "both": "70 local"}
	for _, m := range expectMachines(t, shoot, map[string][]string{
		"own": {"amd-1"}, "sized": {"amd-1"}, "typed": {"amd-1"}, "storage": {"amd-1"}, "both": {"amd-1"},
	}) {
		if m.Volume != want[m.Pool] {
			t.Errorf("%s boots from volume %q, not %q", m.Pool, m.Volume, want[m.Pool])
		}
		if m.Port != "subnet 100.96.0.0/11" {
			t.Errorf("the port of %s is %q", m.Pool, m.Port)
		}
	}
	// A volume type that the cloud lacks prevents the machine, with an error.
	check(t, shoot.Reconcile(t.Context(), func(w *extensionsv1alpha1.Worker) {
		w.Spec.Pools = append(w.Spec.Pools, pool("slow", "virt", "1.0.0", volume(&extensionsv1alpha1.Volume{Size: "50Gi", Type: ptr.To("slow")})))
	}))
	eventually(t, func(ctx context.Context) error {
		machines, err := shoot.Machines(ctx)
		if err == nil && !slices.ContainsFunc(machines, func(m seed.Machine) bool { return strings.Contains(m.Message, "Volume type slow could not be found") }) {
			err = fmt.Errorf("no machine says so: %+v", machines)
		}
		return err
	})
}

func TestMachinesAreSpreadOverZones(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	create(t, shoot, pool("web", "bare", "2.0.0", seed.Size(4, 4), zoned("europe-1c", "europe-1a", "europe-1b")))
	zones := map[string]int{}
	for _, m := range expectMachines(t, shoot, map[string][]string{"web": {"bare-2", "bare-2", "bare-2", "bare-2"}}) {
		zones[m.Zone]++
	}
	if zones["europe-1c"] != 2 || zones["europe-1a"] != 1 || zones["europe-1b"] != 1 {
		t.Errorf("the machines are in %v", zones)
	}
}

// The test judges a roll by its machines. The generic actuator may wait for another machine set until its timeout if
// machine-controller-manager was faster. A restarted controller does not.
func TestAnotherVersionRolls(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	c := run(t, shoot, ours)
	create(t, shoot, pool("web", "virt", "1.0.0", seed.Size(3, 3)))
	before := names(expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1", "amd-1"}}))
	check(t, shoot.Reconcile(t.Context(), updated("2.0.0")))
	for _, name := range names(expectMachines(t, shoot, map[string][]string{"web": {"virt-2", "virt-2", "virt-2"}})) {
		if slices.Contains(before, name) {
			t.Errorf("%s boots another image and has the same name", name)
		}
	}
	c.stop()
	run(t, shoot, ours)
	reconcile(t, shoot, nil)
	classes, err := shoot.Classes(t.Context())
	check(t, err)
	if len(classes) != 1 || classes[0].Labels["operatingSystemVersion"] != "2.0.0" {
		t.Errorf("the classes that are left: %v", classes)
	}
	expectUnchanged(t, shoot)
}

func TestAPoolIsRemoved(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	create(t, shoot, pool("web", "virt", "1.0.0"), pool("gone", "arm", "1.0.0"))
	before := expectMachines(t, shoot, map[string][]string{"web": {"amd-1"}, "gone": {"arm-1"}})
	worker := reconcile(t, shoot, func(w *extensionsv1alpha1.Worker) { w.Spec.Pools = w.Spec.Pools[:1] })
	after := expectMachines(t, shoot, map[string][]string{"web": {"amd-1"}})
	if !slices.Contains(names(before), after[0].Name) {
		t.Error("the machine of the pool that stays is replaced")
	}
	if records := string(worker.Status.ProviderStatus.Raw); !strings.Contains(records, "amd-1") || strings.Contains(records, "arm-1") {
		t.Errorf("the status says %s", records)
	}
	for name := range versionsOf(t, shoot) {
		if strings.Contains(name, "-gone-") {
			t.Errorf("%s is left", name)
		}
	}
}

// expectDeleted deletes the Worker and waits until nothing of it is left.
func expectDeleted(t testing.TB, shoot *seed.Shoot) {
	t.Helper()
	worker, err := shoot.Get(t.Context())
	check(t, err)
	check(t, theSeed(t).Client().Delete(t.Context(), worker))
	check(t, client.IgnoreNotFound(shoot.Ask(t.Context(), v1beta1constants.GardenerOperationReconcile, nil)))
	expectGone(t, shoot, worker)
}

// expectGone waits until a Worker in deletion is gone, together with its objects and machines.
func expectGone(t testing.TB, shoot *seed.Shoot, worker *extensionsv1alpha1.Worker) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		found := &extensionsv1alpha1.Worker{}
		if err := theSeed(t).Client().Get(ctx, client.ObjectKeyFromObject(worker), found); !apierrors.IsNotFound(err) {
			return errors.Join(fmt.Errorf("%s: %+v, %+v", shoot.Name, found.Status.LastOperation, found.Status.LastError), err)
		}
		return nil
	})
	expectNothingLeft(t, shoot)
}

func expectNothingLeft(t testing.TB, shoot *seed.Shoot) {
	t.Helper()
	for name := range versionsOf(t, shoot) {
		if strings.Contains(name, shoot.Name) {
			t.Errorf("%s is left", name)
		}
	}
	secret := &corev1.Secret{}
	check(t, client.IgnoreNotFound(theSeed(t).Client().Get(t.Context(), client.ObjectKey{Namespace: shoot.Name, Name: seed.Credentials}, secret)))
	if len(secret.Finalizers) > 0 {
		t.Errorf("the credentials have finalizers: %v", secret.Finalizers)
	}
	nodes := &corev1.NodeList{}
	check(t, theSeed(t).Client().List(t.Context(), nodes))
	for _, node := range nodes.Items {
		if strings.Contains(node.Spec.ProviderID, "/"+shoot.Name+"/") {
			t.Errorf("node %s is left", node.Name)
		}
	}
}

func TestAWorkerIsDeleted(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	create(t, shoot, pool("web", "virt", "1.0.0", seed.Size(2, 2)), pool("named", "virt", "3.0.0"))
	expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1"}, "named": {"gl-3"}})
	expectDeleted(t, shoot)
}

func TestAShootIsHibernatedAndWokenUp(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	create(t, shoot, pool("web", "virt", "1.0.0", seed.Size(2, 2)))
	expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1"}})

	check(t, shoot.Hibernate(t.Context(), true))
	reconcile(t, shoot, nil)
	expectMachines(t, shoot, map[string][]string{})
	manager := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: shoot.Name, Name: v1beta1constants.DeploymentNameMachineControllerManager}
	check(t, theSeed(t).Client().Get(t.Context(), key, manager))
	if ptr.Deref(manager.Spec.Replicas, 1) != 0 {
		t.Error("machine-controller-manager is not scaled down")
	}
	check(t, shoot.Hibernate(t.Context(), false))
	reconcile(t, shoot, nil)
	expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1"}})
}
