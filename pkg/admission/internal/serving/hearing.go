// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
)

const (
	// defaultMaxSilence bounds the age of the informers' data. It is three times the longest silence of a healthy API server, which
	// answers pings at once.
	defaultMaxSilence = 30 * time.Second
	// minMaxSilence leaves each third at least a second, client-go's shortest timeout.
	minMaxSilence = 3 * time.Second
	// catchingUp is the time allowed for the backlog of a new watch, which arrives first.
	catchingUp = time.Second
)

// Hearing measures how long the garden's API server has been silent. The informers' data is as old as that. It is safe for concurrent
// use.
//
// Each informer has a watch. A connection delivers in order, so an open watch misses nothing while its connection carries any data. With
// HTTP/2, that is at least the answer to a ping. The data need not belong to the watch, which may be idle for many minutes: whether an
// API server sends bookmarks depends on its etcd. A watch that has ended hears nothing until another one replaces it.
//
// A connection without HTTP/2 has only TCP keep-alive probes, which the kernel hides. Its watch counts as heard until it ends, which is
// late by at most two thirds of the limit.
//
// The duration of a list is not included. For the first one, other checks apply. Later ones occur if the API server no longer has the
// history for a new watch.
type Hearing struct {
	log logr.Logger
	// max is the longest tolerated silence.
	max time.Duration
	// now is time.Now, except in tests.
	now func() time.Time

	mu      sync.Mutex
	watches map[string]*heardWatch // by path and selectors

	reported error // why requests are refused, as last logged
}

func newHearing(log logr.Logger, maxSilence time.Duration) *Hearing {
	return &Hearing{log: log.WithName("hearing"), max: maxSilence, now: time.Now, watches: map[string]*heardWatch{}}
}

// heardWatch is the response body of a watch on a kind, and records its end.
type heardWatch struct {
	io.ReadCloser
	hearing  *Hearing
	resource string
	// conn is the watch's HTTP/2 connection; nil if it has none.
	conn   *heardConn
	opened time.Time
	// before is the result of heard while the watch catches up, and after it has ended.
	before time.Time
	ended  bool
}

// heard returns the last time at which the informer's data was known to be current.
func (w *heardWatch) heard(now time.Time) time.Time {
	if w.ended || now.Sub(w.opened) < catchingUp {
		return w.before
	}
	if w.conn == nil {
		return now
	}
	return *w.conn.last.Load()
}

// heardConn records when a connection last received data.
type heardConn struct {
	net.Conn
	now  func() time.Time
	last atomic.Pointer[time.Time]
}

func (c *heardConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	if n > 0 {
		c.last.Store(new(c.now()))
	}
	return n, err
}

// listen observes the watches of all clients that are made from a config, and enables pings. A connection that is silent for a third of
// max is pinged. If no answer arrives within another third, client-go replaces the connection. client-go reads both times from the
// environment, so they apply to all clients of the process.
func (h *Hearing) listen(config *rest.Config) error {
	dialer := &net.Dialer{
		Timeout:         30 * time.Second, // as in client-go
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: h.max / 3, Interval: h.max / 9, Count: 3},
	}
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &heardConn{Conn: conn, now: h.now}, nil
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return heardTripper{h, next} })
	third := strconv.Itoa(int(h.max.Seconds() / 3))
	for _, variable := range []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"} {
		if err := os.Setenv(variable, third); err != nil {
			return err
		}
	}
	return nil
}

type heardTripper struct {
	hearing *Hearing
	next    http.RoundTripper
}

// WrappedRoundTripper lets client-go close the connections of the wrapped round tripper.
func (t heardTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip passes requests on, and observes the responses of watches.
func (t heardTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	if !query.Has("watch") {
		return t.next.RoundTrip(r)
	}
	var conn net.Conn
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { conn = info.Conn }}
	response, err := t.next.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	h, now := t.hearing, t.hearing.now()
	w := &heardWatch{hearing: h, resource: path.Base(r.URL.Path), opened: now, before: now}
	if response.ProtoMajor > 1 {
		w.conn = underlying(conn)
	}
	w.ReadCloser, response.Body = response.Body, w
	h.mu.Lock()
	defer h.mu.Unlock()
	of := r.URL.Path + "?" + query.Get("labelSelector") + "&" + query.Get("fieldSelector")
	if before := h.watches[of]; before != nil {
		w.before = before.heard(now)
	}
	h.watches[of] = w
	return response, nil
}

// underlying returns the connection from listen below a TLS connection, or nil if it has another origin.
func underlying(conn net.Conn) *heardConn {
	for {
		switch above := conn.(type) {
		case *heardConn:
			return above
		case interface{ NetConn() net.Conn }:
			conn = above.NetConn()
		default:
			return nil
		}
	}
}

func (w *heardWatch) Read(into []byte) (int, error) {
	n, err := w.ReadCloser.Read(into)
	if err != nil {
		w.end()
	}
	return n, err
}

// Close ends the watch.
func (w *heardWatch) Close() error {
	w.end()
	return w.ReadCloser.Close()
}

func (w *heardWatch) end() {
	w.hearing.mu.Lock()
	defer w.hearing.mu.Unlock()
	w.before, w.ended = w.heard(w.hearing.now()), true
}

// silent returns the age of the informers' data: the longest silence of any watch, or 0 before the first watch. If that exceeds max, the
// error names the resource and the start of the silence.
func (h *Hearing) silent() (age time.Duration, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, longest := h.now(), time.Duration(0)
	for _, of := range slices.Sorted(maps.Keys(h.watches)) {
		w := h.watches[of]
		last := w.heard(now)
		silence := now.Sub(last)
		age = max(age, silence)
		if silence > h.max && silence > longest {
			longest = silence
			err = fmt.Errorf("nothing has been heard from the API server of the garden about %s since %s",
				w.resource, last.UTC().Format(time.RFC3339))
		}
	}
	return age, err
}

// outdated returns the refusal of all requests while the API server is silent, since newer objects are then unknown. API servers retry.
// Failing /readyz is not enough, because existing connections keep sending requests to the replica.
func (h *Hearing) outdated() error {
	if _, err := h.silent(); err != nil {
		return refusal{refusedOutdated, http.StatusServiceUnavailable, err.Error()}
	}
	return nil
}

// report sets the metric of the data's age, and logs when the API server falls silent and is heard again. It is not safe for concurrent
// use.
func (h *Hearing) report(context.Context) {
	age, err := h.silent()
	silenceSeconds.Set(age.Seconds())
	switch {
	case err != nil && h.reported == nil:
		h.log.Error(err, "Refusing requests until the API server is heard again")
	case err == nil && h.reported != nil:
		h.log.Info("Hearing the API server again", "before", h.reported.Error())
	}
	h.reported = err
}
