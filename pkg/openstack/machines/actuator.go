// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"fmt"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	"github.com/gardener/gardener/extensions/pkg/util"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/openstack/machines/servergroups"
	"github.com/capkit/capkit/pkg/worker/kit"
)

// AddOptions are the options of [AddToManager].
type AddOptions struct {
	// Controller are options of the controller, such as the number of Workers that it reconciles at once.
	Controller controller.Options
	// IgnoreOperationAnnotation makes it reconcile a Worker whenever that changes, instead of when Gardener requests it.
	IgnoreOperationAnnotation bool
	// GardenCluster is the source of the ShootState when a Worker without state is restored; nil for none.
	GardenCluster cluster.Cluster
	// ExtensionClasses of the Workers to reconcile; empty for those of shoots.
	ExtensionClasses []extensionsv1alpha1.ExtensionClass
	// SelfHostedShootCluster reports whether the controller runs in a self-hosted shoot.
	SelfHostedShootCluster bool
}

// AddToManager adds the controller for Workers of type openstack to a manager, and its types to the manager's scheme. The controller
// reads Secrets and ConfigMaps with the API reader, so the manager's client need not cache them.
func AddToManager(ctx context.Context, mgr manager.Manager, options AddOptions) error {
	scheme := runtime.NewSchemeBuilder(apiextensionsv1.AddToScheme, machinev1alpha1.AddToScheme)
	if err := scheme.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	return extensionsworker.Add(ctx, mgr, extensionsworker.AddArgs{
		Actuator:                  NewActuator(mgr, options.GardenCluster),
		ControllerOptions:         options.Controller,
		Predicates:                extensionsworker.DefaultPredicates(ctx, mgr, options.IgnoreOperationAnnotation),
		Type:                      openstack.Provider{}.Type(),
		IgnoreOperationAnnotation: options.IgnoreOperationAnnotation,
		ExtensionClasses:          options.ExtensionClasses,
		SelfHostedShootCluster:    options.SelfHostedShootCluster,
	})
}

// NewActuator returns the actuator for a controller of Gardener's worker library. The garden cluster may be nil.
func NewActuator(mgr manager.Manager, gardenCluster cluster.Cluster) extensionsworker.Actuator {
	factory := NewDelegateFactory(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder("provider-openstack-worker"))
	generic := genericactuator.NewActuator(kit.WithoutEmptyPatches(mgr), gardenCluster, factory, func(err error) []v1beta1.ErrorCode {
		return util.DetermineErrorCodes(err, knownCodes)
	})
	return kit.NewActuator(generic, factory, mgr.GetClient(), mgr.GetAPIReader())
}

// NewDelegateFactory returns a factory that creates a delegate for each reconciliation, for actuators other than [NewActuator]. Delegates
// write with the client and read with the reader, which must not use a cache. The factory is safe for concurrent use; a delegate is not.
func NewDelegateFactory(c client.Client, reader client.Reader, recorder events.EventRecorder) genericactuator.DelegateFactory {
	return &factory{c, reader, recorder}
}

type factory struct {
	client client.Client
	reader client.Reader
	events events.EventRecorder
}

// WorkerDelegate returns the delegate for a Worker. It reads nothing, so it cannot fail for operations that need no input.
func (f *factory) WorkerDelegate(
	_ context.Context, worker *extensionsv1alpha1.Worker, cluster *extensionscontroller.Cluster,
) (genericactuator.WorkerDelegate, error) {
	d := &delegate{
		client: f.client, reader: f.reader, events: f.events, worker: worker, cluster: cluster,
		memory: kit.NewMemory[openstack.Image, v1alpha1.WorkerStatus](f.client, f.reader, worker),
	}
	d.connect = d.connectNova
	return d, nil
}

// connectNova connects to Nova in the Worker's region, with the Worker's credentials.
func (d *delegate) connectNova(ctx context.Context) (servergroups.Compute, error) {
	secret, err := kubernetesutils.GetSecretByReference(ctx, d.reader, &d.worker.Spec.SecretRef)
	if err != nil {
		return nil, fmt.Errorf("reading the credentials of the Worker: %w", err)
	}
	credentials := servergroups.Credentials{Secret: secret.Data}
	credentials.Keystone, credentials.Insecure = d.identityService()
	return servergroups.Connect(ctx, credentials, d.worker.Spec.Region)
}
