// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A replica", func() {
	It("is ready when it serves, and until it is asked to end", func(ctx SpecContext) {
		access := newAPIAccess()
		access.refuse(func(request *http.Request) bool { return strings.Contains(request.URL.Path, "/shoots") })
		r := access.newReplica("--shutdown-delay-duration=1h")
		var starting sync.WaitGroup
		DeferCleanup(starting.Wait)
		starting.Go(func() {
			defer GinkgoRecover()
			r.start(ctx)
		})

		By("keeping it from reading Shoots")
		Eventually(r.failing).WithArguments("readyz").Should(HaveExactElements("informer-sync", "webhook-server"))
		Expect(r.failing("healthz")).To(BeEmpty())
		Expect(reachable(r)).To(BeFalse())

		By("letting it read them")
		access.refuse(nil)
		starting.Wait()
		for _, check := range []string{"certificate", "informer-sync", "shutdown", "source-informer-sync", "webhook-server"} {
			Eventually(func() string { // a busy machine may be late with an answer
				_, text := r.probe("readyz?verbose")
				return text
			}).Should(ContainSubstring("[+]" + check + " ok\n"))
		}
		_, text := r.probe("healthz?verbose")
		Expect(text).To(Equal("[+]certificate ok\n[+]informer-sync ok\n[+]ping ok\nhealthz check passed\n"))
		Expect(reachable(r)).To(BeTrue())

		By("asking it to end")
		Expect(r.process.Signal(syscall.SIGTERM)).To(Succeed())
		Eventually(r.failing).WithArguments("readyz").Should(HaveExactElements("shutdown"))
		_, text = r.probe("readyz/shutdown")
		Expect(text).To(Equal("internal server error: the process was asked to stop\n"))
		Expect(r.failing("healthz")).To(BeEmpty())
		Expect(reachable(r)).To(BeTrue())
		Expect(r.process.Kill()).To(Succeed()) // otherwise it would run for another hour
	})
})

// patient is a client that waits for busy machines.
var patient = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}

// probe returns the result of a health check, or zeros if there is no response.
func (r *replica) probe(path string) (status int, text string) {
	response, err := patient.Get("http://" + r.HealthAddress + "/" + path)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(content)
}

// failing returns the failing checks.
func (r *replica) failing(path string) []string {
	status, text := r.probe(path)
	if status == 0 {
		return []string{"there is no answer"}
	}
	var checks []string
	for line := range strings.Lines(text) {
		if check, found := strings.CutPrefix(line, "[-]"); found {
			checks = append(checks, strings.Fields(check)[0])
		}
	}
	return checks
}
