// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-logr/logr"
	"golang.org/x/sync/semaphore"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxReceived bounds a request body, in bytes. An API server accepts objects of 3 MiB, and an update has two.
const maxReceived = 7<<20 - 1

const (
	// maxValues bounds the JSON values of a request. The largest CloudProfile that etcd can store has some 120,000, and an update has
	// two. An empty object takes two bytes, and up to some hundred times as many when decoded.
	maxValues = 300_000
	// bytesPerValue is the number of bytes that weigh as much as a value. Text is held as received, in the envelope, decoded, and in the
	// answer. This keeps two requests of maxReceived bytes from being processed together.
	bytesPerValue = 32
	// A request up to lightWeight does not wait for heavier ones. maxLightWeight bounds the total weight of light requests while they are
	// decoded and judged, and maxValues that of all others.
	lightWeight, maxLightWeight = 20_000, 100_000
)

// The reasons for refusing a request before it is decoded.
const (
	refusedTooLarge = "too-large"
	refusedTooSlow  = "too-slow"
	refusedCrowded  = "crowded"
	refusedBroken   = "broken"
	refusedForeign  = "foreign" // not from an API server
	refusedOutdated = "outdated"
)

// refusal is the answer to a request that is refused before it is decoded.
type refusal struct {
	reason  string
	status  int
	message string
}

func (r refusal) Error() string { return r.message }

var (
	// errCrowded refuses a request for which there is no room.
	errCrowded = refusal{refusedCrowded, http.StatusServiceUnavailable, "too many large requests at the same time"}
	// errTooManyValues refuses a request that would need too much memory when decoded.
	errTooManyValues = refusal{refusedTooLarge, http.StatusRequestEntityTooLarge,
		fmt.Sprintf("the request has more than %d JSON values", maxValues)}
)

// limits protect other clients from clients that are slow or send much.
type limits struct {
	log logr.Logger
	// maxHeld bounds the total body size of the requests in progress, in bytes. Judging them takes a multiple of it.
	maxHeld int64
	// maxReceiving bounds the time for receiving a body. maxAnswering bounds the whole request, including the judgement and the delivery
	// of the answer.
	maxReceiving, maxAnswering time.Duration

	// held is the number of bytes received for unanswered requests.
	held atomic.Int64
	// light and heavy are the room for decoding and judging light requests, and all others.
	light, heavy *semaphore.Weighted
}

// newLimits returns limits with room for nine of the largest requests. patience is how long the API server waits for an answer, and also
// bounds the time for receiving a body.
func newLimits(log logr.Logger, patience time.Duration) *limits {
	return &limits{
		log: log.WithName("limits"), maxHeld: 64 << 20, maxReceiving: patience, maxAnswering: 3 * patience,
		light: semaphore.NewWeighted(maxLightWeight), heavy: semaphore.NewWeighted(maxValues),
	}
}

// enter reads the body of a request, refuses requests that no API server sends, and waits for room, at most as long as a body may take to
// arrive. Decoding takes a multiple of the body's memory, so heavy requests wait for each other. The caller must call leave in every case
// once the request is answered; it frees the request's share.
func (l *limits) enter(w http.ResponseWriter, r *http.Request) (leave func(), err error) {
	received := &counted{from: http.MaxBytesReader(w, r.Body, maxReceived), limits: l}
	leave = func() { l.held.Add(-received.read) }
	body, err := l.receive(w, received)
	if err == nil {
		err = errors.Join(checkHeader(r), checkEnvelope(body))
	}
	if err != nil {
		return leave, err
	}
	values := valuesIn(body)
	if values > maxValues {
		return leave, errTooManyValues
	}
	room, weight := l.heavy, min(values+int64(len(body))/bytesPerValue, maxValues) // the heaviest are alone
	if weight <= lightWeight {
		room = l.light
	}
	ctx, cancel := context.WithTimeout(r.Context(), l.maxReceiving)
	defer cancel()
	if room.Acquire(ctx, weight) != nil {
		return leave, errCrowded
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return func() { room.Release(weight); l.held.Add(-received.read) }, nil
}

// receive reads a body and sets the deadlines of its connection. It reads the whole body before it is judged, so that API servers receive
// the status of a refusal.
func (l *limits) receive(w http.ResponseWriter, from io.Reader) ([]byte, error) {
	connection, now := http.NewResponseController(w), time.Now()
	err := errors.Join(
		connection.SetReadDeadline(now.Add(l.maxReceiving)), connection.SetWriteDeadline(now.Add(l.maxAnswering)))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(from)
	if err == nil {
		_ = connection.SetReadDeadline(time.Time{}) // later data does not belong to this request
	}
	return body, err
}

// refuse answers a refused request with a Status that gives the reason. API servers pass it on.
func (l *limits) refuse(w http.ResponseWriter, r *http.Request, err error) {
	answer := refusal{refusedBroken, http.StatusBadRequest, "the request could not be read"}
	switch {
	case errors.As(err, &answer):
	case errors.As(err, new(*http.MaxBytesError)):
		answer = refusal{refusedTooLarge, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the request has more than %d bytes", maxReceived)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		answer = refusal{refusedTooSlow, http.StatusRequestTimeout,
			fmt.Sprintf("the request did not arrive within %s", l.maxReceiving)}
	}
	if answer.reason == refusedOutdated {
		w.Header().Set("Connection", "close") // a new connection may lead to another replica
	}
	if answer.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1") // API servers retry while they have time left
	}
	refusedTotal.WithLabelValues(answer.reason).Inc()
	// Nothing of the request is logged, not even its path: anyone who reaches the port may send anything.
	l.log.Info("Refusing a request", "reason", answer.reason, "remoteAddress", r.RemoteAddr)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answer.status)
	_ = json.NewEncoder(w).Encode(metav1.Status{ // it is no error if the client has gone
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(answer.status), Message: answer.message,
	})
}

// counted reads a body and adds its size to held.
type counted struct {
	from   io.Reader
	limits *limits
	read   int64
}

func (c *counted) Read(into []byte) (int, error) {
	n, err := c.from.Read(into)
	c.read += int64(n)
	if c.limits.held.Add(int64(n)) > c.limits.maxHeld {
		return n, errCrowded
	}
	return n, err
}

// foreign returns the refusal of a request that no API server sends to a webhook.
func foreign(status int, format string, args ...any) error {
	return refusal{refusedForeign, status, fmt.Sprintf(format, args...)}
}

// checkHeader returns an error if a request has a method or media type that API servers do not use for webhooks.
func checkHeader(r *http.Request) error {
	if r.Method != http.MethodPost {
		return foreign(http.StatusMethodNotAllowed, "webhooks are asked with the method POST, not %s", Cut(r.Method, 20))
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return foreign(http.StatusUnsupportedMediaType, "webhooks take the media type application/json only")
	}
	return nil
}

// checkEnvelope returns an error unless a body is a JSON object with the kind and version of an AdmissionReview. The decoder of
// Kubernetes also accepts YAML, where aliases and merge keys expand a few bytes into large objects. API servers write kind and version
// first; checkEnvelope ignores everything after them.
func checkEnvelope(body []byte) error {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return foreign(http.StatusUnsupportedMediaType, "the body must be a JSON object")
	}
	var kind, version string
	wanted := map[string]*string{"kind": &kind, "apiVersion": &version}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowInvalidUTF8(true))
	_, err := decoder.ReadToken()
	for err == nil && (kind == "" || version == "") && decoder.PeekKind() != '}' {
		var token jsontext.Token
		if token, err = decoder.ReadToken(); err != nil {
			break
		}
		if text := wanted[token.String()]; text == nil || decoder.PeekKind() != '"' {
			err = decoder.SkipValue()
		} else if token, err = decoder.ReadToken(); err == nil {
			*text = token.String()
		}
	}
	review := admissionv1.SchemeGroupVersion.WithKind("AdmissionReview")
	switch {
	case err != nil:
		return foreign(http.StatusBadRequest, "the body is not JSON: %s", Shown(err.Error(), MaxErrorText))
	case kind != review.Kind || version != review.GroupVersion().String():
		return foreign(http.StatusBadRequest, "the body must have kind %s and apiVersion %s, not %q and %q",
			review.Kind, review.GroupVersion(), Cut(kind, 60), Cut(version, 60))
	}
	return nil
}

// valuesIn returns an upper bound of the JSON values in a body: it counts delimiters inside strings too.
func valuesIn(body []byte) int64 {
	return 1 + int64(bytes.Count(body, []byte(","))+bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")))
}
