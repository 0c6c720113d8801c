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

// Webhooks are what is served. All fields must be set, but Source.
type Webhooks struct {
	// Handler answers the requests that pass, on all paths. Their bodies are in memory already, and say that they are AdmissionReviews.
	Handler http.Handler
	// Timeout is how long API servers wait for an answer, as the webhooks are registered. A request may take as long to arrive, and as
	// long to get room.
	Timeout time.Duration
	// Address is where they are served: HOST:PORT.
	Address string
	// CertificateFolder is where tls.crt and tls.key are, which must be there already. Configurations is the name of the webhook
	// configurations, which say whom clients trust.
	CertificateFolder, Configurations string
	// Options must be complete. Hearing is what hears the clients of the manager.
	Options *Options
	Hearing *Hearing
	// Source is the cluster that the certificates come from; nil if it is that of the manager.
	Source cluster.Cluster
}

// AddTo has a manager serve the webhooks in every replica, and has /healthz and /readyz say what is the matter with that. They are
// served from when the caches of the manager are synced until it stops. ctx is done when the process is asked to stop, which is
// some time before, see [Options.Run]. The manager must not have been started.
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

// everyReplica is a runnable of each replica, and not of the leader alone.
type everyReplica func(ctx context.Context) error

// Start runs it until ctx is done.
func (r everyReplica) Start(ctx context.Context) error { return r(ctx) }

// NeedLeaderElection says that it does not.
func (everyReplica) NeedLeaderElection() bool { return false }

// eachSecond has each replica do something once a second.
func eachSecond(step func(ctx context.Context)) manager.Runnable {
	return everyReplica(func(ctx context.Context) error {
		wait.UntilWithContext(ctx, step, time.Second)
		return nil
	})
}
