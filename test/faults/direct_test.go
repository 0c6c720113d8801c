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
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// directClient asks the component itself, as the API server does in a cluster: with HTTP/1.1 if oneAtATime, which it uses
// for Services, and with connections that are used again. It trusts what the webhook configurations trust now.
func directClient(t *testing.T, oneAtATime bool) *http.Client {
	t.Helper()
	validating, _ := configurations(t)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(validating.Webhooks[0].ClientConfig.CABundle) {
		t.Fatal("the webhook configuration has no certificates of authorities")
	}
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: !oneAtATime, MaxIdleConnsPerHost: 10}}
}

// review returns the request of the API server about an object that is to be created.
func review(t *testing.T, object any, kind string) []byte {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	request := &admissionv1.AdmissionRequest{
		UID: "5b1a", Operation: admissionv1.Create, Name: "direct",
		Kind:   metav1.GroupVersionKind{Group: v1beta1.GroupName, Version: "v1beta1", Kind: kind},
		Object: runtime.RawExtension{Raw: raw},
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// ask sends a body to a webhook and returns the answer.
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
		return nil, fmt.Errorf("status %s and no response", response.Status)
	}
	return answer.Response, nil
}

// direct is a number of clients that ask the component over HTTP/1.1 all the time, and try nothing again.
type direct struct {
	cancel  context.CancelFunc
	clients sync.WaitGroup

	mu       sync.Mutex
	answers  int
	problems []string
}

func startDirect(t *testing.T) *direct {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	d := &direct{cancel: cancel}
	body := review(t, profiles.fresh("direct"), "CloudProfile")
	for range 4 {
		client := directClient(t, true)
		d.clients.Go(func() {
			for ctx.Err() == nil {
				response, err := ask(client, entrance.address(), "validate-cloudprofile", bytes.NewReader(body))
				d.count(response, err)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	t.Cleanup(d.stop)
	return d
}

func (d *direct) count(response *admissionv1.AdmissionResponse, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers++
	if err == nil && !response.Allowed {
		err = fmt.Errorf("not allowed: %v", response.Result)
	}
	if err != nil {
		d.problems = append(d.problems, err.Error())
	}
}

func (d *direct) stop() {
	d.cancel()
	d.clients.Wait()
}

func (d *direct) verify(t *testing.T) []string {
	t.Helper()
	d.stop()
	t.Logf("%d requests over HTTP/1.1", d.answers)
	return d.problems
}
