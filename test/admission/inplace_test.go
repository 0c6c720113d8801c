// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// In-place updates need a feature gate of Gardener v1.150, which is enabled in the garden of these specs.

// Path and message of an error about an in-place update.
const (
	inPlaceAt   = "spec.provider.workers[0].updateStrategy"
	asksInPlace = "update strategy AutoInPlaceUpdate asks for gardener-update-type [in-place], and no flavor of "
)

// inPlace returns the example Shoot with in-place updates, under another name.
func inPlace(name, profile string) *v1beta1.Shoot {
	GinkgoHelper()
	return shootOf(root+"/example/shoot-in-place.yaml", name, profile)
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
			return u.Heard()
		}).Should(ContainElement(ContainSubstring("worker pools of Shoot garden-demo/in-place")))
		hibernated := false
		Eventually(ctx, func(g Gomega) []string { // once the component has seen the current profile
			hibernated = !hibernated
			g.Expect(change(ctx, s, func(s *v1beta1.Shoot) { s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: &hibernated} })).To(Succeed())
			return u.Heard()
		}).Should(HaveExactElements(ContainSubstring(inPlaceAt + ": older than this update: worker pool disks: " + asksInPlace)))
		expectAccepted(change(ctx, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum = 9 }), asksInPlace)
		Expect(change(ctx, s, addPool("more", unchanged))).To(HaveOccurred())
		destroy(ctx, s)
	})

	// Gardener itself validates inPlaceUpdates when a Shoot is created, but does not read what a flavor declares.
	It("is refused if the flavors declare that they cannot be", func(ctx SpecContext) {
		profile := launching("in-place-declared")
		edit(profile.Spec.ProviderConfig,
			remove(flavorAt(2, 1)+"/capabilities/gardener-boot-type"),
			add(flavorAt(2, 1)+"/capabilities/gardener-update-type", []string{"rolling"}),
			remove(flavorAt(2, 0)))
		create(ctx, profile)
		Expect(u.Create(ctx, inPlace("in-place-not", profile.Name))).To(beRefusedFor(cause{field.ErrorTypeInvalid, inPlaceAt,
			"{architecture: [amd64], gardener-update-type: [rolling]} has gardener-update-type [rolling]"}))
	})
})
