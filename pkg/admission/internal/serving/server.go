// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	gardenerhealthz "github.com/gardener/gardener/pkg/healthz"
	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// maxHeader bounds a request header, in bytes. API servers send some hundred.
	maxHeader = 32 << 10
	// maxIdle is how long an idle connection is kept, the same as in API servers.
	maxIdle = 90 * time.Second
)

// server serves webhooks in every replica. Gardener's packages register them with a webhook.DefaultServer, which is never started,
// because its limits cannot be set.
type server struct {
	log         logr.Logger
	address     string // HOST:PORT
	handler     http.Handler
	certificate *certificate
	tls         *tlsOptions
	limits      *limits
	hearing     *Hearing
	// signalled is done when the process is asked to stop, some time before the server stops.
	signalled context.Context
}

// Start serves until ctx is done, and then finishes running requests. The manager calls it once its caches are synced.
func (s *server) Start(ctx context.Context) error {
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("the webhook server: %w", err)
	}
	serving := &http.Server{
		Handler:     s,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) }, // running requests are finished
		TLSConfig: &tls.Config{
			MinVersion: s.tls.version, CipherSuites: s.tls.suites, NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.current.Load(), nil },
		},
		ReadHeaderTimeout: s.limits.maxReceiving, // also bounds the handshake
		IdleTimeout:       maxIdle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(quiet{s.log}, "", 0),
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.maxAnswering)
		defer cancel()
		stopped <- serving.Shutdown(ending)
	}()
	s.log.Info("Serving the webhooks", "address", listener.Addr().String())
	if err := serving.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the webhook server: %w", err)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("the webhook server has stopped before all requests were answered: %w", err)
	}
	return nil
}

// ServeHTTP answers requests on every path, if they pass the limits and the API server is heard.
//
// A stopping server closes idle connections. With HTTP/1.1, which API servers use for Services, a request in transit then fails. Clients
// are therefore asked to close their connections earlier.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.signalled.Err() != nil {
		w.Header().Set("Connection", "close")
	}
	leave, err := s.limits.enter(w, r)
	defer leave()
	if err == nil {
		err = s.hearing.outdated()
	}
	if err != nil {
		s.limits.refuse(w, r, err)
		return
	}
	s.handler.ServeHTTP(w, r)
}

// maxExpired is how long a certificate may have expired before /healthz fails. A new process reads the Secret again, so a restart helps a
// process that misses a new certificate.
const maxExpired = 10 * time.Minute

// addChecks adds the checks of /healthz and /readyz, which docs/operators/admission.md explains. /readyz fails while API servers should
// use another replica. /healthz fails only for problems that a restart may repair. source is the cluster of the certificates, or nil if
// that is the manager's.
func (s *server) addChecks(mgr manager.Manager, source cluster.Cluster) error {
	checks := errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddHealthzCheck("informer-sync", gardenerhealthz.NewCacheSyncHealthzWithDeadline(
			mgr.GetLogger(), clock.RealClock{}, mgr.GetCache(), gardenerhealthz.DefaultCacheSyncDeadline)),
		mgr.AddHealthzCheck("certificate", func(*http.Request) error { return s.certificate.valid(time.Now(), maxExpired) }),
		mgr.AddReadyzCheck("informer-sync", gardenerhealthz.NewCacheSyncHealthz(mgr.GetCache())),
		mgr.AddReadyzCheck("informer-age", func(*http.Request) error {
			_, err := s.hearing.silent()
			return err
		}),
		mgr.AddReadyzCheck("webhook-server", s.listening),
		mgr.AddReadyzCheck("certificate", func(*http.Request) error { return s.certificate.valid(time.Now(), 0) }),
		mgr.AddReadyzCheck("shutdown", func(*http.Request) error {
			if s.signalled.Err() != nil {
				return errors.New("the process was asked to stop")
			}
			return nil
		}),
	)
	if source == nil {
		return checks
	}
	synced := gardenerhealthz.NewCacheSyncHealthz(source.GetCache())
	return errors.Join(checks, mgr.AddReadyzCheck("source-informer-sync", synced))
}

// listening returns an error if the server is unreachable.
func (s *server) listening(request *http.Request) error {
	// It only connects and sends nothing, so it need not verify the certificate.
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	dialer := &tls.Dialer{Config: config, NetDialer: &net.Dialer{Timeout: time.Second}}
	conn, err := dialer.DialContext(request.Context(), "tcp", s.address)
	if err != nil {
		return fmt.Errorf("the webhook server cannot be reached: %w", err)
	}
	_ = conn.Close()
	return nil
}

// quiet logs messages of the HTTP server at a high verbosity. Most are about connections without a request: health checks, scanners.
type quiet struct{ log logr.Logger }

func (q quiet) Write(line []byte) (int, error) {
	q.log.V(1).Info("The HTTP server says", "line", Shown(strings.TrimSpace(string(line)), MaxErrorText))
	return len(line), nil
}
