// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package alerts tests the alerts and the dashboard of the admission component: Prometheus evaluates the alerts over series
// that were made up, and every metric that either uses is one that the component has.
package alerts

import (
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	// Registers the metrics.
	_ "github.com/capkit/capkit/pkg/admission"
)

const (
	chart    = "../../charts/gardener-extension-admission-openstack/charts/runtime/"
	runbooks = "https://github.com/capkit/capkit/blob/main/docs/operations.md"
)

var expressions = parser.NewParser(parser.Options{})

// alerts returns the rules, which are all in one group.
func alerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(chart+"alerts.yaml", false, model.UTF8Validation, expressions, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if len(groups.Groups) != 1 {
		t.Fatalf("%d groups", len(groups.Groups))
	}
	return groups.Groups[0].Rules
}

func parse(t *testing.T, expression string) parser.Expr {
	t.Helper()
	parsed, err := expressions.ParseExpr(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return parsed
}

// runsFor evaluates an alert every minute over series, and returns the labels of what fires in the end.
func runsFor(t *testing.T, alert *rulefmt.Rule, series string, minutes int) []string {
	t.Helper()
	storage := promqltest.LoadedStorage(t, "load 1m\n"+series)
	defer func() { _ = storage.Close() }()
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 5*time.Minute, 1e6), storage)
	rule := rules.NewAlertingRule(alert.Alert, parse(t, alert.Expr), time.Duration(alert.For), 0, labels.FromMap(alert.Labels),
		labels.FromMap(alert.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	for minute := range minutes + 1 {
		if _, err := rule.Eval(t.Context(), 0, time.Unix(0, 0).Add(time.Duration(minute)*time.Minute), query, nil, 0); err != nil {
			t.Fatalf("%s: %v", alert.Alert, err)
		}
	}
	var firing []string
	for _, a := range rule.ActiveAlerts() {
		if a.State != rules.StateFiring {
			continue
		}
		firing = append(firing, a.Labels.String())
		for name, text := range a.Annotations.Map() {
			if text == "" || strings.Contains(text, "{{") || strings.Contains(text, "<error") || strings.Contains(text, "<no value>") {
				t.Errorf("%s: the %s is %q", alert.Alert, name, text)
			}
		}
	}
	return firing
}

// what is scraped of one replica, and of another component in the same place.
const (
	a     = `job="x",namespace="garden",instance="10.0.0.1:8080"`
	b     = `job="x",namespace="garden",instance="10.0.0.2:8080"`
	alien = `job="other",namespace="garden",instance="10.0.0.9:8080"`
	up    = `capkit_admission_build_info{` + a + `,provider_type="openstack"} 1x1600
	capkit_admission_build_info{` + b + `,provider_type="openstack"} 1x1600
	`
)

// denied are refusals of one webhook, each minute so many as given.
func denied(values string) string {
	return up + `capkit_admission_requests_total{` + a + `,webhook="validate-shoot",operation="CREATE",result="denied"} ` + values
}

// latencies are requests of which one per minute takes up to a second, and slow of them up to 10 seconds.
func latencies(slow string) string {
	const bucket = `capkit_admission_request_duration_seconds_bucket{` + a + `,webhook="validate-shoot",le=`
	return bucket + `"1"} 0+1x100
	` + bucket + `"5"} 0+1x100
	` + bucket + `"10"} ` + slow + `
	` + bucket + `"+Inf"} ` + slow
}

// days is the Unix time of so many days, where time begins at 0.
func days(n int) string { return strconv.Itoa(n * 86400) }

func TestAlerts(t *testing.T) {
	tested := map[string]int{}
	for _, test := range []struct {
		alert, what, series string
		minutes, fires      int
	}{
		{"CapkitAdmissionDown", "two replicas", up, 30, 0},
		{"CapkitAdmissionDown", "one replica", `capkit_admission_build_info{` + a + `,provider_type="openstack"} 1x60`, 30, 0},
		{"CapkitAdmissionDown", "gone for a minute", `capkit_admission_build_info{` + a + `,provider_type="openstack"} 1x10 stale 1x60`, 11, 0},
		{"CapkitAdmissionDown", "none", `up{` + a + `} 0x60`, 5, 1},
		{"CapkitAdmissionDown", "only that of another provider", `capkit_admission_build_info{` + alien + `,provider_type="acme"} 1x60`, 5, 1},

		{"CapkitAdmissionNotJudging", "nothing went wrong", `capkit_admission_requests_total{` + a + `,webhook="validate-shoot",result="error"} 0x60`, 30, 0},
		{"CapkitAdmissionNotJudging", "two errors", `capkit_admission_requests_total{` + a + `,webhook="validate-shoot",result="error"} 0x10 1 2x60`, 15, 0},
		{"CapkitAdmissionNotJudging", "an error each minute", `capkit_admission_requests_total{` + a + `,webhook="validate-shoot",operation="CREATE",result="error"} 0+1x60
			capkit_admission_requests_total{` + b + `,webhook="validate-shoot",operation="UPDATE",result="error"} 0+1x60
			capkit_admission_requests_total{` + b + `,webhook="validate-cloudprofile",operation="UPDATE",result="error"} 0x60`, 15, 1},
		{"CapkitAdmissionNotJudging", "since just now", `capkit_admission_requests_total{` + a + `,webhook="validate-shoot",result="error"} 0+2x60`, 4, 0},
		{"CapkitAdmissionNotJudging", "refusals", denied("0+10x60"), 15, 0},
		{"CapkitAdmissionNotJudging", "it is over", `capkit_admission_requests_total{` + a + `,webhook="validate-shoot",result="error"} 0+1x10 10x60`, 40, 0},

		{"CapkitAdmissionCrowded", "slow clients", `capkit_admission_refused_requests_total{` + a + `,reason="too-slow"} 0+1x60`, 30, 0},
		{"CapkitAdmissionCrowded", "no room", `capkit_admission_refused_requests_total{` + a + `,reason="crowded"} 0x5 3x60`, 10, 1},
		{"CapkitAdmissionCrowded", "long ago", `capkit_admission_refused_requests_total{` + a + `,reason="crowded"} 0x5 3x60`, 30, 0},

		{"CapkitAdmissionPanics", "none", up + `controller_runtime_webhook_panics_total{` + a + `} 0x60`, 10, 0},
		{"CapkitAdmissionPanics", "one", up + `controller_runtime_webhook_panics_total{` + a + `} 0x5 1x60`, 10, 1},
		{"CapkitAdmissionPanics", "long ago", up + `controller_runtime_webhook_panics_total{` + a + `} 0x5 1x60`, 30, 0},
		{"CapkitAdmissionPanics", "another component", up + `controller_runtime_webhook_panics_total{` + alien + `} 0x5 1x60`, 10, 0},

		{"CapkitAdmissionSlow", "a second", latencies("0+1x100"), 30, 0},
		{"CapkitAdmissionSlow", "every second request", latencies("0+2x100"), 30, 1},
		{"CapkitAdmissionSlow", "since just now", latencies("0+2x100"), 8, 0},
		{"CapkitAdmissionSlow", "no requests", latencies("0x100"), 30, 0},

		{"CapkitAdmissionNoLeader", "one of two", up + `leader_election_master_status{` + a + `,name="x"} 0x60
			leader_election_master_status{` + b + `,name="x"} 1x60`, 30, 0},
		{"CapkitAdmissionNoLeader", "none of two", up + `leader_election_master_status{` + a + `,name="x"} 0x60
			leader_election_master_status{` + b + `,name="x"} 0x60`, 30, 1},
		{"CapkitAdmissionNoLeader", "another one is taking over", up + `leader_election_master_status{` + a + `,name="x"} 1x5 0x60
			leader_election_master_status{` + b + `,name="x"} 0x10 1x60`, 10, 0},
		{"CapkitAdmissionNoLeader", "another component", up + `leader_election_master_status{` + alien + `,name="x"} 0x60`, 30, 0},

		{"CapkitAdmissionNotRegistered", "registered at once", up + `capkit_admission_registrations_total{` + a + `,result="failure"} 0x60
			capkit_admission_registrations_total{` + a + `,result="success"} 0 1x60`, 40, 0},
		{"CapkitAdmissionNotRegistered", "after some attempts", up + `capkit_admission_registrations_total{` + a + `,result="failure"} 0 1 2 3x60`, 40, 0},
		{"CapkitAdmissionNotRegistered", "again and again", up + `capkit_admission_registrations_total{` + a + `,result="failure"} 0+5x60`, 40, 1},
		{"CapkitAdmissionNotRegistered", "since just now", up + `capkit_admission_registrations_total{` + a + `,result="failure"} 0+5x60`, 10, 0},
		{"CapkitAdmissionNotRegistered", "the certificates cannot be written", up + `controller_runtime_reconcile_errors_total{` + a + `,controller="webhook-certificate"} 0+1x60`, 40, 1},
		{"CapkitAdmissionNotRegistered", "another component", up + `controller_runtime_reconcile_errors_total{` + alien + `,controller="webhook-certificate"} 0+1x60`, 40, 0},

		{"CapkitAdmissionCertificateNotRenewed", "nine days left", `capkit_admission_certificate_expiration_timestamp_seconds{` + a + `} ` + days(9) + `x60`, 40, 0},
		{"CapkitAdmissionCertificateNotRenewed", "less than eight", `capkit_admission_certificate_expiration_timestamp_seconds{` + a + `} ` + days(8) + `x60`, 40, 1},
		{"CapkitAdmissionCertificateNotRenewed", "since just now", `capkit_admission_certificate_expiration_timestamp_seconds{` + a + `} ` + days(8) + `x60`, 20, 0},
		{"CapkitAdmissionCertificateNotRenewed", "not trusted", `capkit_admission_certificate_expiration_timestamp_seconds{` + a + `} 0x60`, 40, 0},

		{"CapkitAdmissionCertificateNotTrusted", "two days left", `capkit_admission_certificate_expiration_timestamp_seconds{` + a + `} ` + days(2) + `x60`, 40, 0},
		{"CapkitAdmissionCertificateNotTrusted", "less than one", `capkit_admission_certificate_expiration_timestamp_seconds{` + a + `} ` + days(1) + `x60`, 40, 1},
		{"CapkitAdmissionCertificateNotTrusted", "not trusted", `capkit_admission_certificate_expiration_timestamp_seconds{` + a + `} 0x60`, 40, 1},
		{"CapkitAdmissionCertificateNotTrusted", "about to be registered", `capkit_admission_certificate_expiration_timestamp_seconds{` + a + `} 0x5 ` + days(30) + `x60`, 5, 0},

		{"CapkitAdmissionRestarting", "once", up + `process_start_time_seconds{` + a + `} 1x10 2x60`, 50, 0},
		{"CapkitAdmissionRestarting", "three times", up + `process_start_time_seconds{` + a + `} 1x10 2x10 3x10 4x60`, 50, 1},
		{"CapkitAdmissionRestarting", "three times, and does not come up", `capkit_admission_build_info{` + a + `} 1x33 stale
			process_start_time_seconds{` + a + `} 1x10 2x10 3x10 4 stale`, 50, 1},
		{"CapkitAdmissionRestarting", "another component", up + `process_start_time_seconds{` + alien + `} 1x10 2x10 3x10 4x60`, 50, 0},

		{"CapkitAdmissionManyRefusals", "as always", denied("0+1x1600"), 1600, 0},
		{"CapkitAdmissionManyRefusals", "far more", denied("0+1x1550 1560+10x60"), 1600, 1},
		{"CapkitAdmissionManyRefusals", "since just now", denied("0+1x1550 1560+10x60"), 1580, 0},
		{"CapkitAdmissionManyRefusals", "far more of few", denied("0x1550 1x20 2x60"), 1600, 0},
	} {
		all := alerts(t)
		i := slices.IndexFunc(all, func(r rulefmt.Rule) bool { return r.Alert == test.alert })
		if i < 0 {
			t.Fatalf("there is no alert %s", test.alert)
		}
		if firing := runsFor(t, &all[i], test.series, test.minutes); len(firing) != test.fires {
			t.Errorf("%s, %s: %d alerts fire, want %d: %s", test.alert, test.what, len(firing), test.fires, firing)
		}
		tested[test.alert] |= 1 << min(test.fires, 1)
	}
	for _, alert := range alerts(t) {
		if tested[alert.Alert] != 3 {
			t.Errorf("it is not tested when %s fires and when it does not", alert.Alert)
		}
	}
}

// TestAlertsAreComplete checks what people and Alertmanager need, and that the runbook is written.
func TestAlertsAreComplete(t *testing.T) {
	runbook, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, alert := range alerts(t) {
		if !strings.Contains(string(runbook), "\n### "+alert.Alert+"\n") {
			t.Errorf("docs/operations.md does not say what to do about %s", alert.Alert)
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, alert.Labels["severity"]) {
			t.Errorf("%s: severity %q", alert.Alert, alert.Labels["severity"])
		}
		if alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" {
			t.Errorf("%s has no summary or no description", alert.Alert)
		}
		if got, want := alert.Annotations["runbook_url"], runbooks+"#"+strings.ToLower(alert.Alert); got != want {
			t.Errorf("%s: the runbook is %s, want %s", alert.Alert, got, want)
		}
		known(t, alert.Alert, parse(t, alert.Expr))
	}
}

var fullName = regexp.MustCompile(`fqName: "([^"]*)"`)

// registered are the names of all metrics of the component.
func registered(t *testing.T) map[string]bool {
	t.Helper()
	registry, ok := metrics.Registry.(prometheus.Collector)
	if !ok {
		t.Fatalf("the registry is a %T", metrics.Registry)
	}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(descriptions)
		close(descriptions)
	}()
	names := map[string]bool{}
	for description := range descriptions {
		names[fullName.FindStringSubmatch(description.String())[1]] = true
	}
	return names
}

// known fails the test if an expression uses a metric that the component does not have.
func known(t *testing.T, where string, expression parser.Expr) {
	t.Helper()
	names := registered(t)
	for _, selector := range parser.ExtractSelectors(expression) {
		for _, matcher := range selector {
			if matcher.Name != model.MetricNameLabel {
				continue
			}
			histogram, _ := strings.CutSuffix(matcher.Value, "_bucket")
			count, _ := strings.CutSuffix(matcher.Value, "_count")
			if !names[matcher.Value] && !names[histogram] && !names[count] {
				t.Errorf("%s uses %s, which is not a metric of the component", where, matcher.Value)
			}
		}
	}
}
