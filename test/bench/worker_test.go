// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/openstack/machines"
	"github.com/capkit/capkit/test/seed"
)

const workerPools = 100

// counting counts all requests, and the writing ones.
type counting struct {
	http.RoundTripper
	all, writes *atomic.Int64
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.all.Add(1)
	if r.Method != http.MethodGet {
		c.writes.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}

// BenchmarkWorkerDelegate measures the delegate for OpenStack in reconciliations of 100 pools in 3 zones on a real API server. The first
// one writes 300 machine classes and their secrets, the second one changes nothing.
func BenchmarkWorkerDelegate(b *testing.B) {
	s, err := seed.Start(b.Context(), seed.Options{Progress: os.Stderr})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Stop() })
	for _, turn := range []string{"first", "unchanged"} {
		b.Run(turn, func(b *testing.B) {
			var all, writes atomic.Int64
			config := rest.CopyConfig(s.RESTConfig())
			config.QPS = -1
			config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return counting{rt, &all, &writes} })
			c, err := client.New(config, client.Options{Scheme: seed.Scheme()})
			if err != nil {
				b.Fatal(err)
			}
			for i := range b.N {
				b.StopTimer()
				factory := machines.NewDelegateFactory(c, c, events.NewFakeRecorder(0))
				shoot, worker := manyPools(b, s, fmt.Sprintf("shoot--bench--%s-%d-%d", turn, b.N, i))
				if turn == "unchanged" {
					reconcile(b, factory, shoot, worker)
				}
				all.Store(0)
				writes.Store(0)
				b.StartTimer()
				reconcile(b, factory, shoot, worker)
			}
			b.ReportMetric(float64(all.Load()), "requests/op")
			b.ReportMetric(float64(writes.Load()), "writes/op")
		})
	}
}

// manyPools creates a Worker with many pools and the profile of the takeover tests.
func manyPools(b *testing.B, s *seed.Seed, name string) (*extensionscontroller.Cluster, *extensionsv1alpha1.Worker) {
	b.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "pkg", "openstack", "machines", "testdata", "seven", "input-cloudprofile.json"))
	if err != nil {
		b.Fatal(err)
	}
	profile := &v1beta1.CloudProfile{}
	if err := json.Unmarshal(raw, profile); err != nil {
		b.Fatal(err)
	}
	shoot, err := s.NewShoot(b.Context(), name, seed.ShootOptions{Profile: profile})
	if err != nil {
		b.Fatal(err)
	}
	var pools []extensionsv1alpha1.WorkerPool
	for i := range workerPools {
		pools = append(pools, seed.Pool(fmt.Sprint("pool-", i), "virt", "gardenlinux", "1.0.0", func(p *extensionsv1alpha1.WorkerPool) {
			p.Zones = []string{"europe-1a", "europe-1b", "europe-1c"}
		}))
	}
	if err := shoot.Create(b.Context(), shoot.Worker(pools...), ""); err != nil {
		b.Fatal(err)
	}
	worker, err := shoot.Get(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	cluster, err := extensionscontroller.GetCluster(b.Context(), s.Client(), name)
	if err != nil {
		b.Fatal(err)
	}
	return cluster, worker
}

// reconcile calls the delegate like a reconciliation.
func reconcile(
	b *testing.B, factory genericactuator.DelegateFactory, cluster *extensionscontroller.Cluster, worker *extensionsv1alpha1.Worker,
) {
	b.Helper()
	delegate, err := factory.WorkerDelegate(b.Context(), worker, cluster)
	if err != nil {
		b.Fatal(err)
	}
	steps := []func(context.Context) error{
		delegate.PreReconcileHook,
		func(ctx context.Context) error {
			_, err := delegate.GenerateMachineDeployments(ctx)
			return err
		},
		delegate.DeployMachineClasses, delegate.UpdateMachineImagesStatus, delegate.PostReconcileHook,
	}
	for _, step := range steps {
		if err := step(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
