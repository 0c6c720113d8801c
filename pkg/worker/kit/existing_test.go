// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/worker/kit"
)

func wanted(name, id, userData string) kit.Wanted {
	class := classNamed(name, id, kit.ClassLabels(extensionsv1alpha1.MachineImage{Name: "gl", Version: "1"}))
	class.CredentialsSecretRef = &corev1.SecretReference{Name: "cloud", Namespace: namespace}
	return kit.Wanted{Class: class, Secret: kit.SecretOf(class, []byte(userData))}
}

func read(t *testing.T, s *seed) *kit.Existing {
	t.Helper()
	existing, err := kit.Read(t.Context(), s, namespace)
	check(t, err)
	return existing
}

// Only differences are written, and additions of others are kept.
func TestDeploy(t *testing.T) {
	foreign := classNamed("foreign", "t-0", nil)
	foreign.Namespace = "elsewhere"
	s := seedWith(t, foreign)
	all := []kit.Wanted{wanted("a", "t-1", "x"), wanted("b", "t-1", "x")}
	check(t, read(t, s).Deploy(t.Context(), s, all))
	s.expectWrites(t, 4, "at first")
	existing := read(t, s)
	if len(existing.Classes) != 2 || len(existing.Secrets) != 2 {
		t.Errorf("%v", existing)
	}
	a := existing.Classes["a"].DeepCopy()
	a.Labels["added"], a.Finalizers = "yes", []string{"machine.sapcloud.io/machine-controller-manager"}
	check(t, s.Update(t.Context(), a))
	check(t, read(t, s).Deploy(t.Context(), s, all))
	s.expectWrites(t, 0, "again")
	all[0] = wanted("a", "t-2", "y")
	check(t, read(t, s).Deploy(t.Context(), s, all))
	s.expectWrites(t, 2, "another template and other user data")

	a = read(t, s).Classes["a"].DeepCopy()
	a.Annotations = map[string]string{"added": "yes", "ours": "old"}
	check(t, s.Update(t.Context(), a))
	for _, value := range []string{"new", "newer"} {
		all[0].Class.Annotations = map[string]string{"ours": value}
		check(t, read(t, s).Deploy(t.Context(), s, all))
		s.expectWrites(t, 1, "another annotation")
		if got := read(t, s).Classes["a"].Annotations; len(got) != 2 || got["added"] != "yes" || got["ours"] != value {
			t.Errorf("%v, and wanted is %s", got, value)
		}
	}
	check(t, read(t, s).Deploy(t.Context(), s, all))
	s.expectWrites(t, 0, "the same annotation")

	existing = read(t, s)
	if a = existing.Classes["a"]; templateOf(a).ID != "t-2" || a.Labels["added"] != "yes" || len(a.Finalizers) != 1 {
		t.Errorf("%v", a)
	}
	selector := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "a"}, Key: "userData"}
	if got := existing.UserData(selector); string(got) != "y" {
		t.Errorf("user data %s", got)
	}
	selector.Name = "c"
	if got := existing.UserData(selector); got != nil {
		t.Errorf("user data %s", got)
	}
}

// In a deletion, classes that can no longer be built get the current credentials, and otherwise stay the same.
func TestPrepareDeletion(t *testing.T) {
	s := seedWith(t, wanted("a", "t-1", "x").Class, wanted("b", "t-1", "x").Class, wanted("c", "t-1", "x").Class)
	today := corev1.SecretReference{Name: "today", Namespace: namespace}
	made := wanted("a", "t-2", "x")
	made.Class.CredentialsSecretRef = &today
	check(t, read(t, s).PrepareDeletion(t.Context(), s, []kit.Wanted{made}, today))
	s.expectWrites(t, 4, "a with its secret, b and c")
	for name, want := range map[string]string{"a": "t-2", "b": "t-1", "c": "t-1"} {
		class := read(t, s).Classes[name]
		if *class.CredentialsSecretRef != today || templateOf(class).ID != want {
			t.Errorf("%v", class)
		}
	}
	check(t, read(t, s).PrepareDeletion(t.Context(), s, []kit.Wanted{made}, today))
	check(t, read(t, s).PrepareDeletion(t.Context(), s, nil, today))
	s.expectWrites(t, 0, "again")
}

// refusing is a client whose API server repeats the refused object.
type refusing struct{ client.Client }

func (r refusing) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	if _, isSecret := obj.(*corev1.Secret); isSecret {
		return apierrors.NewBadRequest("no: " + string(obj.(*corev1.Secret).Data["userData"]))
	}
	return errors.New("no class")
}

func TestDeployErrors(t *testing.T) {
	s := seedWith(t)
	err := read(t, s).Deploy(t.Context(), refusing{Client: s}, []kit.Wanted{wanted("a", "t", "password"), wanted("b", "t", "password")})
	if err == nil || strings.Contains(err.Error(), "password") {
		t.Fatal(err)
	}
	for _, text := range []string{"the secret of machine class a: ", "the secret of machine class b: ", "BadRequest"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v does not say %s", err, text)
		}
	}
	s = seedWith(t, wanted("a", "t", "x").Secret)
	if err := read(t, s).Deploy(t.Context(), refusing{Client: s}, []kit.Wanted{wanted("a", "t", "x")}); err == nil ||
		!strings.Contains(err.Error(), "writing machine class a: no class") {
		t.Error(err)
	}
	if existing, err := kit.Read(t.Context(), away{s}, namespace); !errors.Is(err, errAway) || existing != nil {
		t.Errorf("%v, %v", existing, err)
	}
}

// generic is a generic actuator that only records calls.
type generic struct {
	extensionsworker.Actuator

	called *[]string
}

func (g generic) Delete(context.Context, logr.Logger, *extensionsv1alpha1.Worker, *extensionscontroller.Cluster) error {
	*g.called = append(*g.called, "generic")
	return nil
}

// factory creates delegates on which only the last hook may be called.
type factory struct{ called *[]string }

type delegate struct {
	genericactuator.WorkerDelegate

	called *[]string
}

func (f factory) WorkerDelegate(
	context.Context, *extensionsv1alpha1.Worker, *extensionscontroller.Cluster,
) (genericactuator.WorkerDelegate, error) {
	return delegate{called: f.called}, nil
}

func (d delegate) PostDeleteHook(context.Context) error {
	*d.called = append(*d.called, "PostDeleteHook")
	return nil
}

// The generic actuator deletes all machine objects. Without any, it would wait forever.
func TestDelete(t *testing.T) {
	named := metav1.ObjectMeta{Name: "x", Namespace: namespace}
	elsewhere := metav1.ObjectMeta{Name: "x", Namespace: "elsewhere"}
	for name, tc := range map[string]struct {
		object client.Object
		want   string
	}{
		"class":      {&machinev1alpha1.MachineClass{ObjectMeta: named}, "generic"},
		"deployment": {&machinev1alpha1.MachineDeployment{ObjectMeta: named}, "generic"},
		"set":        {&machinev1alpha1.MachineSet{ObjectMeta: named}, "generic"},
		"machine":    {&machinev1alpha1.Machine{ObjectMeta: named}, "generic"},
		"of another": {&machinev1alpha1.MachineClass{ObjectMeta: elsewhere}, "PostDeleteHook"},
	} {
		t.Run(name, func(t *testing.T) {
			var called []string
			ofClass, foreign := wanted("a", "t", "x").Secret, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "foreign", Namespace: namespace}}
			s := seedWith(t, tc.object, ofClass, foreign)
			actuator := kit.NewActuator(generic{called: &called}, factory{&called}, s, s)
			check(t, actuator.Delete(t.Context(), logr.Discard(), aWorker(""), nil))
			if len(called) != 1 || called[0] != tc.want {
				t.Errorf("%v is called instead of %s", called, tc.want)
			}
			if left := len(read(t, s).Secrets); left == 1 != (tc.want == "PostDeleteHook") {
				t.Errorf("%d secrets are left", left)
			}
			s.get(t, foreign)
		})
	}
	var called []string
	credentials := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: "cloudprovider", Namespace: namespace, Finalizers: []string{"machine.sapcloud.io/machine-controller"},
	}}
	s := seedWith(t, credentials)
	w := aWorker("")
	w.Spec.SecretRef = corev1.SecretReference{Name: credentials.Name, Namespace: namespace}
	actuator := kit.NewActuator(generic{called: &called}, factory{&called}, s, s)
	if err := actuator.Delete(t.Context(), logr.Discard(), w, nil); err == nil || len(called) > 0 {
		t.Errorf("%v is called while machine-controller-manager holds the credentials", called)
	}
	credentials.Finalizers = nil
	check(t, s.Update(t.Context(), credentials))
	check(t, actuator.Delete(t.Context(), logr.Discard(), w, nil))

	called = nil
	actuator = kit.NewActuator(generic{called: &called}, factory{&called}, s, away{s})
	if err := actuator.Delete(t.Context(), logr.Discard(), aWorker(""), nil); !errors.Is(err, errAway) || len(called) > 0 {
		t.Errorf("%v, %v", err, called)
	}
}

// The wanted objects are not modified, even if the API server's answer contains additions, for example user data that another client has
// just added.
func TestDeployChangesNothingThatIsWanted(t *testing.T) {
	all := []kit.Wanted{wanted("a", "t-1", "x")}
	s := seedWith(t, all[0].Class.DeepCopy(), all[0].Secret.DeepCopy())
	existing := read(t, s)
	all[0] = wanted("a", "t-2", "y")
	check(t, existing.Deploy(t.Context(), adding{s}, all))
	s.expectWrites(t, 2, "the secret and the class")
	if diff := cmp.Diff([]kit.Wanted{wanted("a", "t-2", "y")}, all); diff != "" {
		t.Error(diff)
	}
}

// adding is a client whose answers contain additions of others, decoded into the existing maps, as JSON decoders do.
type adding struct{ client.Client }

func (a adding) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if err := a.Client.Patch(ctx, obj.DeepCopyObject().(client.Object), patch, opts...); err != nil {
		return err
	}
	return json.Unmarshal([]byte(`{"data": {"added": "eA=="}, "metadata": {"labels": {"added": "yes"}}}`), obj)
}
