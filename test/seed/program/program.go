// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package program installs the chart of the worker controller for OpenStack in a seed, and runs its program beside the seed: as a process
// of its own with the arguments of the Deployment and the rights of the chart's ServiceAccount, and no others.
package program

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/hack/components"
	// What the program is made of, so that go test runs a test again after a change of it: it does not see what Install builds.
	_ "github.com/capkit/capkit/pkg/openstack/machines"
	_ "github.com/capkit/capkit/pkg/worker/kit/command"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/charts"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/garden/samples"
	"github.com/capkit/capkit/test/seed"
)

// Namespace is where the chart is installed, named as gardenlet names it.
const Namespace = "extension-provider-openstack-worker-x7k2p"

// Controller is the worker controller.
var Controller = components.Controllers()[0]

// Installation is what a seed has once the chart is installed in it: the rights of the controller, and how its container is to be run.
type Installation struct {
	// Kubeconfig is the path of a kubeconfig for whom the controller is in the seed.
	Kubeconfig string

	seed *seed.Seed
	path string
	args []string
}

// Install compiles the program and installs the chart as gardenlet does, but for the VerticalPodAutoscaler, whose kind a seed of tests does
// not know. Nothing starts the pods of the Deployment; Start takes their place. Install it once in a seed.
func Install(ctx context.Context, s *seed.Seed) (*Installation, error) {
	path, err := garden.Compile(ctx, os.Stderr, "./cmd/"+Controller.Program(), Controller.Program())
	if err != nil {
		return nil, err
	}
	objects, err := charts.Render(Controller, charts.Worker, Namespace, map[string]any{
		"gardener": map[string]any{"version": "v1.150.0"}, "vpa": map[string]any{"enabled": false},
	})
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace, Labels: map[string]string{
		v1beta1constants.GardenRole:                      v1beta1constants.GardenRoleExtension,
		v1beta1constants.LabelControllerRegistrationName: Controller.Release(),
	}}}
	if err := s.Client().Create(ctx, namespace); err != nil {
		return nil, err
	}
	if err := samples.Apply(ctx, s.Garden.Client(), objects...); err != nil {
		return nil, err
	}
	container, err := extension.ContainerOf(objects)
	if err != nil {
		return nil, err
	}
	i := &Installation{seed: s, path: path, args: container.Args, Kubeconfig: filepath.Join(s.Folder(), Controller.Name()+".kubeconfig")}
	account := client.ObjectKey{Namespace: Namespace, Name: Controller.Name()}
	return i, extension.WriteKubeconfig(ctx, s.Garden, i.Kubeconfig, account)
}

// Process is a replica of the controller.
type Process struct {
	*garden.Process
	// LogFile is what it logs to, and HealthAddress where it serves /healthz and /readyz.
	LogFile, HealthAddress string
}

// Start starts a replica, with further flags, of which the last one of a name counts. It is stopped with the seed, or before.
// Name it differently from all others of the seed.
func (i *Installation) Start(ctx context.Context, name string, flags ...string) (*Process, error) {
	address, err := garden.FreeAddress()
	if err != nil {
		return nil, err
	}
	p := &Process{HealthAddress: address, LogFile: filepath.Join(i.seed.Logs(), Controller.Name()+"-"+name+".log")}
	p.Process, err = i.seed.StartProcess(context.WithoutCancel(ctx), garden.ProcessOptions{
		Path: i.path, Args: slices.Concat(i.args, []string{"--metrics-bind-address=0", "--health-bind-address=" + address}, flags),
		Env: []string{"KUBECONFIG=" + i.Kubeconfig, "GARDEN_KUBECONFIG="}, LogFile: p.LogFile,
	})
	return p, err
}

// WaitUntilReady waits until /readyz says that all is well. It does not wait any longer if the process has ended.
func (p *Process) WaitUntilReady(ctx context.Context) error {
	return extension.WaitUntilReady(ctx, Controller.Name(), p.Process, p.HealthAddress, p.LogFile)
}
