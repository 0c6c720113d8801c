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
	// defaultMaxSilence is how old what the informers know may be. It is three times as long as nothing comes from an API
	// server that is well: pings are answered at once.
	defaultMaxSilence = 30 * time.Second
	// minMaxSilence leaves a second, the least that client-go can wait, for each of its thirds.
	minMaxSilence = 3 * time.Second
	// catchingUp is how long what has happened since the watch before may take to come, which is what comes first.
	catchingUp = time.Second
)

// Hearing knows since when the API server of the garden has been silent. What the informers know is as old as that. It is
// safe for concurrent use.
//
// Each informer has a watch. What is on its connection comes in order, so that one which is open misses nothing as long as
// the connection carries anything: with HTTP/2 that is the answer to a ping if there is nothing else. It need not be of the
// watch, on which there may be nothing for many minutes: whether an API server sends bookmarks depends on its etcd. A watch
// that has ended hears nothing until there is another one in its place.
//
// A connection without HTTP/2 has TCP's own probes, which nobody sees but the kernel: its watch counts as heard until it
// ends, some two thirds of the time too long at the most.
//
// The time that a list takes is not in it: at first, which is for other checks to say, and if the API server has forgotten
// what happened before a new watch.
type Hearing struct {
	log logr.Logger
	// max is how long it may be silent.
	max time.Duration
	// now is time.Now, except in tests.
	now func() time.Time

	mu      sync.Mutex
	watches map[string]*heardWatch // by what is watched

	reported error // why requests are refused, as the log has it
}

func newHearing(log logr.Logger, maxSilence time.Duration) *Hearing {
	return &Hearing{log: log.WithName("hearing"), max: maxSilence, now: time.Now, watches: map[string]*heardWatch{}}
}

// heardWatch is a watch on the objects of a kind: the body of its response, which records its end.
type heardWatch struct {
	io.ReadCloser
	hearing  *Hearing
	resource string
	// conn is its connection with HTTP/2, on which its beginning has come; nil if there is none.
	conn   *heardConn
	opened time.Time
	// before is what heard returns as long as it catches up, and once it has ended.
	before time.Time
	ended  bool
}

// heard is when something last came: what is known is known to be right at that time.
func (w *heardWatch) heard(now time.Time) time.Time {
	if w.ended || now.Sub(w.opened) < catchingUp {
		return w.before
	}
	if w.conn == nil {
		return now
	}
	return *w.conn.last.Load()
}

// heardConn records when something last came on a connection.
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

// listen has the watches of all clients that are made by a config be heard, and API servers be asked for an answer if they
// are silent for a third of the time that they may be: the connection is given up, and another one made, if there is none
// within another third. client-go reads that from the environment, so that it holds for all clients of the process.
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

// WrappedRoundTripper is for client-go, which asks the one that is wrapped to close connections.
func (t heardTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip answers as the one that is wrapped, and records what comes of watches.
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

// underlying returns the connection that listen has made below one with TLS; nil if somebody else has made it.
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

// silent returns the age of what is known: how long nothing was heard of what has not been heard of for longest; 0 before
// the first watch. The error says that this is too long, of what, and since when.
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

// outdated returns the refusal of all requests while the API server is silent: what was stored meanwhile is not known. API
// servers then try again. It is not enough not to be ready: on connections that there are, a replica goes on to be asked.
func (h *Hearing) outdated() error {
	if _, err := h.silent(); err != nil {
		return refusal{refusedOutdated, http.StatusServiceUnavailable, err.Error()}
	}
	return nil
}

// report says in a metric how old what is known is, and in the log when the API server falls silent and is heard again.
// Nobody else may call it at the same time.
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
