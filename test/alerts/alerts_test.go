// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package alerts

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/hack/components"
)

// story is an entry of testdata/stories.yaml, which documents the fields.
type story struct {
	What    string
	Series  string
	Minutes int
	Fires   []map[string]string
}

var _ = Describe("Alerts", func() {
	stories := map[string][]story{}
	Expect(yaml.UnmarshalStrict([]byte(read("testdata/stories.yaml")), &stories)).To(Succeed())

	for _, name := range slices.Sorted(maps.Keys(stories)) {
		Describe(name, func() {
			for _, s := range stories[name] {
				verb := "is quiet: "
				if len(s.Fires) > 0 {
					verb = "fires: "
				}
				It(verb+s.What, func(ctx SpecContext) {
					Expect(firing(ctx, name, s)).To(ConsistOf(s.Fires))
				})
				if len(s.Fires) == 0 || strings.HasSuffix(name, "Down") { // it has its own story about this
					continue
				}
				It("is quiet in the component of another provider: "+s.What, func(ctx SpecContext) {
					other := s
					other.Series = ofAnother.Replace(s.Series)
					Expect(other.Series).NotTo(Equal(s.Series))
					Expect(firing(ctx, name, other)).To(BeEmpty())
				})
			}
		})
	}

	It("have a story of when they fire, and one of when they do not", func() {
		for _, alert := range alerts() {
			fires := func(s story) bool { return len(s.Fires) > 0 }
			quiet := func(s story) bool { return len(s.Fires) == 0 }
			Expect(slices.ContainsFunc(stories[alert.Alert], fires)).To(BeTrue(), "%s fires nowhere", alert.Alert)
			Expect(slices.ContainsFunc(stories[alert.Alert], quiet)).To(BeTrue(), "%s always fires", alert.Alert)
		}
	})

	It("say what people and Alertmanager need, and have a runbook", func() {
		runbook := read("../../docs/operators/operations.md")
		for _, alert := range alerts() {
			Expect(runbook).To(ContainSubstring("\n### " + alert.Alert + "\n"))
			Expect(alert.Labels).To(HaveKeyWithValue("severity", BeElementOf("critical", "warning", "info")), alert.Alert)
			Expect(alert.Annotations).To(And(
				HaveKeyWithValue("summary", Or( // several clouds' components may be running
					ContainSubstring(components.OpenStack.Title), ContainSubstring(controller.Release()),
				)),
				HaveKeyWithValue("description", Not(BeEmpty())),
				HaveKeyWithValue("runbook_url", runbooks+"#"+strings.ToLower(alert.Alert)),
			), alert.Alert)
		}
	})

	It("are about replicas of the component that they come with, and have its name as their group", func() {
		for _, c := range components.All() {
			Expect(alertsOf(c)).To(HaveLen(len(alertsOf(components.OpenStack))))
			text := string(alertsIn(c))
			Expect(providerTypes(text)).To(HaveEach(c.Type))
			Expect(text).To(ContainSubstring("- name: " + c.Name() + "\n"))
			Expect(text).To(And(ContainSubstring("The "+c.Title+" admission component"), Not(MatchRegexp("PROVIDER_|COMPONENT_"))))
		}
		Expect(string(alertsIn(controller))).To(And(ContainSubstring("- name: "+controller.Name()+"\n"), Not(MatchRegexp("JOB_|COMPONENT_"))))
	})

	It("ask for metrics that the component has", func() {
		for _, alert := range alerts() {
			Expect(unknown(alert.Expr)).To(BeEmpty(), alert.Alert)
		}
	})
})

// ofAnother turns a component's series in a story into those of another provider's component.
var ofAnother = strings.NewReplacer(`provider_type="openstack"`, `provider_type="acme"`, `job="provider-openstack-worker"`, `job="provider-acme-worker"`)

// firing evaluates an alert every minute over the series of a story. It returns the labels of the alerts that fire in the end, without
// the alert's own labels.
func firing(ctx SpecContext, name string, s story) []map[string]string {
	GinkgoHelper()
	all := alerts()
	i := slices.IndexFunc(all, func(r rulefmt.Rule) bool { return r.Alert == name })
	Expect(i).To(BeNumerically(">=", 0), "there is no such alert")
	alert := all[i]

	storage := promqltest.LoadedStorage(GinkgoTB(), "load 1m\n"+s.Series)
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(GinkgoTB(), false, 5*time.Minute, 1e6), storage)
	rule := rules.NewAlertingRule(alert.Alert, parse(alert.Expr), time.Duration(alert.For), 0, labels.FromMap(alert.Labels),
		labels.FromMap(alert.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	for minute := range s.Minutes + 1 {
		_, err := rule.Eval(ctx, 0, time.Unix(0, 0).Add(time.Duration(minute)*time.Minute), query, nil, 0)
		Expect(err).NotTo(HaveOccurred())
	}

	var fires []map[string]string
	for _, a := range rule.ActiveAlerts() {
		if a.State != rules.StateFiring {
			continue
		}
		for annotation, text := range a.Annotations.Map() {
			Expect(text).NotTo(Or(BeEmpty(), ContainSubstring("{{"), ContainSubstring("<error"), ContainSubstring("<no value>")), annotation)
		}
		own := a.Labels.Map()
		maps.DeleteFunc(own, func(label, value string) bool { return label == labels.AlertName || alert.Labels[label] == value })
		fires = append(fires, own)
	}
	return fires
}
