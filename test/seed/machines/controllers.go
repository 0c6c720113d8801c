// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	managerapp "github.com/gardener/machine-controller-manager/cmd/machine-controller-manager/app"
	manageroptions "github.com/gardener/machine-controller-manager/cmd/machine-controller-manager/app/options"
	machinescheme "github.com/gardener/machine-controller-manager/pkg/client/clientset/versioned/scheme"
	coreclients "github.com/gardener/machine-controller-manager/pkg/util/clientbuilder/core"
	machineclients "github.com/gardener/machine-controller-manager/pkg/util/clientbuilder/machine"
	machineapp "github.com/gardener/machine-controller-manager/pkg/util/provider/app"
	machineoptions "github.com/gardener/machine-controller-manager/pkg/util/provider/app/options"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
)

// workers is how many objects of a kind each controller works at, in each namespace.
const workers = 5

type recorder = record.EventRecorder

// newRecorder returns where the controllers record Events.
func newRecorder(c kubernetes.Interface) recorder {
	utilruntime.Must(machinescheme.AddToScheme(kubescheme.Scheme))
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.CoreV1().Events("")})
	return broadcaster.NewRecorder(kubescheme.Scheme, corev1.EventSource{Component: "machine-controller-manager"})
}

// start starts the controllers of a namespace, which end when stop is closed. The cluster of the nodes is the seed.
func (s *shoots) start(namespace string, stop <-chan struct{}) {
	klog.InfoS("The machines are taken care of", "namespace", namespace)
	core := coreclients.SimpleControllerClientBuilder{ClientConfig: s.config}
	machine := machineclients.SimpleClientBuilder{ClientConfig: s.config}

	manager := manageroptions.NewMCMServer()
	manager.Namespace, manager.ConcurrentNodeSyncs = namespace, workers
	go untilStopped(stop, namespace, func() error {
		return managerapp.StartControllers(manager, rest.CopyConfig(s.config), rest.CopyConfig(s.config), machine, core, core, s.recorder, stop)
	})

	controller := machineoptions.NewMCServer()
	controller.Namespace, controller.ConcurrentNodeSyncs = namespace, workers
	go untilStopped(stop, namespace, func() error {
		return machineapp.StartControllers(controller, rest.CopyConfig(s.config), rest.CopyConfig(s.config), machine, core, core,
			s.cloud(namespace), s.recorder, stop)
	})
}

// untilStopped starts controllers again and again. They return only if they could not start: if they are told to stop
// they do, but the call is never answered.
func untilStopped(stop <-chan struct{}, namespace string, start func() error) {
	for {
		err := start()
		klog.ErrorS(err, "The controllers did not start", "namespace", namespace)
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
		}
	}
}
