// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Updates in place are behind a feature gate of Gardener v1.150, which is on in the garden of these specs.

// What an error about an update in place looks like.
const (
	inPlaceAt   = "spec.provider.workers[0].updateStrategy"
	asksInPlace = "update strategy AutoInPlaceUpdate asks for gardener-updateType [inPlace], and no flavor of "
)

// inPlace returns the example Shoot that is updated in place, under another name.
func inPlace(name, profile string) *v1beta1.Shoot {
	GinkgoHelper()
	return shootOf(root+"/example/shoot-in-place.yaml", name, profile)
}

// declaring returns the example CloudProfile in which the signed flavor of 2150.1.0 declares how it is updated instead.
func declaring(name, updateType string) *v1beta1.CloudProfile {
	GinkgoHelper()
	profile := launching(name)
	edit(profile.Spec.ProviderConfig,
		remove(flavorAt(2, 1)+"/capabilities/gardener-bootType"),
		add(flavorAt(2, 1)+"/capabilities/gardener-updateType", []string{updateType}))
	return profile
}

var _ = Describe("A worker pool that is updated in place", func() {
	It("boots an image of which core says that it can be, and is left in peace if it cannot any more", func(ctx SpecContext) {
		profile := launching("in-place")
		create(ctx, profile)
		s := inPlace("in-place", "in-place")
		create(ctx, s)
		supported := profile.Spec.MachineImages[0].Versions[2].InPlaceUpdates
		Eventually(ctx, func(g Gomega) []string { // once the component knows the Shoot
			for _, now := range []*v1beta1.InPlaceUpdates{supported, nil} {
				g.Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { p.Spec.MachineImages[0].Versions[2].InPlaceUpdates = now })).To(Succeed())
			}
			return u.heard()
		}).Should(ContainElement(ContainSubstring("worker pools of Shoot garden-demo/in-place")))
		hibernated := false
		Eventually(ctx, func(g Gomega) []string { // once the component has seen the profile as it is now
			hibernated = !hibernated
			g.Expect(change(ctx, s, func(s *v1beta1.Shoot) { s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: &hibernated} })).To(Succeed())
			return u.heard()
		}).Should(HaveExactElements(ContainSubstring(inPlaceAt + ": worker pool disks: " + asksInPlace)))
		expectAccepted(change(ctx, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum = 9 }), asksInPlace)
		Expect(change(ctx, s, addPool("more", unchanged))).To(HaveOccurred())
		destroy(ctx, s)
	})

	// Gardener itself looks at inPlaceUpdates when a Shoot is created. What it does not know is what a flavor declares.
	It("is refused if the flavors declare that they cannot be", func(ctx SpecContext) {
		profile := declaring("in-place-declared", "rolling")
		edit(profile.Spec.ProviderConfig, remove(flavorAt(2, 0)))
		create(ctx, profile)
		Expect(u.Create(ctx, inPlace("in-place-not", profile.Name))).To(beRefusedFor(cause{field.ErrorTypeInvalid, inPlaceAt,
			"{architecture: [amd64], gardener-updateType: [rolling]} has gardener-updateType [rolling], the worker pool asks for [inPlace]"}))
	})

	It("is left in peace if the flavor that declares it is removed", func(ctx SpecContext) {
		profile := declaring("in-place-flavor", "inPlace")
		edit(profile.Spec.ProviderConfig, add(flavorAt(2, 0)+"/capabilities/gardener-updateType", []string{"rolling"}))
		create(ctx, profile)
		s := inPlace("in-place-flavor", profile.Name)
		create(ctx, s)
		Eventually(ctx, func(g Gomega) []string { // once the component knows the Shoot
			declared := declaring("", "inPlace")
			edit(declared.Spec.ProviderConfig, add(flavorAt(2, 0)+"/capabilities/gardener-updateType", []string{"rolling"}))
			g.Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { p.Spec.ProviderConfig = declared.Spec.ProviderConfig })).To(Succeed())
			g.Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { edit(p.Spec.ProviderConfig, remove(flavorAt(2, 1))) })).To(Succeed())
			return u.heard()
		}).Should(ContainElement(ContainSubstring("worker pools of Shoot garden-demo/in-place-flavor")))
		Eventually(ctx, func() error { return u.Create(ctx, inPlace("in-place-late", profile.Name), client.DryRunAll) }).
			Should(MatchError(ContainSubstring(asksInPlace)))
		expectAccepted(change(ctx, s, func(s *v1beta1.Shoot) { s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)} }), asksInPlace)
		destroy(ctx, s)
	})
})
