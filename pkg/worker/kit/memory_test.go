// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
)

type remembered = kit.Remembered[template, workerStatus]

func memoryFor(s *seed, w *extensionsv1alpha1.Worker) *kit.Memory[template, workerStatus] {
	return kit.NewMemory[template, workerStatus](s, s, w)
}

// One seed recalls the memory of another, using only the references in status.resources.
func TestMemoryInAnotherSeed(t *testing.T) {
	w := aWorker(v1beta1.LastOperationTypeReconcile)
	s := seedWith(t, w)
	s.get(t, w)
	what := remembered{
		Status:  &workerStatus{Templates: []template{{ID: "t-1"}}},
		Classes: []worker.Class[template]{{Name: "c", Image: "gl", Version: "1+2", Reference: template{"t-1"}}, {Name: "d"}},
	}
	check(t, memoryFor(s, w).Remember(t.Context(), what))
	s.expectWrites(t, 2, "the ConfigMap and the reference")
	memory := memoryFor(s, w)
	check(t, memory.Remember(t.Context(), what))
	check(t, memory.Remember(t.Context(), what))
	s.expectWrites(t, 0, "again")

	s.get(t, w)
	if len(w.Status.Resources) != 1 || w.Status.State != nil || w.Status.ProviderStatus != nil {
		t.Fatalf("%v", w.Status)
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: w.Status.Resources[0].ResourceRef.Name, Namespace: namespace}}
	s.get(t, config)
	if len(config.OwnerReferences) != 1 || config.OwnerReferences[0].Kind != "Worker" {
		t.Errorf("nobody deletes it: %v", config.OwnerReferences)
	}
	moved := aWorker(v1beta1.LastOperationTypeRestore)
	other := seedWith(t, moved, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: config.Name, Namespace: namespace}, Data: config.Data})
	got, err := memoryFor(other, moved).Recall(t.Context())
	check(t, err)
	if diff := cmp.Diff(&what, got); diff != "" || !kit.Restoring(moved) || kit.Restoring(w) || kit.Restoring(aWorker("")) {
		t.Error(diff)
	}
}

// The controller can recall the memory of an earlier release.
func TestMemoryKeepsItsFormat(t *testing.T) {
	const written = `{"status":{"kind":"WorkerStatus","apiVersion":"made.up/v1","templates":[{"id":"t-1"}]},` +
		`"machineClasses":[{"name":"c","image":"gl","version":"1+2","reference":{"id":"t-1"}},{"name":"d","reference":{"id":""}}]}`
	w := aWorker("")
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "worker-memory-s", Namespace: namespace}}
	config.Data = map[string]string{"memory.json": written}
	s := seedWith(t, w, config)
	s.get(t, w)
	got, err := memoryFor(s, w).Recall(t.Context())
	check(t, err)
	check(t, memoryFor(s, w).Remember(t.Context(), *got))
	s.get(t, config)
	if config.Data["memory.json"] != written {
		t.Errorf("%s\ninstead of\n%s", config.Data["memory.json"], written)
	}
}

// Changes are written. References of other extensions are kept; an old one of ours is replaced.
func TestMemoryChanges(t *testing.T) {
	w := aWorker("")
	foreign := v1beta1.NamedResourceReference{Name: "foreign"}
	w.Status.Resources = []v1beta1.NamedResourceReference{foreign, {Name: "worker-memory"}}
	s := seedWith(t, w)
	s.get(t, w)
	memory := memoryFor(s, w)
	check(t, memory.Remember(t.Context(), remembered{Status: &workerStatus{}}))
	check(t, memory.Remember(t.Context(), remembered{Status: &workerStatus{Templates: []template{{"t-2"}}}}))
	s.expectWrites(t, 3, "twice")
	s.get(t, w)
	if len(w.Status.Resources) != 2 || w.Status.Resources[0] != foreign || w.Status.Resources[1].ResourceRef.Kind != "ConfigMap" {
		t.Errorf("%v", w.Status.Resources)
	}
	got, err := memoryFor(s, w).Recall(t.Context())
	check(t, err)
	if got.Status.Templates[0].ID != "t-2" {
		t.Errorf("%v", got.Status)
	}
}

// Missing or unreadable memory is treated as empty, and overwritten. An API server without an answer is an error.
func TestMemoryThatCannotBeRead(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"no key": nil, "no JSON": {"memory.json": "{"}, "another type": {"memory.json": `{"status": {"templates": 1}, "machineClasses": [{}]}`},
		"no status": {"memory.json": `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := aWorker("")
			s := seedWith(t, w, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "worker-memory-s", Namespace: namespace}, Data: data})
			s.get(t, w)
			memory := memoryFor(s, w)
			got, err := memory.Recall(t.Context())
			check(t, err)
			if diff := cmp.Diff(&remembered{Status: &workerStatus{}}, got); diff != "" {
				t.Error(diff)
			}
			check(t, memory.Remember(t.Context(), remembered{Status: &workerStatus{Templates: []template{{"t"}}}}))
			if got, err = memoryFor(s, w).Recall(t.Context()); err != nil || len(got.Status.Templates) != 1 {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	s := seedWith(t)
	memory := kit.NewMemory[template, workerStatus](s, away{s}, aWorker(""))
	if got, err := memory.Recall(t.Context()); !errors.Is(err, errAway) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	if err := memory.Remember(t.Context(), remembered{}); !errors.Is(err, errAway) {
		t.Error(err)
	}
	s.expectWrites(t, 0, "without having read")
}

// A reference that could not be written is written the next time.
func TestReferenceToMemoryIsWrittenInTheEnd(t *testing.T) {
	w := aWorker("")
	s := seedWith(t, w)
	s.get(t, w)
	memory := memoryFor(s, w)
	s.refuses = errAway
	if err := memory.Remember(t.Context(), remembered{}); !errors.Is(err, errAway) {
		t.Error(err)
	}
	s.refuses = nil
	check(t, memory.Remember(t.Context(), remembered{}))
	if s.get(t, w); len(w.Status.Resources) != 1 {
		t.Errorf("%v", w.Status.Resources)
	}
}

// away is a reader whose API server does not answer.
type away struct{ client.Reader }

var errAway = errors.New("away")

func (away) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errAway
}

func (away) List(context.Context, client.ObjectList, ...client.ListOption) error { return errAway }
