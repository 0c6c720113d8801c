// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package seed starts a seed on this machine: etcd, kube-apiserver, and what makes machines there. Worker controllers
// are tested on it. Like a garden, which it is built on, it needs nothing but Go and this repository, and is ready
// within seconds once everything is built.
//
// machine-controller-manager and the machine controller are those that Gardener has, but for the time between two of
// their tries; the cloud below them is one of this package. A server boots at once, and then its node is there, ready,
// with the image as its OS image. The nodes of all shoots are nodes of the seed, which is the cluster of every shoot.
//
//   - seed.go: Start
//   - build.go: the programs, and the CustomResourceDefinitions of Gardener
//   - shoot.go: a shoot as the gardenlet leaves it to a worker controller
//   - worker.go: its Worker, and what the gardenlet asks for
//   - state.go: what there is of it
//   - controller.go: a worker controller for one shoot
//   - machines/: what makes the machines
package seed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden"
)

// scheme has the kinds of Kubernetes, and those of Gardener that are in a seed or in a Cluster.
var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(clientscheme.AddToScheme(scheme))
	utilruntime.Must(v1beta1.AddToScheme(scheme))
	utilruntime.Must(extensionsv1alpha1.AddToScheme(scheme))
	utilruntime.Must(machinev1alpha1.AddToScheme(scheme))
}

// Options say how to start a seed. The zero value is good for tests.
type Options struct {
	// Folder is where the seed keeps its kubeconfig and its logs, see garden.Options. Empty: a temporary one.
	Folder string
	// OpenStack makes servers in the OpenStack that the credentials of a shoot are for, and not in the cloud of this
	// package. They have to boot from images: volumes are refused.
	OpenStack bool
	// Progress receives what there is to say while programs are built. nil is os.Stderr.
	Progress io.Writer
}

// Seed is a seed that is ready. What it has of a garden is said there: Stop, Kubeconfig, RESTConfig, Kubectl, Apply,
// Logs, StartProcess. Its methods may be called from several goroutines.
type Seed struct {
	*garden.Garden
	config *rest.Config
	client client.Client
}

// Start starts a seed and waits until it is ready. It stops when Stop is called, and also when this process ends
// without that. ctx is for the start only. Nothing is left behind if it fails.
func Start(ctx context.Context, o Options) (*Seed, error) {
	definitions, err := definitions(ctx)
	if err != nil {
		return nil, err
	}
	program, err := buildMachines(ctx, o.Progress)
	if err != nil {
		return nil, err
	}
	g, err := garden.Start(ctx, garden.Options{Folder: o.Folder, Progress: o.Progress, CRDs: definitions})
	if err != nil {
		return nil, err
	}
	s := &Seed{Garden: g}
	if err := s.connect(); err != nil {
		return nil, errors.Join(err, g.Stop())
	}
	_, err = g.StartProcess(context.WithoutCancel(ctx), garden.ProcessOptions{
		Path: program, Args: []string{fmt.Sprintf("-openstack=%t", o.OpenStack)}, LogFile: filepath.Join(g.Logs(), "machines.log"),
	})
	if err != nil {
		return nil, errors.Join(err, g.Stop())
	}
	return s, nil
}

// connect makes a client that asks once, unlike that of a garden, where a write may wait for something else.
func (s *Seed) connect() (err error) {
	if s.config, err = clientcmd.BuildConfigFromFlags("", s.Kubeconfig()); err != nil {
		return err
	}
	s.config.QPS, s.config.Burst = -1, -1
	s.client, err = client.New(s.config, client.Options{Scheme: scheme})
	return err
}

// RESTConfig returns a configuration with every right, without a limit of requests. It is the caller's.
func (s *Seed) RESTConfig() *rest.Config { return rest.CopyConfig(s.config) }

// Client returns a client with every right and without a cache. It knows the kinds of Kubernetes,
// extensions.gardener.cloud/v1alpha1, machine.sapcloud.io/v1alpha1 and core.gardener.cloud/v1beta1, of which the last
// are in Clusters only.
func (s *Seed) Client() client.Client { return s.client }

// Scheme returns the scheme of Client, which must not be changed.
func Scheme() *runtime.Scheme { return scheme }
