// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"sync"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Add adds a worker controller to a manager.
type Add func(context.Context, manager.Manager) error

// Run starts a worker controller in this process, which works for this shoot alone: other shoots may have others at the same
// time. api is how it reaches the seed; nil: RESTConfig of the seed. stop ends it and waits for that; the error says how it
// has ended. stop may be called several times.
func (s *Shoot) Run(api *rest.Config, log logr.Logger, add Add) (stop func() error, err error) {
	if api == nil {
		api = s.seed.RESTConfig()
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(clientscheme.AddToScheme(scheme))
	utilruntime.Must(extensionsv1alpha1.AddToScheme(scheme))
	mgr, err := manager.New(api, manager.Options{
		Scheme: scheme, Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{s.Name: {}}},
		Metrics: metricsserver.Options{BindAddress: "0"}, Logger: log,
		Controller: config.Controller{SkipNameValidation: ptr.To(true)}, // there is one for each shoot
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := add(ctx, mgr); err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.caches == nil {
		s.caches = map[manager.Manager]client.Reader{}
	}
	s.caches[mgr] = mgr.GetClient()
	return sync.OnceValue(func() error {
		s.mu.Lock()
		delete(s.caches, mgr)
		s.mu.Unlock()
		cancel()
		return <-ended
	}), nil
}
