// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package clouds

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden/charts"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/garden/samples"
)

var _ = Describe("The admission component of each cloud", func() {
	DescribeTable("refuses a CloudProfile whose provider config lacks an image version", func(ctx SpecContext, c extension.Component) {
		err := samples.Apply(ctx, g.Client(), all[c.Type].Ahead("ahead"))
		Expect(err).To(And(
			MatchError(apierrors.IsInvalid, "IsInvalid"), MatchError(ContainSubstring("spec.machineImages[")),
			MatchError(ContainSubstring("the provider config has no entry for this version")),
		))
	}, each())

	DescribeTable("fills in the core flavors of a CloudProfile", func(ctx SpecContext, c extension.Component) {
		bare := all[c.Type].Bare()
		Expect(samples.Apply(ctx, g.Client(), bare)).To(Succeed())
		Expect(flavors(ctx, bare.GetName())).To(Equal(flavors(ctx, all[c.Type].Profile.GetName())))
	}, each())

	DescribeTable("merges the images of a NamespacedCloudProfile with those of its parent", func(ctx SpecContext, c extension.Component) {
		s := all[c.Type]
		Expect(samples.Apply(ctx, g.Client(), s.Namespaced)).To(Succeed())
		want := append(provided(s.Profile), provided(s.Namespaced)...)
		Eventually(ctx, rendered).WithArguments(s.Namespaced.GetNamespace(), s.Namespaced.GetName()).Should(ConsistOf(want))
	}, each())

	DescribeTable("admits a Shoot whose worker pools have an image", func(ctx SpecContext, c extension.Component) {
		Eventually(ctx, func(ctx context.Context) error { return samples.Apply(ctx, g.Client(), all[c.Type].Shoot) }).Should(Succeed())
	}, each())

	DescribeTable("refuses a Shoot that would boot nothing", func(ctx SpecContext, c extension.Component) {
		s := all[c.Type]
		err := samples.Apply(ctx, g.Client(), s.Stranded(s.Ahead("old").GetName()))
		Expect(err).To(And(MatchError(apierrors.IsInvalid, "IsInvalid"), MatchError(ContainSubstring("worker pool ")),
			MatchError(ContainSubstring("would work: version "))))
	}, each())

	DescribeTable("lets an update pass that leaves an old error as it is, with a warning", func(ctx SpecContext, c extension.Component) {
		warned, old := newUser(), &v1beta1.CloudProfile{}
		Expect(g.Client().Get(ctx, client.ObjectKey{Name: all[c.Type].Ahead("old").GetName()}, old)).To(Succeed())
		// A patch, because Gardener's controllers also write the profile.
		before := client.MergeFrom(old.DeepCopy())
		old.Spec.Kubernetes.Versions = append(old.Spec.Kubernetes.Versions, v1beta1.ExpirableVersion{Version: "1.33.3"})
		Expect(warned.client.Patch(ctx, old, before)).To(Succeed())
		Expect(warned.warnings).To(ContainElement(ContainSubstring("the provider config has no entry for this version")))

		By("but no new error")
		before = client.MergeFrom(old.DeepCopy())
		another := *old.Spec.MachineImages[0].Versions[0].DeepCopy()
		another.Version = "9999.0.1"
		old.Spec.MachineImages[0].Versions = append(old.Spec.MachineImages[0].Versions, another)
		Expect(warned.client.Patch(ctx, old, before)).To(And(MatchError(apierrors.IsInvalid, "IsInvalid"), MatchError(ContainSubstring("9999.0.1"))))
	}, each())

	DescribeTable("has the webhooks that its chart knows, under its own name", func(ctx SpecContext, c extension.Component) {
		validating, mutating := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
		Expect(g.Client().Get(ctx, client.ObjectKey{Name: c.Name()}, validating)).To(Succeed())
		Expect(g.Client().Get(ctx, client.ObjectKey{Name: c.Name()}, mutating)).To(Succeed())
		names := []string{"*"}
		for _, webhook := range validating.Webhooks {
			names = append(names, strings.TrimSuffix(webhook.Name, "."+c.Release()+".extensions.gardener.cloud"))
		}
		for _, webhook := range mutating.Webhooks {
			names = append(names, strings.TrimSuffix(webhook.Name, "."+c.Release()+".extensions.gardener.cloud"))
		}
		slices.Sort(names)
		Expect(names).To(Equal(switches(c)), "what the chart lets operators disable")

		By("saying what API servers need to know of them")
		for _, webhook := range mutating.Webhooks {
			policy, effects := admissionregistrationv1.NeverReinvocationPolicy, admissionregistrationv1.SideEffectClassNone
			switch {
			case strings.HasPrefix(webhook.Name, "mutate-namespacedcloudprofile-status."):
				policy = admissionregistrationv1.IfNeededReinvocationPolicy
			case strings.HasPrefix(webhook.Name, "mutate-shoot."):
				effects = admissionregistrationv1.SideEffectClassNoneOnDryRun
			}
			Expect(webhook.ReinvocationPolicy).To(HaveValue(Equal(policy)), webhook.Name)
			Expect(webhook.SideEffects).To(HaveValue(Equal(effects)), webhook.Name)
		}
	}, each())
})

// flavors returns the core flavors of a CloudProfile, by image version.
func flavors(ctx context.Context, name string) map[string][]v1beta1.MachineImageFlavor {
	GinkgoHelper()
	profile := &v1beta1.CloudProfile{}
	Expect(g.Client().Get(ctx, client.ObjectKey{Name: name}, profile)).To(Succeed())
	found := map[string][]v1beta1.MachineImageFlavor{}
	for _, image := range profile.Spec.MachineImages {
		for _, version := range image.Versions {
			found[image.Name+"@"+version.Version] = version.CapabilityFlavors
		}
	}
	return found
}

// provided returns the image versions in the provider config of an object, as IMAGE@VERSION.
func provided(object *unstructured.Unstructured) []string {
	GinkgoHelper()
	config, _, err := unstructured.NestedMap(object.Object, "spec", "providerConfig")
	Expect(err).NotTo(HaveOccurred())
	raw, err := json.Marshal(config)
	Expect(err).NotTo(HaveOccurred())
	return versionsIn(raw)
}

// rendered returns the image versions in the status of a NamespacedCloudProfile.
func rendered(ctx context.Context, namespace, name string) ([]string, error) {
	profile := &v1beta1.NamespacedCloudProfile{}
	err := g.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, profile)
	if err != nil || profile.Status.CloudProfileSpec.ProviderConfig == nil {
		return nil, err
	}
	return versionsIn(profile.Status.CloudProfileSpec.ProviderConfig.Raw), nil
}

func versionsIn(raw []byte) []string {
	GinkgoHelper()
	var config imageConfig
	Expect(json.Unmarshal(raw, &config)).To(Succeed())
	var found []string
	for _, image := range config.MachineImages {
		for _, version := range image.Versions {
			found = append(found, fmt.Sprintf("%s@%s", image.Name, version["version"]))
		}
	}
	return found
}

// ofCredentials are the webhooks that only components with credentials checks have.
var ofCredentials = sets.New("validate-credentialsbinding", "validate-secret", "validate-secretbinding")

// switches returns the names of the webhooks that the chart lets operators disable.
func switches(c extension.Component) []string {
	GinkgoHelper()
	files, err := charts.Files(c.Component, charts.Runtime)
	Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		if file.Name != "values.schema.json" {
			continue
		}
		schema := map[string]any{}
		Expect(json.Unmarshal(file.Data, &schema)).To(Succeed())
		known, _, err := unstructured.NestedStringSlice(schema, "properties", "disabledWebhooks", "items", "enum")
		Expect(err).NotTo(HaveOccurred())
		if !c.Credentials {
			known = slices.DeleteFunc(known, ofCredentials.Has)
		}
		return known
	}
	Fail("the chart has no schema")
	return nil
}

// user is a client that collects the warnings that it receives.
type user struct {
	client   client.Client
	warnings []string
}

func newUser() *user {
	GinkgoHelper()
	u := &user{}
	config := g.RESTConfig()
	config.WarningHandlerWithContext = u
	var err error
	u.client, err = client.New(config, client.Options{Scheme: g.Client().Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return u
}

func (u *user) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	u.warnings = append(u.warnings, text)
}
