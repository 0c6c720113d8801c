// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	admissionv1 "k8s.io/api/admission/v1"
)

// slow is a body whose second half comes when it is let go.
type slow struct {
	first, second io.Reader
	begun, goOn   chan struct{}
	waiting       bool
}

func newSlow(body []byte) *slow {
	half := len(body) / 2
	return &slow{first: bytes.NewReader(body[:half]), second: bytes.NewReader(body[half:]), begun: make(chan struct{}), goOn: make(chan struct{})}
}

func (s *slow) Read(into []byte) (int, error) {
	if n, err := s.first.Read(into); err == nil {
		return n, nil
	}
	if !s.waiting {
		s.waiting = true
		close(s.begun)
		<-s.goOn
	}
	return s.second.Read(into)
}

// TestRequestsThatRunAreFinished asks for the end while a request is running for which the component has to ask the API
// server in turn.
func TestRequestsThatRunAreFinished(t *testing.T) {
	first := newReplica(t)
	serve(t, first)
	for _, oneAtATime := range []bool{true, false} {
		t.Run(fmt.Sprintf("HTTP/1.1 %t", oneAtATime), func(t *testing.T) {
			r := newReplica(t)
			r.start(t)
			shoot := shoots.fresh("slow").(*v1beta1.Shoot)
			shoot.Spec.CloudProfile.Name = "nobody-has-it"
			body := newSlow(review(t, shoot, "Shoot"))
			client := directClient(t, oneAtATime)
			type result struct {
				response *admissionv1.AdmissionResponse
				err      error
			}
			results := make(chan result, 1)
			go func() {
				response, err := ask(client, r.Address, "validate-shoot", body)
				results <- result{response, err}
			}()
			<-body.begun
			time.Sleep(100 * time.Millisecond) // for the first half to arrive
			if err := r.process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			waitFor(t, "the server takes no more connections", func() bool { return !reachable(r) })
			select {
			case <-r.process.Done():
				t.Error("it has ended with a request running")
			default:
			}
			close(body.goOn)
			got := <-results
			if got.err != nil {
				t.Fatalf("%v; the log:\n%s", got.err, r.log(t))
			}
			if result := got.response.Result; got.response.Allowed || result == nil || result.Code != http.StatusUnprocessableEntity {
				t.Errorf("the answer is %v", got.response)
			}
			if err := r.process.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func reachable(r *replica) bool {
	conn, err := tls.Dial("tcp", r.Address, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
