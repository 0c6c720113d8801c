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
	// maxHeader is how many bytes the header of a request may have, which is some hundred from an API server.
	maxHeader = 32 << 10
	// maxIdle is how long a connection is kept that nothing comes from, as API servers do.
	maxIdle = 90 * time.Second
)

// server serves webhooks, in every replica. Gardener's packages register them with a webhook.DefaultServer, which is never
// started itself: it has no limits that could be set.
type server struct {
	log         logr.Logger
	address     string // to serve at: HOST:PORT
	handler     http.Handler
	certificate *certificate
	tls         *tlsOptions
	limits      *limits
	hearing     *Hearing
	// signalled is done when the process is asked to stop, which is some time before the server is.
	signalled context.Context
}

// Start serves until ctx is done and the requests that run then are answered. The manager calls it once it is synced.
func (s *server) Start(ctx context.Context) error {
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("the webhook server: %w", err)
	}
	serving := &http.Server{
		Handler:     s,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) }, // answers are finished
		TLSConfig: &tls.Config{
			MinVersion: s.tls.version, CipherSuites: s.tls.suites, NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.current.Load(), nil },
		},
		ReadHeaderTimeout: s.limits.maxReceiving, // and of the handshake
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

// ServeHTTP answers a request: on every path, it passes the limits, and is refused while nothing is heard from the API server.
//
// A server that stops closes connections that are idle. With HTTP/1.1, which API servers use for Services, a request that is
// on its way at that moment fails. So clients are asked to close their connections before.
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

// maxExpired is how long a certificate may have expired before /healthz fails. A new process reads the Secret anew, so
// that a restart helps one that does not get to know of a new certificate.
const maxExpired = 10 * time.Minute

// addChecks adds what /healthz and /readyz are about; docs/operators/admission.md says what each check means. /readyz fails while
// the API server had better ask another replica; /healthz fails for what a restart may repair, and nothing else. source
// is the cluster of the certificates, nil if it is that of the manager.
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

// listening returns an error if the server cannot be reached.
func (s *server) listening(request *http.Request) error {
	// It only sees whether it can be reached, and sends nothing, so it need not verify the certificate.
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	dialer := &tls.Dialer{Config: config, NetDialer: &net.Dialer{Timeout: time.Second}}
	conn, err := dialer.DialContext(request.Context(), "tcp", s.address)
	if err != nil {
		return fmt.Errorf("the webhook server cannot be reached: %w", err)
	}
	_ = conn.Close()
	return nil
}

// quiet is what the HTTP server logs, most of it about connections of which nothing came: health checks, scanners.
type quiet struct{ log logr.Logger }

func (q quiet) Write(line []byte) (int, error) {
	q.log.V(1).Info("The HTTP server says", "line", Shown(strings.TrimSpace(string(line)), MaxErrorText))
	return len(line), nil
}
