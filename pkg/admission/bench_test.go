// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"testing"
	"time"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	"github.com/gardener/gardener/pkg/apis/core"
	gardencoreinstall "github.com/gardener/gardener/pkg/apis/core/install"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	localvalidator "github.com/gardener/gardener/pkg/provider-local/admission/validator"
	localinstall "github.com/gardener/gardener/pkg/provider-local/apis/local/install"
	localv1alpha1 "github.com/gardener/gardener/pkg/provider-local/apis/local/v1alpha1"
	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/test/generate"
)

// benchManager is as much of a manager as Gardener's handlers ask for.
type benchManager struct {
	manager.Manager
	scheme *apiruntime.Scheme
}

func (m benchManager) GetScheme() *apiruntime.Scheme { return m.scheme }
func (m benchManager) GetClient() client.Client      { return nil }

// labelling is a mutator that sets one field.
type labelling struct{}

func (labelling) Mutate(_ context.Context, object, _ client.Object) error {
	object.SetAnnotations(map[string]string{"a": "b"})
	return nil
}

func newScheme(t testing.TB) *apiruntime.Scheme {
	t.Helper()
	scheme := apiruntime.NewScheme()
	gardencoreinstall.Install(scheme)
	if err := localinstall.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// creation is the request to create an object.
func creation(t testing.TB, kind string, object client.Object) admission.Request {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Name: object.GetName(),
		Kind:   metav1.GroupVersionKind{Group: v1beta1.GroupName, Version: "v1beta1", Kind: kind},
		Object: apiruntime.RawExtension{Raw: raw},
	}}
}

// side is one of what is compared: how long it takes, at best, and what it allocates.
type side struct {
	handler admission.Handler
	times   []time.Duration
	bytes   uint64
	objects uint64
}

func (s *side) turn(b *testing.B, req admission.Request) {
	b.Helper()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	response := s.handler.Handle(b.Context(), req)
	s.times = append(s.times, time.Since(start))
	runtime.ReadMemStats(&after)
	s.bytes, s.objects = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
	if !response.Allowed {
		b.Fatal(response.Result)
	}
}

func (s *side) report(b *testing.B, name string, other *side) {
	b.Helper()
	time := float64(slices.Min(s.times)) / float64(slices.Min(other.times))
	objects, bytes := float64(s.objects)/float64(other.objects), float64(s.bytes)/float64(other.bytes)
	b.ReportMetric(time, name+"-time")
	b.ReportMetric(objects, name+"-allocs")
	b.Logf("%s: %v of %v (%.2f), %d of %d allocations (%.2f), %d of %d KiB (%.2f)",
		name, slices.Min(s.times).Round(rounding), slices.Min(other.times).Round(rounding),
		time, s.objects, other.objects, objects, s.bytes>>10, other.bytes>>10, bytes)
}

const rounding = 10 * time.Microsecond

// BenchmarkAgainstGardener compares the handlers with those of Gardener's extension library on the same CloudProfile of
// 1 MiB, in turns: its handler with provider-local's validator, and with a mutator that sets one field.
func BenchmarkAgainstGardener(b *testing.B) {
	scheme := newScheme(b)
	profile := generate.Local(1 << 20)
	req := creation(b, "CloudProfile", profile)
	mgr := benchManager{scheme: scheme}
	build := func(builder *extensionswebhook.HandlerBuilder) *side {
		handler, err := builder.Build()
		if err != nil {
			b.Fatal(err)
		}
		return &side{handler: handler}
	}
	rows := table(local.Provider{}, &lookup[local.Image]{profiles: newProfiles(local.Provider{})})
	validating, mutating := &side{handler: rows[0].handler}, &side{handler: rows[3].handler}
	theirValidating := build(extensionswebhook.NewBuilder(mgr, logr.Discard()).
		WithValidator(localvalidator.NewCloudProfileValidator(mgr), extensionswebhook.Type{Obj: &core.CloudProfile{}}))
	theirMutating := build(extensionswebhook.NewBuilder(mgr, logr.Discard()).
		WithMutator(labelling{}, extensionswebhook.Type{Obj: &v1beta1.CloudProfile{}}))
	decoding := &side{handler: admission.HandlerFunc(func(_ context.Context, req admission.Request) admission.Response {
		object := &v1beta1.CloudProfile{}
		if err := admission.NewDecoder(scheme).Decode(req, object); err != nil {
			return admission.Errored(500, err)
		}
		if err := json.Unmarshal(object.Spec.ProviderConfig.Raw, &localv1alpha1.CloudProfileConfig{}); err != nil {
			return admission.Errored(500, err)
		}
		return admission.Allowed("")
	})}
	for b.Loop() {
		for _, s := range []*side{validating, theirValidating, mutating, theirMutating, decoding} {
			s.turn(b, req)
		}
	}
	b.ReportMetric(0, "ns/op")
	validating.report(b, "validate/gardener", theirValidating)
	mutating.report(b, "mutate/gardener", theirMutating)
	validating.report(b, "validate/decode", decoding)
}
