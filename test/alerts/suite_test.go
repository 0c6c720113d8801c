// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package alerts tests the alerts of the admission component and the worker controller, and the dashboard of the former.
// Prometheus evaluates the alerts over synthetic series, and the component must have every metric that they use.
package alerts

import (
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"gopkg.in/yaml.v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/capkit/capkit/hack/components"
	// Registers the metrics. test/seed/program queries a running worker controller.
	_ "github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/test/garden/charts"
	"github.com/capkit/capkit/test/suite"
)

const runbooks = "https://github.com/capkit/capkit/blob/main/docs/operators/operations.md"

func TestAlerts(t *testing.T) { suite.Run(t, "test/alerts", "alerts") }

var expressions = parser.NewParser(parser.Options{})

func parse(expression string) parser.Expr {
	GinkgoHelper()
	parsed, err := expressions.ParseExpr(expression)
	Expect(err).NotTo(HaveOccurred(), expression)
	return parsed
}

// installed returns a field of the only object of a kind in a component's chart.
func installed(c components.Component, kind, field string) any {
	GinkgoHelper()
	which := charts.Runtime
	if c.Worker {
		which = charts.Worker
	}
	rendered, err := charts.Render(c, which, "garden", map[string]any{"monitoring": map[string]any{"enabled": true}})
	Expect(err).NotTo(HaveOccurred())
	var object *unstructured.Unstructured
	Expect(rendered).To(ContainElement(HaveField("GetKind()", kind), &object))
	return object.Object[field]
}

// alertsIn returns the alerts of a component as text.
func alertsIn(c components.Component) []byte {
	GinkgoHelper()
	text, err := yaml.Marshal(installed(c, "PrometheusRule", "spec"))
	Expect(err).NotTo(HaveOccurred())
	return text
}

// dashboardIn returns the dashboard of a component as text.
func dashboardIn(c components.Component) []byte {
	GinkgoHelper()
	var text string
	Expect(installed(c, "ConfigMap", "data")).To(HaveKeyWithValue(c.Name()+".json", BeAssignableToTypeOf(text)))
	return []byte(installed(c, "ConfigMap", "data").(map[string]any)[c.Name()+".json"].(string))
}

// controller is the worker controller.
var controller = components.Controllers()[0]

// alerts returns the alerting rules of OpenStack's components.
func alerts() []rulefmt.Rule {
	GinkgoHelper()
	return slices.Concat(alertsOf(components.OpenStack), alertsOf(controller))
}

// alertsOf returns the alerting rules of a component, which are all in one group.
func alertsOf(c components.Component) []rulefmt.Rule {
	GinkgoHelper()
	groups, errs := rulefmt.Parse(alertsIn(c), false, model.UTF8Validation, expressions, slog.New(slog.DiscardHandler))
	Expect(errs).To(BeEmpty())
	Expect(groups.Groups).To(HaveLen(1))
	return groups.Groups[0].Rules
}

func read(path string) string {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	return string(content)
}

var fullName = regexp.MustCompile(`fqName: "([^"]*)"`)

// registered returns the names of all metrics of the component.
func registered() map[string]bool {
	GinkgoHelper()
	registry, ok := metrics.Registry.(prometheus.Collector)
	Expect(ok).To(BeTrue(), "the registry is a %T", metrics.Registry)
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

// unknown returns the metrics in an expression that the component does not have.
func unknown(expression string) []string {
	GinkgoHelper()
	names := registered()
	var missing []string
	for _, selector := range parser.ExtractSelectors(parse(expression)) {
		for _, matcher := range selector {
			if matcher.Name != model.MetricNameLabel {
				continue
			}
			histogram, _ := strings.CutSuffix(matcher.Value, "_bucket")
			count, _ := strings.CutSuffix(matcher.Value, "_count")
			if !names[matcher.Value] && !names[histogram] && !names[count] {
				missing = append(missing, matcher.Value)
			}
		}
	}
	return missing
}
