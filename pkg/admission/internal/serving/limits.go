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

// maxReceived is how many bytes a body may have. An API server takes objects of 3 MiB, of which an update has two.
const maxReceived = 7<<20 - 1

const (
	// maxValues is how many JSON values a request may have. The largest CloudProfile that etcd stores has some 120,000,
	// and an update has two. An empty object takes two bytes, and decoded up to some hundred times as many.
	maxValues = 300_000
	// bytesPerValue is how many bytes weigh as much as a value: text is held as it came and in the envelope, decoded and in
	// the answer. So two requests of maxReceived bytes do not fit beside each other.
	bytesPerValue = 32
	// lightWeight is what a request may weigh that does not wait for heavier ones. Together, these weigh maxValues at most,
	// and light ones maxLightWeight, while they are decoded and judged.
	lightWeight, maxLightWeight = 20_000, 100_000
)

// The reasons for which requests are refused before they are looked at.
const (
	refusedTooLarge = "too-large"
	refusedTooSlow  = "too-slow"
	refusedCrowded  = "crowded"
	refusedBroken   = "broken"
	refusedForeign  = "foreign" // no API server sends the like
	refusedOutdated = "outdated"
)

// refusal is the answer to a request that is refused before it is looked at.
type refusal struct {
	reason  string
	status  int
	message string
}

func (r refusal) Error() string { return r.message }

var (
	// errCrowded is about a request for which there is no room.
	errCrowded = refusal{refusedCrowded, http.StatusServiceUnavailable, "too many large requests at the same time"}
	// errTooManyValues is about a request that would take too much memory once it is decoded.
	errTooManyValues = refusal{refusedTooLarge, http.StatusRequestEntityTooLarge,
		fmt.Sprintf("the request has more than %d JSON values", maxValues)}
)

// limits keep clients that are slow, or send much, from taking what the others need.
type limits struct {
	log logr.Logger
	// maxHeld is how many bytes the bodies of all requests may have that are served at the same moment. To judge them
	// takes a multiple of it.
	maxHeld int64
	// maxReceiving is how long a body may take to arrive, maxAnswering how long all of it may take: also the object to be
	// judged, and the answer to be taken.
	maxReceiving, maxAnswering time.Duration

	// held is the number of bytes received of requests that are not answered yet.
	held atomic.Int64
	// light and heavy are the room for what is decoded and judged: that of light requests, and of all others.
	light, heavy *semaphore.Weighted
}

// newLimits returns limits with room for nine of the largest requests. patience is how long the API server waits for an answer: a
// body may take as long to arrive.
func newLimits(log logr.Logger, patience time.Duration) *limits {
	return &limits{
		log: log.WithName("limits"), maxHeld: 64 << 20, maxReceiving: patience, maxAnswering: 3 * patience,
		light: semaphore.NewWeighted(maxLightWeight), heavy: semaphore.NewWeighted(maxValues),
	}
}

// enter reads the body of a request, refuses what no API server sends, and waits until there is room for the rest, as long as
// a body may take to arrive. What a body says takes a multiple of its memory, so that heavy ones wait for each other. leave
// gives back what the request takes; it must be called in any case, once the request is answered.
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

// receive reads a body, with the deadlines of its connection. It has all of it read before anything is judged, so that a
// request which is refused is answered with a status that says so to API servers.
func (l *limits) receive(w http.ResponseWriter, from io.Reader) ([]byte, error) {
	connection, now := http.NewResponseController(w), time.Now()
	err := errors.Join(
		connection.SetReadDeadline(now.Add(l.maxReceiving)), connection.SetWriteDeadline(now.Add(l.maxAnswering)))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(from)
	if err == nil {
		_ = connection.SetReadDeadline(time.Time{}) // what comes next on it is not a part of this request
	}
	return body, err
}

// refuse answers a request that is not served, and says why, as a Status, which API servers pass on.
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
		w.Header().Set("Connection", "close") // another one may lead to another replica
	}
	if answer.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1") // API servers do so, as long as there is time
	}
	refusedTotal.WithLabelValues(answer.reason).Inc()
	// Nothing of the request is logged, not even its path: whoever reaches the port may send anything.
	l.log.Info("Refusing a request", "reason", answer.reason, "remoteAddress", r.RemoteAddr)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answer.status)
	_ = json.NewEncoder(w).Encode(metav1.Status{ // that nobody reads it any more is no error
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(answer.status), Message: answer.message,
	})
}

// counted reads a body, and counts what it has read as held.
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

// foreign is the refusal of a request that is not one that an API server sends to a webhook.
func foreign(status int, format string, args ...any) error {
	return refusal{refusedForeign, status, fmt.Sprintf(format, args...)}
}

// checkHeader returns an error if a request to a webhook has another method or media type than those of API servers.
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

// checkEnvelope returns an error unless a body is a JSON object with the kind and version of an AdmissionReview. The
// decoder of Kubernetes takes YAML as well, whose aliases and merge keys say much in a few bytes. An API server writes
// kind and version first; nothing behind them is looked at.
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

// valuesIn returns how many JSON values a body has at most: characters in strings are counted like all others.
func valuesIn(body []byte) int64 {
	return 1 + int64(bytes.Count(body, []byte(","))+bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")))
}
