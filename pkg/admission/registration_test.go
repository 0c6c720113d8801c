// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestAuthoritiesAreKept creates a configuration as the leader does when it first starts: once with the authority and
// once without, in either order, since the two do not wait for each other.
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
