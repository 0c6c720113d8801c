// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// NewActuator returns an actuator that wraps generic, which genericactuator.NewActuator made with the same factory. It also completes the
// deletion of a Worker without machine classes. genericactuator does not: it waits until machine-controller-manager uses the credentials,
// which that only does for a class. There is no class if the first reconciliation has failed, for example because no image fits. Such a
// deletion returns an error while the credentials are still held. The delegate's PostDeleteHook, the only method called then, cleans up the
// cloud.
//
// It deletes with the client, and looks for machines with the reader, which must not answer from a cache. It is safe for concurrent use if
// generic and factory are.
func NewActuator(
	generic extensionsworker.Actuator, factory genericactuator.DelegateFactory, c client.Client, reader client.Reader,
) extensionsworker.Actuator {
	return &actuator{Actuator: generic, factory: factory, client: c, reader: reader}
}

type actuator struct {
	extensionsworker.Actuator

	factory genericactuator.DelegateFactory
	client  client.Client
	reader  client.Reader
}

// Delete deletes the objects of a Worker.
func (a *actuator) Delete(
	ctx context.Context, log logr.Logger, worker *extensionsv1alpha1.Worker, cluster *extensionscontroller.Cluster,
) error {
	has, err := a.hasMachines(ctx, worker.Namespace)
	if err != nil {
		return err
	}
	if has {
		return a.Actuator.Delete(ctx, log, worker, cluster)
	}
	log.Info("There is no machine, nor anything that machines are made of")
	ofClasses := client.MatchingLabels(purpose())
	if err := a.client.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(worker.Namespace), ofClasses); err != nil {
		return fmt.Errorf("deleting secrets of machine classes: %w", err)
	}
	if err := a.released(ctx, worker.Spec.SecretRef); err != nil {
		return err
	}
	delegate, err := a.factory.WorkerDelegate(ctx, worker, cluster)
	if err != nil {
		return err
	}
	return delegate.PostDeleteHook(ctx)
}

// These are the finalizers with which machine-controller-manager and the drivers of clouds hold the credentials, as in genericactuator.
const (
	managerFinalizer = "machine.sapcloud.io/machine-controller-manager"
	driverFinalizer  = "machine.sapcloud.io/machine-controller"
)

// released returns an error while machine-controller-manager holds the credentials, which it does for some time after the last machine
// class. genericactuator waits for that only for some minutes, and there are no machine classes on its next call.
// machine-controller-manager is removed with the Worker, so nothing would remove its finalizer afterwards.
func (a *actuator) released(ctx context.Context, credentials corev1.SecretReference) error {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: credentials.Namespace, Name: credentials.Name}
	if err := client.IgnoreNotFound(a.reader.Get(ctx, key, secret)); err != nil {
		return fmt.Errorf("reading the credentials of the Worker: %w", err)
	}
	if controllerutil.ContainsFinalizer(secret, managerFinalizer) || controllerutil.ContainsFinalizer(secret, driverFinalizer) {
		return fmt.Errorf("machine-controller-manager still holds the credentials of the Worker, secret %s", key)
	}
	return nil
}

// hasMachines reports whether a namespace has machines, machine sets, machine deployments or machine classes.
func (a *actuator) hasMachines(ctx context.Context, namespace string) (bool, error) {
	for _, list := range []client.ObjectList{
		&machinev1alpha1.MachineClassList{}, &machinev1alpha1.MachineDeploymentList{}, &machinev1alpha1.MachineSetList{},
		&machinev1alpha1.MachineList{},
	} {
		if err := a.reader.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); err != nil {
			return false, fmt.Errorf("looking for machines: %w", err)
		}
		if meta.LenList(list) > 0 {
			return true, nil
		}
	}
	return false, nil
}
