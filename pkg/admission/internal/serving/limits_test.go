// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// eachProtocol runs a test with HTTP/1.1, which API servers use with Services, and with HTTP/2, which they use with URLs. The server has
// room for 1 MiB. Its deadlines are long, because the machine may be busy, unless change sets others.
func eachProtocol(
	t *testing.T, handler http.HandlerFunc, change func(*limits), test func(t *testing.T, s *server, c *http.Client),
) {
	t.Helper()
	s := startServer(t, handler, func(s *server) {
		s.limits.maxHeld = 1 << 20
		change(s.limits)
	})
	for _, second := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %t", second), func(t *testing.T) {
			test(t, s, speaking(second))
			eventually(t, "nothing is held any more", func() bool { return s.limits.held.Load() == 0 })
		})
	}
}

func asItIs(*limits) {}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it does not come to that", what)
		}
	}
}

// answerTo sends a body, and returns the response with its text.
func (s *server) answerTo(c *http.Client, body io.Reader) (*http.Response, string, error) {
	response, err := c.Post(s.url(), "application/json", body)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

// expect retries while the machine is too busy to send a body in time.
func (s *server) expect(t *testing.T, c *http.Client, bytes, status int, text string) {
	t.Helper()
	var response *http.Response
	var got string
	var err error
	eventually(t, "the body arrives in time", func() bool {
		response, got, err = s.answerTo(c, some(bytes))
		return err == nil && response.StatusCode != http.StatusRequestTimeout
	})
	if err != nil || response.StatusCode != status || !strings.Contains(got, text) {
		t.Errorf("the answer is %v %q, %v; it should be %d %q", response, got, err, status, text)
	}
}

// echo answers with the number of bytes read.
func echo(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	_, _ = fmt.Fprint(w, n, " bytes, ", err)
}

// some returns a review of this length.
func some(bytes int) io.Reader {
	if bytes == 0 {
		return http.NoBody
	}
	const begins, ends = "{" + reviewMeta + `,"x":"`, `"}`
	return strings.NewReader(begins + strings.Repeat("x", bytes-len(begins)-len(ends)) + ends)
}

func TestSlowRequestsAreCutOff(t *testing.T) {
	impatient := func(l *limits) { l.maxReceiving = time.Second }
	eachProtocol(t, echo, impatient, func(t *testing.T, s *server, c *http.Client) {
		ends := make(chan string)
		for range 20 {
			go func() {
				body, feed := io.Pipe()
				defer func() { _ = feed.Close() }()
				go func() { _, _ = feed.Write([]byte(`{"request": `)) }()
				response, text, err := s.answerTo(c, body)
				switch {
				case err != nil:
					ends <- err.Error()
				case response.StatusCode != http.StatusRequestTimeout || !strings.Contains(text, "the request did not arrive within 1s"):
					ends <- response.Status + " " + text
				default:
					ends <- ""
				}
			}()
		}
		s.expect(t, c, 1000, http.StatusOK, "1000 bytes, <nil>")
		for range 20 {
			if end := <-ends; end != "" {
				t.Error(end)
			}
		}
		s.expect(t, c, 1000, http.StatusOK, "1000 bytes, <nil>")
	})
}

func TestLargeRequestsAreCutOff(t *testing.T) {
	spacious := func(l *limits) { l.maxHeld = 64 << 20 }
	eachProtocol(t, echo, spacious, func(t *testing.T, s *server, c *http.Client) {
		s.expect(t, c, maxReceived, http.StatusOK, fmt.Sprint(maxReceived, " bytes"))
		const refusal = "the request has more than 7340031 bytes"
		s.expect(t, c, maxReceived+1, http.StatusRequestEntityTooLarge, refusal)
		s.expect(t, c, 0, http.StatusUnsupportedMediaType, "must be a JSON object")
	})
}

func TestManyBytesAtOnceAreRefused(t *testing.T) {
	eachProtocol(t, echo, asItIs, func(t *testing.T, s *server, c *http.Client) {
		body, feed := io.Pipe()
		first := make(chan string)
		go func() {
			response, text, err := s.answerTo(c, body)
			first <- fmt.Sprint(response != nil && response.StatusCode == http.StatusOK, text, err)
		}()
		if _, err := io.Copy(feed, some(900<<10)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the first request is held", func() bool { return s.limits.held.Load() == 900<<10 })
		response, text, err := s.answerTo(c, some(500<<10))
		if err != nil || response.StatusCode != http.StatusServiceUnavailable ||
			response.Header.Get("Retry-After") != "1" || !strings.Contains(text, errCrowded.Error()) {
			t.Errorf("what there is no room for is answered with %v %q, %v", response, text, err)
		}
		s.expect(t, c, 1000, http.StatusOK, "1000 bytes")
		_ = feed.Close()
		if got := <-first; got != "true921600 bytes, <nil><nil>" {
			t.Errorf("the first request ended with %s", got)
		}
		s.expect(t, c, 500<<10, http.StatusOK, "512000 bytes")
	})
}

// TestConnectionsOutliveDeadlines has a handler that takes longer than a request may take to arrive.
func TestConnectionsOutliveDeadlines(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(1200 * time.Millisecond)
		echo(w, r)
	}
	impatient := func(l *limits) { l.maxReceiving = time.Second }
	eachProtocol(t, handler, impatient, func(t *testing.T, s *server, c *http.Client) {
		served := 0
		eventually(t, "two requests are served in a row", func() bool {
			reused := false
			trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
			ctx := httptrace.WithClientTrace(t.Context(), trace)
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url(), some(100))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", jsonType)
			response, err := c.Do(request)
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
	impatient := func(l *limits) { l.maxAnswering = 2 * time.Second }
	eachProtocol(t, handler, impatient, func(t *testing.T, s *server, c *http.Client) {
		if response, err := c.Post(s.url(), "application/json", some(100)); err == nil { // or the time is already over
			defer func() { _ = response.Body.Close() }()
		}
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("the handler goes on writing")
		}
	})
}

// TestAPIServersTryAgain sends a request as an API server does, first without room for it.
func TestAPIServersTryAgain(t *testing.T) {
	eachProtocol(t, echo, asItIs, func(t *testing.T, s *server, c *http.Client) {
		refused := 0
		counting := func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				response, err := c.Transport.RoundTrip(r)
				if err == nil && response.StatusCode == http.StatusServiceUnavailable {
					refused++
					s.limits.held.Add(-s.limits.maxHeld)
				}
				return response, err
			})
		}
		config := &rest.Config{Host: "https://" + s.address, WrapTransport: counting, ContentConfig: rest.ContentConfig{
			NegotiatedSerializer: kubernetesscheme.Codecs.WithoutConversion(), GroupVersion: &schema.GroupVersion{},
		}}
		api, err := rest.UnversionedRESTClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		s.limits.held.Add(s.limits.maxHeld)
		body, err := io.ReadAll(some(500 << 10))
		if err != nil {
			t.Fatal(err)
		}
		request := api.Post().AbsPath(servedPath).SetHeader("Content-Type", jsonType).Body(body).Timeout(time.Minute)
		if result, err := request.DoRaw(t.Context()); err != nil || string(result) != "512000 bytes, <nil>" || refused != 1 {
			t.Errorf("the answer is %q, %v; it was refused %d times", result, err, refused)
		}
	})
}

// TestAPIServersSayWhy sends, as an API server does, more than is allowed.
func TestAPIServersSayWhy(t *testing.T) {
	eachProtocol(t, echo, func(l *limits) { l.maxHeld = 64 << 20 }, func(t *testing.T, s *server, c *http.Client) {
		config := &rest.Config{Host: "https://" + s.address, Transport: c.Transport, ContentConfig: rest.ContentConfig{
			NegotiatedSerializer: kubernetesscheme.Codecs.WithoutConversion(), GroupVersion: &schema.GroupVersion{},
		}}
		api, err := rest.UnversionedRESTClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the body arrives in time", func() bool {
			large := bytes.Repeat([]byte("x"), maxReceived+1)
			err = api.Post().AbsPath(servedPath).Body(large).Timeout(time.Minute).Do(t.Context()).Into(&admissionv1.AdmissionReview{})
			return err != nil && !strings.Contains(err.Error(), "did not arrive")
		})
		if err.Error() != "the request has more than 7340031 bytes" {
			t.Errorf("the error is %q", err)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
