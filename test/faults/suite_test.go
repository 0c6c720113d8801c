// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package faults tests what the admission component does when something goes wrong: when it is killed, restarted, given
// new certificates or bad requests, and when it cannot reach what it needs. It runs beside a real garden, and mostly while
// others write: what is to be refused must never pass, and what can be kept from failing must not fail.
//
//   - front_test.go: the address that the API server knows, before the replicas
//   - load_test.go: writers, and what became of each write
//   - objects_test.go: what they write
package faults

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

var (
	// g is the garden of all tests here.
	g *garden.Garden
	// program is the path of the component.
	program string
	// installation is what the charts have made in the garden.
	installation *extension.Installation
	// entrance is where the API server sends its requests to.
	entrance *front
	// writing is the client of the writers, who do not read warnings.
	writing client.Client
)

func TestMain(m *testing.M) { garden.Main(m, run) }

func run(m *testing.M) (status int, err error) {
	ctx := context.Background()
	if program, err = extension.Build(ctx); err != nil {
		return 1, err
	}
	if entrance, err = newFront(); err != nil {
		return 1, err
	}
	defer entrance.close()
	if g, err = garden.Start(ctx, garden.Options{}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	if installation, err = extension.Install(ctx, g); err != nil {
		return 1, err
	}
	config := g.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	if writing, err = client.New(config, client.Options{Scheme: g.Client().Scheme()}); err != nil {
		return 1, err
	}
	if err := prepareObjects(ctx); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// replica is a process of the component, behind the entrance.
type replica struct {
	extension.Replica
	process *garden.Process
}

// newReplica returns a replica that is not running yet. It is stopped when the test ends.
func newReplica(t *testing.T, args ...string) *replica {
	t.Helper()
	configured, err := installation.New(program)
	if err != nil {
		t.Fatal(err)
	}
	configured.RegisteredAddress = entrance.address()
	configured.Args = append([]string{"--log-level=debug"}, args...)
	r := &replica{Replica: configured}
	t.Cleanup(func() {
		if r.process == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.process.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

// start starts the replica, again if it has run before, and waits until it is ready.
func (r *replica) start(t *testing.T) {
	t.Helper()
	process, err := extension.Start(t.Context(), g, r.Replica)
	if err != nil {
		t.Fatal(err)
	}
	r.process = process
}

// serve starts replicas, and waits until the API server asks them.
func serve(t *testing.T, replicas ...*replica) {
	t.Helper()
	entrance.lead(replicas...)
	for _, r := range replicas {
		r.start(t)
	}
	if err := extension.WaitUntilInstalled(t.Context(), g); err != nil {
		t.Fatal(err)
	}
}

// log is what the replica has written to standard output and standard error.
func (r *replica) log(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(extension.LogFile(g, r.Replica))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// configurations returns the webhook configurations as they are stored.
func configurations(t *testing.T) (*admissionregistrationv1.ValidatingWebhookConfiguration, *admissionregistrationv1.MutatingWebhookConfiguration) {
	t.Helper()
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	for _, object := range []client.Object{validating, mutating} {
		if err := g.Client().Get(context.Background(), client.ObjectKey{Name: extension.Name}, object); err != nil {
			t.Fatal(err)
		}
	}
	return validating, mutating
}

// removeLease removes the lease of a replica that was killed, as if the time for which it holds had passed.
func removeLease(t *testing.T) {
	t.Helper()
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = extension.Namespace, extension.Name+"-leader-election"
	if err := client.IgnoreNotFound(g.Client().Delete(context.Background(), lease)); err != nil {
		t.Error(err)
	}
}

// waitFor waits for a minute at most.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return condition(), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
