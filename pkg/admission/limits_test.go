// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// limitedServer is a server with small limits, and one client that keeps its connections.
type limitedServer struct {
	*httptest.Server
	limits *limits
}

// eachProtocol runs a test with HTTP/1.1, which API servers speak with Services, and with HTTP/2, which they speak
// with URLs.
func eachProtocol(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, s limitedServer)) {
	t.Helper()
	for _, second := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %t", second), func(t *testing.T) {
			t.Parallel()
			l := &limits{log: logr.Discard(), maxHeld: 1 << 20, maxReceiving: time.Second, maxAnswering: time.Minute}
			s := limitedServer{httptest.NewUnstartedServer(l.limited(handler)), l}
			s.EnableHTTP2 = second
			s.StartTLS()
			t.Cleanup(s.Close)
			test(t, s)
			eventually(t, "nothing is held any more", func() bool { return l.held.Load() == 0 })
		})
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it does not come to that", what)
		}
	}
}

// answerTo sends a body, and returns the status and the text of the answer.
func (s limitedServer) answerTo(body io.Reader) (*http.Response, string, error) {
	response, err := s.Client().Post(s.URL, "application/json", body)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

// expect tries again while the machine is too busy to send a body in time.
func (s limitedServer) expect(t *testing.T, bytes, status int, text string) {
	t.Helper()
	var response *http.Response
	var got string
	var err error
	eventually(t, "the body arrives in time", func() bool {
		response, got, err = s.answerTo(some(bytes))
		return err == nil && response.StatusCode != http.StatusRequestTimeout
	})
	if err != nil || response.StatusCode != status || !strings.Contains(got, text) {
		t.Errorf("the answer is %v %q, %v; it should be %d %q", response, got, err, status, text)
	}
}

// echo answers with the number of bytes that it has read.
func echo(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	_, _ = fmt.Fprint(w, n, " bytes, ", err)
}

func some(bytes int) io.Reader {
	if bytes == 0 {
		return http.NoBody
	}
	return strings.NewReader(strings.Repeat("x", bytes))
}

func TestSlowRequestsAreCutOff(t *testing.T) {
	eachProtocol(t, echo, func(t *testing.T, s limitedServer) {
		ends := make(chan string)
		for range 20 {
			go func() {
				body, feed := io.Pipe()
				defer func() { _ = feed.Close() }()
				go func() { _, _ = feed.Write([]byte(`{"request": `)) }()
				response, text, err := s.answerTo(body)
				switch {
				case err != nil:
					ends <- err.Error()
				case response.StatusCode != http.StatusRequestTimeout || text != "the request did not arrive within 1s\n":
					ends <- response.Status + " " + text
				default:
					ends <- ""
				}
			}()
		}
		s.expect(t, 1000, http.StatusOK, "1000 bytes, <nil>")
		for range 20 {
			if end := <-ends; end != "" {
				t.Error(end)
			}
		}
		s.expect(t, 1000, http.StatusOK, "1000 bytes, <nil>")
	})
}

func TestLargeRequestsAreCutOff(t *testing.T) {
	eachProtocol(t, echo, func(t *testing.T, s limitedServer) {
		s.limits.maxHeld, s.limits.maxReceiving = maxHeld, time.Minute // the machine may be busy
		s.expect(t, maxReceived, http.StatusOK, fmt.Sprint(maxReceived, " bytes"))
		s.expect(t, maxReceived+1, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request has more than %d bytes", maxReceived))
		s.expect(t, 0, http.StatusOK, "0 bytes, <nil>")
	})
}

func TestManyBytesAtOnceAreRefused(t *testing.T) {
	eachProtocol(t, echo, func(t *testing.T, s limitedServer) {
		s.limits.maxReceiving = time.Minute
		body, feed := io.Pipe()
		first := make(chan string)
		go func() {
			response, text, err := s.answerTo(body)
			first <- fmt.Sprint(response != nil && response.StatusCode == http.StatusOK, text, err)
		}()
		if _, err := feed.Write(bytes.Repeat([]byte("x"), 900<<10)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the first request is held", func() bool { return s.limits.held.Load() == 900<<10 })
		response, text, err := s.answerTo(some(500 << 10))
		if err != nil || response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") != "1" || text != errCrowded.Error()+"\n" {
			t.Errorf("what there is no room for is answered with %v %q, %v", response, text, err)
		}
		s.expect(t, 1000, http.StatusOK, "1000 bytes")
		_ = feed.Close()
		if got := <-first; got != "true921600 bytes, <nil><nil>" {
			t.Errorf("the first request ended with %s", got)
		}
		s.expect(t, 500<<10, http.StatusOK, "512000 bytes")
	})
}

// TestConnectionsOutliveDeadlines has an answer take longer than a request may take to arrive.
func TestConnectionsOutliveDeadlines(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(1200 * time.Millisecond)
		echo(w, r)
	}
	eachProtocol(t, handler, func(t *testing.T, s limitedServer) {
		served := 0
		eventually(t, "two requests are served in a row", func() bool {
			reused := false
			trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
			request, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost, s.URL, some(100))
			if err != nil {
				t.Fatal(err)
			}
			response, err := s.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			if response.StatusCode == http.StatusRequestTimeout { // the machine is too busy
				served = 0
				return false
			}
			if text, err := io.ReadAll(response.Body); err != nil || string(text) != "100 bytes, <nil>" || served > 0 && !reused {
				t.Errorf("request %d: %q, %v; the connection was used before: %t", served, text, err, reused)
			}
			served++
			return served == 2
		})
	})
}

func TestAnswersThatNobodyReadsEnd(t *testing.T) {
	ended := make(chan struct{}, 2)
	handler := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				ended <- struct{}{}
				return
			}
		}
	}
	eachProtocol(t, handler, func(t *testing.T, s limitedServer) {
		s.limits.maxReceiving, s.limits.maxAnswering = time.Minute, 2*time.Second
		if response, err := s.Client().Post(s.URL, "application/json", some(10)); err == nil { // or the time is over already
			defer func() { _ = response.Body.Close() }()
		}
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("the handler goes on writing")
		}
	})
}

// TestAPIServersTryAgain asks as an API server does while there is no room.
func TestAPIServersTryAgain(t *testing.T) {
	eachProtocol(t, echo, func(t *testing.T, s limitedServer) {
		s.limits.maxReceiving = time.Minute
		var refused atomic.Int32
		transport := s.Client().Transport
		counting := func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				response, err := transport.RoundTrip(r)
				if err == nil && response.StatusCode == http.StatusServiceUnavailable {
					refused.Add(1)
					s.limits.held.Add(-s.limits.maxHeld)
				}
				return response, err
			})
		}
		config := &rest.Config{Host: s.URL, WrapTransport: counting, ContentConfig: rest.ContentConfig{
			NegotiatedSerializer: kubernetesscheme.Codecs.WithoutConversion(), GroupVersion: &schema.GroupVersion{},
		}}
		api, err := rest.UnversionedRESTClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		s.limits.held.Add(s.limits.maxHeld)
		result, err := api.Post().Body(bytes.Repeat([]byte("x"), 500<<10)).Timeout(time.Minute).DoRaw(t.Context())
		if err != nil || string(result) != "512000 bytes, <nil>" || refused.Load() != 1 {
			t.Errorf("the answer is %q, %v; it was refused %d times", result, err, refused.Load())
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
