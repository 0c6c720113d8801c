// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// An answer that is too long is not requested again.
func TestAnswerThatIsTooLong(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write(make([]byte, 2<<20+1))
	}))
	t.Cleanup(server.Close)
	for largest, want := range map[int64]string{1 << 20: "the answer is longer than 1 MiB", 4 << 20: ""} {
		asked = 0
		client := &http.Client{Transport: &transport{
			RoundTripper: http.DefaultTransport, timeout: time.Minute, largest: largest,
			sleep: func(context.Context, time.Duration) error { return nil },
		}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		if asked != 1 || (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("at most %d bytes: asked %d times: %v", largest, asked, err)
		}
	}
}
