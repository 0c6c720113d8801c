// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// askingAt is the path of the first worker pool's request for trusted launch.
const askingAt = "spec.provider.workers[0].providerConfig.trustedLaunch"

// trustedLaunch is the path of this setting within a worker's providerConfig.
const trustedLaunch = "/trustedLaunch"

// launching returns the example CloudProfile under another name. Its gardenlinux 1877.5.0 has a flavor for trusted launch.
func launching(name string) *v1beta1.CloudProfile {
	GinkgoHelper()
	profile := read[v1beta1.CloudProfile](root + "/example/cloudprofile-trusted-launch.yaml")
	profile.Name = name
	return profile
}

// trusting returns a Shoot with one worker pool, which requests trusted launch.
func trusting(name, profile string) *v1beta1.Shoot {
	GinkgoHelper()
	return shootOf(root+"/example/shoot-trusted-launch.yaml", name, profile)
}

// setType and setVersion return changes of a worker pool, and editWorker a change of its providerConfig.
func setType(name string) func(*v1beta1.Worker) {
	return func(w *v1beta1.Worker) { w.Machine.Type = name }
}

func setVersion(version string) func(*v1beta1.Worker) {
	return func(w *v1beta1.Worker) { w.Machine.Image.Version = &version }
}

func editWorker(operations ...operation) func(*v1beta1.Worker) {
	return func(w *v1beta1.Worker) { edit(w.ProviderConfig, operations...) }
}

// ofPool returns a Shoot change that applies a change to one worker pool.
func ofPool(i int, change func(*v1beta1.Worker)) func(*v1beta1.Shoot) {
	return func(s *v1beta1.Shoot) { change(&s.Spec.Provider.Workers[i]) }
}

var _ = Describe("A worker pool that asks for trusted launch", func() {
	It("boots an image that has it, beside pools that do not ask", func(ctx SpecContext) {
		create(ctx, launching("launch"))
		s := trusting("launch", "launch")
		expectAccepted(u.Create(ctx, s))

		By("adding a pool that is wrong; the first is not mentioned")
		Expect(change(ctx, s, addPool("old", setType("old_8_16")))).To(beRefusedFor(cause{
			field.ErrorTypeInvalid, "spec.provider.workers[1].providerConfig.trustedLaunch", "machine type old_8_16 has [disabled]"}))
		By("adding a pool that has switched it off, on a machine type without it")
		expectAccepted(change(ctx, s, addPool("old", func(w *v1beta1.Worker) {
			setType("old_8_16")(w)
			editWorker(replace(trustedLaunch+"/enabled", false))(w)
		})))
		destroy(ctx, s)
	})

	It("is refused where nobody says that capkit's worker controller is there, unless it was there before", func(ctx SpecContext) {
		create(ctx, launching("not-read"))
		before, later := trusting("read-before", "not-read"), trusting("not-read", "not-read")
		create(ctx, before)
		Expect(process.Stop(ctx)).To(Succeed())
		serve(ctx, "--worker-controller=false")
		Eventually(ctx, func() error { return u.Create(ctx, later.DeepCopy()) }).Should(beRefusedFor(cause{
			field.ErrorTypeForbidden, "spec.provider.workers[0].providerConfig.trustedLaunch", "remove it",
		}))
		Expect(change(ctx, before, ofPool(0, func(w *v1beta1.Worker) { w.Maximum++ }))).To(Succeed())
		Expect(process.Stop(ctx)).To(Succeed())
		serve(ctx)
		Eventually(ctx, func() error { return u.Create(ctx, later) }).Should(Succeed())
		destroy(ctx, before)
		destroy(ctx, later)
	})

	// A removal by an operator locks nobody out: updates that leave the affected worker pool alone are admitted.
	It("is left in peace if the operator takes it away", func(ctx SpecContext) {
		profile := launching("taken-away")
		create(ctx, profile)
		s := trusting("taken-away", "taken-away")
		create(ctx, s)
		without := func(p *v1beta1.CloudProfile) {
			p.Spec.MachineImages[0].Versions[0].CapabilityFlavors = p.Spec.MachineImages[0].Versions[0].CapabilityFlavors[:1]
			edit(p.Spec.ProviderConfig, remove(flavorAt(0, 1)))
		}
		again := func(p *v1beta1.CloudProfile) {
			p.Spec.MachineImages, p.Spec.ProviderConfig = launching("").Spec.MachineImages, launching("").Spec.ProviderConfig
		}
		Eventually(ctx, func(g Gomega) []string { // once the component knows that the Shoot uses the flavor
			expectAccepted(change(ctx, profile, again)) // no pool boots another flavor than before, so there is nothing to warn about
			g.Expect(change(ctx, profile, without)).To(Succeed())
			return u.Heard()
		}).Should(ContainElement(ContainSubstring("spec.providerConfig.machineImages: gardenlinux@1877.5.0: " +
			"no image is left for worker pools of Shoot garden-demo/taken-away (1 pool): " +
			"they keep booting the images of their machine classes, and new ones are refused")))

		const lacks = "no flavor of gardenlinux@1877.5.0 for machine type "
		leftAlone(ctx, s, "and "+lacks+"medium_4_8 in region europe has that")
		Expect(change(ctx, s, ofPool(0, setType("trusted_4_8")))).To(beRefusedFor(cause{
			field.ErrorTypeInvalid, askingAt, lacks + "trusted_4_8 in region europe has that"}))
		Expect(change(ctx, s, func(s *v1beta1.Shoot) {
			addPool("more", unchanged)(s)
			slices.Reverse(s.Spec.Provider.Workers)
		})).To(beRefusedFor(cause{field.ErrorTypeInvalid, askingAt, "worker pool more: "}))

		By("registering it no more")
		expectAccepted(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			p.Spec.MachineCapabilities = p.Spec.MachineCapabilities[:1]
			for i := range p.Spec.MachineTypes {
				delete(p.Spec.MachineTypes[i].Capabilities, "openstack-trustedLaunch")
			}
		}))
		leftAlone(ctx, s, "which the profile does not register")

		By("asking for no more, which is a repair")
		expectAccepted(change(ctx, s, ofPool(0, func(w *v1beta1.Worker) { w.ProviderConfig = nil })),
			"trustedLaunch was enabled and is none now, which replaces the machines of worker pool ledger")
		destroy(ctx, s)
	})

	It("may do so in a NamespacedCloudProfile", func(ctx SpecContext) {
		parent := launching("launch-parent")
		create(ctx, parent)
		profile := preview("launch-child", parent.Name)
		edit(profile.Spec.ProviderConfig,
			replace(flavorAt(0, 0)+"/capabilities", map[string][]string{
				"architecture": {"amd64"}, "openstack-trustedLaunch": {"enabled"}, "gardener-boot-type": {"secure", "standard"},
			}),
			remove(flavorAt(0, 0)+"/regions/1"))
		expectAccepted(u.Create(ctx, profile))
		Expect(profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors).To(haveCapabilities(
			v1beta1.Capabilities{"architecture": {"amd64"}, "openstack-trustedLaunch": {"enabled"}}))
		rendered(ctx, profile, "1877.5.0=1234-amd64", "1592.9.0=1233-amd64", "2150.1.0=2150-amd64", "2000.0.0=2000-amd64-virt")

		s := trusting("launch-child", profile.Name)
		s.Spec.CloudProfile.Kind = "NamespacedCloudProfile"
		setVersion("1592.9.0")(&s.Spec.Provider.Workers[0])
		// Once the component has seen the rendered profile.
		Eventually(ctx, func() error { return u.Create(ctx, s, client.DryRunAll) }).
			Should(beRefusedFor(cause{field.ErrorTypeInvalid, askingAt, "would work: version 1877.5.0"}))
		setVersion("2000.0.0")(&s.Spec.Provider.Workers[0])
		expectAccepted(u.Create(ctx, s))
		destroy(ctx, s)
	})
})

// leftAlone scales and hibernates a Shoot, which causes a warning about the pool that requests trusted launch.
func leftAlone(ctx context.Context, s *v1beta1.Shoot, warning string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) []string { // once the component has seen the current profile
		g.Expect(change(ctx, s, scale)).To(Succeed())
		return u.Heard()
	}).Should(ContainElement(ContainSubstring(warning)))
	expectAccepted(change(ctx, s, func(s *v1beta1.Shoot) {
		s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(s.Spec.Hibernation == nil || !*s.Spec.Hibernation.Enabled)}
	}), askingAt+": older than this update: worker pool ledger: "+
		"trustedLaunch.enabled: true asks for openstack-trustedLaunch [enabled], "+warning)
}

var _ = Describe("A worker pool whose config was wrong before", func() {
	It("may keep it as long as it says nothing new", func(ctx SpecContext) {
		const kind, launch = "spec.provider.workers[1].providerConfig.apiVersion", "spec.provider.workers[1].providerConfig.trustedLaunch"
		misspelt := func(pool string) cause {
			return cause{field.ErrorTypeForbidden, "spec.provider.workers[" + pool + "].providerConfig.machineLables", `did you mean "machineLabels"?`}
		}
		s := &v1beta1.Shoot{}
		s.Name, s.Namespace = "before-config", "garden-demo"
		expectAccepted(change(ctx, s, hibernate), misspelt("0").field, kind, launch)

		By("another order, another pool, and other numbers")
		expectAccepted(change(ctx, s, func(s *v1beta1.Shoot) {
			slices.Reverse(s.Spec.Provider.Workers)
			addPool("right", func(w *v1beta1.Worker) { w.ProviderConfig = nil })(s)
			w := s.Spec.Provider.Workers
			s.Spec.Provider.Workers = []v1beta1.Worker{w[2], w[0], w[1]}
			s.Spec.Provider.Workers[1].Maximum = 5
		}), misspelt("2").field, kind)

		By("another image: an unknown field keeps nothing from being read, but of another kind nobody knows what the pool asks for")
		expectAccepted(change(ctx, s, ofPool(2, setVersion("1592.9.0"))), misspelt("2").field)
		Expect(change(ctx, s, ofPool(1, setVersion("1592.9.0")))).To(beRefusedAt(kind, launch))

		By("another name")
		Expect(change(ctx, s, ofPool(2, func(w *v1beta1.Worker) { w.Name = "other" }))).To(beRefusedFor(misspelt("2")))

		By("repairing both")
		expectAccepted(change(ctx, s, func(s *v1beta1.Shoot) {
			editWorker(operation{Op: "move", From: "/machineLables", Path: "/machineLabels"})(&s.Spec.Provider.Workers[2])
			s.Spec.Provider.Workers[1].ProviderConfig = nil
		}))
		destroy(ctx, s)
	})
})

var _ = Describe("Worker capabilities of a CloudProfile", func() {
	It("are not filled in where core has no place for them", func(ctx SpecContext) {
		// Several flavors of the provider config that differ only in reserved capabilities belong to one core flavor.
		profile, want := launching("reserved"), launching("").Spec.MachineImages[0].Versions
		for i := range want {
			profile.Spec.MachineImages[0].Versions[i].CapabilityFlavors = nil
		}
		expectAccepted(u.Create(ctx, profile))
		for i, version := range want {
			var flavors []v1beta1.Capabilities
			for _, flavor := range version.CapabilityFlavors {
				flavors = append(flavors, flavor.Capabilities)
			}
			Expect(profile.Spec.MachineImages[0].Versions[i].CapabilityFlavors).To(haveCapabilities(flavors...), version.Version)
		}
		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			p.Spec.MachineImages[0].Versions[2].CapabilityFlavors[0].Capabilities["gardener-boot-type"] = []string{"standard"}
		})).To(And(MatchError(apierrors.IsInvalid, "IsInvalid"), Not(MatchError(ContainSubstring(".admission-openstack.")))))
	})
})

// haveCapabilities matches core flavors with exactly these capabilities, in this order.
func haveCapabilities(want ...v1beta1.Capabilities) types.GomegaMatcher {
	return WithTransform(func(flavors []v1beta1.MachineImageFlavor) []v1beta1.Capabilities {
		var got []v1beta1.Capabilities
		for _, flavor := range flavors {
			got = append(got, flavor.Capabilities)
		}
		return got
	}, Equal(want))
}
