// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/capkit/capkit/test/garden"
)

// get returns the status and body of a metrics server's response.
func get(ctx context.Context, address, path string) (int, string) {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	response, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return response.StatusCode, string(content)
}

// scraped holds the metrics of a replica by name, as Prometheus reads them.
type scraped map[string]*dto.MetricFamily

func scrape(ctx context.Context, address string) scraped {
	GinkgoHelper()
	status, text := get(ctx, address, "/metrics")
	Expect(status).To(Equal(http.StatusOK), text)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	Expect(err).NotTo(HaveOccurred())
	return families
}

// value returns the value of the component's metric for these label values. For a histogram it is the number of
// observations. A missing series counts as 0.
func (s scraped) value(name string, labels ...string) float64 {
	for _, series := range s["capkit_admission_"+name].GetMetric() {
		has := map[string]bool{}
		for _, label := range series.GetLabel() {
			has[label.GetValue()] = true
		}
		all := true
		for _, label := range labels {
			all = all && has[label]
		}
		if all {
			return series.GetCounter().GetValue() + series.GetGauge().GetValue() + float64(series.GetHistogram().GetSampleCount())
		}
	}
	return 0
}

var _ = Describe("A replica", func() {
	It("counts what it admits, refuses and cannot judge", func(ctx SpecContext) {
		access := newAPIAccess()
		address, err := garden.FreeAddress()
		Expect(err).NotTo(HaveOccurred())
		serve(ctx, access.newReplica("--metrics-bind-address="+address))
		By("not serving Go's profiles, which nobody has asked for")
		status, _ := get(ctx, address, "/debug/pprof/")
		Expect(status).To(Equal(http.StatusNotFound))

		before := scrape(ctx, address)
		create(ctx, profiles.fresh("measured"))
		Expect(writing.Create(ctx, profiles.spoilt("measured-bad"))).To(MatchError(apierrors.IsInvalid, "invalid"))
		create(ctx, shootOf("measured", "measured"))
		access.refuse(func(request *http.Request) bool { return strings.Contains(request.URL.Path, "/secrets") })
		expectError(ctx, secretBinding("measured"), "Secret garden-orchard/openstack could not be read")
		access.refuse(nil)
		after := scrape(ctx, address)
		for _, series := range [][]string{
			{"requests_total", "validate-cloudprofile", "CREATE", "warned"},
			{"requests_total", "validate-cloudprofile", "CREATE", "denied"},
			{"requests_total", "validate-shoot", "CREATE", "allowed"},
			{"requests_total", "validate-secretbinding", "CREATE", "error"},
			{"findings_total", "CloudProfile", "provider-flavor-missing", "error"},
			{"lookup_failures_total", "Secret"},
			{"request_duration_seconds", "validate-secretbinding"},
		} {
			Expect(after.value(series[0], series[1:]...)-before.value(series[0], series[1:]...)).To(Equal(1.0), "%v", series)
		}
		// It was compiled on admission. Gardener then adds a finalizer, which creates another version.
		const compiled = "profile_compilation_duration_seconds"
		Expect(after.value(compiled, "clean") - before.value(compiled, "clean")).To(BeElementOf(0.0, 1.0))
		Expect(after.value("build_info", "openstack")).To(Equal(1.0))
		Expect(after.value("compiled_profiles")).To(BeNumerically(">=", 1))

		By("waiting until it leads, has registered the webhooks, and has looked when its certificate ends")
		Eventually(func(expect Gomega) {
			now := scrape(ctx, address)
			expect.Expect(now.value("registrations_total", "success")).To(Equal(1.0))
			expect.Expect(now.value("last_registration_timestamp_seconds")).To(BeNumerically(">", time.Now().Add(-time.Hour).Unix()))
			// The authority expires after 30 days, and the certificate that it signs after ten years.
			left := now.value("certificate_expiration_timestamp_seconds") - float64(time.Now().Unix())
			expect.Expect(left).To(And(BeNumerically(">", (29*24*time.Hour).Seconds()), BeNumerically("<", (31*24*time.Hour).Seconds())))
		}).Should(Succeed())
	})

	It("serves Go's profiles if it is asked to", func(ctx SpecContext) {
		address, err := garden.FreeAddress()
		Expect(err).NotTo(HaveOccurred())
		serve(ctx, newReplica("--metrics-bind-address="+address, "--profiling"))
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/metrics"} {
			status, text := get(ctx, address, path)
			Expect(status).To(Equal(http.StatusOK), path)
			Expect(text).NotTo(BeEmpty(), path)
		}
	})

	// At start, for valid, invalid and malformed requests and connections, and at shutdown.
	It("logs lines of JSON, with nothing of an object", func(ctx SpecContext) {
		r := newReplica()
		serve(ctx, r)
		create(ctx, profiles.fresh("logged"))
		bad := profiles.spoilt("logged-bad")
		bad.SetAnnotations(map[string]string{"password": secret})
		Expect(writing.Create(ctx, bad)).To(MatchError(apierrors.IsInvalid, "invalid"))
		_, err := ask(directClient(ctx, false), r.Address, "validate-shoot", strings.NewReader(secret))
		Expect(err).To(MatchError(HavePrefix("415")))
		_, err = tls.Dial("tcp", r.Address, &tls.Config{MinVersion: tls.VersionTLS12})
		Expect(err).To(HaveOccurred()) // the client does not know the authority
		Eventually(r.log).Should(ContainSubstring("TLS handshake error"))
		r.stop(ctx)

		found := map[string]map[string]any{}
		for line := range strings.Lines(r.log()) {
			Expect(line).NotTo(ContainSubstring(secret))
			entry := map[string]any{}
			Expect(json.Unmarshal([]byte(line), &entry)).To(Succeed(), line)
			Expect(entry).To(And(HaveKey("level"), HaveKey("ts"), HaveKey("msg")), line)
			if entry["msg"] != "Answered" || strings.Contains(line, "logged-bad") {
				found[fmt.Sprint(entry["msg"])] = entry
			}
		}
		Expect(found["Starting"]).To(And(HaveKeyWithValue("provider", "openstack"), HaveKey("version"), HaveKey("goVersion"),
			HaveKeyWithValue("flags", HaveKeyWithValue("log-level", "debug"))))
		Expect(found["Refused"]).To(And(HaveKeyWithValue("webhook", "validate-cloudprofile"), HaveKeyWithValue("operation", "CREATE"),
			HaveKeyWithValue("object", HaveKeyWithValue("name", "logged-bad")), HaveKeyWithValue("errors", 1.0),
			HaveKeyWithValue("rules", HaveExactElements("provider-flavor-missing")),
			HaveKeyWithValue("user", Not(BeEmpty())), HaveKeyWithValue("requestID", Not(BeEmpty()))))
		Expect(found["Answered"]).To(And(HaveKeyWithValue("result", "denied"), HaveKey("duration")))
	})
})
