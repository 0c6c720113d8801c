// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// For each warning, the specs try the updates that it says will be refused.
var _ = Describe("An update of a CloudProfile that locks Shoots", func() {
	confirm := func(s *v1beta1.Shoot) {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, "confirmation.gardener.cloud/deletion", "true")
	}
	for _, lock := range []struct {
		what, name, warning string
		update, undo        func(*v1beta1.CloudProfile)
		// refused matches Gardener's answer to updates of the Shoot.
		refused func(error) bool
	}{
		{
			"by taking away all core flavors for their machine type", "locked-flavor",
			"gardenlinux@1877.5.0: no flavor in core fits the machine types of worker pools of Shoot garden-demo/locked-flavor (1 pool) any more: " +
				"Gardener then refuses every update of these Shoots, even the confirmation of their deletion",
			func(p *v1beta1.CloudProfile) {
				version := &p.Spec.MachineImages[0].Versions[0]
				version.CapabilityFlavors = slices.Delete(version.CapabilityFlavors, 0, 1)
				edit(p.Spec.ProviderConfig, remove(flavorAt(0, 0)))
			},
			func(p *v1beta1.CloudProfile) { p.Spec = openstack("").Spec },
			apierrors.IsForbidden,
		},
		{
			"by removing their machine type", "locked-type",
			"machine type medium_4_8 is removed and still used by Shoot garden-demo/locked-type (1 pool); " +
				"Gardener rejects all later updates of them, even the confirmation of their deletion",
			func(p *v1beta1.CloudProfile) { p.Spec.MachineTypes = slices.Delete(p.Spec.MachineTypes, 0, 1) },
			func(p *v1beta1.CloudProfile) { p.Spec = openstack("").Spec },
			apierrors.IsServiceUnavailable,
		},
	} {
		It("warns "+lock.what, func(ctx SpecContext) {
			profile := openstack(lock.name)
			create(ctx, profile)
			s := shoot(lock.name, lock.name)
			create(ctx, s)
			Eventually(ctx, func(g Gomega) []string { // once the component knows the Shoot
				g.Expect(change(ctx, profile, lock.undo)).To(Succeed())
				g.Expect(change(ctx, profile, lock.update)).To(Succeed())
				return u.Heard()
			}).Should(ContainElement(ContainSubstring(lock.warning)))
			refused := MatchError(lock.refused, "refused by Gardener")
			Eventually(ctx, func() error { return change(ctx, s, label) }).Should(refused) // once Gardener has seen the profile
			Expect(change(ctx, s, confirm)).To(refused)
			By("undoing it")
			Expect(change(ctx, profile, lock.undo)).To(Succeed())
			Eventually(ctx, func() error { return change(ctx, s, label) }).Should(Succeed())
			destroy(ctx, s)
		})
	}
})
