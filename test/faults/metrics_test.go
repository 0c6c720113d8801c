// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// freeAddress returns an address on loopback that is free.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// get returns what a metrics server has at a path, and with which status.
func get(t *testing.T, address, path string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// scraped are the metrics of a replica, by their names, as Prometheus reads them.
type scraped map[string]*dto.MetricFamily

func scrape(t *testing.T, address string) scraped {
	t.Helper()
	status, text := get(t, address, "/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	return families
}

// value returns the value of the series of a metric of the component that has these values of labels: those of a histogram
// are numbers of observations. A series that is not there counts as 0.
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

// TestMetrics writes what is admitted, refused and cannot be judged, and reads the metrics before and after.
func TestMetrics(t *testing.T) {
	access, address := newAPIAccess(t), freeAddress(t)
	serve(t, access.newReplica(t, "--metrics-bind-address="+address))
	if status, _ := get(t, address, "/debug/pprof/"); status != http.StatusNotFound {
		t.Errorf("there are profiles, which nobody has asked for: status %d", status)
	}
	before := scrape(t, address)

	write(t, profiles.fresh("measured"), "")
	bad := profiles.fresh("measured-bad")
	profiles.spoil(bad)
	if err := writing.Create(t.Context(), bad); !apierrors.IsInvalid(err) {
		t.Error(err)
	}
	write(t, shootOf("measured", "measured"), "")
	access.refuse(func(request *http.Request) bool { return strings.Contains(request.URL.Path, "/secrets") })
	write(t, &v1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "measured", Namespace: "garden-orchard"},
		SecretRef:  corev1.SecretReference{Name: "openstack", Namespace: "garden-orchard"}, Provider: &v1beta1.SecretBindingProvider{Type: "openstack"},
	}, "Secret garden-orchard/openstack could not be read")
	access.refuse(nil)

	after := scrape(t, address)
	for _, series := range [][]string{
		{"requests_total", "validate-cloudprofile", "CREATE", "warned"},
		{"requests_total", "validate-cloudprofile", "CREATE", "denied"},
		{"requests_total", "validate-shoot", "CREATE", "allowed"},
		{"requests_total", "validate-secretbinding", "CREATE", "error"},
		{"findings_total", "CloudProfile", "provider-flavor-missing", "error"},
		{"lookup_failures_total", "Secret"},
		{"profile_compilation_duration_seconds", "clean"},
		{"request_duration_seconds", "validate-secretbinding"},
	} {
		if grown := after.value(series[0], series[1:]...) - before.value(series[0], series[1:]...); grown != 1 {
			t.Errorf("%v has grown by %v", series, grown)
		}
	}
	if got := after.value("build_info", "openstack"); got != 1 {
		t.Errorf("the build info is %v", got)
	}
	if kept := after.value("compiled_profiles"); kept < 1 {
		t.Errorf("%v profiles are kept", kept)
	}
	waitFor(t, "the replica is the leader, and has registered the webhooks", func() bool {
		now := scrape(t, address)
		return now.value("registrations_total", "success") == 1 && now.value("last_registration_timestamp_seconds") > float64(time.Now().Add(-time.Hour).Unix())
	})
	// The authority ends after 30 days, the certificate that it signs in ten years.
	waitFor(t, "it is known when the certificate ends", func() bool {
		left := scrape(t, address).value("certificate_expiration_timestamp_seconds") - float64(time.Now().Unix())
		return left > (29*24*time.Hour).Seconds() && left < (31*24*time.Hour).Seconds()
	})
}

// TestProfilesOnRequest asks for profiles where the flag is set; without it TestMetrics finds none.
func TestProfilesOnRequest(t *testing.T) {
	address := freeAddress(t)
	serve(t, newReplica(t, "--metrics-bind-address="+address, "--profiling"))
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/metrics"} {
		if status, text := get(t, address, path); status != http.StatusOK || text == "" {
			t.Errorf("%s: status %d", path, status)
		}
	}
}

// TestLog reads every line of the log of a replica: what it writes when it starts, about good, bad and broken requests and
// connections, and when it is stopped.
func TestLog(t *testing.T) {
	r := newReplica(t)
	serve(t, r)
	write(t, profiles.fresh("logged"), "")
	bad := profiles.fresh("logged-bad")
	profiles.spoil(bad)
	bad.SetAnnotations(map[string]string{"password": secret})
	if err := writing.Create(t.Context(), bad); !apierrors.IsInvalid(err) {
		t.Error(err)
	}
	if _, err := ask(directClient(t, false), r.Address, "validate-shoot", strings.NewReader(secret)); err != nil {
		t.Error(err)
	}
	if _, err := tls.Dial("tcp", r.Address, &tls.Config{MinVersion: tls.VersionTLS12}); err == nil {
		t.Error("a client that does not know the authority trusts the certificate")
	}
	waitFor(t, "the failed handshake is logged", func() bool { return strings.Contains(r.log(t), "TLS handshake error") })
	if err := r.process.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	r.process = nil

	found := map[string]map[string]any{}
	for line := range strings.Lines(r.log(t)) {
		entry := map[string]any{}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("not JSON: %s", line)
			continue
		}
		if entry["level"] == nil || entry["ts"] == nil || entry["msg"] == nil || strings.Contains(line, secret) {
			t.Errorf("it has no level, time or message, or a part of an object: %s", line)
		}
		if entry["msg"] != "Answered" || strings.Contains(line, "logged-bad") {
			found[fmt.Sprint(entry["msg"])] = entry
		}
	}
	start := found["Starting"]
	if start["provider"] != "openstack" || start["version"] == nil || start["goVersion"] == nil || start["flags"].(map[string]any)["log-level"] != "debug" {
		t.Errorf("the first line is %v", start)
	}
	refused := found["Refused"]
	if got := fmt.Sprintln(refused["webhook"], refused["operation"], refused["object"], refused["errors"], refused["rules"]); refused["user"] == "" || refused["requestID"] == "" ||
		got != "validate-cloudprofile CREATE map[name:logged-bad] 1 [provider-flavor-missing]\n" {
		t.Errorf("the refusal is %v", refused)
	}
	if answered := found["Answered"]; answered["result"] != "denied" || answered["duration"] == nil {
		t.Errorf("the answer is %v", answered)
	}
}
