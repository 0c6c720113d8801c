// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// The server at an address may not be an API server. The message names this cause, and where to look.
func TestAnswersOfOtherServers(t *testing.T) {
	answer := func(mediaType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, tc := range map[string]struct {
		serve   http.HandlerFunc
		timeout time.Duration
		want    string
	}{
		"no answer": {
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 10 * time.Millisecond,
			"the garden did not answer within 0.01 seconds: try again later; if it never answers, " + lookAtAddress,
		},
		"half an answer": {
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", "1000")
				answer("application/json", `{"kind":`)(w, r)
			}, time.Minute, "the garden broke off in the middle of its answer: try again; if that does not help, " + lookAtAddress,
		},
		"login page": {
			answer("text/html; charset=utf-8", "<html>Who are you?</html>"), time.Minute,
			"the garden is not a Kubernetes API server, because it answers with text/html: " + lookAtAddress,
		},
		"something else": {
			answer("application/json", `[]`), time.Minute,
			"the garden is not a Kubernetes API server, because its answer is not a list of objects: " + lookAtAddress,
		},
		"circle": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, time.Minute,
			"the garden is not a Kubernetes API server, because it redirects again and again: " + lookAtAddress,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.serve)
			defer server.Close()
			r, err := newReader(&rest.Config{Host: server.URL}, "the garden", "capkit/test", tc.timeout)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = r.Read(t.Context(), Wanted{}); err == nil || err.Error() != tc.want {
				t.Error(err)
			}
		})
	}
}
