// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A CloudProfile", func() {
	It("gets the core flavors that it leaves out, and keeps those that it has", func(ctx SpecContext) {
		profile := openstack("core-flavors")
		versions := profile.Spec.MachineImages[0].Versions
		want, err := json.Marshal(versions)
		Expect(err).NotTo(HaveOccurred())
		written := versions[1].CapabilityFlavors
		versions[0].CapabilityFlavors = nil
		expectAccepted(u.Create(ctx, profile))
		stored := profile.DeepCopy().Spec.MachineImages[0].Versions
		for i := range stored { // Gardener itself adds these, for old clients
			stored[i].Architectures, stored[i].CRI = nil, nil
		}
		Expect(json.Marshal(stored)).To(MatchJSON(want))

		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			p.Spec.MachineImages[0].Versions[1].CapabilityFlavors = append(written,
				v1beta1.MachineImageFlavor{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}})
			p.Spec.MachineImages[0].Versions[1].Architectures = []string{"amd64", "arm64"}
		})).To(beRefusedAt("spec.machineImages[0].versions[1].capabilityFlavors[1]"))
	})

	It("may keep what was wrong with it before, and gain nothing else", func(ctx SpecContext) {
		profile := &v1beta1.CloudProfile{}
		profile.Name = "before"
		expectAccepted(change(ctx, profile, func(p *v1beta1.CloudProfile) { p.Annotations = map[string]string{"a": "b"} }))

		// An entry before the faulty one moves the old error, which stays tolerated.
		expectAccepted(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			images := openstack("").Spec.MachineImages
			images[0].Name = "another"
			p.Spec.MachineImages = append(images, p.Spec.MachineImages...)
			var config struct{ MachineImages []map[string]any }
			Expect(json.Unmarshal(openstack("").Spec.ProviderConfig.Raw, &config)).To(Succeed())
			config.MachineImages[0]["name"] = "another"
			edit(p.Spec.ProviderConfig, add("/machineImages/0", config.MachineImages[0]))
		}), "spec.machineImages[1].versions[0].capabilityFlavors[2]: older than this update: gardenlinux@1877.5.0: no provider image for")

		// The update adds one error, and only that one is refused.
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
