// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command gardener-extension-provider-openstack is the worker controller of the Gardener extension for OpenStack.
package main

import (
	"context"
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/openstack/machines"
	"github.com/capkit/capkit/pkg/worker/kit/command"
)

func main() {
	controller := command.Controller{
		Program:   "gardener-extension-provider-openstack",
		Component: "provider-openstack-worker",
		Type:      openstack.Provider{}.Type(),
		Add: func(ctx context.Context, mgr manager.Manager, o command.Options) error {
			return machines.AddToManager(ctx, mgr, machines.AddOptions(o))
		},
		Check:      machines.CheckRelease,
		Conditions: "provider-openstack",
		DryRun:     machines.DryRun,
	}
	if err := command.New(controller).ExecuteContext(signals.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
