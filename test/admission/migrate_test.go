// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/cli"
	cloud "github.com/capkit/capkit/pkg/openstack"
)

// migrate rewrites a file with the command, and returns the command's stderr.
func migrate(args ...string) string {
	GinkgoHelper()
	var stdout, stderr bytes.Buffer
	status := cli.Run(append([]string{"capkit", "migrate", "-w"}, args...), nil, &stdout, &stderr, cli.For(cloud.Provider{}))
	Expect(status).To(Equal(0), stdout.String()+stderr.String())
	return stderr.String()
}

// hosting returns a Shoot with one worker pool, on this machine type and image version.
func hosting(name, profile, machineType, version string) *v1beta1.Shoot {
	GinkgoHelper()
	s := shoot(name, profile)
	s.Spec.Provider.Workers[0].Machine.Type, s.Spec.Provider.Workers[0].Volume = machineType, nil
	s.Spec.Provider.Workers[0].Machine.Image.Version = &version
	return s
}

var _ = Describe("capkit migrate", func() {
	// replaces stores the file's objects in place of the existing ones, like kubectl replace.
	replaces := func(ctx context.Context, file string) error {
		_, err := g.Kubectl(ctx, "replace", "--filename="+file)
		return err
	}
	It("changes files so that the garden takes them, forward and back", func(ctx SpecContext) {
		text, err := os.ReadFile(root + "/docs/examples/suffixes.yaml")
		Expect(err).NotTo(HaveOccurred())
		legacy, _, _ := strings.Cut(string(text), "\n---\n")
		legacy = strings.Replace(legacy, "name: suffixes", "name: migrated", 1) + "\n"
		folder := GinkgoT().TempDir()
		file := filepath.Join(folder, "profile.yaml")
		Expect(os.WriteFile(file, []byte(legacy), 0o600)).To(Succeed())
		Expect(g.Apply(ctx, file)).To(Succeed())
		profile := &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "migrated"}}
		shoots := []*v1beta1.Shoot{
			hosting("migrated-virt", "migrated", "medium_4_8", "1877.5.0"), hosting("migrated-bare", "migrated", "bare_8_16", "1592.9.0-baremetal"),
		}
		for _, s := range shoots {
			create(ctx, s)
		}
		stays := func(step string) {
			GinkgoHelper()
			for i, s := range shoots {
				labelled := func() error {
					return change(ctx, s, func(s *v1beta1.Shoot) { metav1.SetMetaDataLabel(&s.ObjectMeta, "step", step) })
				}
				Eventually(ctx, labelled).Should(Succeed(), "once everybody knows the profile")
				Expect(s.Spec.Provider.Workers[0].Machine.Image.Version).To(HaveValue(Equal([]string{"1877.5.0", "1592.9.0-baremetal"}[i])))
			}
			Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
		}

		By("registering the architecture")
		migrate(file)
		Expect(g.Apply(ctx, file)).To(Succeed())
		stays("registered")
		for _, version := range profile.Spec.MachineImages[0].Versions {
			Expect(version.CapabilityFlavors).To(HaveLen(1), "filled in")
		}

		By("going back")
		migrate("--back", file)
		Expect(os.ReadFile(file)).To(BeEquivalentTo(legacy))
		Expect(replaces(ctx, file)).To(Succeed())
		stays("back")
		Expect(profile.Spec.MachineCapabilities).To(BeEmpty())

		By("joining versions, of which one is used")
		fold := []string{"--fold=-baremetal=hypervisor:baremetal,virtualized", "--machine-types=bare_*", file}
		dump := filepath.Join(folder, "shoots.yaml")
		dumped, err := g.Kubectl(ctx, "get", "shoots", "--namespace=garden-demo", "--output=yaml", shoots[0].Name, shoots[1].Name)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(dump, []byte(dumped), 0o600)).To(Succeed())
		said := migrate(append(fold, dump)...)
		Expect(said).To(ContainSubstring("gardenlinux@1592.9.0-baremetal is kept, because it is used by Shoot garden-demo/migrated-bare; " +
			"step 2, " + file + ".step-2, leaves it out"))
		Expect(g.Apply(ctx, file)).To(Succeed())
		stays("folded")
		Expect(profile.Spec.MachineImages[0].Versions).To(HaveLen(3))

		By("the second step, which Gardener refuses too early")
		_, err = g.Kubectl(ctx, "apply", "--filename="+file+".step-2")
		Expect(err).To(MatchError(ContainSubstring("1592.9.0-baremetal")))
		Expect(change(ctx, shoots[1], func(s *v1beta1.Shoot) {
			s.Spec.Provider.Workers[0].Machine.Image.Version = ptr.To("1592.9.0")
		})).To(Succeed())
		Eventually(ctx, func() error { return g.Apply(ctx, file+".step-2") }).Should(Succeed(), "once Gardener knows that nobody uses it")
		Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
		Expect(profile.Spec.MachineImages[0].Versions).To(HaveLen(2))
		for _, s := range shoots {
			destroy(ctx, s)
		}
	})

	// With each of these, every update fills in what the files omit, and removes it together with the vocabulary.
	DescribeTable("changes files that are applied", func(ctx SpecContext, name string, create, update []string) {
		text, err := os.ReadFile(root + "/example/cloudprofile-legacy.yaml")
		Expect(err).NotTo(HaveOccurred())
		folder := GinkgoT().TempDir()
		file, fresh := filepath.Join(folder, "profile.yaml"), filepath.Join(folder, "fresh.yaml")
		legacy := strings.Replace(string(text), "name: openstack-legacy", "name: "+name, 1)
		Expect(os.WriteFile(file, []byte(legacy), 0o600)).To(Succeed())
		profile := &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: name}}
		run := func(file string, how []string) {
			GinkgoHelper()
			_, err := g.Kubectl(ctx, append(how, "--filename="+file)...)
			Expect(err).NotTo(HaveOccurred())
			Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
		}
		filled := func() {
			GinkgoHelper()
			Expect(profile.Spec.MachineCapabilities).To(HaveLen(1))
			for i, architecture := range []string{"amd64", "arm64"} {
				Expect(profile.Spec.MachineTypes[i].Capabilities).To(HaveKeyWithValue("architecture", v1beta1.CapabilityValues{architecture}))
			}
			Expect(profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors).To(HaveLen(2))
			Expect(profile.Spec.MachineImages[0].Versions[1].CapabilityFlavors).To(HaveLen(1))
		}
		run(file, create)
		before := profile.Spec.DeepCopy()

		By("registering the architecture, and changing something else later")
		migrate(file)
		run(file, update)
		filled()
		registered, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(file, []byte(strings.Replace(string(registered), `cpu: "4"`, `cpu: "6"`, 1)), 0o600)).To(Succeed())
		run(file, update)
		filled()
		Expect(os.WriteFile(file, registered, 0o600)).To(Succeed())

		By("writing flavors")
		migrate("--provider-config", file)
		run(file, update)
		filled()
		Expect(string(profile.Spec.ProviderConfig.Raw)).To(ContainSubstring("capabilityFlavors"))

		By("going back")
		migrate("--back", file)
		run(file, update)
		Expect(profile.Spec.MachineCapabilities).To(BeEmpty())
		Expect(profile.Spec.MachineTypes).To(Equal(before.MachineTypes))
		Expect(profile.Spec.MachineImages).To(Equal(before.MachineImages))
		Expect(string(profile.Spec.ProviderConfig.Raw)).NotTo(ContainSubstring("capabilityFlavors"))

		By("creating it elsewhere")
		Expect(os.WriteFile(fresh, []byte(strings.Replace(string(registered), "name: "+name, "name: "+name+"-fresh", 1)), 0o600)).To(Succeed())
		profile = &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: name + "-fresh"}}
		run(fresh, create)
		filled()
	},
		Entry("by kubectl apply", "migrated-apply", []string{"apply"}, []string{"apply"}),
		Entry("by kubectl apply --server-side", "migrated-server-side", []string{"apply", "--server-side"}, []string{"apply", "--server-side"}),
		Entry("by kubectl replace", "migrated-replace", []string{"create"}, []string{"replace"}),
	)

	It("moves NamespacedCloudProfiles after their parent, and back before it", func(ctx SpecContext) {
		folder := GinkgoT().TempDir()
		parent, child := filepath.Join(folder, "parent.yaml"), filepath.Join(folder, "child.yaml")
		text, err := os.ReadFile(root + "/example/cloudprofile-legacy.yaml")
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(parent, []byte(strings.Replace(string(text), "name: openstack-legacy", "name: migrated-parent", 1)), 0o600)).To(Succeed())
		Expect(os.WriteFile(child, []byte(migratedChild), 0o600)).To(Succeed())
		Expect(g.Apply(ctx, parent)).To(Succeed())
		Expect(g.Apply(ctx, child)).To(Succeed())
		migrate("--provider-config", parent, child)
		Expect(g.Apply(ctx, parent)).To(Succeed())
		Eventually(ctx, func() error { return g.Apply(ctx, child) }).Should(Succeed(), "once everybody knows the parent")
		profile := &v1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-demo", Name: "migrated-child"}}
		Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
		Expect(string(profile.Spec.ProviderConfig.Raw)).To(ContainSubstring("capabilityFlavors"))

		migrate("--back", parent, child)
		Expect(g.Apply(ctx, child)).To(Succeed())
		Expect(g.Apply(ctx, parent)).To(Succeed())
		Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
		Expect(string(profile.Spec.ProviderConfig.Raw)).NotTo(ContainSubstring("capabilityFlavors"))
	})
})

const migratedChild = `apiVersion: core.gardener.cloud/v1beta1
kind: NamespacedCloudProfile
metadata:
  name: migrated-child
  namespace: garden-demo
spec:
  parent:
    kind: CloudProfile
    name: migrated-parent
  machineImages:
  - name: coreos
    versions:
    - version: 3000.1.0
      architectures: [arm64]
      cri: [{name: containerd}]
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    machineImages:
    - name: coreos
      versions:
      - version: 3000.1.0
        regions:
        - {name: europe, id: img, architecture: arm64}
        - {name: asia, id: far, architecture: arm64}
`
