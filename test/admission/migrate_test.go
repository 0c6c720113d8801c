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

// migrate changes a file with the command, and returns what it says besides.
func migrate(args ...string) string {
	GinkgoHelper()
	var stdout, stderr bytes.Buffer
	status := cli.Run(append([]string{"capkit", "migrate", "-w"}, args...), nil, &stdout, &stderr, cli.For(cloud.Provider{}))
	Expect(status).To(Equal(0), stdout.String()+stderr.String())
	return stderr.String()
}

// hosting returns a Shoot that boots a version on a machine type.
func hosting(name, profile, machineType, version string) *v1beta1.Shoot {
	GinkgoHelper()
	s := shoot(name, profile)
	s.Spec.Provider.Workers[0].Machine.Type, s.Spec.Provider.Workers[0].Volume = machineType, nil
	s.Spec.Provider.Workers[0].Machine.Image.Version = &version
	return s
}

var _ = Describe("capkit migrate", func() {
	// replaces stores what is in the file in place of what is there, as kubectl replace does.
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
		dumped := func() string {
			GinkgoHelper()
			text, err := g.Kubectl(ctx, "get", "shoots", "--namespace=garden-demo", "--output=yaml", shoots[0].Name, shoots[1].Name)
			Expect(err).NotTo(HaveOccurred())
			Expect(os.WriteFile(dump, []byte(text), 0o600)).To(Succeed())
			return dump
		}
		said := migrate(append(fold, dumped())...)
		Expect(said).To(ContainSubstring("gardenlinux@1592.9.0-baremetal is kept, because it is used by Shoot garden-demo/migrated-bare"))
		Expect(g.Apply(ctx, file)).To(Succeed())
		stays("folded")
		Expect(profile.Spec.MachineImages[0].Versions).To(HaveLen(3))

		By("moving the Shoot that used it")
		Expect(change(ctx, shoots[1], func(s *v1beta1.Shoot) {
			s.Spec.Provider.Workers[0].Machine.Image.Version = ptr.To("1877.5.0")
		})).To(Succeed())
		Expect(migrate(append(fold, dumped())...)).To(BeEmpty())
		Eventually(ctx, func() error { return replaces(ctx, file) }).Should(Succeed(), "once Gardener knows that nobody uses it")
		Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
		Expect(profile.Spec.MachineImages[0].Versions).To(HaveLen(2))
		for _, s := range shoots {
			destroy(ctx, s)
		}
	})
})
