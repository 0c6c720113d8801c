// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/go-logr/logr/funcr"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// stored is a client.Reader over a list of objects.
type stored []client.Object

// Get returns the object itself, as informers without deep copies do.
func (s stored) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	for _, object := range s {
		if reflect.TypeOf(object) == reflect.TypeOf(into) && client.ObjectKeyFromObject(object) == key {
			reflect.ValueOf(into).Elem().Set(reflect.ValueOf(object).Elem())
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

// List supports the indices and fields that the package uses. Without a limit it behaves like an informer: it returns everything, sets a
// continue token, and rejects a request with a token.
func (s stored) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	if asked.Limit == 0 && asked.Continue != "" {
		return errors.New("continue list option is not supported by the cache")
	} else if asked.Limit == 0 {
		list.SetContinue("continue-not-supported")
	}
	selects := func(set fields.Set) bool { return asked.FieldSelector == nil || asked.FieldSelector.Matches(set) }
	for _, object := range s {
		if asked.Namespace != "" && asked.Namespace != object.GetNamespace() {
			continue
		}
		switch list := list.(type) {
		case *v1beta1.NamespacedCloudProfileList:
			if child, ok := object.(*v1beta1.NamespacedCloudProfile); ok && selects(fields.Set{indexParent: parentIndex(child)[0]}) {
				list.Items = append(list.Items, *child)
			}
		case *v1beta1.ShootList:
			if shoot, ok := object.(*v1beta1.Shoot); ok && selects(fields.Set{indexProfile: profileIndex(shoot)[0]}) {
				list.Items = append(list.Items, *shoot)
			}
		case *metav1.PartialObjectMetadataList:
			if shoot, ok := object.(*v1beta1.Shoot); ok && selects(fieldsOf(shoot)) {
				list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: shoot.ObjectMeta})
			}
		}
	}
	return nil
}

// fieldsOf returns the fields by which an API server can select Shoots.
func fieldsOf(shoot *v1beta1.Shoot) fields.Set {
	set := fields.Set{core.ShootCloudProfileName: ptr.Deref(shoot.Spec.CloudProfileName, "")}
	if reference := shoot.Spec.CloudProfile; reference != nil {
		set[core.ShootCloudProfileRefName], set[core.ShootCloudProfileRefKind] = reference.Name, reference.Kind
	}
	return set
}

// componentFor returns a component that reads these objects, in a landscape with capkit's worker controller.
func componentFor[R any](cloud provider.Provider[R], reader client.Reader) *component {
	c := newComponent(provider.Untyped(cloud))
	c.cached, c.live, *c.worker = reader, reader, true
	return c
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

// garden returns the stored examples, the CloudProfile first, and others.
func garden(t testing.TB, others ...client.Object) stored {
	t.Helper()
	profile := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	profile.UID, profile.ResourceVersion = "b5b2", "12"
	child := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	launch, bank := trusted(t)
	objects := stored{profile, launch, child, kept(t, example[v1beta1.Shoot](t, "shoot.yaml")), kept(t, bank)}
	return append(objects, others...)
}

// sound returns valid credentials with bindings to them, and an invalid Secret.
func sound() []client.Object {
	return []client.Object{
		newSecret("openstack"), newSecret("broken", "password", secret+"\n"), newBinding("openstack"), newSecretBinding("openstack"),
	}
}

// endpoints are the served webhooks with their log at debug level.
type endpoints struct {
	names    []string
	handlers map[string]http.Handler

	mu  sync.Mutex
	log bytes.Buffer
}

func newEndpoints(t testing.TB) *endpoints {
	t.Helper()
	return newEndpointsWith(t, garden(t, sound()...), 1) // as --log-level=debug
}

func newEndpointsWith(t testing.TB, reader client.Reader, verbosity int) *endpoints {
	t.Helper()
	e := &endpoints{handlers: map[string]http.Handler{}}
	logger := funcr.NewJSON(func(line string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.log.WriteString(line + "\n")
	}, funcr.Options{Verbosity: verbosity})
	for _, row := range componentFor(openstack.Provider{}, reader).webhooks() {
		webhook := row.webhook("openstack").Webhook
		handler, err := admission.StandaloneWebhook(webhook, admission.StandaloneOptions{Logger: logger})
		if err != nil {
			t.Fatal(err)
		}
		e.names = append(e.names, row.name)
		e.handlers[row.name] = handler
	}
	return e
}

// send returns the answer to a body, and the log of that request.
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

// ask sends a request to write an object; old is nil on creation.
func (e *endpoints) ask(t testing.TB, name string, object, old any) (*admissionv1.AdmissionResponse, string) {
	t.Helper()
	return e.send(t, name, "application/json", reviewed(t, object, old))
}

// bad sends a bad request. The answer must be short and take little memory, without a panic, and nothing of the request may be logged.
func (e *endpoints) bad(t *testing.T, what, name string, body []byte) *admissionv1.AdmissionResponse {
	t.Helper()
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	response, logged := e.send(t, name, "application/json", body)
	goruntime.ReadMemStats(&after)
	if strings.Contains(logged, secret) {
		t.Errorf("%s: the log is %.2000s", what, logged)
	}
	if response.Result != nil && strings.Contains(response.Result.Message, "panic") {
		t.Errorf("%s: %s", what, response.Result.Message)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
		t.Errorf("%s: it took %d MiB", what, used>>20)
	}
	if size := len(encode(t, response)); size > 4*maxText {
		t.Errorf("%s: the answer has %d bytes", what, size)
	}
	return response
}

// reviewed returns the AdmissionReview for writing an object; old is nil on creation.
func reviewed(t testing.TB, object, old any) []byte {
	t.Helper()
	request := &admissionv1.AdmissionRequest{
		UID: "705ab4f5", Operation: admissionv1.Create, Name: "name", Namespace: "garden-demo",
		Object: runtime.RawExtension{Raw: encode(t, object)},
	}
	if stored := encode(t, old); string(stored) != "null" {
		request.Operation, request.OldObject.Raw = admissionv1.Update, stored
	}
	return encode(t, &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
	})
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
