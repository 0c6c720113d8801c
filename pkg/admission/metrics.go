// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net/http"
	"slices"
	"time"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	webhookcmd "github.com/gardener/gardener/extensions/pkg/webhook/cmd"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/admission/internal/serving"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

var register = promauto.With(metrics.Registry)

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return register.NewCounterVec(prometheus.CounterOpts{Namespace: serving.MetricsPrefix, Name: name, Help: help}, labels)
}

func duration(name, help, label string, buckets ...float64) *prometheus.HistogramVec {
	return register.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: serving.MetricsPrefix, Name: name, Help: help, Buckets: buckets,
	}, []string{label})
}

var (
	requestsTotal = counter("requests_total", "Admission requests answered, by webhook, operation and result.",
		"webhook", "operation", "result")
	requestDuration = duration("request_duration_seconds", "Time from a decoded request to its answer.", "webhook",
		.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 7.5, 10)
	findingsTotal = counter("findings_total",
		"Findings in answers of validating webhooks, by kind of object, rule and severity.", "kind", "rule", "severity")
	lookupFailuresTotal = serving.CounterOf("lookup_failures_total",
		"Objects that a check needed and that could not be read, by kind; not those that do not exist.",
		"kind", kindCloudProfile, kindNamespacedCloudProfile, "Shoot",
		"Secret", "InternalSecret", "SecretBinding", "CredentialsBinding")
	compilationDuration = duration("profile_compilation_duration_seconds",
		"Time to compile a stored profile for the checks, by result: clean, or faulty if the profile has errors.",
		"result", .0001, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5)
	// Both series exist from the start.
	cleanCompilation  = compilationDuration.WithLabelValues("clean")
	faultyCompilation = compilationDuration.WithLabelValues("faulty")

	profilesKept       = serving.Gauge("compiled_profiles", "Compiled profiles that are kept in memory.")
	registrationsTotal = serving.CounterOf("registrations_total",
		"Attempts of the leader to write the webhook configurations, by result: success or failure.",
		"result", "success", "failure")
	lastRegistration = serving.Gauge("last_registration_timestamp_seconds",
		"Unix time at which this process last wrote the webhook configurations; 0 if it never did.")
	buildInfo = register.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: serving.MetricsPrefix, Name: "build_info", Help: "Always 1; the labels say what is running.",
	}, []string{"version", "go_version", "provider_type"})
)

// The results of an admission request.
const (
	resultAllowed = "allowed"
	// resultWarned is an admitted request with warnings.
	resultWarned = "warned"
	resultDenied = "denied"
	// resultError is a request that could not be judged, because an object could not be read or the handler panicked.
	resultError = "error"
	// resultUnusable is a request that no API server sends.
	resultUnusable = "unusable"
)

// severityExcused is the severity of an error that is tolerated as a warning, because the stored object has it too.
const severityExcused finding.Severity = "excused"

// other is the label value for anything unknown.
const other = "other"

// measured returns a handler that counts the answers of a webhook and measures their duration.
func measured(webhook string, handler admission.Handler) admission.Handler {
	requestDuration.WithLabelValues(webhook)
	for _, operation := range []admissionv1.Operation{admissionv1.Create, admissionv1.Update} {
		for _, result := range []string{resultAllowed, resultWarned, resultDenied, resultError, resultUnusable} {
			requestsTotal.WithLabelValues(webhook, string(operation), result)
		}
	}
	return admission.HandlerFunc(func(ctx context.Context, req admission.Request) admission.Response {
		start, result := time.Now(), resultError // if the handler panics
		defer func() {
			took := time.Since(start)
			requestsTotal.WithLabelValues(webhook, operationOf(req), result).Inc()
			requestDuration.WithLabelValues(webhook).Observe(took.Seconds())
			log.FromContext(ctx).V(1).Info("Answered", "result", result, "duration", took)
		}()
		response := handler.Handle(ctx, req)
		result = resultOf(response)
		return response
	})
}

func operationOf(req admission.Request) string {
	switch req.Operation {
	case admissionv1.Create, admissionv1.Update, admissionv1.Delete, admissionv1.Connect:
		return string(req.Operation)
	}
	return other
}

func resultOf(response admission.Response) string {
	switch {
	case response.Allowed && len(response.Warnings) > 0:
		return resultWarned
	case response.Allowed:
		return resultAllowed
	case response.Result != nil && response.Result.Code == http.StatusBadRequest:
		return resultUnusable
	case response.Result != nil && response.Result.Code >= http.StatusInternalServerError:
		return resultError
	}
	return resultDenied
}

// measuredFurther adds the metrics to webhooks of the extension's own.
func measuredFurther(further []webhookcmd.NameToFactory) []webhookcmd.NameToFactory {
	counted := slices.Clone(further)
	for i, f := range further {
		counted[i].Func = func(mgr manager.Manager) (*extensionswebhook.Webhook, error) {
			webhook, err := f.Func(mgr)
			if err == nil && webhook != nil && webhook.Webhook != nil && webhook.Webhook.Handler != nil {
				webhook.Webhook.Handler = measured(f.Name, webhook.Webhook.Handler)
			}
			return webhook, err
		}
	}
	return counted
}

// catalogue maps the rules of all possible findings to their severities.
type catalogue map[string]finding.Severity

// catalogueOf returns the catalogue of a provider, which may describe rules of its own.
func catalogueOf(cloud any) catalogue {
	var rules []finding.Rule
	if describer, describes := provider.As[provider.RuleDescriber](cloud); describes {
		rules = describer.Rules()
	}
	known := catalogue{}
	for _, rule := range append(rules, check.Rules()...) { // the last rule of a name wins
		known[rule.Name] = rule.Severity
	}
	known[check.RuleProfileMissing] = finding.SeverityError
	return known
}

// count counts the findings about an object of a kind.
func (c catalogue) count(kind string, report finding.Report) {
	add := func(f finding.Finding, severity finding.Severity) {
		rule := f.Origin
		if _, known := c[rule]; !known {
			rule = other
		}
		findingsTotal.WithLabelValues(kind, rule, string(severity)).Inc()
	}
	for _, err := range report.Errors {
		add(err, finding.SeverityError)
	}
	for _, warning := range report.Warnings {
		severity := finding.SeverityWarning
		if c[warning.Origin] == finding.SeverityError {
			severity = severityExcused
		}
		add(warning, severity)
	}
}
