// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package faults tests the admission component under faults: when it is killed, restarted, given new certificates or
// malformed requests, and when it cannot reach other servers. It runs beside a real garden, mostly under concurrent writes.
// Invalid objects must never pass, and avoidable failures must not occur.
//
//   - front_test.go: the address for the API server, in front of the replicas
//   - load_test.go: writers, and the outcome of each write
//   - objects_test.go: the objects that they write
//   - direct_test.go: clients of the component itself
//   - confined_test.go: the memory limit of the replicas
package faults

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/suite"
)

var (
	// g is the garden of all specs.
	g *garden.Garden
	// program is the path of the component.
	program string
	// installation is what the charts created in the garden.
	installation *extension.Installation
	// entrance is the address for the API server's requests.
	entrance *front
	// writing is the client of the writers, which ignores warnings.
	writing client.Client
)

func TestFaults(t *testing.T) { suite.Run(t, "test/faults", "garden", "faults") }

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	program, err = extension.OpenStack.Build(ctx)
	Expect(err).NotTo(HaveOccurred())
	entrance = newFront()
	g = suite.StartGarden(ctx, garden.Options{})
	installation, err = extension.OpenStack.Install(ctx, g)
	Expect(err).NotTo(HaveOccurred())
	config := g.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	writing, err = client.New(config, client.Options{Scheme: g.Client().Scheme()})
	Expect(err).NotTo(HaveOccurred())
	prepareObjects(ctx)
})

// A replica killed in an earlier spec may still hold the lease.
var _ = BeforeEach(func(ctx SpecContext) {
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = extension.Namespace, extension.Name+"-leader-election"
	Expect(client.IgnoreNotFound(g.Client().Delete(ctx, lease))).To(Succeed())
})

// replica is a process of the component behind the entrance.
type replica struct {
	extension.Replica
	process *garden.Process
	pid     atomic.Int64
	// confined means that the kernel kills the process beyond the memory limit.
	confined bool
}

// newReplica returns a replica that is not running yet, with the smallest memory limit in the documents. It is stopped at
// the end of the spec.
func newReplica(args ...string) *replica {
	GinkgoHelper()
	configured, err := installation.New(program)
	Expect(err).NotTo(HaveOccurred())
	configured.RegisteredAddress = entrance.address()
	configured.CertificateFolder = GinkgoT().TempDir()
	configured.Args = append([]string{"--log-level=debug"}, args...)
	Expect(os.RemoveAll(extension.LogFile(g, configured))).To(Succeed()) // left by a replica that had this port before
	r := &replica{Replica: configured}
	confine(r)
	DeferCleanup(func(ctx SpecContext) {
		if r.process != nil {
			Expect(r.process.Stop(ctx)).To(Succeed())
		}
	}, NodeTimeout(2*time.Minute))
	return r
}

// start starts or restarts the replica, and waits until it is ready.
func (r *replica) start(ctx context.Context) {
	GinkgoHelper()
	process, err := extension.Start(ctx, g, r.Replica)
	Expect(err).NotTo(HaveOccurred())
	r.process = process
	r.pid.Store(int64(process.Pid()))
}

// stop stops the replica, and expects it to end without an error.
func (r *replica) stop(ctx context.Context) {
	GinkgoHelper()
	Expect(r.process.Stop(ctx)).To(Succeed())
	Expect(r.process.Wait()).To(Succeed())
}

// log returns the replica's standard output and standard error.
func (r *replica) log() string {
	GinkgoHelper()
	content, err := os.ReadFile(extension.LogFile(g, r.Replica))
	Expect(err).NotTo(HaveOccurred())
	return string(content)
}

// serve starts replicas, and waits until the API server calls them.
func serve(ctx context.Context, replicas ...*replica) {
	GinkgoHelper()
	entrance.lead(replicas...)
	for _, r := range replicas {
		r.start(ctx)
	}
	Expect(extension.OpenStack.WaitUntilInstalled(ctx, g)).To(Succeed())
}

// configurations returns the stored webhook configurations.
func configurations(ctx context.Context) (*admissionregistrationv1.ValidatingWebhookConfiguration, *admissionregistrationv1.MutatingWebhookConfiguration) {
	GinkgoHelper()
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	for _, object := range []client.Object{validating, mutating} {
		Expect(g.Client().Get(ctx, client.ObjectKey{Name: extension.Name}, object)).To(Succeed())
	}
	return validating, mutating
}
