// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// secret is in every malformed request, and must not be in a log.
const secret = "sesame-open-9c1f"

// largest is the API server's limit for an object in bytes.
const largest = 3 << 20

// expectAllowed expects that a replica's webhook for CloudProfiles admits the request in a body.
func expectAllowed(client *http.Client, r *replica, body []byte) {
	GinkgoHelper()
	Expect(ask(client, r.Address, "validate-cloudprofile", bytes.NewReader(body))).To(HaveField("Allowed", BeTrue()))
}

var _ = Describe("A replica", func() {
	It("answers over TLS what no API server sends, and logs nothing of it", func(ctx SpecContext) {
		r := newReplica()
		serve(ctx, r)
		profile := profiles.fresh("direct")
		profile.SetAnnotations(map[string]string{"password": secret})
		good := review(profile)
		client := directClient(ctx, false)
		for name, body := range map[string]string{ // "right" are those that are readable nevertheless
			"415, empty":            "",
			"415, text":             secret,
			"another kind":          strings.ReplaceAll(string(good), "CloudProfile", secret),
			"400, another review":   strings.Replace(string(good), "AdmissionReview", secret, 1),
			"right, not UTF-8":      strings.ReplaceAll(string(good), secret, secret+"\xff\xfe"),
			"400, brackets":         `{"request": {"` + secret + `": ` + strings.Repeat("[", 1e5),
			"415, 3 MiB of garbage": strings.Repeat(secret, 3<<20/len(secret)),
			"right, 3 MiB":          strings.Replace(string(good), secret, strings.Repeat(secret+" ", 3<<20/len(secret)), 1),
		} {
			for _, webhook := range []string{"validate-cloudprofile", "mutate-cloudprofile", "validate-shoot"} {
				answer, err := ask(client, r.Address, webhook, strings.NewReader(body))
				if status, _, _ := strings.Cut(name, ","); status == "400" || status == "415" {
					Expect(err).To(MatchError(HavePrefix(status)), "%s, %s", name, webhook)
					continue
				}
				understood := strings.HasPrefix(name, "right") && webhook != "validate-shoot"
				Expect(answer, err).To(HaveField("Allowed", understood), "%s, %s", name, webhook)
			}
		}
		response, err := client.Get("https://" + r.Address + "/" + secret)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(response).To(HaveHTTPStatus(http.StatusMethodNotAllowed))
		expectAllowed(client, r, good)
		Expect(r.log()).To(ContainSubstring("Refusing a request"))
		for line := range strings.Lines(r.log()) {
			Expect(line).NotTo(Or(ContainSubstring(secret), ContainSubstring("panic")))
		}
	})

	DescribeTable("takes an update of the largest objects", func(ctx SpecContext, oneAtATime bool) {
		r := newReplica()
		serve(ctx, r)
		profile := profiles.fresh("large")
		raw, err := json.Marshal(profile)
		Expect(err).NotTo(HaveOccurred())
		profile.SetAnnotations(map[string]string{"large": strings.Repeat("x", largest-len(raw)-100)})
		large, err := json.Marshal(profile)
		Expect(err).NotTo(HaveOccurred())
		profiles.vary(profile, 1)
		body := update(profile, large)
		Expect(len(body)).To(BeNumerically(">=", 2*largest-1000))
		expectAllowed(directClient(ctx, oneAtATime), r, body)
	},
		Entry("with HTTP/1.1", true),
		Entry("with HTTP/2", false),
	)

	// Many clients continuously send requests of the largest size. Each gets an answer or is refused for lack of capacity.
	// Others are served meanwhile, and memory stays within its limit.
	It("serves others in a flood of the largest requests", Label("slow"), func(ctx SpecContext) {
		r := newReplica()
		serve(ctx, r)
		profile := profiles.fresh("flood")
		profile.SetAnnotations(map[string]string{"large": strings.Repeat("x", 2*largest)})
		large, small := review(profile), review(profiles.fresh("small"))
		var mu sync.Mutex
		statuses := map[int]int{}
		attacker, friend := directClient(ctx, true), directClient(ctx, false)
		flood := repeat(40, 0, func() error {
			status := 0 // the server closed the connection before it had read everything
			response, err := attacker.Post("https://"+r.Address+"/webhooks/validate-cloudprofile", "application/json", bytes.NewReader(large))
			if err == nil {
				status = response.StatusCode
				_ = response.Body.Close()
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
			return nil
		})
		for range 5 {
			Eventually(func() (*admissionv1.AdmissionResponse, error) {
				return ask(friend, r.Address, "validate-cloudprofile", bytes.NewReader(small))
			}).Should(HaveField("Allowed", BeTrue()))
		}
		Eventually(func() int {
			mu.Lock()
			defer mu.Unlock()
			return statuses[http.StatusOK] + statuses[http.StatusServiceUnavailable]
		}).Should(BeNumerically(">=", 120))
		flood.stop()
		GinkgoWriter.Printf("the statuses of the flood are %v; at most %d MiB of memory were used\n", statuses, memory(r)>>20)
		Expect(slices.Collect(maps.Keys(statuses))).To(HaveEach(BeElementOf(0, http.StatusOK, http.StatusServiceUnavailable)))
		Expect(statuses).To(HaveKey(http.StatusOK))
		Expect(memory(r)).To(BeNumerically("<=", mostMemory))
		expectAllowed(friend, r, small)
	})
})

// update returns the API server's request for the update of an object.
func update(object client.Object, stored []byte) []byte {
	GinkgoHelper()
	updating := []byte(`"operation":"UPDATE","oldObject":` + string(stored))
	return bytes.Replace(review(object), []byte(`"operation":"CREATE"`), updating, 1)
}

// memory returns the peak memory of a replica in bytes.
func memory(r *replica) int {
	GinkgoHelper()
	most, err := statusOf(r.process.Pid(), "VmHWM")
	Expect(err).NotTo(HaveOccurred())
	return most
}

// statusOf returns a number of bytes from the kernel's status of a process.
func statusOf(pid int, name string) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(status), "\n"+name+":")
	if !found { // the process has just ended
		return 0, fmt.Errorf("process %d has no %s", pid, name)
	}
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	return kib << 10, err
}
