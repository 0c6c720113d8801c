// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
)

var _ = Describe("A CloudProfile", func() {
	It("may use a new capability once both of its sides do", func(ctx SpecContext) {
		profile := openstack("gains-capability")
		create(ctx, profile)
		inCore := func(p *v1beta1.CloudProfile) {
			p.Spec.MachineCapabilities = append(p.Spec.MachineCapabilities, v1beta1.CapabilityDefinition{Name: "network", Values: []string{"fast", "slow"}})
			p.Spec.MachineImages[0].Versions[0].CapabilityFlavors[0].Capabilities["network"] = []string{"slow"}
		}
		Expect(change(ctx, profile, inCore)).To(beRefusedAt(
			"spec.machineImages[0].versions[0].capabilityFlavors[0]",
			"spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0]",
		))
		expectAccepted(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			inCore(p)
			edit(p.Spec.ProviderConfig, add(flavorAt(0, 0)+"/capabilities/network", []string{"slow"}))
		}))
	})

	It("is refused for everything that is wrong with it, at once", func(ctx SpecContext) {
		profile := openstack("everything-at-once")
		edit(profile.Spec.ProviderConfig,
			replace(flavorAt(0, 0)+"/regions/0/id", ""),
			replace(flavorAt(0, 1)+"/capabilities/hypervisor/0", "metal"))
		profile.Spec.MachineImages[0].Versions = append(profile.Spec.MachineImages[0].Versions, v1beta1.MachineImageVersion{
			ExpirableVersion:  v1beta1.ExpirableVersion{Version: "2000.0.0"},
			CRI:               []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}},
			CapabilityFlavors: []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}}},
		})
		Expect(u.Create(ctx, profile)).To(beRefusedAt(
			"spec.machineImages[0].versions[2]",
			"spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0].regions[0].id",
			"spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[1].capabilities.hypervisor[0]",
		))
	})

	It("gets the core flavors that it leaves out, and keeps those that it has", func(ctx SpecContext) {
		profile := openstack("core-flavors")
		versions := profile.Spec.MachineImages[0].Versions
		want, err := json.Marshal(versions)
		Expect(err).NotTo(HaveOccurred())
		written := versions[1].CapabilityFlavors
		versions[0].CapabilityFlavors = nil
		expectAccepted(u.Create(ctx, profile))
		stored := profile.DeepCopy().Spec.MachineImages[0].Versions
		for i := range stored { // which Gardener itself adds, for old clients
			stored[i].Architectures, stored[i].CRI = nil, nil
		}
		Expect(json.Marshal(stored)).To(MatchJSON(want))

		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			p.Spec.MachineImages[0].Versions[1].CapabilityFlavors = append(written,
				v1beta1.MachineImageFlavor{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}})
			p.Spec.MachineImages[0].Versions[1].Architectures = []string{"amd64", "arm64"}
		})).To(beRefusedAt("spec.machineImages[0].versions[1].capabilityFlavors[1]"))
	})

	It("is warned about if another preference changes what machines boot", func(ctx SpecContext) {
		profile := openstack("preference")
		either := profile.Spec.MachineTypes[0].DeepCopy()
		either.Name, either.Capabilities = "either_4_8", v1beta1.Capabilities{"architecture": {"amd64"}}
		profile.Spec.MachineTypes = append(profile.Spec.MachineTypes, *either)
		expectAccepted(u.Create(ctx, profile))
		expectAccepted(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			p.Spec.MachineCapabilities[1].Values = []string{"baremetal", "virtualized"}
		}), "gardenlinux@1877.5.0: new machines of machine type either_4_8 boot another flavor")
	})

	It("is warned about if it loses a machine type that Shoots use", func(ctx SpecContext) {
		profile := openstack("type-in-use")
		create(ctx, profile)
		create(ctx, shoot("type-in-use", "type-in-use"))

		// The image version of this one is not the CloudProfile's, but its machine type is.
		child := preview("type-in-use", "type-in-use")
		create(ctx, child)
		rendered(ctx, child, "1877.5.0=1234-amd64-virt", "1592.9.0=1234-amd64-old", "2000.0.0=2000-amd64-virt")
		own := shoot("type-in-use-below", child.Name)
		own.Spec.CloudProfile.Kind = "NamespacedCloudProfile"
		own.Spec.Provider.Workers[0].Machine.Image.Version = ptr.To("2000.0.0")
		create(ctx, own)
		types := profile.DeepCopy().Spec.MachineTypes
		Eventually(ctx, func(g Gomega) []string { // once the component knows the Shoots
			g.Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { p.Spec.MachineTypes = types[1:] })).To(Succeed())
			heard := u.heard()
			g.Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { p.Spec.MachineTypes = types })).To(Succeed())
			return heard
		}).Should(ContainElement(ContainSubstring("spec.machineTypes: machine type medium_4_8 is removed and still used by " +
			"Shoots garden-demo/type-in-use, garden-demo/type-in-use-below")))
	})

	It("may keep what was wrong with it before, and gain nothing else", func(ctx SpecContext) {
		profile := &v1beta1.CloudProfile{}
		profile.Name = "before"
		expectAccepted(change(ctx, profile, func(p *v1beta1.CloudProfile) { p.Annotations = map[string]string{"a": "b"} }))

		// An entry before the one with the error moves it, and is none of its business.
		expectAccepted(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			images := openstack("").Spec.MachineImages
			images[0].Name = "another"
			p.Spec.MachineImages = append(images, p.Spec.MachineImages...)
			var config struct{ MachineImages []map[string]any }
			Expect(json.Unmarshal(openstack("").Spec.ProviderConfig.Raw, &config)).To(Succeed())
			config.MachineImages[0]["name"] = "another"
			edit(p.Spec.ProviderConfig, add("/machineImages/0", config.MachineImages[0]))
		}), "spec.machineImages[1].versions[0].capabilityFlavors[2]: gardenlinux@1877.5.0: no provider image for")

		// One error more is the fault of this update. Only that is in the way.
		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			edit(p.Spec.ProviderConfig,
				replace(flavorAt(0, 1)+"/regions/0/id", ""),
				replace("/machineImages/1/versions/0/capabilityFlavors/1/regions/0/id", ""))
		})).To(beRefusedAt(
			"spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[1].regions[0].id",
			"spec.providerConfig.machineImages[1].versions[0].capabilityFlavors[1].regions[0].id",
		))
		destroy(ctx, profile)
	})
})
