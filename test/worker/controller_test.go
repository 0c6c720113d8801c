// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/internal/testing/fakenova"
	"github.com/capkit/capkit/pkg/openstack/machines"
	"github.com/capkit/capkit/test/seed"
)

// controller is a worker controller for one shoot.
type controller struct {
	stop func()
	logs *logs
}

// ours adds the controller under test.
func ours(ctx context.Context, mgr manager.Manager) error {
	return machines.AddToManager(ctx, mgr, machines.AddOptions{})
}

// run starts a controller for a shoot, which is stopped at the end of the test.
func run(t testing.TB, shoot *seed.Shoot, add seed.Add) *controller {
	t.Helper()
	return runAt(t, nil, shoot, add)
}

// runAt does the same as run, with another address of the API server.
func runAt(t testing.TB, api *rest.Config, shoot *seed.Shoot, add seed.Add) *controller {
	t.Helper()
	logs := &logs{secrets: []string{"password-of-", fakenova.Password, "#cloud-config"}}
	stop, err := shoot.Run(api, funcr.New(logs.add, funcr.Options{}), add)
	check(t, err)
	c := &controller{logs: logs, stop: func() {
		if err := stop(); err != nil {
			t.Errorf("the controller of %s: %v", shoot.Name, err)
		}
	}}
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
		if strings.Contains(args, secret) {
			l.leaked = secret
		}
	}
	l.text.WriteString(time.Now().Format("15:04:05.000 ") + prefix + " " + args[:min(len(args), 400)] + "\n")
}

// tail returns the end of the log.
func (l *logs) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text.String()
	return text[max(0, len(text)-6000):]
}
