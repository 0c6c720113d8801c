// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"errors"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Webhooks configures the webhook server. All fields except Source are required.
type Webhooks struct {
	// Handler answers accepted requests on all paths. Their bodies are in memory and declare an AdmissionReview.
	Handler http.Handler
	// Timeout is the registered timeout of the webhooks. Receiving a request may take as long, and so may waiting for room.
	Timeout time.Duration
	// Address is the server's HOST:PORT.
	Address string
	// CertificateFolder contains tls.crt and tls.key, which must already exist. Configurations is the name of the webhook configurations,
	// whose CA bundle clients trust.
	CertificateFolder, Configurations string
	// Options must be complete. Hearing observes the manager's clients.
	Options *Options
	Hearing *Hearing
	// Source is the cluster of the certificates; nil if it is the manager's.
	Source cluster.Cluster
}

// AddTo makes a manager serve the webhooks in every replica, and adds checks to /healthz and /readyz. The manager serves from the sync of
// its caches until it stops. ctx is done when the process is asked to stop, some time before the manager stops, see [Options.Run]. The
// manager must not be running yet.
func (w Webhooks) AddTo(ctx context.Context, mgr manager.Manager) error {
	certificate, err := trustedCertificate(ctx, mgr, w.CertificateFolder, w.Configurations, w.Options.certificateSyncPeriod)
	if err != nil {
		return err
	}
	s := &server{
		log:     mgr.GetLogger().WithName("webhook-server"),
		address: w.Address, handler: w.Handler, certificate: certificate,
		tls: &w.Options.tls, limits: newLimits(mgr.GetLogger(), w.Timeout), hearing: w.Hearing, signalled: ctx,
	}
	return errors.Join(mgr.Add(everyReplica(s.Start)), mgr.Add(eachSecond(w.Hearing.report)), s.addChecks(mgr, w.Source))
}

// everyReplica is a runnable for all replicas, not only for the leader.
type everyReplica func(ctx context.Context) error

// Start runs the function until ctx is done.
func (r everyReplica) Start(ctx context.Context) error { return r(ctx) }

// NeedLeaderElection returns false.
func (everyReplica) NeedLeaderElection() bool { return false }

// eachSecond runs step once a second in each replica.
func eachSecond(step func(ctx context.Context)) manager.Runnable {
	return everyReplica(func(ctx context.Context) error {
		wait.UntilWithContext(ctx, step, time.Second)
		return nil
	})
}
