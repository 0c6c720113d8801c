// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package webhooks asks the webhooks of the admission component without a server: for tests and benchmarks of what a request costs.
// Tests of what is answered use a real Gardener API, see test/garden.
//
// Start reading at [Handlers].
package webhooks

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gardencoreinstall "github.com/gardener/gardener/pkg/apis/core/install"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityinstall "github.com/gardener/gardener/pkg/apis/security/install"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	capkit "github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/provider"
)

// Garden is what webhooks read: as much of a manager, its cache and its clients as they ask for. Its objects are given out as they
// are, as by an informer that makes no copies. It is not safe for concurrent use while a field changes.
type Garden struct {
	client.Client
	CloudProfiles []*v1beta1.CloudProfile
	// Child is the only NamespacedCloudProfile; nil for none.
	Child *v1beta1.NamespacedCloudProfile
	// Shoots that do not say which profile they use, use every one.
	Shoots []v1beta1.Shoot

	scheme *runtime.Scheme
}

// New returns a garden with these CloudProfiles, and nothing else.
func New(profiles ...*v1beta1.CloudProfile) *Garden {
	g := &Garden{CloudProfiles: profiles, scheme: runtime.NewScheme()}
	gardencoreinstall.Install(g.scheme)
	securityinstall.Install(g.scheme)
	utilruntime.Must(corev1.AddToScheme(g.scheme))
	return g
}

// Manager returns the garden as what webhooks are made with. It has nothing that they do not ask for.
func (g *Garden) Manager() manager.Manager { return asManager{garden: g} }

// Scheme returns the types of the garden, to which a test may add.
func (g *Garden) Scheme() *runtime.Scheme { return g.scheme }

// Handlers returns the webhooks of the admission component for a provider, by name. Nothing is compiled yet.
func Handlers[R any](tb testing.TB, cloud provider.Provider[R], g *Garden) map[string]admission.Handler {
	tb.Helper()
	handlers := map[string]admission.Handler{}
	for _, webhook := range capkit.Switches(cloud) {
		built, err := webhook.Func(g.Manager())
		if err != nil {
			tb.Fatal(err)
		}
		handlers[webhook.Name] = built.Webhook
	}
	return handlers
}

// Request returns the request to write an object of a kind of core.gardener.cloud, or of its subresource as in
// "NamespacedCloudProfile/status"; old is nil if it is created.
func Request(tb testing.TB, kind string, object, old client.Object) admission.Request {
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

type asManager struct {
	manager.Manager
	garden *Garden
}

// GetScheme returns the types of the garden.
func (m asManager) GetScheme() *runtime.Scheme { return m.garden.scheme }

// GetClient returns what reads from the garden.
func (m asManager) GetClient() client.Client { return m.garden }

// GetAPIReader returns the same: what is stored is known.
func (m asManager) GetAPIReader() client.Reader { return m.garden }

// GetCache returns informers that know all there is.
func (m asManager) GetCache() cache.Cache { return informers{} }

// GetFieldIndexer returns one that takes every index.
func (m asManager) GetFieldIndexer() client.FieldIndexer { return informers{} }

// GetEventRecorder returns one that keeps what it is given to itself.
func (m asManager) GetEventRecorder(string) events.EventRecorder { return events.NewFakeRecorder(1000) }

type informers struct{ cache.Cache }

// GetInformer returns an informer that is asked nothing.
func (informers) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return struct{ cache.Informer }{}, nil
}

// IndexField accepts an index.
func (informers) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

// Get returns what belongs to the garden.
func (g *Garden) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *v1beta1.NamespacedCloudProfile:
		if g.Child != nil && g.Child.Name == key.Name {
			*into = *g.Child
			return nil
		}
	case *v1beta1.CloudProfile:
		for _, profile := range g.CloudProfiles {
			if profile.Name == key.Name {
				*into = *profile
				return nil
			}
		}
	}
	return apierrors.NewNotFound(v1beta1.Resource("objects"), key.Name)
}

// List returns the Shoots and the NamespacedCloudProfile, and no other objects. Of Shoots that say which profile they use it
// returns those that use the one that is asked for.
func (g *Garden) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	var wanted client.ListOptions
	wanted.ApplyOptions(options)
	switch list := into.(type) {
	case *v1beta1.ShootList:
		list.Items = slices.DeleteFunc(slices.Clone(g.Shoots), func(s v1beta1.Shoot) bool {
			of := s.Spec.CloudProfile
			return of != nil && wanted.FieldSelector != nil && !strings.HasSuffix(wanted.FieldSelector.String(), "="+of.Kind+"/"+of.Name)
		})
	case *v1beta1.NamespacedCloudProfileList:
		if g.Child != nil {
			list.Items = []v1beta1.NamespacedCloudProfile{*g.Child}
		}
	}
	return nil
}
