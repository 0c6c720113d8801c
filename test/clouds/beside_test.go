// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package clouds

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/garden/samples"
)

// The component of an extension also fills in core flavors and merges NamespacedCloudProfiles. API servers call mutating
// webhooks in the order of their configurations' names, so it can be the first or the last.
var _ = Describe("Beside the component of the extension", func() {
	DescribeTable("core flavors and rendered images are what they are without it", func(ctx SpecContext, c extension.Component) {
		s := all[c.Type]
		alone := write(ctx, s, "alone")
		for suffix, name := range map[string]string{"asked-first": "a-" + c.Type, "asked-last": "z-" + c.Type} {
			By(suffix)
			other := newStandIn(ctx, c, name, "-"+suffix)
			Eventually(ctx, func(ctx context.Context) (int, error) {
				probe := client.ApplyConfigurationFromUnstructured(mixed(s, suffix))
				return other.count(), g.Client().Apply(ctx, probe, client.FieldOwner("samples"), client.DryRunAll)
			}).Should(BeNumerically(">", 0), "the API server asks it")
			Expect(write(ctx, s, suffix)).To(Equal(alone))
			Expect(other.changed()).To(ConsistOf("CloudProfile", "NamespacedCloudProfile", "NamespacedCloudProfile/status"))
		}
	}, each())
})

// result is the stored state of a profile, and of a child of another profile.
type result struct {
	// flavors and childFlavors are the numbers of core flavors by image version. The validating webhook has compared the
	// flavors with the provider config, one to one.
	flavors, childFlavors map[string]int
	// images are the entries of image versions in the child's merged provider config, as sorted JSON. They omit
	// capabilities with all values, because an undeclared capability has all values, too.
	images []string
}

// write writes the mixed profile of a cloud and the child of its full one, both without core flavors and under names with a suffix. It
// returns the stored state.
func write(ctx context.Context, s *samples.Samples, suffix string) result {
	GinkgoHelper()
	u, profile, child := newUser(), mixed(s, suffix), s.Namespaced.DeepCopy()
	child.SetName(s.Namespaced.GetName() + "-" + suffix)
	samples.Strip(child)
	Expect(samples.Apply(ctx, u.client, profile, child)).To(Succeed())
	Expect(u.warnings).To(BeEmpty())

	found := result{flavors: map[string]int{}, childFlavors: map[string]int{}}
	for version, flavors := range flavors(ctx, profile.GetName()) {
		Expect(flavors).NotTo(BeEmpty(), version)
		found.flavors[version] = len(flavors)
	}
	rendered := &v1beta1.NamespacedCloudProfile{}
	Eventually(ctx, func(ctx context.Context) (bool, error) {
		err := g.Client().Get(ctx, client.ObjectKeyFromObject(child), rendered)
		return err == nil && rendered.Status.ObservedGeneration == rendered.Generation, err
	}).Should(BeTrue())
	for _, image := range rendered.Spec.MachineImages {
		for _, version := range image.Versions {
			found.childFlavors[image.Name+"@"+version.Version] = len(version.CapabilityFlavors)
		}
	}
	Expect(found.childFlavors).To(ContainElement(BeNumerically(">", 0)), "the child has an image version of its own")
	found.images = contents(rendered.Status.CloudProfileSpec.ProviderConfig.Raw, rendered.Status.CloudProfileSpec.MachineCapabilities)
	return found
}

// mixed returns a cloud's cloudprofile-mixed.yaml without core flavors, under a name with a suffix.
func mixed(s *samples.Samples, suffix string) *unstructured.Unstructured {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(root, s.Folder, "cloudprofile-mixed.yaml"))
	Expect(err).NotTo(HaveOccurred())
	profile := &unstructured.Unstructured{}
	Expect(yaml.UnmarshalStrict(content, &profile.Object)).To(Succeed())
	profile.SetName(profile.GetName() + "-" + suffix)
	samples.Strip(profile)
	return profile
}

// contents returns the entries of image versions in a provider config, each with its image's name and without capabilities
// that have all values.
func contents(raw []byte, capabilities []v1beta1.CapabilityDefinition) []string {
	GinkgoHelper()
	var config imageConfig
	Expect(json.Unmarshal(raw, &config)).To(Succeed())
	var all []string
	for _, image := range config.MachineImages {
		for _, version := range image.Versions {
			flavors, _ := version["capabilityFlavors"].([]any)
			for _, flavor := range flavors {
				declared, _ := flavor.(map[string]any)["capabilities"].(map[string]any)
				for _, capability := range capabilities {
					if values, _ := declared[capability.Name].([]any); len(values) == len(capability.Values) {
						delete(declared, capability.Name)
					}
				}
			}
			entry, err := json.Marshal(version)
			Expect(err).NotTo(HaveOccurred())
			all = append(all, image.Name+" "+string(entry))
		}
	}
	slices.Sort(all)
	return all
}

// docs/operators/operations.md describes this behavior for reserved capabilities.
var _ = Describe("The component of the extension", func() {
	It("copies reserved capabilities into core, which refuses them", func(ctx SpecContext) {
		for _, c := range extension.All() {
			profile := all[c.Type].Profile.DeepCopy()
			profile.SetName(profile.GetName() + "-reserved")
			images, _, err := unstructured.NestedSlice(profile.Object, "spec", "providerConfig", "machineImages")
			Expect(err).NotTo(HaveOccurred())
			flavor := images[0].(map[string]any)["versions"].([]any)[0].(map[string]any)["capabilityFlavors"].([]any)[0].(map[string]any)
			flavor["capabilities"].(map[string]any)["gardener-update-type"] = []any{"rolling"}
			Expect(unstructured.SetNestedSlice(profile.Object, images, "spec", "providerConfig", "machineImages")).To(Succeed())
			dryRun := func(ctx context.Context) error {
				return g.Client().Apply(ctx, client.ApplyConfigurationFromUnstructured(profile.DeepCopy()), client.FieldOwner("samples"), client.DryRunAll)
			}
			Expect(dryRun(ctx)).To(Succeed(), c.Type)
			newStandIn(ctx, c, "z-"+c.Type, "-reserved")
			Eventually(ctx, dryRun).Should(MatchError(ContainSubstring("gardener-update-type")), c.Type)
		}
	})
})
