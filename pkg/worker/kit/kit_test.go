// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// template is the synthetic cloud's reference, which its machine classes have as providerSpec.
type template struct {
	ID string `json:"id"`
}

// workerStatus is its WorkerStatus.
type workerStatus struct {
	metav1.TypeMeta `json:",inline"`

	Templates []template `json:"templates,omitempty"`
}

var statusKind = schema.GroupVersionKind{Group: "made.up", Version: "v1", Kind: "WorkerStatus"}

// templateOf decodes the reference of its machine class.
func templateOf(class *machinev1alpha1.MachineClass) template {
	var t template
	if json.Unmarshal(class.ProviderSpec.Raw, &t) != nil {
		return template{}
	}
	return t
}

const (
	technicalID = "shoot--p--s"
	namespace   = technicalID
)

func classNamed(name, id string, labels map[string]string) *machinev1alpha1.MachineClass {
	return &machinev1alpha1.MachineClass{
		ObjectMeta:   metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels},
		ProviderSpec: runtime.RawExtension{Raw: []byte(`{"id":"` + id + `"}`)},
	}
}

func aWorker(last v1beta1.LastOperationType) *extensionsv1alpha1.Worker {
	w := &extensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: namespace, UID: "1"}}
	if last != "" {
		w.Status.LastOperation = &v1beta1.LastOperation{Type: last}
	}
	return w
}

// seed is a fake seed that records the number of writes.
type seed struct {
	client.Client

	writes int
	// refuses is the error of patches of a status, if not nil.
	refuses error
}

func seedWith(t testing.TB, objects ...client.Object) *seed {
	t.Helper()
	scheme := runtime.NewScheme()
	add := runtime.NewSchemeBuilder(corev1.AddToScheme, machinev1alpha1.AddToScheme, extensionsv1alpha1.AddToScheme)
	check(t, add.AddToScheme(scheme))
	s := &seed{}
	s.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&extensionsv1alpha1.Worker{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
				s.writes++
				return c.Create(ctx, obj, opts...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
				s.writes++
				return c.Patch(ctx, obj, p, opts...)
			},
			SubResourcePatch: func(
				ctx context.Context, c client.Client, sub string, obj client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
			) error {
				if s.refuses != nil {
					return s.refuses
				}
				s.writes++
				return c.SubResource(sub).Patch(ctx, obj, p, opts...)
			},
		}).Build()
	return s
}

// expectWrites checks the number of writes since the last call.
func (s *seed) expectWrites(t testing.TB, want int, what string) {
	t.Helper()
	if s.writes != want {
		t.Errorf("%s: %d writes instead of %d", what, s.writes, want)
	}
	s.writes = 0
}

// get reads an object again.
func (s *seed) get(t testing.TB, obj client.Object) {
	t.Helper()
	check(t, s.Get(t.Context(), client.ObjectKeyFromObject(obj), obj))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
