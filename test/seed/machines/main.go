// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command machines makes the machines of all shoots of a seed: it runs machine-controller-manager and a machine
// controller with a cloud of its own for every namespace whose Deployment machine-controller-manager asks for replicas.
// Without a Deployment, or if it is scaled to 0, nothing happens to the machines of a namespace, as in a real seed.
// It is started by package seed only, and ends with its parent.
//
//   - main.go: which namespaces have controllers
//   - controllers.go: the controllers of a namespace, as they were released
//   - cloud.go: the cloud, which has servers in memory, and nodes in the API server
//   - openstack.go: OpenStack in its place, with -openstack
//   - spec.go: what it expects of a machine class
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"sync"
	"syscall"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

func main() {
	inOpenStack := flag.Bool("openstack", false, "make servers in the OpenStack that the credentials of a machine class are for")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *inOpenStack)
	stop()
	if err != nil {
		klog.ErrorS(err, "The machines are left alone")
		os.Exit(1)
	}
}

func run(ctx context.Context, inOpenStack bool) error {
	// The controllers of each namespace want to register the same metrics, which nobody reads.
	prometheus.DefaultRegisterer = nowhere{}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, -1
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	s := &shoots{config: config, cloud: newCloud(c).of, recorder: newRecorder(c), running: map[string]chan struct{}{}}
	if inOpenStack {
		s.cloud = func(string) driver.Driver { return &openStack{client: c} }
	}
	factory := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, v1beta1constants.DeploymentNameMachineControllerManager).String()
	}))
	informer := factory.Apps().V1().Deployments().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { s.seen(object) },
		UpdateFunc: func(_, object any) { s.seen(object) },
		DeleteFunc: s.gone,
	}); err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	<-ctx.Done()
	return nil
}

// shoots are the namespaces that have controllers.
type shoots struct {
	config   *rest.Config
	cloud    func(namespace string) driver.Driver
	recorder recorder

	mu      sync.Mutex
	running map[string]chan struct{} // by namespace: to be closed for the end
}

// seen starts or stops the controllers of a namespace as its Deployment says.
func (s *shoots) seen(object any) {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		return
	}
	if ptr.Deref(deployment.Spec.Replicas, 1) == 0 {
		s.stop(deployment.Namespace)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[deployment.Namespace] == nil {
		stop := make(chan struct{})
		s.running[deployment.Namespace] = stop
		s.start(deployment.Namespace, stop)
	}
}

func (s *shoots) gone(object any) {
	if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
		s.stop(key.Namespace)
	}
}

func (s *shoots) stop(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.running[namespace]; stop != nil {
		close(stop)
		delete(s.running, namespace)
	}
}

// nowhere is where metrics are registered that nobody reads.
type nowhere struct{}

func (nowhere) Register(prometheus.Collector) error  { return nil }
func (nowhere) MustRegister(...prometheus.Collector) {}
func (nowhere) Unregister(prometheus.Collector) bool { return true }
