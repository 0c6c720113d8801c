// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/gardener/shootstate"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/capkit/capkit/test/seed"
)

// managerFinalizer is the finalizer of machine-controller-manager.
const managerFinalizer = "machine.sapcloud.io/machine-controller-manager"

// machineType is the machine type of all pools. The profile has images for it, and other images for it with another hypervisor.
const machineType = "medium_4_8"

// need makes the controller need a right. It does not wait until the controller has used it.
type need func(context.Context)

// nothing is the need for rights that the running controller always needs.
func nothing(context.Context) {}

// shoots is the number of shoots so far.
var shoots int

// newShoot creates a shoot without a machine-controller-manager. If it is hibernated, the controller does not wait for machines, either.
func newShoot(ctx context.Context, hibernated bool) *seed.Shoot {
	GinkgoHelper()
	shoots++
	shoot, err := s.NewShoot(ctx, fmt.Sprintf("shoot--rights--%d", shoots), seed.ShootOptions{
		Profile: profile, Change: func(shoot *v1beta1.Shoot) {
			shoot.Spec.Hibernation = &v1beta1.Hibernation{Enabled: &hibernated}
		},
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(shoot.ScaleManager(ctx, 0)).To(Succeed())
	return shoot
}

// newWorker returns a Worker with pools of these names.
func newWorker(shoot *seed.Shoot, names ...string) *extensionsv1alpha1.Worker {
	var pools []extensionsv1alpha1.WorkerPool
	for _, name := range names {
		pools = append(pools, seed.Pool(name, machineType, "gardenlinux", "1877.5.0"))
	}
	return shoot.Worker(pools...)
}

// created creates a Worker.
func created(ctx context.Context) {
	GinkgoHelper()
	shoot := newShoot(ctx, true)
	Expect(shoot.Create(ctx, newWorker(shoot, "web"), "")).To(Succeed())
}

// settled creates a Worker and waits until the controller has reconciled it.
func settled(ctx context.Context, pools ...string) *seed.Shoot {
	GinkgoHelper()
	shoot := newShoot(ctx, true)
	Expect(shoot.Create(ctx, newWorker(shoot, pools...), "")).To(Succeed())
	untilSettled(ctx, shoot)
	return shoot
}

// untilSettled waits until the requested operation has succeeded.
func untilSettled(ctx context.Context, shoot *seed.Shoot) {
	GinkgoHelper()
	Eventually(ctx, shoot.Result).Should(HaveValue(HaveField("Status.LastOperation.State", v1beta1.LastOperationStateSucceeded)))
}

// changed changes the controller's objects, and the machine deployments that it is to write.
func changed(ctx context.Context) {
	GinkgoHelper()
	shoot := settled(ctx, "web")
	classes, err := shoot.Classes(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(classes).To(HaveLen(1))
	secret := &corev1.Secret{}
	Expect(s.Client().Get(ctx, client.ObjectKeyFromObject(&classes[0]), secret)).To(Succeed())
	secret.Data["userData"] = []byte("changed")
	Expect(s.Client().Update(ctx, secret)).To(Succeed())
	classes[0].Provider = "changed"
	Expect(s.Client().Update(ctx, &classes[0])).To(Succeed())
	worker, err := shoot.Get(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, resource := range worker.Status.Resources {
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Name, Name: resource.ResourceRef.Name}}
		Expect(s.Client().Patch(ctx, config, client.RawPatch("application/merge-patch+json", []byte(`{"data":null}`)))).To(Succeed())
	}
	Expect(worker.Status.Resources).NotTo(BeEmpty())
	Expect(shoot.Reconcile(ctx, func(worker *extensionsv1alpha1.Worker) {
		worker.Spec.Pools[0].MaxSurge = intstr.FromInt32(5)
	})).To(Succeed())
}

// replaced replaces a pool by another one.
func replaced(ctx context.Context) {
	GinkgoHelper()
	shoot := settled(ctx, "web")
	Expect(shoot.Reconcile(ctx, func(worker *extensionsv1alpha1.Worker) { worker.Spec.Pools = newWorker(shoot, "db").Spec.Pools })).To(Succeed())
}

// deleted deletes a Worker that has a machine.
func deleted(ctx context.Context) {
	GinkgoHelper()
	shoot := settled(ctx, "web")
	Expect(s.Client().Create(ctx, &machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Name, Name: "web"}})).To(Succeed())
	secret := &corev1.Secret{}
	Expect(s.Client().Get(ctx, client.ObjectKey{Namespace: shoot.Name, Name: seed.Credentials}, secret)).To(Succeed())
	controllerutil.AddFinalizer(secret, managerFinalizer) // like machine-controller-manager while there are classes
	Expect(s.Client().Update(ctx, secret)).To(Succeed())
	worker, err := shoot.Get(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(s.Client().Delete(ctx, worker)).To(Succeed())
}

// restored creates a Worker with a machine whose control plane comes from another seed.
func restored(ctx context.Context) {
	GinkgoHelper()
	shoot := newShoot(ctx, true)
	Expect(shoot.Create(ctx, newWorker(shoot, "web"), v1beta1constants.GardenerOperationWaitForState)).To(Succeed())
	meta := metav1.ObjectMeta{Namespace: shoot.Name, Name: shoot.Name + "-web-z1"}
	state, err := shootstate.MarshalMachineState(&shootstate.MachineState{MachineDeployments: map[string]*shootstate.MachineDeploymentState{
		meta.Name: {
			Replicas: 1, MachineSets: []machinev1alpha1.MachineSet{{ObjectMeta: meta}}, Machines: []machinev1alpha1.Machine{{ObjectMeta: meta}},
		},
	}})
	Expect(err).NotTo(HaveOccurred())
	worker, err := shoot.Get(ctx)
	Expect(err).NotTo(HaveOccurred())
	worker.Status.State = &runtime.RawExtension{Raw: state}
	Expect(s.Client().Status().Update(ctx, worker)).To(Succeed())
	Expect(shoot.Ask(ctx, v1beta1constants.GardenerOperationRestore, nil)).To(Succeed())
}

// anotherImage changes a machine type so that pools get another image, which causes Events.
func anotherImage(ctx context.Context) {
	GinkgoHelper()
	shoot := settled(ctx, "web", "db")
	Expect(shoot.ChangeProfile(ctx, func(profile *v1beta1.CloudProfile) {
		for i := range profile.Spec.MachineTypes {
			if profile.Spec.MachineTypes[i].Name == machineType {
				profile.Spec.MachineTypes[i].Capabilities["hypervisor"] = []string{"baremetal"}
			}
		}
	})).To(Succeed())
	Expect(shoot.ReconcileChange(ctx)).To(Succeed())
}

// doingNothing is a machine-controller-manager that has ignored a machine deployment for minutes. The controller notices that only after
// waiting for another deployment has failed.
func doingNothing(ctx context.Context) {
	GinkgoHelper()
	deployment := &machinev1alpha1.MachineDeployment{}
	Eventually(ctx, func(o Gomega) {
		o.Expect(s.Client().Get(ctx, client.ObjectKey{Namespace: stuck.Name, Name: "stuck"}, deployment)).To(Succeed())
		o.Expect(time.Now()).To(BeTemporally(">", deployment.CreationTimestamp.Add(2*time.Minute)))
	}).WithTimeout(5 * time.Minute).Should(Succeed())

	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: stuck.Name, Name: "manager", Labels: map[string]string{"role": "machine-controller-manager"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "manager"}}},
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: stuck.Name, Name: "default"}}
	for _, object := range []client.Object{account, pod} {
		Expect(client.IgnoreAlreadyExists(s.Client().Create(ctx, object))).To(Succeed())
	}
	if _, err := stuck.Get(ctx); err == nil {
		Expect(stuck.Reconcile(ctx, nil)).To(Succeed())
	} else {
		Expect(stuck.Create(ctx, newWorker(stuck, "web"), "")).To(Succeed())
	}
	key := client.ObjectKey{Namespace: stuck.Name, Name: stuck.Name + "-web-z1"}
	Eventually(ctx, func() error { return s.Client().Get(ctx, key, deployment) }).Should(Succeed())
	deployment.Status.FailedMachines = []*machinev1alpha1.MachineSummary{{Name: "failed", LastOperation: machinev1alpha1.LastOperation{
		State: machinev1alpha1.MachineStateFailed, Type: machinev1alpha1.MachineOperationCreate, Description: "no machine",
	}}}
	Eventually(ctx, func() error {
		status := deployment.Status.DeepCopy()
		if err := s.Client().Get(ctx, key, deployment); err != nil {
			return err
		}
		deployment.Status = *status
		return s.Client().Status().Update(ctx, deployment)
	}).Should(Succeed())
}
