// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/fixtures"
)

const root = "../.."

func allFixtures(t *testing.T) []fixtures.Fixture {
	t.Helper()
	all, err := fixtures.All(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// writer sends manifests to the API as they are written, and demands strict validation of their fields. What it has
// created goes away with its test, so that another fixture may have objects of the same names.
type writer struct {
	t       *testing.T
	client  rest.Interface
	lock    sync.Mutex
	heard   []string
	created []string // paths
}

func newWriter(t *testing.T) *writer {
	t.Helper()
	w := &writer{t: t}
	config := g.RESTConfig()
	config.WarningHandlerWithContext = w
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	w.client = clients.Discovery().RESTClient()
	t.Cleanup(w.clean)
	return w
}

// HandleWarningHeaderWithContext notes a warning.
func (w *writer) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if code == 299 {
		w.heard = append(w.heard, text)
	}
}

// path returns where objects of a kind are, and where the one of a manifest is.
func path(d *fixtures.Document) (all, one string) {
	all = "/apis/" + d.APIVersion
	if d.Namespace != "" {
		all += "/namespaces/" + d.Namespace
	}
	all += "/" + strings.ToLower(d.Kind) + "s"
	return all, all + "/" + d.Name
}

// create creates the object of a manifest. It waits until Gardener has rendered a NamespacedCloudProfile, for without that
// there can be no Shoot. Who admits objects reads profiles from informers, and is asked again while they are behind.
func (w *writer) create(d *fixtures.Document) *fixtures.Answer {
	w.t.Helper()
	all, one := path(d)
	var answer *fixtures.Answer
	eventually(w.t, "the profiles that were created are known", func() bool {
		answer = w.send(w.client.Post().AbsPath(all).SetHeader("Content-Type", "application/yaml").Body(d.Text))
		return !w.behind(answer)
	})
	if answer.Status != nil {
		return answer
	}
	w.created = append(w.created, one)
	if d.Kind == "NamespacedCloudProfile" {
		eventually(w.t, d.Name+" is rendered", func() bool {
			status, generation := w.get(one)["status"].(map[string]any), w.get(one)["metadata"].(map[string]any)["generation"]
			return status["observedGeneration"] == generation
		})
	}
	return answer
}

// behind tells whether an answer shows that an informer does not have a profile that was created, or not as it was rendered.
func (w *writer) behind(answer *fixtures.Answer) bool {
	return answer.Status != nil && (strings.Contains(answer.Status.Message, "the cloud profile does not contain any machine image") ||
		strings.Contains(answer.Status.Message, "has not been rendered yet; try again") ||
		slices.ContainsFunc(w.created, func(path string) bool { return answer.NotFound(path[strings.LastIndex(path, "/")+1:]) }))
}

// update replaces the object of a manifest. It does so again if somebody else was faster.
func (w *writer) update(d *fixtures.Document) *fixtures.Answer { return w.put(d, nil) }

// propose asks what would be said about an update, and changes nothing.
func (w *writer) propose(d *fixtures.Document) *fixtures.Answer {
	return w.put(d, []string{metav1.DryRunAll})
}

func (w *writer) put(d *fixtures.Document, dryRun []string) *fixtures.Answer {
	w.t.Helper()
	_, one := path(d)
	for {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(d.Text, &object.Object); err != nil {
			w.t.Fatal(err)
		}
		stored := &unstructured.Unstructured{Object: w.get(one)}
		object.SetResourceVersion(stored.GetResourceVersion())
		object.SetFinalizers(stored.GetFinalizers())
		body, err := json.Marshal(object)
		if err != nil {
			w.t.Fatal(err)
		}
		answer := w.send(w.client.Put().AbsPath(one).VersionedParams(&metav1.UpdateOptions{DryRun: dryRun}, metav1.ParameterCodec).
			SetHeader("Content-Type", "application/json").Body(body))
		if answer.Status == nil || answer.Status.Reason != metav1.StatusReasonConflict {
			return answer
		}
	}
}

func (w *writer) send(request *rest.Request) *fixtures.Answer {
	w.t.Helper()
	w.lock.Lock()
	w.heard = nil
	w.lock.Unlock()
	err := request.Param("fieldValidation", "Strict").Do(w.t.Context()).Error()
	w.lock.Lock()
	defer w.lock.Unlock()
	answer := &fixtures.Answer{Warnings: w.heard}
	var refusal apierrors.APIStatus
	if errors.As(err, &refusal) {
		status := refusal.Status()
		answer.Status = &status
	} else if err != nil {
		w.t.Fatal(err)
	}
	return answer
}

func (w *writer) get(path string) map[string]any {
	w.t.Helper()
	raw, err := w.client.Get().AbsPath(path).DoRaw(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		w.t.Fatal(err)
	}
	return object
}

// clean deletes what was created, and waits until each is gone.
func (w *writer) clean() {
	ctx := context.WithoutCancel(w.t.Context())
	for _, path := range slices.Backward(w.created) {
		if strings.Contains(path, "/shoots/") {
			confirm := []byte(`{"metadata":{"annotations":{"confirmation.gardener.cloud/deletion":"true"}}}`)
			if err := w.client.Patch("application/merge-patch+json").AbsPath(path).Body(confirm).Do(ctx).Error(); err != nil {
				w.t.Error(err)
			}
		}
		if err := w.client.Delete().AbsPath(path).Do(ctx).Error(); err != nil {
			w.t.Error(err)
		}
		eventually(w.t, path+" is gone", func() bool {
			return apierrors.IsNotFound(w.client.Get().AbsPath(path).Do(ctx).Error())
		})
	}
	w.created = nil
}

// Whoever writes a fixture to the API is told what the command says about it.
func TestFixtures(t *testing.T) {
	for _, f := range allFixtures(t) {
		if fixtures.OfflineOnly[f.Name] == "" {
			t.Run(f.Name, func(t *testing.T) { compare(t, &f) })
		}
	}
}

func compare(t *testing.T, f *fixtures.Fixture) {
	t.Helper()
	report, err := f.Report()
	if err != nil {
		t.Fatal(err)
	}
	documents, err := f.Documents()
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t)
	var before []fixtures.Document
	if f.Before != "" {
		before = documentsIn(t, f.Before)
	}
	for i := range before {
		if answer := w.create(&before[i]); answer.Status != nil {
			t.Fatalf("before: %s", answer)
		}
	}
	var refused []string // profiles
	for i := range documents {
		d := &documents[i]
		if d.Kind == "" {
			continue // there is no address to send it to
		}
		write := w.create
		if k := slices.IndexFunc(before, func(b fixtures.Document) bool { return b.Object() == d.Object() }); k >= 0 {
			if sameYAML(t, before[k].Text, d.Text) {
				continue // an update that changes nothing is told nothing
			}
			write = w.update
		}
		answer := write(d)
		// What refers to a profile that was refused cannot be there either.
		if slices.ContainsFunc(refused, answer.NotFound) {
			continue
		}
		second := slices.ContainsFunc(documents[:i], func(other fixtures.Document) bool { return other.Object() == d.Object() })
		if err := answer.Agrees(d.Object(), fixtures.About(report, d, second)); err != nil {
			t.Errorf("%s: %v", d.Object(), err)
		}
		if answer.Status != nil {
			refused = append(refused, d.Name)
		}
	}
}

func documentsIn(t *testing.T, file string) []fixtures.Document {
	t.Helper()
	documents, err := fixtures.Documents(file)
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

func sameYAML(t *testing.T, a, b []byte) bool {
	t.Helper()
	x, err := yaml.YAMLToJSON(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := yaml.YAMLToJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}
