// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	gardencoreinstall "github.com/gardener/gardener/pkg/apis/core/install"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	localinstall "github.com/gardener/gardener/pkg/provider-local/apis/local/install"
	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	capkit "github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
)

// garden is as much of a manager, its cache and its clients as webhooks ask for. It has CloudProfiles, one
// NamespacedCloudProfile unless that is nil, and nothing else.
type garden struct {
	client.Client
	scheme   *runtime.Scheme
	profiles map[string]*v1beta1.CloudProfile
	child    *v1beta1.NamespacedCloudProfile
}

func newGarden(tb testing.TB, profiles ...*v1beta1.CloudProfile) *garden {
	tb.Helper()
	g := &garden{scheme: runtime.NewScheme(), profiles: map[string]*v1beta1.CloudProfile{}}
	gardencoreinstall.Install(g.scheme)
	if err := localinstall.AddToScheme(g.scheme); err != nil {
		tb.Fatal(err)
	}
	for _, profile := range profiles {
		g.profiles[profile.Name] = profile
	}
	return g
}

// asManager is what webhooks are made with.
type asManager struct {
	manager.Manager
	garden *garden
}

func (m asManager) GetScheme() *runtime.Scheme           { return m.garden.scheme }
func (m asManager) GetClient() client.Client             { return m.garden }
func (m asManager) GetAPIReader() client.Reader          { return m.garden }
func (m asManager) GetCache() cache.Cache                { return informers{} }
func (m asManager) GetFieldIndexer() client.FieldIndexer { return informers{} }

func (m asManager) GetEventRecorder(string) events.EventRecorder { return events.NewFakeRecorder(1) }

type informers struct{ cache.Cache }

func (informers) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return struct{ cache.Informer }{}, nil
}

func (informers) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

// Get returns what belongs to the garden, as an informer does that makes no copies.
func (g *garden) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if child, wanted := into.(*v1beta1.NamespacedCloudProfile); wanted && g.child != nil && g.child.Name == key.Name {
		*child = *g.child
		return nil
	}
	profile, wanted := into.(*v1beta1.CloudProfile)
	if !wanted || g.profiles[key.Name] == nil {
		return apierrors.NewNotFound(v1beta1.Resource("cloudprofiles"), key.Name)
	}
	*profile = *g.profiles[key.Name]
	return nil
}

// List finds nothing: nobody uses the profiles.
func (g *garden) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// ours returns the webhooks of the admission component for provider local, by name. Nothing is compiled yet.
func (g *garden) ours(tb testing.TB) map[string]admission.Handler {
	tb.Helper()
	return handlersOf(tb, local.Provider{}, g)
}

// handlersOf returns those for any provider.
func handlersOf[R any](tb testing.TB, cloud provider.Provider[R], g *garden) map[string]admission.Handler {
	tb.Helper()
	handlers := map[string]admission.Handler{}
	for _, webhook := range capkit.Switches(cloud) {
		built, err := webhook.Func(asManager{garden: g})
		if err != nil {
			tb.Fatal(err)
		}
		handlers[webhook.Name] = built.Webhook
	}
	return handlers
}

// theirs returns a handler of Gardener's extension library.
func (g *garden) theirs(tb testing.TB, with func(*extensionswebhook.HandlerBuilder, manager.Manager)) admission.Handler {
	tb.Helper()
	mgr := asManager{garden: g}
	builder := extensionswebhook.NewBuilder(mgr, logr.Discard())
	with(builder, mgr)
	handler, err := builder.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return handler
}

// annotating is a mutator that sets one field.
type annotating struct{}

func (annotating) Mutate(_ context.Context, object, _ client.Object) error {
	object.SetAnnotations(map[string]string{"a": "b"})
	return nil
}

// request returns the request to write an object; old is nil if it is created.
func request(tb testing.TB, kind string, object, old client.Object) admission.Request {
	tb.Helper()
	kind, subresource, _ := strings.Cut(kind, "/")
	write := func(object client.Object) runtime.RawExtension {
		raw, err := json.Marshal(object)
		if err != nil {
			tb.Fatal(err)
		}
		return runtime.RawExtension{Raw: raw}
	}
	req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Name: object.GetName(), Namespace: object.GetNamespace(), SubResource: subresource,
		Kind:   metav1.GroupVersionKind{Group: v1beta1.GroupName, Version: "v1beta1", Kind: kind},
		Object: write(object),
	}}
	if old != nil {
		req.Operation, req.OldObject = admissionv1.Update, write(old)
	}
	return req
}
