// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/capkit/capkit/test/garden/extension"
)

// directClient returns a client that calls the component itself, like the API server in a cluster. If oneAtATime is set, it uses HTTP/1.1,
// like the API server for Services. It reuses connections, and trusts the current authorities of the webhook configurations.
func directClient(ctx context.Context, oneAtATime bool) *http.Client {
	GinkgoHelper()
	validating, _ := configurations(ctx)
	pool := x509.NewCertPool()
	Expect(pool.AppendCertsFromPEM(validating.Webhooks[0].ClientConfig.CABundle)).To(BeTrue())
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: config, ForceAttemptHTTP2: !oneAtATime, MaxIdleConnsPerHost: 40, ExpectContinueTimeout: time.Minute,
	}}
}

// review returns the API server's request for the creation of an object.
func review(object any) []byte {
	GinkgoHelper()
	raw, err := json.Marshal(object)
	Expect(err).NotTo(HaveOccurred())
	body, err := extension.Review(raw)
	Expect(err).NotTo(HaveOccurred())
	return body
}

// ask sends a body to a webhook and returns the response.
func ask(client *http.Client, address, webhook string, body io.Reader) (*admissionv1.AdmissionResponse, error) {
	response, err := client.Post("https://"+address+"/webhooks/"+webhook, "application/json", body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return nil, fmt.Errorf("%s: %w", response.Status, err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK || answer.Response == nil {
		return nil, fmt.Errorf("%s: no response", response.Status)
	}
	return answer.Response, nil
}

// repeated is an action that repeats in the background of a spec.
type repeated struct {
	cancel     context.CancelFunc
	goroutines sync.WaitGroup

	mu       sync.Mutex
	times    int
	problems []string
}

// repeat repeats do, with pauses, in this many goroutines until the spec ends.
func repeat(goroutines int, pause time.Duration, do func() error) *repeated {
	ctx, cancel := context.WithCancel(context.Background())
	r := &repeated{cancel: cancel}
	for range goroutines {
		r.goroutines.Go(func() {
			defer GinkgoRecover()
			for ctx.Err() == nil {
				r.count(do())
				time.Sleep(pause)
			}
		})
	}
	DeferCleanup(r.stop)
	return r
}

func (r *repeated) count(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times++
	if err != nil {
		r.problems = append(r.problems, fmt.Sprintf("%s: %v", time.Now().Format(time.StampMilli), err))
	}
}

func (r *repeated) stop() {
	r.cancel()
	r.goroutines.Wait()
}

// expectNoProblems stops the repetition, and expects at least one run and no errors.
func (r *repeated) expectNoProblems() {
	GinkgoHelper()
	r.stop()
	Expect(r.times).To(BeNumerically(">", 0))
	Expect(r.problems).To(BeEmpty())
}

// askDirectly sends continuous requests to the component over HTTP/1.1, without retries.
func askDirectly(ctx context.Context) *repeated {
	GinkgoHelper()
	client, body := directClient(ctx, true), review(profiles.fresh("direct"))
	return repeat(4, pause/5, func() error {
		response, err := ask(client, entrance.address(), "validate-cloudprofile", bytes.NewReader(body))
		if err == nil && !response.Allowed {
			err = fmt.Errorf("not allowed: %v", response.Result)
		}
		return err
	})
}
