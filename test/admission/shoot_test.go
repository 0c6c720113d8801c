// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
)

// gap returns the CloudProfile of the demo whose bare metal flavor has no image in asia, under another name.
func gap(name string) *v1beta1.CloudProfile {
	GinkgoHelper()
	profile := read[v1beta1.CloudProfile](root + "/hack/garden/demo/cloudprofile-gap.yaml")
	profile.Name = name
	return profile
}

// bare returns the Shoot of the demo, which has a bare metal worker pool in asia.
func bare(name, profile string) *v1beta1.Shoot {
	GinkgoHelper()
	return shootOf(root+"/hack/garden/demo/shoot-bare.yaml", name, profile)
}

// addPool returns a change that adds a worker pool like the first one.
func addPool(name string, change func(*v1beta1.Worker)) func(*v1beta1.Shoot) {
	return func(s *v1beta1.Shoot) {
		pool := s.Spec.Provider.Workers[0].DeepCopy()
		pool.Name = name
		change(pool)
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *pool)
	}
}

func unchanged(*v1beta1.Worker) {}

func hibernate(s *v1beta1.Shoot) { s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)} }

func scale(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum++ }

func label(s *v1beta1.Shoot) { s.Labels = map[string]string{"a": "b"} }

var _ = Describe("A Shoot", func() {
	It("may have no worker pools", func(ctx SpecContext) {
		create(ctx, gap("without-pools"))
		s := bare("workerless", "without-pools")
		s.Spec.Provider = v1beta1.Provider{Type: "openstack"}
		s.Spec.CredentialsBindingName, s.Spec.Networking = nil, nil
		expectAccepted(u.Create(ctx, s))
	})

	It("is left in peace if the operator takes the image of a worker pool away", func(ctx SpecContext) {
		profile := openstack("impossible")
		create(ctx, profile)
		s := bare("impossible", "impossible")
		create(ctx, s)
		Eventually(ctx, func(g Gomega) []string { // once the component knows that the Shoot uses the image
			rename := func(region string) error {
				return change(ctx, profile, func(p *v1beta1.CloudProfile) {
					edit(p.Spec.ProviderConfig, replace(flavorAt(0, 1)+"/regions/1/name", region))
				})
			}
			g.Expect(rename("asia")).To(Succeed())
			g.Expect(rename("elsewhere")).To(Succeed())
			return u.Heard()
		}).Should(ContainElement(ContainSubstring("no image is left for worker pools of Shoot garden-demo/impossible")))
		Eventually(ctx, func(g Gomega) []string { // once the component has seen the current profile
			g.Expect(change(ctx, s, scale)).To(Succeed())
			return u.Heard()
		}).Should(ContainElement(ContainSubstring("no image fits machine type bare_8_16")))

		By("changing what leaves the pool alone")
		expectAccepted(change(ctx, s, hibernate), "no image fits machine type bare_8_16")
		expectAccepted(change(ctx, s, scale), "no image fits machine type bare_8_16")
		By("adding a pool that needs the image")
		Expect(change(ctx, s, addPool("more", unchanged))).To(beRefusedAt("spec.provider.workers[1].machine.type"))
		destroy(ctx, s)
	})

	It("may keep what was wrong with it before, and be deleted", func(ctx SpecContext) {
		s := &v1beta1.Shoot{}
		s.Name, s.Namespace = "before", "garden-demo"
		expectAccepted(change(ctx, s, label))
		destroy(ctx, s)
	})
})
