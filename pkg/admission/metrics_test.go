// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	webhookcmd "github.com/gardener/gardener/extensions/pkg/webhook/cmd"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/pkg/admission/internal/serving"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// families returns the component's metrics, each with at least one series.
func families(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	componentFor(openstack.Provider{}, nil).webhooks()[0].webhook("openstack")
	buildInfo.WithLabelValues("v0", "go1", "openstack").Set(1)
	catalogueOf(nil).count("Test", finding.Report{Errors: ofRules(check.RuleProfileMissing)})
	gathered, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(gathered, func(f *dto.MetricFamily) bool { return !strings.HasPrefix(f.GetName(), serving.MetricsPrefix+"_") })
}

// ofRules returns one finding of each rule.
func ofRules(names ...string) (list finding.List) {
	for _, name := range names {
		list = append(list, finding.New(name, field.ErrorTypeInvalid, nil, nil, ""))
	}
	return list
}

// TestMetricNames runs Prometheus' own linter.
func TestMetricNames(t *testing.T) {
	var names []string
	for _, family := range families(t) {
		names = append(names, family.GetName())
	}
	problems, err := testutil.GatherAndLint(metrics.Registry, names...)
	if err != nil || len(problems) > 0 || len(names) < 10 {
		t.Error(len(names), problems, err)
	}
}

// row matches a metric's row in docs/operators/metrics.md.
var row = regexp.MustCompile("(?m)^\\| `(capkit_admission_[a-z_]+)` \\| ([a-z]+) \\| ([^|]*) \\| [^|]+ \\|$")

func TestDocumentedMetrics(t *testing.T) {
	content, err := os.ReadFile("../../docs/operators/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, registered []string
	for _, match := range row.FindAllStringSubmatch(string(content), -1) {
		documented = append(documented, fmt.Sprintf("%s, a %s with %s", match[1], match[2], strings.ReplaceAll(match[3], "`", "")))
	}
	for _, family := range families(t) {
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		slices.Sort(labels)
		registered = append(registered, fmt.Sprintf("%s, a %s with %s", family.GetName(), strings.ToLower(family.GetType().String()), strings.Join(labels, ", ")))
	}
	slices.Sort(documented)
	if diff := cmp.Diff(registered, documented); diff != "" {
		t.Errorf("docs/operators/metrics.md (-registered +documented):\n%s", diff)
	}
}

// growth returns by how much each series of a counter grows meanwhile, by labels.
func growth(t *testing.T, name string, meanwhile func()) map[string]float64 {
	t.Helper()
	read := func() map[string]float64 {
		gathered, err := metrics.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]float64{}
		for _, family := range gathered {
			if family.GetName() != name {
				continue
			}
			for _, metric := range family.GetMetric() {
				var labels []string
				for _, label := range metric.GetLabel() {
					labels = append(labels, label.GetValue())
				}
				values[strings.Join(labels, " ")] = metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			}
		}
		return values
	}
	before := read()
	meanwhile()
	after := read()
	for labels := range after {
		after[labels] -= before[labels]
	}
	maps.DeleteFunc(after, func(_ string, grown float64) bool { return grown == 0 })
	return after
}

func expect(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestResults has a webhook answer in every way, including a panic. The series exist from the start, so that the first increment is not
// missed.
func TestResults(t *testing.T) {
	const name, series = "results-of-a-test", serving.MetricsPrefix + "_requests_total"
	var response admission.Response
	handler := measured(name, admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		if response.Allowed && response.Result != nil {
			panic("a test")
		}
		return response
	}))
	if got := testutil.CollectAndCount(requestsTotal, series); got < 10 {
		t.Errorf("%d series before the first request", got)
	}
	webhook := &admission.Webhook{Handler: handler}
	ask := func(operation admissionv1.Operation, answer admission.Response) func() {
		return func() {
			response = answer
			webhook.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: operation}})
		}
	}
	for want, answer := range map[string]func(){
		"CREATE allowed":  ask(admissionv1.Create, admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: true}}),
		"UPDATE warned":   ask(admissionv1.Update, admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"a"}}}),
		"CREATE denied":   ask(admissionv1.Create, admission.Denied("no")),
		"UPDATE denied":   ask(admissionv1.Update, admission.Response{}),
		"CREATE error":    ask(admissionv1.Create, failed(t.Context(), errors.New("a test"))),
		"UPDATE error":    ask(admissionv1.Update, admission.Allowed("panics")),
		"DELETE unusable": ask(admissionv1.Delete, unusable("a test")),
		"other unusable":  ask("sesame", admission.Errored(http.StatusBadRequest, errors.New("a test"))),
	} {
		operation, result, _ := strings.Cut(want, " ")
		expect(t, want, growth(t, series, answer), map[string]float64{operation + " " + result + " " + name: 1})
	}
	took := growth(t, serving.MetricsPrefix+"_request_duration_seconds", ask(admissionv1.Create, admission.Allowed("")))
	expect(t, "durations", took, map[string]float64{name: 1})
}

func TestFindingsAreCounted(t *testing.T) {
	e := newEndpoints(t)
	bad := example[map[string]any](t, "broken/provider-flavor-missing.yaml")
	count := func(old any) map[string]float64 {
		return growth(t, serving.MetricsPrefix+"_findings_total", func() {
			e.ask(t, "validate-cloudprofile", bad, old)
		})
	}
	expect(t, "a bad profile", count(nil), map[string]float64{"CloudProfile provider-flavor-missing error": 1})
	old := example[map[string]any](t, "broken/provider-flavor-missing.yaml")
	(*old)["spec"].(map[string]any)["regions"] = []any{map[string]any{"name": "asia"}, map[string]any{"name": "other"}}
	expect(t, "a profile that was bad before", count(old), map[string]float64{"CloudProfile provider-flavor-missing excused": 1})

	known := catalogueOf(provider.Untyped(openstack.Provider{}))
	expect(t, "a warning, and a rule that is not in the catalogue", growth(t, serving.MetricsPrefix+"_findings_total", func() {
		known.count("Test", finding.Report{
			Errors:   ofRules("sesame", ""),
			Warnings: ofRules("machine-type-without-image", "sesame"),
		})
	}), map[string]float64{"Test other error": 2, "Test machine-type-without-image warning": 1, "Test other warning": 1})
	for _, rule := range (openstack.Provider{}).Rules() {
		if known[rule.Name] != rule.Severity {
			t.Errorf("%s is not in the catalogue", rule.Name)
		}
	}
}

// TestLookupsAreCounted looks up objects that cannot be read.
func TestLookupsAreCounted(t *testing.T) {
	namespaced := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	orphaned := componentFor(openstack.Provider{}, unreachable{stored{namespaced}, &v1beta1.CloudProfile{}})
	c := componentFor(openstack.Provider{}, unreachable{stored{namespaced}, newSecret("")})
	got := growth(t, serving.MetricsPrefix+"_lookup_failures_total", func() {
		_, _, unread := c.checkCredentials(t.Context(), credentialsRef{}.secretOf(newSecretBinding("openstack")))
		_, unlisted := c.users(t.Context(), "openstack")
		key := client.ObjectKeyFromObject(namespaced)
		_, _, above := orphaned.profile(t.Context(), kindNamespacedCloudProfile, key, nil)
		for want, err := range map[string]error{
			"Secret garden-demo/openstack could not be read, so nothing was checked: no answer": unread,
			"listing the Shoots of CloudProfile/openstack: no answer":                           unlisted,
			"CloudProfile openstack could not be read, so nothing was checked: no answer":       above,
		} {
			if err == nil || err.Error() != want {
				t.Errorf("the error is %v, not %s", err, want)
			}
		}
	})
	expect(t, "failures", got, map[string]float64{"Secret": 1, "Shoot": 1, "CloudProfile": 1})
}

func TestCompilationsAreCounted(t *testing.T) {
	kept := newProfiles(provider.Untyped(local.Provider{}))
	got := growth(t, serving.MetricsPrefix+"_profile_compilation_duration_seconds", func() {
		for range 3 {
			kept.get(generate.Local(1 << 10))
		}
		faulty := generate.Local(1 << 10)
		faulty.Name, faulty.Spec.ProviderConfig = "faulty", nil
		kept.get(faulty)
	})
	expect(t, "compilations", got, map[string]float64{"clean": 1, "faulty": 1})
	if got := testutil.ToFloat64(profilesKept); got != 2 {
		t.Errorf("%v profiles are kept", got)
	}
}

// recorder is a manager that records added runnables.
type recorder struct {
	manager.Manager
	added []manager.Runnable
}

func (r *recorder) Add(runnable manager.Runnable) error {
	r.added = append(r.added, runnable)
	return nil
}

func (r *recorder) GetLogger() logr.Logger { return logr.Discard() }

// onceAsLeader resembles the runnable with which Gardener's packages register webhooks.
type onceAsLeader func(ctx context.Context) error

func (o onceAsLeader) NeedLeaderElection() bool        { return true }
func (o onceAsLeader) Start(ctx context.Context) error { return o(ctx) }

// added adds a runnable that registers webhooks, runs it, and returns its error.
func added(ctx context.Context, runnable manager.Runnable) error {
	r := &recorder{}
	return errors.Join(registering{Manager: r}.Add(runnable), r.added[0].Start(ctx))
}

func TestRegistrationIsTriedAgain(t *testing.T) {
	tries, begin := 0, time.Now().Unix()
	got := growth(t, serving.MetricsPrefix+"_registrations_total", func() {
		if err := added(t.Context(), onceAsLeader(func(context.Context) error {
			if tries++; tries < 2 {
				return errors.New("too slow")
			}
			return nil
		})); err != nil || tries != 2 {
			t.Error(tries, err)
		}
	})
	expect(t, "registrations", got, map[string]float64{"failure": 1, "success": 1})
	if last := int64(testutil.ToFloat64(lastRegistration)); last < begin || last > time.Now().Unix() {
		t.Errorf("the last registration was at %d, and the test began at %d", last, begin)
	}

	failed := errors.New("failed")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := added(ctx, onceAsLeader(func(context.Context) error { return failed })); err != nil {
		t.Error("asked to end, it must not fail:", err)
	}
	if err := added(t.Context(), manager.RunnableFunc(func(context.Context) error { return failed })); !errors.Is(err, failed) {
		t.Error("others are not added as they are:", err)
	}
}

// TestFurtherWebhooksAreCounted adds a webhook from outside this package.
func TestFurtherWebhooksAreCounted(t *testing.T) {
	const name = "further-of-a-test"
	further := measuredFurther([]webhookcmd.NameToFactory{
		webhookcmd.Switch(name, func(manager.Manager) (*extensionswebhook.Webhook, error) {
			return &extensionswebhook.Webhook{Name: name, Webhook: &admission.Webhook{
				Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return admission.Denied("no") }),
			}}, nil
		}),
		webhookcmd.Switch("broken", func(manager.Manager) (*extensionswebhook.Webhook, error) { return nil, errors.New("a test") }),
	})
	webhook, err := further[0].Func(nil)
	if err != nil || further[0].Name != name {
		t.Fatal(err)
	}
	got := growth(t, serving.MetricsPrefix+"_requests_total", func() {
		webhook.Webhook.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create}})
	})
	expect(t, "requests", got, map[string]float64{"CREATE denied " + name: 1})
	if _, err := further[1].Func(nil); err == nil {
		t.Error("the error of a factory is lost")
	}
}
