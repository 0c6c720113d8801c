// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// attempts is the maximum number of attempts of a request.
	attempts = 3
	// firstWait is the wait before the second attempt. It doubles before the third.
	firstWait = 500 * time.Millisecond
	// longestWait is the longest wait that a service may ask for. If it asks for more, the request fails.
	longestWait = time.Minute
	// largest is the maximum size of an answer, in bytes.
	largest = 256 << 20
)

// transport sends read-only requests, and repeats them if the service is busy, fails, or does not answer in time.
type transport struct {
	http.RoundTripper
	timeout time.Duration
	// largest is the maximum size of an answer, in bytes.
	largest int64
	sleep   func(context.Context, time.Duration) error
}

// sleep waits for a duration. It returns early with the cause if the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// reads reports whether a request changes nothing: it reads, or it requests a token.
func reads(request *http.Request) bool {
	switch request.Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodPost:
		return strings.HasSuffix(request.URL.Path, "/v3/auth/tokens")
	}
	return false
}

// RoundTrip returns an answer whose body is already in memory. It refuses requests that may change something.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !reads(request) {
		return nil, fmt.Errorf("%s %s is not sent, because an inventory only reads", request.Method, request.URL.Path)
	}
	for i := 1; ; i++ {
		response, err := t.once(request, i)
		wait, again := t.again(response, err, i)
		if !again || request.Context().Err() != nil {
			return response, err
		}
		if err := t.sleep(request.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// once sends a request, as its i-th attempt.
func (t *transport) once(request *http.Request, i int) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(request.Context(), t.timeout, slowError{t.timeout, i})
	defer cancel()
	request = request.Clone(ctx)
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		request.Body = body
	}
	response, err := t.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, late(ctx, err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, t.largest+1))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, late(ctx, err)
	}
	if int64(len(body)) > t.largest {
		return nil, longError(t.largest)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// longError is the error of an answer that exceeds a number of bytes. The request is not repeated, because the next answer would be as
// long.
type longError int64

func (e longError) Error() string {
	return fmt.Sprintf("the answer is longer than %d MiB", int64(e)>>20)
}

// slowError is the error of a request without an answer in time.
type slowError struct {
	timeout time.Duration
	times   int
}

func (e slowError) Error() string {
	text := "does not answer within " + e.timeout.String()
	if e.times > 1 {
		text += fmt.Sprintf(", asked %d times", e.times)
	}
	return text
}

// late returns the context's cause if it has ended, which is often the timeout, and otherwise the error itself.
func late(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// again reports whether to repeat a request after its i-th attempt, and the wait before that.
func (t *transport) again(response *http.Response, err error, i int) (wait time.Duration, again bool) {
	wait = firstWait << (i - 1)
	switch {
	case i == attempts:
		return 0, false
	case err != nil:
		return wait, !errors.As(err, new(longError)) && !untrusted(err)
	case response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable:
		if said, found := retryAfter(response.Header); found {
			wait = said
		}
		return wait, wait <= longestWait
	}
	return wait, response.StatusCode >= http.StatusInternalServerError && response.StatusCode != http.StatusNotImplemented
}

// retryAfter returns the wait in the header Retry-After, which has seconds or a time; false if there is none.
func retryAfter(header http.Header) (time.Duration, bool) {
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 {
		return min(time.Duration(seconds), math.MaxInt32) * time.Second, true // a Duration cannot hold more
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

// untrusted reports whether the connection failed because of the service's certificate or TLS. A second attempt would fail, too.
func untrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &certificate) || errors.As(err, &record)
}
