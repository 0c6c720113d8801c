// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capkit/capkit/pkg/openstack/machines"
	"github.com/capkit/capkit/test/fakenova"
	"github.com/capkit/capkit/test/seed"
)

// controller is a worker controller that works for one shoot.
type controller struct {
	t     testing.TB
	stop  func()
	ended chan error
}

// add adds a controller to a manager.
type add func(context.Context, manager.Manager) error

// ours adds the controller that is tested.
func ours(ctx context.Context, mgr manager.Manager) error {
	return machines.AddToManager(ctx, mgr, machines.AddOptions{})
}

// run starts a controller for a shoot, with a manager of its own, which ends with the test.
func run(t testing.TB, shoot *seed.Shoot, add add) *controller {
	t.Helper()
	return runAt(t, theSeed(t).RESTConfig(), shoot, add)
}

// runAt does that for an address of the API server.
func runAt(t testing.TB, api *rest.Config, shoot *seed.Shoot, add add) *controller {
	t.Helper()
	scheme := runtime.NewScheme()
	utilruntime.Must(clientscheme.AddToScheme(scheme))
	utilruntime.Must(extensionsv1alpha1.AddToScheme(scheme))
	logs := &logs{secrets: []string{"password-of-", fakenova.Password, "#cloud-config"}}
	mgr, err := manager.New(api, manager.Options{
		Scheme: scheme, Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{shoot.Name: {}}},
		Metrics: metricsserver.Options{BindAddress: "0"}, Logger: funcr.New(logs.add, funcr.Options{}),
		Controller: config.Controller{SkipNameValidation: ptr.To(true)}, // there is one in each test
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := add(ctx, mgr); err != nil {
		cancel()
		t.Fatal(err)
	}
	c := &controller{t: t, ended: make(chan error, 1)}
	go func() { c.ended <- mgr.Start(ctx) }()
	c.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-c.ended; err != nil {
			t.Errorf("the manager of %s: %v", shoot.Name, err)
		}
	})
	t.Cleanup(func() {
		c.stop()
		if secret := logs.leaked; secret != "" {
			t.Errorf("the controller of %s logs %q", shoot.Name, secret)
		}
		if t.Failed() {
			t.Logf("the controller of %s:\n%s", shoot.Name, logs.tail())
		}
	})
	return c
}

// logs are the lines that a controller has logged.
type logs struct {
	secrets []string

	mu     sync.Mutex
	text   bytes.Buffer
	leaked string
}

func (l *logs) add(prefix, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, secret := range l.secrets {
		if contains(args, secret) {
			l.leaked = secret
		}
	}
	l.text.WriteString(time.Now().Format("15:04:05.000 ") + prefix + " " + args[:min(len(args), 400)] + "\n")
}

// tail returns the last of them.
func (l *logs) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text.String()
	return text[max(0, len(text)-6000):]
}
