// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// heldBack labels NamespacedCloudProfiles whose status cannot be written.
const heldBack = "admission.capkit.example/held-back"

// holdBack blocks all status updates of a NamespacedCloudProfile, as if gardener-controller-manager were down: the API
// server calls a webhook that does not exist.
func holdBack(ctx context.Context, profile *v1beta1.NamespacedCloudProfile) {
	GinkgoHelper()
	nobody, none := "https://127.0.0.1:1/", admissionregistrationv1.SideEffectClassNone
	webhook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "held-back-" + profile.Name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "held-back.capkit.example", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none,
			ClientConfig:   admissionregistrationv1.WebhookClientConfig{URL: &nobody},
			ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{heldBack: profile.Name}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{v1beta1.GroupName}, APIVersions: []string{"v1beta1"},
					Resources: []string{"namespacedcloudprofiles/status"},
				},
			}},
		}},
	}
	create(ctx, webhook)
	DeferCleanup(func(ctx SpecContext) { Expect(g.Client().Delete(ctx, webhook)).To(Succeed()) })
	Eventually(ctx, func() error { // the API server may not know the webhook yet
		status := client.RawPatch(types.MergePatchType, []byte(`{"status":{"observedGeneration":0}}`))
		return u.Status().Patch(ctx, profile.DeepCopy(), status, client.DryRunAll)
	}).Should(MatchError(apierrors.IsInternalError, "an internal error"))
}

// shootIn returns a Shoot in a region, with one pool that boots a version of a NamespacedCloudProfile.
func shootIn(region, version string, profile *v1beta1.NamespacedCloudProfile) *v1beta1.Shoot {
	GinkgoHelper()
	s := shoot("in-"+region, profile.Name)
	s.Spec.CloudProfile.Kind, s.Spec.Region = "NamespacedCloudProfile", region
	worker := &s.Spec.Provider.Workers[0]
	worker.Zones, worker.Machine.Image.Version = []string{region + "-1a"}, &version
	return s
}

// judged expects that Shoots with a version are refused in one region, and admitted in the other.
func judged(ctx context.Context, profile *v1beta1.NamespacedCloudProfile, version, refused, admitted string) {
	GinkgoHelper()
	creation := func(region string) func() error {
		return func() error { return u.Create(ctx, shootIn(region, version, profile), client.DryRunAll) }
	}
	// The component may not have seen the last writes yet.
	Eventually(ctx, creation(admitted)).Should(Succeed())
	Eventually(ctx, creation(refused)).Should(beRefusedAt("spec.provider.workers[0].machine.type"))
}

var _ = Describe("A NamespacedCloudProfile whose status is old", func() {
	It("decides by its spec and its parent", func(ctx SpecContext) {
		europe, asia := []any{map[string]string{"name": "europe", "id": "a"}}, []any{map[string]string{"name": "asia", "id": "b"}}
		parent := openstack("old-status")
		edit(parent.Spec.ProviderConfig, replace(flavorAt(0, 0)+"/regions", europe))
		create(ctx, parent)
		profile := preview("old-status", "old-status")
		profile.Labels = map[string]string{heldBack: profile.Name}
		edit(profile.Spec.ProviderConfig, replace(flavorAt(0, 0)+"/regions", europe))
		create(ctx, profile)
		rendered(ctx, profile, "1877.5.0=a", "1592.9.0=1234-amd64-old", "2000.0.0=a")
		judged(ctx, profile, "2000.0.0", "asia", "europe")
		judged(ctx, profile, "1877.5.0", "asia", "europe")
		holdBack(ctx, profile)

		By("changing the spec")
		Expect(change(ctx, profile, func(p *v1beta1.NamespacedCloudProfile) {
			edit(p.Spec.ProviderConfig, replace(flavorAt(0, 0)+"/regions", asia))
		})).To(Succeed())
		judged(ctx, profile, "2000.0.0", "europe", "asia")
		judged(ctx, profile, "1877.5.0", "asia", "europe")

		By("changing the parent")
		Expect(change(ctx, parent, func(p *v1beta1.CloudProfile) {
			edit(p.Spec.ProviderConfig, replace(flavorAt(0, 0)+"/regions", asia))
		})).To(Succeed())
		judged(ctx, profile, "1877.5.0", "europe", "asia")

		Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
		Expect(images(&profile.Status.CloudProfileSpec)).To(
			Equal([]string{"1877.5.0=a", "1592.9.0=1234-amd64-old", "2000.0.0=a"}), "the status was written")
		Expect(profile.Status.ObservedGeneration).To(BeNumerically("<", profile.Generation))
	})
})
