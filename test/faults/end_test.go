// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"syscall"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
)

// slow is a request body that withholds its second half until goOn is closed.
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

// invited sends a body only after the server has begun to read it.
type invited struct{ http.RoundTripper }

func (i invited) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Expect", "100-continue")
	return i.RoundTripper.RoundTrip(request)
}

var _ = DescribeTable("A replica that is asked to end answers a request that it has begun to read", func(ctx SpecContext, oneAtATime bool) {
	r := newReplica("--shutdown-delay-duration=0s")
	serve(ctx, r)
	shoot := shoots.fresh("slow").(*v1beta1.Shoot)
	shoot.Spec.CloudProfile.Name = "nobody-has-it" // the component then asks the API server for it
	body, client := newSlow(review(shoot)), directClient(ctx, oneAtATime)
	client.Transport = invited{client.Transport}
	responses := make(chan *admissionv1.AdmissionResponse, 1)
	go func() {
		defer GinkgoRecover()
		defer close(responses)
		response, err := ask(client, r.Address, "validate-shoot", body)
		Expect(err).NotTo(HaveOccurred())
		responses <- response
	}()
	Eventually(body.begun).Should(BeClosed())
	Expect(r.process.Signal(syscall.SIGTERM)).To(Succeed())
	Eventually(reachable).WithArguments(r).Should(BeFalse())
	Expect(r.process.Done()).NotTo(BeClosed())
	close(body.goOn)
	Eventually(responses).Should(Receive(And(
		HaveField("Allowed", BeFalse()), HaveField("Result.Code", BeEquivalentTo(http.StatusUnprocessableEntity)))))
	Expect(r.process.Wait()).To(Succeed())
},
	Entry("with HTTP/1.1", true),
	Entry("with HTTP/2", false),
)

func reachable(r *replica) bool {
	conn, err := r.dial()
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// dial connects to the replica without verifying its certificate.
func (r *replica) dial() (*tls.Conn, error) {
	return tls.Dial("tcp", r.Address, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
}
