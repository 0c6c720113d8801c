// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"testing"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	"github.com/gardener/gardener/pkg/controllerutils"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestAuthoritiesAreKept creates a configuration as a new leader does: once with the authority and once without. The order varies,
// because the two writers do not wait for each other.
func TestAuthoritiesAreKept(t *testing.T) {
	configuration := func(bundle []byte) *admissionregistrationv1.ValidatingWebhookConfiguration {
		return &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "a"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name:         "a.example.com",
				ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: bundle},
			}},
		}
	}
	bundle := []byte("an authority")
	for _, first := range []bool{true, false} {
		component := applying{fake.NewClientBuilder().Build()}
		for _, with := range []bool{first, !first} {
			object := configuration(nil)
			if with {
				object = configuration(bundle)
			}
			if err := component.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
		stored := configuration(nil)
		if err := component.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
			t.Fatal(err)
		}
		if len(stored.Webhooks) != 1 || string(stored.Webhooks[0].ClientConfig.CABundle) != string(bundle) {
			t.Errorf("with the authority first: %t: the configuration has %v", first, stored.Webhooks)
		}
	}
}

// TestNewOwner recreates the namespace that owns a configuration, and the configuration with it, as the garbage collector does. The
// leader continues with its copy in memory.
func TestNewOwner(t *testing.T) {
	component := applying{fake.NewClientBuilder().Build()}
	for name, leaders := range map[string]client.Object{
		"mutating": &admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "a"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "a.example.com"}},
		},
		"validating": &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "a"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "a.example.com"}},
		},
	} {
		owned := func(uid types.UID) {
			t.Helper()
			stored := leaders.DeepCopyObject().(client.Object)
			if err := component.Get(t.Context(), client.ObjectKeyFromObject(leaders), stored); err != nil {
				t.Fatal(err)
			}
			if owners := stored.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != uid || owners[0].Name != "x" {
				t.Errorf("%s: it is owned by %+v, and not by %s", name, owners, uid)
			}
		}
		namespace := func(uid types.UID) *corev1.Namespace {
			return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x", UID: uid}}
		}
		replace := func(before, after types.UID) {
			t.Helper()
			if err := errors.Join(component.Delete(t.Context(), namespace(before)), component.Client.Create(t.Context(), namespace(after))); err != nil {
				t.Fatal(err)
			}
		}
		if err := component.Client.Create(t.Context(), namespace("1")); err != nil {
			t.Fatal(err)
		}
		if err := extensionswebhook.ReconcileSeedWebhookConfig(t.Context(), component, leaders, "x", nil); err != nil {
			t.Fatal(err)
		}
		owned("1")

		replace("1", "2")
		if err := component.Delete(t.Context(), leaders.DeepCopyObject().(client.Object)); err != nil {
			t.Fatal(err)
		}
		if err := component.Create(t.Context(), leaders.DeepCopyObject().(client.Object)); err != nil {
			t.Fatal(err)
		}
		owned("2")

		replace("2", "3")
		stored := leaders.DeepCopyObject().(client.Object)
		if err := component.Get(t.Context(), client.ObjectKeyFromObject(leaders), stored); err != nil {
			t.Fatal(err)
		}
		patch := client.MergeFromWithOptions(stored.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{})
		if err := component.Patch(t.Context(), stored, patch); err != nil {
			t.Fatal(err)
		}
		owned("3")

		if err := component.Delete(t.Context(), namespace("3")); err != nil {
			t.Fatal(err)
		}
		if err := component.Create(t.Context(), leaders.DeepCopyObject().(client.Object)); !apierrors.IsNotFound(err) {
			t.Errorf("%s: without an owner: %v", name, err)
		}
	}
}

// TestConfigurationsAreComplete creates and overwrites a configuration, as the leader does, with the fields that Gardener's packages set.
func TestConfigurationsAreComplete(t *testing.T) {
	never, ifNeeded := admissionregistrationv1.NeverReinvocationPolicy, admissionregistrationv1.IfNeededReinvocationPolicy
	none, onDryRun := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun
	component := applying{fake.NewClientBuilder().Build()}
	names := []string{mutateShoot + ".x", mutateStatus + ".x", "mutate-cloudprofile.x"}
	for _, left := range [][]string{names, names, names[1:]} { // the last one has a webhook disabled
		write(t.Context(), t, component, left)
		stored := &admissionregistrationv1.MutatingWebhookConfiguration{}
		if err := component.Get(t.Context(), client.ObjectKey{Name: "a"}, stored); err != nil {
			t.Fatal(err)
		}
		if len(stored.Webhooks) != len(left) {
			t.Errorf("%d webhooks instead of %d", len(stored.Webhooks), len(left))
		}
		for _, w := range stored.Webhooks {
			policy, effects := never, none
			switch w.Name {
			case mutateShoot + ".x":
				effects = onDryRun
			case mutateStatus + ".x":
				policy = ifNeeded
			}
			if *w.SideEffects != effects || *w.ReinvocationPolicy != policy {
				t.Errorf("%s: %s, %s", w.Name, *w.SideEffects, *w.ReinvocationPolicy)
			}
		}
	}
}

// write writes a configuration with these webhooks as Gardener's packages do.
func write(ctx context.Context, t *testing.T, c client.Client, names []string) {
	t.Helper()
	never, none := admissionregistrationv1.NeverReinvocationPolicy, admissionregistrationv1.SideEffectClassNone
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	_, err := controllerutils.GetAndCreateOrStrategicMergePatch(ctx, c, configuration, func() error {
		configuration.Webhooks = nil
		for _, name := range names {
			configuration.Webhooks = append(configuration.Webhooks, admissionregistrationv1.MutatingWebhook{
				Name: name, SideEffects: &none, ReinvocationPolicy: &never,
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
