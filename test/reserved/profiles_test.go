// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package reserved

import (
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// registering returns the definition of a capability. The values are separated by blanks.
func registering(name, values string) v1beta1.CapabilityDefinition {
	return v1beta1.CapabilityDefinition{Name: name, Values: strings.Fields(values)}
}

// refusedByGardener matches Gardener's own refusals with this text.
func refusedByGardener(text string) types.GomegaMatcher {
	return MatchError(And(ContainSubstring(text), Not(ContainSubstring("admission webhook"))))
}

// refused matches refusals by the component with these texts.
func refused(texts ...string) types.GomegaMatcher {
	matchers := []types.GomegaMatcher{ContainSubstring("admission webhook")}
	for _, text := range texts {
		matchers = append(matchers, ContainSubstring(text))
	}
	return MatchError(And(matchers...))
}

var _ = Describe("Gardener", func() {
	DescribeTable("refuses in the vocabulary what it does not define", func(ctx SpecContext, d v1beta1.CapabilityDefinition, says string) {
		one := offer{[]v1beta1.CapabilityDefinition{updates}, []release{{"1.0.0", []flavor{rolling, inPlace}}}}
		profile := profileOf("vocabulary-"+strings.ToLower(d.Name)+"-"+strings.ToLower(d.Values[0]), one)
		create(ctx, profile)
		one.registers = []v1beta1.CapabilityDefinition{updates, d}
		if d.Name == updateType {
			one.registers = []v1beta1.CapabilityDefinition{d}
		}
		other := profileOf("other", one)
		Expect(u.Create(ctx, other, client.DryRunAll)).To(refusedByGardener(says))
		Expect(change(ctx, profile, one.write)).To(refusedByGardener(says))
	},
		Entry("a value of the first text", registering(updateType, "rolling in-place inPlace"),
			`spec.machineCapabilities[1].values[2]: Unsupported value: "inPlace": supported values: "rolling", "in-place"`),
		Entry("a value of another capability", registering(bootType, "rolling standard secure"),
			`spec.machineCapabilities[2].values[0]: Unsupported value: "rolling": supported values: "standard", "secure"`),
		Entry("a name of the first text", registering("gardener-updateType", "rolling inPlace"),
			`spec.machineCapabilities[2].name: Unsupported value: "gardener-updateType": supported values: "gardener-boot-type", "gardener-update-type"`),
		Entry("another name", registering("gardener-gpu", "nvidia"),
			`spec.machineCapabilities[2].name: Unsupported value: "gardener-gpu": supported values: "gardener-boot-type", "gardener-update-type"`),
	)
})

var _ = Describe("A CloudProfile", func() {
	It("registers Gardener's capabilities, and declares them in core and in the provider config", func(ctx SpecContext) {
		o := offer{[]v1beta1.CapabilityDefinition{updates, boots}, []release{{"1.0.0", []flavor{rolling, inPlace}}, {"1.1.0", []flavor{both}}}}
		profile := profileOf("registers", o)
		declareBoots(profile, "standard", "standard", "standard secure")
		create(ctx, profile)
		By("changing what a flavor declares, in core alone and in both")
		core := func(p *v1beta1.CloudProfile) {
			p.Spec.MachineImages[0].Versions[1].CapabilityFlavors[0].Capabilities[bootType] = []string{"standard"}
		}
		Expect(change(ctx, profile, core)).To(refused("spec.machineImages[0].versions[1].capabilityFlavors[0]: Required value",
			"no provider image for {architecture: [amd64], gardener-update-type: [rolling, in-place], gardener-boot-type: [standard]}"))
		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { declareBoots(p, "standard", "standard", "standard") })).To(Succeed())
		expectWarnings()
	})

	It("gets the core flavors that it leaves out from the provider config", func(ctx SpecContext) {
		profile := profileOf("left-out", offer{[]v1beta1.CapabilityDefinition{updates}, []release{{"1.0.0", []flavor{rolling, inPlace}}}})
		profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors = nil
		create(ctx, profile)
		Expect(inCore(profile.Spec.MachineImages)).To(Equal(map[string][]v1beta1.Capabilities{
			"1.0.0": {rolling.capabilities(), inPlace.capabilities()},
		}))
	})
})

// declareBoots sets the boot type of each flavor in a profile, in core and in the provider config.
func declareBoots(profile *v1beta1.CloudProfile, values ...string) {
	GinkgoHelper()
	i := 0
	for _, v := range profile.Spec.MachineImages[0].Versions {
		for _, f := range v.CapabilityFlavors {
			f.Capabilities[bootType] = strings.Fields(values[i])
			i++
		}
	}
	Expect(i).To(Equal(len(values)))
	profile.Spec.ProviderConfig = edited(profile.Spec.ProviderConfig, func(c map[string]any) {
		i := 0
		for _, v := range c["machineImages"].([]any)[0].(map[string]any)["versions"].([]any) {
			for _, f := range v.(map[string]any)["capabilityFlavors"].([]any) {
				f.(map[string]any)["capabilities"].(map[string]any)[bootType] = strings.Fields(values[i])
				i++
			}
		}
	})
}

var _ = Describe("A NamespacedCloudProfile", func() {
	It("declares what its parent registers, and Gardener and admission render it", func(ctx SpecContext) {
		registered := []v1beta1.CapabilityDefinition{updates}
		create(ctx, profileOf("parent", offer{registered, []release{{"1.0.0", []flavor{rolling, inPlace}}}}))
		child := childOf("parent", offer{registered, []release{{"2.0.0", []flavor{rolling, inPlace}}, {"2.1.0", []flavor{both}}}})
		create(ctx, child)
		want := map[string][]v1beta1.Capabilities{
			"1.0.0": {rolling.capabilities(), inPlace.capabilities()}, "2.0.0": {rolling.capabilities(), inPlace.capabilities()},
			"2.1.0": {both.capabilities()},
		}
		Eventually(ctx, func(g Gomega) {
			g.Expect(u.Get(ctx, client.ObjectKeyFromObject(child), child)).To(Succeed())
			rendered := child.Status.CloudProfileSpec
			g.Expect(rendered.MachineImages).NotTo(BeEmpty())
			g.Expect(inCore(rendered.MachineImages)).To(Equal(want))
			g.Expect(configured(rendered.ProviderConfig)).To(Equal(want))
			g.Expect(rendered.MachineCapabilities).To(HaveLen(2))
		}).Should(Succeed())

		By("creating a Shoot for it")
		s := shootOf("parent", pool{name: "disks", strategy: auto, version: "2.0.0"}, pool{name: "web", strategy: replace, version: "2.1.0"})
		s.Spec.CloudProfile.Kind = "NamespacedCloudProfile"
		create(ctx, s)
		By("declaring what is not there in the provider config")
		Expect(change(ctx, child, func(c *v1beta1.NamespacedCloudProfile) {
			c.Spec.MachineImages[0].Versions[1].CapabilityFlavors[0].Capabilities = rolling.capabilities()
		})).To(refused("spec.machineImages[0].versions[1].capabilityFlavors[0]: Required value"))
	})

	It("cannot declare what its parent does not register", func(ctx SpecContext) {
		create(ctx, profileOf("plain-parent", offer{nil, []release{{"1.0.0", []flavor{silent}}}}))
		child := childOf("plain-parent", offer{[]v1beta1.CapabilityDefinition{updates}, []release{{"2.0.0", []flavor{rolling, inPlace}}}})
		Expect(u.Create(ctx, child)).To(refusedByGardener(updateType))
	})
})
