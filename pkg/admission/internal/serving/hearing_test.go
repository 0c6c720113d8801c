// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/rest"
)

// listener is a Hearing with a clock that the test sets.
type listener struct {
	*Hearing
	clock time.Time
}

func newListener() *listener {
	l := &listener{clock: time.Date(2026, 11, 23, 18, 0, 0, 0, time.FixedZone("elsewhere", 3600))}
	l.Hearing = newHearing(logr.Discard(), 30*time.Second)
	l.now = func() time.Time { return l.clock }
	return l
}

// transport is a function as an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// opened is a watch of a listener.
type opened struct {
	// server is the API server's end of the connection.
	server net.Conn
	body   io.ReadCloser
	// conn is the connection from which TLS would read.
	conn *heardConn
}

// watch opens a watch over an HTTP version, and lets it catch up.
func (l *listener) watch(t *testing.T, major int, url string) *opened {
	t.Helper()
	ours, theirs := net.Pipe()
	o := &opened{server: theirs, conn: &heardConn{Conn: ours, now: l.now}}
	o.pong(t)
	body, _ := io.Pipe()
	answers := transport(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{Conn: o.conn})
		return &http.Response{StatusCode: http.StatusOK, ProtoMajor: major, Body: body}, nil
	})
	response, err := heardTripper{l.Hearing, answers}.RoundTrip(httptest.NewRequest(http.MethodGet, url, http.NoBody))
	if err != nil {
		t.Fatal(err)
	}
	o.body = response.Body
	l.clock = l.clock.Add(catchingUp)
	return o
}

// pong receives a byte on the connection.
func (o *opened) pong(t *testing.T) {
	t.Helper()
	go func() { _, _ = o.server.Write([]byte("x")) }()
	if _, err := o.conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

// expect advances the clock. It wants this age of the silence, and an error about the resource if the silence is too long.
func (l *listener) expect(t *testing.T, passes, age time.Duration, about string) {
	t.Helper()
	l.clock = l.clock.Add(passes)
	got, err := l.silent()
	if got != age {
		t.Errorf("silent for %s, want %s", got, age)
	}
	want := ""
	if about != "" {
		want = "nothing has been heard from the API server of the garden about " + about + " since " +
			l.clock.Add(-age).UTC().Format("2006-01-02T15:04:05Z")
	}
	if (err == nil) != (want == "") || err != nil && err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

const (
	watchedProfiles = "/apis/core.gardener.cloud/v1beta1/cloudprofiles?labelSelector=a%3Db&resourceVersion=1&watch=true"
	watchedShoots   = "/apis/core.gardener.cloud/v1beta1/shoots?labelSelector=a%3Db&resourceVersion=1&watch=true"
)

func TestHearing(t *testing.T) {
	t.Run("before the first watch", func(t *testing.T) { newListener().expect(t, time.Hour, 0, "") })

	t.Run("a connection with pings", func(t *testing.T) {
		l := newListener()
		profiles := l.watch(t, 2, watchedProfiles)
		l.expect(t, 9*time.Second, 10*time.Second, "")
		profiles.pong(t)
		l.expect(t, 30*time.Second, 30*time.Second, "")
		l.expect(t, time.Second, 31*time.Second, "cloudprofiles")
		profiles.pong(t)
		l.expect(t, time.Second, time.Second, "")
	})

	t.Run("a watch that has ended on a connection that goes on", func(t *testing.T) {
		l := newListener()
		profiles := l.watch(t, 2, watchedProfiles)
		shoots := l.watch(t, 2, watchedShoots)
		profiles.pong(t)
		l.clock = l.clock.Add(time.Second)
		if err := profiles.body.Close(); err != nil {
			t.Fatal(err)
		}
		l.clock = l.clock.Add(40 * time.Second)
		profiles.pong(t)
		shoots.pong(t)
		l.expect(t, 0, 41*time.Second, "cloudprofiles")
		l.watch(t, 2, strings.Replace(watchedProfiles, "Version=1", "Version=2", 1))
		l.expect(t, -time.Millisecond, 42*time.Second-time.Millisecond, "cloudprofiles") // still catching up
		l.expect(t, time.Millisecond, catchingUp, "")
	})

	t.Run("a connection without pings", func(t *testing.T) {
		l := newListener()
		profiles := l.watch(t, 1, watchedProfiles)
		l.expect(t, time.Hour, 0, "")
		if err := profiles.body.Close(); err != nil {
			t.Fatal(err)
		}
		l.expect(t, 30*time.Second, 30*time.Second, "")
		l.expect(t, time.Second, 31*time.Second, "cloudprofiles")
	})

	t.Run("what is silent for longest", func(t *testing.T) {
		l := newListener()
		l.watch(t, 2, watchedShoots)
		l.watch(t, 2, watchedProfiles)
		l.expect(t, 40*time.Second, 42*time.Second, "shoots")
	})

	t.Run("a watch that is refused, and what is no watch", func(t *testing.T) {
		l := newListener()
		for _, test := range []struct {
			url    string
			status int
		}{{watchedProfiles, http.StatusForbidden}, {strings.TrimSuffix(watchedProfiles, "&watch=true"), http.StatusOK}} {
			answers := transport(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: test.status, ProtoMajor: 2, Body: http.NoBody}, nil
			})
			_, err := heardTripper{l.Hearing, answers}.RoundTrip(httptest.NewRequest(http.MethodGet, test.url, http.NoBody))
			if err != nil {
				t.Fatal(err)
			}
		}
		l.expect(t, time.Hour, 0, "")
	})
}

// TestNobodyIsAnsweredWhileItIsSilent checks answers, log and metric.
func TestNobodyIsAnsweredWhileItIsSilent(t *testing.T) {
	l := newListener()
	var log strings.Builder
	l.log = funcr.New(func(_, args string) { log.WriteString(args + "\n") }, funcr.Options{})
	profiles := l.watch(t, 2, watchedProfiles)
	served := 0
	handler := &server{
		limits: newLimits(logr.Discard(), 10*time.Second), hearing: l.Hearing, signalled: t.Context(),
		handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }),
	}
	for _, test := range []struct{ passes, status, age int }{{29, 200, 30}, {1, 503, 31}, {100, 503, 131}, {0, 200, 0}, {30, 200, 30}} {
		l.clock = l.clock.Add(time.Duration(test.passes) * time.Second)
		if test.passes == 0 {
			profiles.pong(t)
		}
		recorder := send(handler, http.MethodPost, jsonType, "{"+reviewMeta+"}")
		again := recorder.Header().Get("Retry-After") == "1" && recorder.Header().Get("Connection") == "close"
		if recorder.Code != test.status || again != (test.status == 503) {
			t.Errorf("after %d s: status %d, %v", test.age, recorder.Code, recorder.Header())
		}
		if again && !strings.Contains(recorder.Body.String(), "since 2026-11-23T17:00:00Z") {
			t.Error(recorder.Body)
		}
		for range 2 {
			l.report(t.Context())
		}
		if got := testutil.ToFloat64(silenceSeconds); got != float64(test.age) {
			t.Errorf("after %d s: the metric is %g", test.age, got)
		}
	}
	if served != 3 {
		t.Errorf("%d requests were served", served)
	}
	if lines := strings.Split(log.String(), "\n"); len(lines) != 3 || !strings.Contains(lines[0], "since 2026-11-23T17:00:00Z") ||
		!strings.Contains(lines[1], "Hearing the API server again") {
		t.Errorf("the log is %s", log.String())
	}
}

// TestPings watches an API server that sends nothing after the beginning of the watch.
func TestPings(t *testing.T) {
	for _, variable := range []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"} {
		t.Setenv(variable, "") // restores it when the test ends
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	h := newHearing(logr.Discard(), minMaxSilence)
	config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	if err := h.listen(config); err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+watchedProfiles, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.watches {
		if w.conn == nil {
			t.Fatal("its connection is not known")
		}
		first := w.heard(w.opened.Add(catchingUp))
		eventually(t, "there is an answer to a ping", func() bool { return w.heard(w.opened.Add(catchingUp)).After(first) })
	}
	if len(h.watches) != 1 {
		t.Errorf("there are %d watches", len(h.watches))
	}
}
