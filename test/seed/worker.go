// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"fmt"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WorkerName is the name of the Worker of a shoot, unless it is created under another one.
const WorkerName = "worker"

// Pool returns a worker pool with one machine as the gardenlet writes it, with a zone. The changes are made in this order.
func Pool(name, machineType, image, version string, changes ...func(*extensionsv1alpha1.WorkerPool)) extensionsv1alpha1.WorkerPool {
	pool := extensionsv1alpha1.WorkerPool{
		Name: name, MachineType: machineType, Minimum: 1, Maximum: 1, MaxSurge: intstr.FromInt32(1),
		MachineImage:        extensionsv1alpha1.MachineImage{Name: image, Version: version},
		NodeAgentSecretName: ptr.To("gardener-node-agent-" + name + "-0123456789abcdef"),
		UserDataSecretRef:   corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: UserData}, Key: UserDataKey},
		Labels:              map[string]string{v1beta1constants.LabelWorkerPool: name},
		Volume:              &extensionsv1alpha1.Volume{Size: "20Gi"},
		Zones:               []string{"europe-1a"},
		Architecture:        ptr.To(v1beta1constants.ArchitectureAMD64),
		KubernetesVersion:   ptr.To("1.33.2"),
	}
	for _, change := range changes {
		change(&pool)
	}
	return pool
}

// Size returns a change of a pool.
func Size(minimum, maximum int32) func(*extensionsv1alpha1.WorkerPool) {
	return func(p *extensionsv1alpha1.WorkerPool) { p.Minimum, p.Maximum = minimum, maximum }
}

// InfrastructureStatus is what the infrastructure controller for OpenStack leaves to the worker controller.
const InfrastructureStatus = `{
	"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "InfrastructureStatus",
	"networks": {
		"id": "network", "name": "network", "floatingPool": {"id": "pool", "name": "pool"}, "router": {"id": "router", "ip": "192.0.2.1"},
		"subnets": [{"id": "subnet", "cidr": "10.250.0.0/16", "purpose": "nodes"}]
	},
	"node": {"keyName": "key"},
	"securityGroups": [{"id": "group", "name": "group", "purpose": "nodes"}]
}`

// Worker returns the Worker of a shoot on OpenStack, in region europe. It is not created yet.
func (s *Shoot) Worker(pools ...extensionsv1alpha1.WorkerPool) *extensionsv1alpha1.Worker {
	return &extensionsv1alpha1.Worker{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: WorkerName},
		Spec: extensionsv1alpha1.WorkerSpec{
			DefaultSpec:                  extensionsv1alpha1.DefaultSpec{Type: "openstack"},
			InfrastructureProviderStatus: &runtime.RawExtension{Raw: []byte(InfrastructureStatus)},
			Region:                       "europe",
			SecretRef:                    corev1.SecretReference{Namespace: s.Name, Name: Credentials},
			Pools:                        pools,
		},
	}
}

// Create creates a Worker and asks for an operation, as the gardenlet does; an empty one is reconcile. A status that it has is
// written right after: a controller that is to find it must not run before.
func (s *Shoot) Create(ctx context.Context, worker *extensionsv1alpha1.Worker, operation string) error {
	ask(worker, operation)
	status := worker.Status.DeepCopy()
	if err := s.seed.client.Create(ctx, worker); err != nil || equality.Semantic.DeepEqual(status, &extensionsv1alpha1.WorkerStatus{}) {
		return err
	}
	worker.Status = *status
	return s.seed.client.Status().Update(ctx, worker)
}

// Reconcile changes the Worker and asks for a reconciliation. Nil: nothing changes but that.
func (s *Shoot) Reconcile(ctx context.Context, change func(*extensionsv1alpha1.Worker)) error {
	return s.Ask(ctx, v1beta1constants.GardenerOperationReconcile, change)
}

// ReconcileChange asks for reconciliations until one has made other machine classes than there are: the first ones may find the
// Cluster of before in the cache of the controller.
func (s *Shoot) ReconcileChange(ctx context.Context) error {
	before, err := s.Classes(ctx)
	if err != nil {
		return err
	}
	asked := false
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if !asked {
			asked = true
			return false, s.Reconcile(ctx, nil)
		}
		worker, err := s.Result(ctx)
		if err != nil || worker == nil {
			return false, err
		}
		asked = false
		after, err := s.Classes(ctx)
		return !equality.Semantic.DeepEqual(specs(before), specs(after)), err
	})
}

// specs returns what machine classes say of machines, by their names.
func specs(classes []machinev1alpha1.MachineClass) map[string]string {
	specs := map[string]string{}
	for _, class := range classes {
		specs[class.Name] = string(class.ProviderSpec.Raw)
	}
	return specs
}

// asked is in status.lastOperation until a controller writes that.
const asked = "The seed has asked for an operation."

// Ask changes the Worker and asks for an operation; an empty one is reconcile. Result says what became of it. A controller may
// write to the Worker at the same time.
func (s *Shoot) Ask(ctx context.Context, operation string, change func(*extensionsv1alpha1.Worker)) error {
	worker, err := s.Get(ctx)
	if err != nil {
		return err
	}
	if worker.Status.LastOperation != nil {
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"lastOperation":{"description":%q}}}`, asked))
		if err := s.seed.client.Status().Patch(ctx, worker, patch); err != nil {
			return err
		}
	}
	patch := client.MergeFrom(worker.DeepCopy())
	if change != nil {
		change(worker)
	}
	ask(worker, operation)
	return s.seed.client.Patch(ctx, worker, patch)
}

// Result returns the Worker if what was asked for last has ended, well or not: status.lastOperation says how. It is nil until
// then.
func (s *Shoot) Result(ctx context.Context) (*extensionsv1alpha1.Worker, error) {
	worker, err := s.Get(ctx)
	if err != nil {
		return nil, err
	}
	switch last := worker.Status.LastOperation; {
	case last == nil, last.Description == asked, last.State == v1beta1.LastOperationStateProcessing:
		return nil, nil
	}
	return worker, nil
}

// ask annotates a Worker. The time makes it another one each time.
func ask(worker *extensionsv1alpha1.Worker, operation string) {
	if operation == "" {
		operation = v1beta1constants.GardenerOperationReconcile
	}
	metav1.SetMetaDataAnnotation(&worker.ObjectMeta, v1beta1constants.GardenerOperation, operation)
	metav1.SetMetaDataAnnotation(&worker.ObjectMeta, v1beta1constants.GardenerTimestamp, time.Now().UTC().Format(time.RFC3339Nano))
}

// Get returns the Worker of the shoot.
func (s *Shoot) Get(ctx context.Context) (*extensionsv1alpha1.Worker, error) {
	workers := &extensionsv1alpha1.WorkerList{}
	if err := s.seed.client.List(ctx, workers, client.InNamespace(s.Name)); err != nil {
		return nil, err
	}
	if len(workers.Items) != 1 {
		return nil, fmt.Errorf("%s has %d Workers", s.Name, len(workers.Items))
	}
	return &workers.Items[0], nil
}
