// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/go-logr/logr/funcr"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/openstack"
)

// stored is what a client.Reader finds: objects by kind, namespace and name.
type stored struct {
	profiles   map[string]*v1beta1.CloudProfile
	namespaced map[client.ObjectKey]*v1beta1.NamespacedCloudProfile
	shoots     []v1beta1.Shoot
	// others are bindings and Secrets.
	others []client.Object
}

// Get gives out the object itself, as informers do without deep copies.
func (s *stored) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *v1beta1.CloudProfile:
		if found := s.profiles[key.Name]; found != nil {
			*into = *found
			return nil
		}
	case *v1beta1.NamespacedCloudProfile:
		if found := s.namespaced[key]; found != nil {
			*into = *found
			return nil
		}
	default:
		for _, other := range s.others {
			if reflect.TypeOf(other) == reflect.TypeOf(into) && client.ObjectKeyFromObject(other) == key {
				reflect.ValueOf(into).Elem().Set(reflect.ValueOf(other).Elem())
				return nil
			}
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

// List knows the indices that the package uses.
func (s *stored) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	value := asked.FieldSelector.Requirements()[0].Value
	switch list := list.(type) {
	case *v1beta1.NamespacedCloudProfileList:
		for _, object := range s.namespaced {
			if parentOf(object)[0] == value {
				list.Items = append(list.Items, *object)
			}
		}
	case *v1beta1.ShootList:
		for _, object := range s.shoots {
			if profileOf(&object)[0] == value && (asked.Namespace == "" || asked.Namespace == object.Namespace) {
				list.Items = append(list.Items, object)
			}
		}
	}
	return nil
}

// example reads an object from the folder example.
func example[T any](t testing.TB, name string) *T {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "example", name))
	object := new(T)
	if err == nil {
		err = yaml.UnmarshalStrict(content, object)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// garden returns what is stored when the examples are.
func garden(t testing.TB) *stored {
	t.Helper()
	profile := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	profile.UID, profile.ResourceVersion = "b5b2", "12"
	child := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	child.Status.CloudProfileSpec = *profile.Spec.DeepCopy()
	child.Status.CloudProfileSpec.MachineTypes = append(child.Status.CloudProfileSpec.MachineTypes, child.Spec.MachineTypes...)
	launch, bank := trusted(t)
	return &stored{
		profiles:   map[string]*v1beta1.CloudProfile{profile.Name: profile, launch.Name: launch},
		namespaced: map[client.ObjectKey]*v1beta1.NamespacedCloudProfile{client.ObjectKeyFromObject(child): child},
		shoots:     kept(t, example[v1beta1.Shoot](t, "shoot.yaml"), bank),
		others:     []client.Object{newSecret("openstack"), newSecret("broken", "password", secret+"\n"), newBinding("openstack"), newSecretBinding("openstack")},
	}
}

// endpoints are the webhooks as they are served, with what they log at debug level.
type endpoints struct {
	names    []string
	handlers map[string]http.Handler

	mu  sync.Mutex
	log bytes.Buffer
}

func newEndpoints(t testing.TB) *endpoints {
	t.Helper()
	return newEndpointsWith(t, garden(t), 1) // the flag --log-level=debug means 1
}

func newEndpointsWith(t testing.TB, reader client.Reader, verbosity int) *endpoints {
	t.Helper()
	e := &endpoints{handlers: map[string]http.Handler{}}
	logger := funcr.NewJSON(func(line string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.log.WriteString(line + "\n")
	}, funcr.Options{Verbosity: verbosity})
	shared := &lookup[openstack.Image]{cached: reader, live: reader, profiles: newProfiles(openstack.Provider{})}
	for _, row := range table(openstack.Provider{}, shared) {
		handler, err := admission.StandaloneWebhook(row.webhook("openstack").Webhook, admission.StandaloneOptions{Logger: logger})
		if err != nil {
			t.Fatal(err)
		}
		e.names = append(e.names, row.name)
		e.handlers[row.name] = handler
	}
	return e
}

// send returns the answer to a body, and what was logged meanwhile.
func (e *endpoints) send(t testing.TB, name, contentType string, body []byte) (*admissionv1.AdmissionResponse, string) {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/webhooks/"+name, bytes.NewReader(body))
	request.Header.Set("Content-Type", contentType)
	recorder := httptest.NewRecorder()
	e.handlers[name].ServeHTTP(recorder, request)
	e.mu.Lock()
	logged := e.log.String()
	e.log.Reset()
	e.mu.Unlock()
	review := &admissionv1.AdmissionReview{}
	decoder := json.NewDecoder(recorder.Body)
	if err := decoder.Decode(review); err != nil || review.Response == nil || recorder.Code != http.StatusOK {
		t.Fatalf("%s: status %d, response %v, error %v", name, recorder.Code, review.Response, err)
	}
	if decoder.More() {
		t.Fatalf("%s: there are two answers", name)
	}
	return review.Response, logged
}

// reviewed returns the request about an object that is to be written; old is nil on creation.
func reviewed(t testing.TB, kind string, object, old any) *admissionv1.AdmissionReview {
	t.Helper()
	request := &admissionv1.AdmissionRequest{
		UID: "705ab4f5", Operation: admissionv1.Create, Name: "name", Namespace: "garden-demo",
		Kind:   metav1.GroupVersionKind{Group: v1beta1.GroupName, Version: "v1beta1", Kind: kind},
		Object: runtime.RawExtension{Raw: encode(t, object)},
	}
	if old != nil {
		request.Operation, request.OldObject.Raw = admissionv1.Update, encode(t, old)
	}
	return &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
	}
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
