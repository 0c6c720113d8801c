// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// MetricsPrefix is the prefix of all metrics of the component, which docs/operators/metrics.md describes. No label value comes from a
// request.
const MetricsPrefix = "capkit_admission"

var register = promauto.With(metrics.Registry)

// CounterOf returns a counter whose series all exist from the start, so that the first increase of each is visible.
func CounterOf(name, help, label string, values ...string) *prometheus.CounterVec {
	vec := register.NewCounterVec(prometheus.CounterOpts{Namespace: MetricsPrefix, Name: name, Help: help}, []string{label})
	for _, value := range values {
		vec.WithLabelValues(value)
	}
	return vec
}

// Gauge returns a gauge without labels.
func Gauge(name, help string) prometheus.Gauge {
	return register.NewGauge(prometheus.GaugeOpts{Namespace: MetricsPrefix, Name: name, Help: help})
}

var (
	refusedTotal = CounterOf("refused_requests_total",
		"Requests refused before they were decoded, by reason: too-large, too-slow, crowded, broken, foreign or outdated.",
		"reason", refusedTooLarge, refusedTooSlow, refusedCrowded, refusedBroken, refusedForeign, refusedOutdated)
	certificateExpiration = Gauge("certificate_expiration_timestamp_seconds",
		"Unix time until which clients accept the certificate that is served: the earlier end of it and of the "+
			"authority in the webhook configurations; 0 if one of those does not trust it.")
	silenceSeconds = Gauge("silence_seconds",
		"How long nothing has been heard from the API server of the garden, of the kind of objects for which that is longest.")
)
