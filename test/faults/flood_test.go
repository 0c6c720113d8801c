// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/internal/testing/generate"
)

const (
	// largestRequest is the component's limit for a request in bytes, and mostValues its limit in JSON values.
	largestRequest, mostValues = 7<<20 - 1, 300_000
	// largestProfile is the size of a provider config in JSON, whose CloudProfile almost reaches etcd's limit.
	largestProfile = 1200 << 10
)

// much repeats a part of JSON, separated by commas, as often as the limits of a request allow. A part may contain one verb for its index.
func much(part string) string {
	var b strings.Builder
	values := 1 + strings.Count(part, ",") + strings.Count(part, "{") + strings.Count(part, "[")
	for i := range (mostValues - 1000) / values {
		if b.Len()+len(part) > largestRequest-20_000 {
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if strings.Contains(part, "%") {
			fmt.Fprintf(&b, part, i)
		} else {
			b.WriteString(part)
		}
	}
	return b.String()
}

// ordinary returns the update of a CloudProfile of the largest ordinary size.
func ordinary() []byte {
	GinkgoHelper()
	profile := &v1beta1.CloudProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "CloudProfile"},
		ObjectMeta: metav1.ObjectMeta{Name: "ordinary"}, Spec: *generate.OpenStack(largestProfile),
	}
	stored, err := json.Marshal(profile)
	Expect(err).NotTo(HaveOccurred())
	profile.Spec.MachineTypes = profile.Spec.MachineTypes[1:]
	return update(profile, stored)
}

// flood is a request that takes as much memory as the limits allow.
type flood struct {
	webhook string
	body    func() []byte
}

func (f flood) request() request { return request{f.webhook, f.body()} }

// request is a request to a webhook.
type request struct {
	webhook string
	body    []byte
}

// inProfile and inShoot replace a text in a valid object.
func inProfile(old, with string) flood {
	return flood{"validate-cloudprofile", func() []byte { return replaced(review(profiles.fresh("flood")), old, with) }}
}

func inShoot(old, with string) flood {
	return flood{"validate-shoot", func() []byte { return replaced(review(shoots.fresh("flood")), old, with) }}
}

func replaced(body []byte, old, with string) []byte {
	GinkgoHelper()
	Expect(string(body)).To(ContainSubstring(old))
	return bytes.Replace(body, []byte(old), []byte(with), 1)
}

// inEnvelope returns a request without an object, but with further fields.
func inEnvelope(with string) flood {
	return flood{"validate-cloudprofile", func() []byte {
		return []byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"operation":"CREATE",` + with + `}}`)
	}}
}

// floods returns all floods by name.
func floods() map[string]flood {
	long, half := strings.Repeat("x", largestRequest-20_000), largestRequest/2-20_000
	const types, images, workers = `"machineTypes":[`, `"machineImages":[`, `"workers":[`
	flavors, config := `"capabilityFlavors":[`, `"kind":"CloudProfileConfig"`
	inConfig := func(with string) flood { return inProfile(config, config+","+with) }
	return map[string]flood{
		"ordinary CloudProfiles":         {"validate-cloudprofile", ordinary},
		"ordinary CloudProfiles, filled": {"mutate-cloudprofile", ordinary},
		"long strings":                   inProfile(types, `"x":"`+strings.Repeat("x", largestRequest-20_000)+`",`+types),
		"empty machine types":            inProfile(types, types+much("{}")+","),
		"machine types with names":       inProfile(types, types+much(`{"name":"t%d"}`)+","),
		"capabilities of a machine type": inProfile(types, types+`{"name":"x","capabilities":{`+much(`"c%d":["a"]`)+`}},`),
		"empty machine images":           inProfile(images, images+much("{}")+","),
		"empty versions":                 inProfile(images, images+`{"name":"x","versions":[`+much("{}")+`]},`),
		"empty flavors":                  inProfile(images, images+`{"name":"x","versions":[{"version":"1.0.0",`+flavors+much("{}")+`]}]},`),
		"empty images of the provider":   inConfig(`"machineImages":[` + much("{}") + `]`),
		"empty versions of the provider": inConfig(`"machineImages":[{"name":"x","versions":[` + much("{}") + `]}]`),
		"empty flavors of the provider":  inConfig(`"machineImages":[{"name":"x","versions":[{"version":"1.0.0",` + flavors + much("{}") + `]}]}]`),
		"empty regions of the provider":  inConfig(`"machineImages":[{"name":"x","versions":[{"version":"1.0.0","regions":[` + much("{}") + `]}]}]`),
		"unknown fields of the provider": inConfig(much(`"u%d":0`)),
		"deep nesting":                   inConfig(`"u":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000)),
		"nested lists":                   inConfig(`"u":[` + much(strings.Repeat("[", 900)+strings.Repeat("]", 900)) + `]`),
		"labels":                         inProfile(`"metadata":{`, `"metadata":{"labels":{`+much(`"%d":""`)+`},`),
		"owners":                         inProfile(`"metadata":{`, `"metadata":{"ownerReferences":[`+much(`{}`)+`],`),
		"managed fields":                 inProfile(`"metadata":{`, `"metadata":{"managedFields":[`+much(`{}`)+`],`),
		"empty workers":                  inShoot(workers, workers+much("{}")+","),
		"workers without a name":         inShoot(workers, workers+much(`{"machine":{"type":"none"}}`)+","),
		"groups of the user":             inProfile(`"request":{`, `"request":{"userInfo":{"groups":[`+much(`""`)+`]},`),
		"extra of the user":              inProfile(`"request":{`, `"request":{"userInfo":{"extra":{`+much(`"%d":[]`)+`}},`),
		"user without an object":         inEnvelope(`"userInfo":{"extra":{` + much(`"%d":[""]`) + `}}`),
		"options":                        inEnvelope(`"options":{` + much(`"%d":{}`) + `}`),
		"unknown fields of the envelope": inEnvelope(`"x":[` + much("{}") + `]`),
		"a long identifier":              inEnvelope(`"uid":"` + long + `"`),
		"long names":                     inEnvelope(`"name":"` + long[:half] + `","userInfo":{"username":"` + long[:half] + `"}`),
		"escaped characters":             inEnvelope(`"name":"` + strings.Repeat(`\u0001`, len(long)/6) + `"`),
		"two long objects":               inEnvelope(`"object":{"x":"` + long[:half] + `"},"oldObject":{"x":"` + long[:half] + `"}`),
		"light requests":                 inShoot(workers, workers+strings.Repeat("{},", 9_000)),
		"YAML":                           {"validate-cloudprofile", func() []byte { return []byte("a: {" + much("b%d: 0") + "}") }},
		"more values than are allowed":   inProfile(types, types+much("{}")+","+much("{}")+","),
	}
}

// allFloods measures each flood by itself, too.
var allFloods = flag.Bool("floods", false, "measure the memory in each flood, not only in the worst one and in the worst together")

// worst are the floods that take most memory, in descending order.
var worst = []string{"empty workers", "workers without a name", "machine types with names", "a long identifier"}

// together are the floods that run side by side: heavy requests in validation, light requests, and waiting ones.
var together = append([]string{"empty flavors", "light requests", "light requests", "long strings", "two long objects"}, worst...)

var _ = Describe("A replica in a flood", Label("slow"), func() {
	for name, f := range floods() {
		if *allFloods || name == worst[0] {
			It("of "+name+" keeps its memory within bounds", func(ctx SpecContext) { keepsItsMemory(ctx, name, f) })
		}
	}

	It("of several kinds at once keeps its memory within bounds", func(ctx SpecContext) {
		var all []flood
		for _, name := range together {
			all = append(all, floods()[name])
		}
		keepsItsMemory(ctx, "several kinds at once", all...)
	})
})

// keepsItsMemory runs floods at the same time, and expects that the replica stays within its memory limit, and serves other
// requests afterwards.
func keepsItsMemory(ctx context.Context, name string, floods ...flood) {
	GinkgoHelper()
	r := newReplica()
	serve(ctx, r)
	Expect(r.log()).To(ContainSubstring("Garbage is collected in time for the memory limit"))
	small := review(profiles.fresh("small"))
	var requests []request
	for _, f := range floods {
		requests = append(requests, f.request())
	}
	before := memory(r)
	statuses := pour(ctx, r, requests)
	GinkgoWriter.Printf("| %s | %d | %d | %d | %v |\n", name, len(requests[0].body)>>10, before>>20, memory(r)>>20, statuses)
	Expect(memory(r)).To(BeNumerically("<=", mostMemory))
	friend := directClient(ctx, false)
	Eventually(func() (*admissionv1.AdmissionResponse, error) {
		return ask(friend, r.Address, "validate-cloudprofile", bytes.NewReader(small))
	}).Should(HaveField("Allowed", BeTrue()))
}

// pour sends requests in turns from 20 clients, until a replica has answered some or refused many, and returns the number
// of responses by status. Status 0 means that the server closed the connection before it had read everything. On a busy
// machine most requests are refused because others take too long; the replica is then completely full.
func pour(ctx context.Context, r *replica, requests []request) map[int]int {
	GinkgoHelper()
	var mu sync.Mutex
	statuses, attacker := map[int]int{}, directClient(ctx, true)
	number := func(of int) int {
		mu.Lock()
		defer mu.Unlock()
		return statuses[of]
	}
	var turn atomic.Int32
	flood := repeat(20, 0, func() error {
		next, status := requests[int(turn.Add(1))%len(requests)], 0
		response, err := attacker.Post("https://"+r.Address+"/webhooks/"+next.webhook, "application/json", bytes.NewReader(next.body))
		if err == nil {
			status = response.StatusCode
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		mu.Lock()
		defer mu.Unlock()
		statuses[status]++
		return nil
	})
	Eventually(func() bool {
		return number(http.StatusOK) >= 10+4*len(requests) || number(http.StatusRequestEntityTooLarge) >= 60 ||
			number(http.StatusUnsupportedMediaType) >= 60 || number(http.StatusBadRequest) >= 60 ||
			number(http.StatusServiceUnavailable) >= 40+20*len(requests)
	}).Should(BeTrue())
	flood.stop()
	return statuses
}
