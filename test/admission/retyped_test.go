// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// retype tries to change the type of a CloudProfile, and returns the answer. The garden of these specs runs no component
// but that of openstack.
func retype(ctx context.Context, profile *v1beta1.CloudProfile, to string, options ...client.UpdateOption) error {
	GinkgoHelper()
	for {
		Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
		profile.Spec.Type = to
		u.Heard()
		if err := u.Update(ctx, profile, options...); !apierrors.IsConflict(err) {
			return err
		}
	}
}

// expectRetypeRefused requires that the type of a CloudProfile cannot be changed because of its users, and does not change.
func expectRetypeRefused(ctx context.Context, profile *v1beta1.CloudProfile, from, to, users string) {
	GinkgoHelper()
	refused := beRefusedFor(cause{field.ErrorTypeForbidden, "spec.type", "the type cannot be changed from " + from + " to " + to +
		" while the CloudProfile is used by " + users + "; leave it as it is, and create another CloudProfile for type " + to})
	Expect(retype(ctx, profile, to, client.DryRunAll)).To(refused)
	Expect(retype(ctx, profile, to)).To(refused)
	Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
	Expect(profile.Spec.Type).To(Equal(from))
}

// of returns a Shoot of a type, without worker pools.
func of(providerType, name, profile string) *v1beta1.Shoot {
	GinkgoHelper()
	s := shoot(name, profile)
	s.Spec.Provider = v1beta1.Provider{Type: providerType}
	s.Spec.CredentialsBindingName, s.Spec.Networking = nil, nil
	return s
}

var _ = Describe("The type of a CloudProfile", func() {
	It("cannot be taken away from Shoots and NamespacedCloudProfiles", func(ctx SpecContext) {
		profile := openstack("retyped-used")
		create(ctx, profile)

		By("a NamespacedCloudProfile")
		child := preview("retyped-used", "retyped-used")
		create(ctx, child)
		expectRetypeRefused(ctx, profile, "openstack", "aws", "NamespacedCloudProfile garden-demo/retyped-used")

		By("a Shoot of the NamespacedCloudProfile")
		rendered(ctx, child, "1877.5.0=1234-amd64-virt", "1592.9.0=1234-amd64-old", "2000.0.0=2000-amd64-virt")
		indirect := shoot("retyped-child", "retyped-used")
		indirect.Spec.CloudProfile.Kind = "NamespacedCloudProfile"
		create(ctx, indirect)
		expectRetypeRefused(ctx, profile, "openstack", "aws", "Shoot garden-demo/retyped-child")

		By("one of its own as well")
		direct := shoot("retyped-own", "retyped-used")
		create(ctx, direct)
		expectRetypeRefused(ctx, profile, "openstack", "aws", "Shoot garden-demo/retyped-own, Shoot garden-demo/retyped-child")

		By("nobody")
		destroy(ctx, direct)
		destroy(ctx, indirect)
		destroy(ctx, child)
		expectAccepted(retype(ctx, profile, "aws", client.DryRunAll))
		expectAccepted(retype(ctx, profile, "aws"))
	})

	It("cannot be taken away from users of another provider", func(ctx SpecContext) {
		Expect(g.NewRegistration(ctx, "aws", "aws", "calico")).To(Succeed())
		profile := openstack("retyped-foreign")
		profile.Spec.Type = "aws"
		create(ctx, profile)
		child := preview("retyped-foreign", "retyped-foreign")
		child.Spec.MachineImages, child.Spec.ProviderConfig = nil, nil
		child.Spec.MachineTypes = profile.DeepCopy().Spec.MachineTypes[:1]
		child.Spec.MachineTypes[0].Name = "own"
		create(ctx, child)
		expectRetypeRefused(ctx, profile, "aws", "openstack", "NamespacedCloudProfile garden-demo/retyped-foreign")
		s := of("aws", "retyped-foreign", "retyped-foreign")
		create(ctx, s)
		expectRetypeRefused(ctx, profile, "aws", "openstack",
			"Shoot garden-demo/retyped-foreign, NamespacedCloudProfile garden-demo/retyped-foreign")
		destroy(ctx, s)
		destroy(ctx, child)
		expectAccepted(retype(ctx, profile, "openstack"))
	})

	It("can be changed while nobody uses it, and what gets the type is checked as if it were created", func(ctx SpecContext) {
		profile := openstack("retyped-unused")
		profile.Spec.Type = "aws"
		wrong := flavorAt(0, 1) + "/regions/0/id"
		edit(profile.Spec.ProviderConfig, replace(wrong, ""))
		create(ctx, profile)
		const at = "spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[1].regions[0].id"
		Expect(retype(ctx, profile, "openstack", client.DryRunAll)).To(beRefusedAt(at))
		Expect(retype(ctx, profile, "openstack")).To(beRefusedAt(at))

		expectAccepted(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			p.Spec.Type = "openstack"
			edit(p.Spec.ProviderConfig, replace(wrong, "1234"))
		}))
		expectAccepted(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			p.Spec.Type = "aws"
			edit(p.Spec.ProviderConfig, replace(wrong, ""))
		}))
	})

	It("can become again what it was, for the Shoots that use it", func(ctx SpecContext) {
		profile := &v1beta1.CloudProfile{}
		profile.Name = "retyped-before"
		expectAccepted(retype(ctx, profile, "openstack"))
		s := &v1beta1.Shoot{}
		s.Name, s.Namespace = "retyped-before", "garden-demo"
		destroy(ctx, s)
	})
})

// retypeBefore creates a CloudProfile with a Shoot, and changes its type, which is possible only without the component.
func retypeBefore(ctx context.Context) {
	GinkgoHelper()
	profile := openstack("retyped-before")
	Expect(g.Client().Create(ctx, profile)).To(Succeed())
	Expect(g.Client().Create(ctx, of("openstack", "retyped-before", profile.Name))).To(Succeed())
	created := profile.DeepCopy()
	profile.Spec.Type = "aws"
	Expect(g.Client().Patch(ctx, profile, client.MergeFrom(created))).To(Succeed())
}
