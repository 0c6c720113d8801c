// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	reviewMeta = `"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"`
	jsonType   = "application/json"
)

// TestReviewsOnly sends requests that no API server would send.
func TestReviewsOnly(t *testing.T) {
	aliases := "k: &a [x, x, x, x, x, x, x, x, x]\nl: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nm: [*b, *b, *b, *b, *b, *b]\n"
	for _, row := range []struct {
		name, method, media, body string
		status                    int
		says                      string
	}{
		{"a review", http.MethodPost, jsonType, "{" + reviewMeta + `,"request":{}}`, http.StatusOK, "served"},
		{"its kind behind the rest", http.MethodPost, jsonType, `{"request":{"kind":{}},` + reviewMeta + "}", http.StatusOK, "served"},
		{"with a charset", http.MethodPost, jsonType + "; charset=utf-8", " \r\n\t{" + reviewMeta + "}", http.StatusOK, "served"},
		{"another method", http.MethodPut, jsonType, "{" + reviewMeta + "}", http.StatusMethodNotAllowed, "POST, not PUT"},
		{"a method for people", http.MethodGet, "", "", http.StatusMethodNotAllowed, "POST, not GET"},
		{"YAML, by its media type", http.MethodPost, "application/yaml", aliases, http.StatusUnsupportedMediaType, "application/json only"},
		{"no media type", http.MethodPost, "", "{" + reviewMeta + "}", http.StatusUnsupportedMediaType, "application/json only"},
		{"YAML in disguise", http.MethodPost, jsonType, aliases, http.StatusUnsupportedMediaType, "must be a JSON object"},
		{"YAML with a review", http.MethodPost, jsonType, "---\n{" + reviewMeta + "}", http.StatusUnsupportedMediaType, "must be a JSON object"},
		{"YAML that looks like JSON", http.MethodPost, jsonType, "{kind: AdmissionReview}", http.StatusBadRequest, "not JSON"},
		{"protobuf", http.MethodPost, jsonType, "k8s\x00{", http.StatusUnsupportedMediaType, "must be a JSON object"},
		{"nothing", http.MethodPost, jsonType, "", http.StatusUnsupportedMediaType, "must be a JSON object"},
		{"a list", http.MethodPost, jsonType, "[{" + reviewMeta + "}]", http.StatusUnsupportedMediaType, "must be a JSON object"},
		{"half of it", http.MethodPost, jsonType, `{"request":{"uid":`, http.StatusBadRequest, "not JSON"},
		{"an older version", http.MethodPost, jsonType, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}`,
			http.StatusBadRequest, `not "AdmissionReview" and "admission.k8s.io/v1beta1"`},
		{"another kind", http.MethodPost, jsonType, `{"kind":"ConversionReview","apiVersion":"admission.k8s.io/v1"}`,
			http.StatusBadRequest, `not "ConversionReview"`},
		{"no kind", http.MethodPost, jsonType, `{"request":{}}`, http.StatusBadRequest, `not "" and ""`},
		{"a kind that is none", http.MethodPost, jsonType, `{"kind":{"a":1},"apiVersion":7}`, http.StatusBadRequest, `not "" and ""`},
		{"many small values", http.MethodPost, jsonType, "{" + reviewMeta + `,"x":[` + strings.Repeat("{},", maxValues/2) + "{}]}",
			http.StatusRequestEntityTooLarge, "more than 300000 JSON values"},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLimits(logr.Discard(), 10*time.Second)
			status, text := answerOf(t, l, row.method, row.media, row.body)
			if status != row.status || !strings.Contains(text, row.says) {
				t.Errorf("answered with %d %q; it should be %d %q", status, text, row.status, row.says)
			}
			if !l.light.TryAcquire(maxLightWeight) || !l.heavy.TryAcquire(maxValues) {
				t.Error("it still takes room")
			}
		})
	}
}

// server returns a server, not started, with these limits in front of a handler.
func (l *limits) server(t *testing.T, handler http.Handler) *server {
	return &server{limits: l, hearing: newHearing(logr.Discard(), time.Minute), signalled: t.Context(), handler: handler}
}

// send returns the answer to a request whose connection accepts any deadline.
func send(handler http.Handler, method, media, body string) *httptest.ResponseRecorder {
	request, answer := httptest.NewRequest(method, servedPath, strings.NewReader(body)), httptest.NewRecorder()
	request.Header.Set("Content-Type", media)
	handler.ServeHTTP(patientRecorder{answer}, request)
	return answer
}

type patientRecorder struct{ *httptest.ResponseRecorder }

func (patientRecorder) SetReadDeadline(time.Time) error  { return nil }
func (patientRecorder) SetWriteDeadline(time.Time) error { return nil }

// answerOf sends a request through the limits to a handler that reports how many values are held. It returns status and text.
func answerOf(t *testing.T, l *limits, method, media, body string) (int, string) {
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		values := int64(0) // held: the rest can be acquired
		for !l.light.TryAcquire(maxLightWeight - values) {
			values++
		}
		l.light.Release(maxLightWeight - values)
		_, _ = fmt.Fprint(w, "served with ", values)
	})
	answer := send(l.server(t, served), method, media, body)
	var refused metav1.Status
	if json.Unmarshal(answer.Body.Bytes(), &refused) == nil {
		return answer.Code, refused.Message
	}
	return answer.Code, answer.Body.String()
}

// TestManyValuesAtOnceAreRefused sends a review while most of the room is taken.
func TestManyValuesAtOnceAreRefused(t *testing.T) {
	l := newLimits(logr.Discard(), 10*time.Second)
	review := "{" + reviewMeta + `,"x":["a","b","c"]}`
	weight := 7 + int64(len(review))/bytesPerValue // commas and opening brackets, plus one, plus the length
	if !l.light.TryAcquire(maxLightWeight - weight) {
		t.Fatal("there is no room at the beginning")
	}
	if status, text := answerOf(t, l, http.MethodPost, jsonType, review); status != http.StatusOK {
		t.Errorf("what there is just room for is answered with %d %q", status, text)
	}
	if !l.light.TryAcquire(1) {
		t.Fatal("what was answered still takes room")
	}
	l.maxReceiving = time.Millisecond
	status, text := answerOf(t, l, http.MethodPost, jsonType, review)
	if status != http.StatusServiceUnavailable || !strings.Contains(text, errCrowded.Error()) {
		t.Errorf("what there is no room for is answered with %d %q", status, text)
	}
}

// TestLargeRequestsWait sends four large requests at once: updates the size of the largest CloudProfiles, or few values with the most
// text allowed. They are served one after the other, and small requests meanwhile.
func TestLargeRequestsWait(t *testing.T) {
	t.Run("many values", func(t *testing.T) { oneAfterTheOther(t, strings.Repeat(",0", 240_000)) })
	t.Run("much text", func(t *testing.T) { oneAfterTheOther(t, `,"`+strings.Repeat("x", maxReceived-1000)+`"`) })
}

func oneAfterTheOther(t *testing.T, large string) {
	l := newLimits(logr.Discard(), 10*time.Second)
	var serving, arrived atomic.Int32
	begun, goOn := make(chan struct{}, 4), make(chan struct{})
	handler := l.server(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 1000 {
			return
		}
		if serving.Add(1) > 1 {
			t.Error("two large requests are served at the same time")
		}
		begun <- struct{}{}
		<-goOn
		serving.Add(-1)
	}))
	ask := func(further string) int {
		arrived.Add(1)
		return send(handler, http.MethodPost, jsonType, "{"+reviewMeta+`,"x":[0`+further+"]}").Code
	}
	statuses := make(chan int, 4)
	for range 4 {
		go func() { statuses <- ask(large) }()
	}
	<-begun
	eventually(t, "all have arrived", func() bool { return arrived.Load() == 4 })
	time.Sleep(200 * time.Millisecond) // time for a fault to show
	if status := ask(",0"); status != http.StatusOK {
		t.Errorf("a small one beside them is answered with %d", status)
	}
	close(goOn)
	for range 4 {
		if status := <-statuses; status != http.StatusOK {
			t.Errorf("one of them is answered with %d", status)
		}
	}
}
