// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// preview returns the NamespacedCloudProfile of the demo, which adds version 2000.0.0, under another name.
func preview(name, parent string) *v1beta1.NamespacedCloudProfile {
	GinkgoHelper()
	profile := read[v1beta1.NamespacedCloudProfile](root + "/hack/garden/demo/namespacedcloudprofile.yaml")
	profile.Name, profile.Spec.Parent.Name = name, parent
	return profile
}

// images returns the versions of the first image in a provider config, in order, each with the image ID of its first flavor
// in the first region.
func images(spec *v1beta1.CloudProfileSpec) ([]string, error) {
	if spec.ProviderConfig == nil {
		return nil, nil
	}
	type regions []struct{ ID string }
	var config struct {
		MachineImages []struct {
			Versions []struct {
				Version           string
				Regions           regions
				CapabilityFlavors []struct{ Regions regions }
			}
		}
	}
	if err := json.Unmarshal(spec.ProviderConfig.Raw, &config); err != nil || len(config.MachineImages) == 0 {
		return nil, err
	}
	var found []string
	for _, version := range config.MachineImages[0].Versions {
		of := version.Regions
		if len(of) == 0 {
			of = version.CapabilityFlavors[0].Regions
		}
		found = append(found, version.Version+"="+of[0].ID)
	}
	return found, nil
}

// rendered waits until the status has these images.
func rendered(ctx context.Context, profile *v1beta1.NamespacedCloudProfile, want ...string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		g.Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
		g.Expect(profile.Status.ObservedGeneration).To(Equal(profile.Generation))
		g.Expect(images(&profile.Status.CloudProfileSpec)).To(Equal(want))
	}).Should(Succeed())
}

var _ = Describe("A NamespacedCloudProfile", func() {
	It("is rendered with the images of both provider configs, once", func(ctx SpecContext) {
		create(ctx, openstack("rendered"))
		profile := preview("rendered", "rendered")
		expectAccepted(u.Create(ctx, profile))
		Expect(profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors).To(HaveExactElements(
			HaveField("Capabilities", HaveKeyWithValue("hypervisor", v1beta1.CapabilityValues{"virtualized"}))))
		rendered(ctx, profile, "1877.5.0=1234-amd64-virt", "1592.9.0=1234-amd64-old", "2000.0.0=2000-amd64-virt")

		// Gardener's controller keeps writing the status, each time with the parent's provider config.
		before := profile.DeepCopy()
		var owner client.FieldOwner
		for _, entry := range profile.ManagedFields {
			if entry.Subresource == "status" {
				owner = client.FieldOwner(entry.Manager)
			}
		}
		Expect(owner).NotTo(BeEmpty())
		for range 2 {
			status := fmt.Sprintf(`{"status":{"cloudProfileSpec":{"providerConfig":%s}}}`, openstack("").Spec.ProviderConfig.Raw)
			Expect(u.Status().Patch(ctx, profile, client.RawPatch(types.MergePatchType, []byte(status)), owner)).To(Succeed())
			Expect(string(profile.Status.CloudProfileSpec.ProviderConfig.Raw)).To(Equal(string(before.Status.CloudProfileSpec.ProviderConfig.Raw)))
			Expect(profile.ResourceVersion).To(Equal(before.ResourceVersion), "the object was written again")
		}
	})

	It("keeps a version that its parent gains later", func(ctx SpecContext) {
		parent := openstack("gains-version")
		create(ctx, parent)
		profile := preview("gains-version", "gains-version")
		create(ctx, profile)
		want := []string{"1877.5.0=1234-amd64-virt", "1592.9.0=1234-amd64-old", "2000.0.0=2000-amd64-virt"}
		rendered(ctx, profile, want...)
		expectAccepted(change(ctx, parent, func(p *v1beta1.CloudProfile) {
			versions := &p.Spec.MachineImages[0].Versions
			*versions = append(*versions, (*versions)[1])
			(*versions)[2].Version = "2000.0.0"
			edit(p.Spec.ProviderConfig,
				operation{Op: "copy", From: "/machineImages/0/versions/1", Path: "/machineImages/0/versions/-"},
				replace("/machineImages/0/versions/2/version", "2000.0.0"),
				replace(flavorAt(2, 0)+"/regions/0/id", "of-the-parent"), replace(flavorAt(2, 0)+"/regions/1/id", "of-the-parent-too"))
		}))

		// The definition of the NamespacedCloudProfile wins, and the profile can still be updated.
		expires := metav1.Unix(1<<31, 0)
		Eventually(ctx, func(g Gomega) []string { // once the component has seen the current parent
			g.Expect(change(ctx, profile, func(p *v1beta1.NamespacedCloudProfile) {
				expires = metav1.NewTime(expires.AddDate(0, 0, 1))
				p.Spec.MachineImages[0].Versions[0].ExpirationDate = &expires //nolint:staticcheck // as people write it
			})).To(Succeed())
			return u.Heard()
		}).Should(ContainElement(ContainSubstring("spec.providerConfig.machineImages[0].versions[0]: older than this update: gardenlinux@2000.0.0: " +
			"the parent, CloudProfile gains-version, has this version")))
		rendered(ctx, profile, want...)

		By("changing it so that its sides disagree")
		Expect(change(ctx, profile, func(p *v1beta1.NamespacedCloudProfile) {
			edit(p.Spec.ProviderConfig,
				operation{Op: "copy", From: flavorAt(0, 0), Path: flavorAt(0, 1)},
				operation{Op: "replace", Path: flavorAt(0, 0) + "/capabilities", Value: map[string][]string{"architecture": {"arm64"}}})
		})).To(beRefusedAt("spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0]"))
		Expect(change(ctx, profile, func(p *v1beta1.NamespacedCloudProfile) { p.Spec.ProviderConfig = nil })).
			To(beRefusedAt("spec.machineImages[0].versions[0].capabilityFlavors"))

		By("creating another one with the version, too late")
		late := preview("gains-version-too-late", "gains-version")
		late.Spec.MachineImages[0].Versions[0] = v1beta1.MachineImageVersion{
			ExpirableVersion: v1beta1.ExpirableVersion{Version: "2000.0.0", ExpirationDate: ptr.To(metav1.Unix(1<<31, 0))}, //nolint:staticcheck // as people write it
		}
		Expect(u.Create(ctx, late)).To(beRefusedAt("spec.providerConfig.machineImages[0].versions[0]"))
		destroy(ctx, profile)
	})

	It("is converted to the format of its parent", func(ctx SpecContext) {
		parent := read[v1beta1.CloudProfile](root + "/example/cloudprofile-legacy.yaml")
		parent.Name = "legacy-parent"
		create(ctx, parent)
		profile := preview("converted", "legacy-parent")
		image := &profile.Spec.MachineImages[0]
		image.Name, image.Versions[0].Architectures = "coreos", []string{"amd64"}
		edit(profile.Spec.ProviderConfig,
			replace("/machineImages/0/name", "coreos"),
			remove(flavorAt(0, 0)+"/capabilities/hypervisor"))
		expectAccepted(u.Create(ctx, profile))
		rendered(ctx, profile, "2135.6.0=1234-amd64", "2135.5.0=1233-amd64", "2000.0.0=2000-amd64-virt")
	})
})
