// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	// maxHeader is how many bytes the header of a request may have, which is some hundred from an API server.
	maxHeader = 32 << 10
	// maxIdle is how long a connection is kept that nothing comes from, as API servers do.
	maxIdle = 90 * time.Second
)

// server serves webhooks. Gardener's packages register them with a webhook.DefaultServer, which is never started
// itself: it has no limits that could be set.
type server struct {
	log logr.Logger
	// registered says which address to serve at.
	registered  *webhook.DefaultServer
	handler     http.Handler
	certificate *certificate
	tls         *tlsOptions
	limits      *limits
	// signalled is done when the process is asked to stop, which is some time before the server is.
	signalled context.Context
}

// NeedLeaderElection says that every replica serves.
func (s *server) NeedLeaderElection() bool { return false }

// Start serves until ctx is done and the requests that run then are answered. The manager calls it once it is synced.
func (s *server) Start(ctx context.Context) error {
	listener, err := net.Listen("tcp", s.address())
	if err != nil {
		return fmt.Errorf("the webhook server: %w", err)
	}
	serving := &http.Server{
		Handler:     drained(s.signalled, s.limits.limited(s.handler)),
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

func (s *server) address() string {
	return net.JoinHostPort(s.registered.Options.Host, strconv.Itoa(s.registered.Options.Port))
}

// listening returns an error if the server cannot be reached.
func (s *server) listening(request *http.Request) error {
	// It only sees whether it can be reached, and sends nothing, so it need not verify the certificate.
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	dialer := &tls.Dialer{Config: config, NetDialer: &net.Dialer{Timeout: time.Second}}
	conn, err := dialer.DialContext(request.Context(), "tcp", s.address())
	if err != nil {
		return fmt.Errorf("the webhook server cannot be reached: %w", err)
	}
	_ = conn.Close()
	return nil
}

// quiet is what the HTTP server logs, most of it about connections of which nothing came: health checks, scanners.
type quiet struct{ log logr.Logger }

func (q quiet) Write(line []byte) (int, error) {
	q.log.V(1).Info("The HTTP server says", "line", string(line))
	return len(line), nil
}

// drained returns a handler that serves as another one does, and asks clients to close their connections once ctx is
// done. A server that stops closes connections that are idle; with HTTP/1.1, which API servers use for Services, a
// request that is on its way at that moment fails.
func drained(ctx context.Context, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}

// delayed returns a context that is done some time after ctx.
func delayed(ctx context.Context, delay time.Duration) context.Context {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(delay, cancel) })
	return later
}
