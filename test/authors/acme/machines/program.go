// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"

	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/worker/kit/command"
	"github.com/capkit/capkit/test/authors/acme"
)

// Controller is the worker controller, for command.New.
func Controller() command.Controller {
	return command.Controller{
		Program: "gardener-extension-worker-acme", Component: "worker-acme", Type: acme.Provider{}.Type(), Add: AddToManager,
	}
}

// AddToManager adds it to a manager, and the types that it needs to the manager's scheme.
func AddToManager(ctx context.Context, mgr manager.Manager, o command.Options) error {
	scheme := runtime.NewSchemeBuilder(apiextensionsv1.AddToScheme, machinev1alpha1.AddToScheme)
	if err := scheme.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	return extensionsworker.Add(ctx, mgr, extensionsworker.AddArgs{
		Actuator:                  NewActuator(mgr, o.GardenCluster),
		ControllerOptions:         o.Controller,
		Predicates:                extensionsworker.DefaultPredicates(ctx, mgr, o.IgnoreOperationAnnotation),
		Type:                      acme.Provider{}.Type(),
		IgnoreOperationAnnotation: o.IgnoreOperationAnnotation,
		ExtensionClasses:          o.ExtensionClasses,
		SelfHostedShootCluster:    o.SelfHostedShootCluster,
	})
}
