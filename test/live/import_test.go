// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// The effects of a garden on import: the users of a version, and the parents of NamespacedCloudProfiles.

// listOf writes an ImageList with one version of gardenlinux in both regions, whose IDs end with a mark. It returns the value of --from.
func listOf(version, mark string) string {
	GinkgoHelper()
	text := "apiVersion: capkit/v1\nkind: ImageList\nimages:\n- name: gardenlinux\n  version: " + version +
		"\n  flavors:\n  - capabilities: {architecture: [amd64]}\n    regions:\n"
	for _, region := range []string{"europe", "asia"} {
		text += fmt.Sprintf("    - {name: %s, id: %s-%s%s}\n", region, region, version, mark)
	}
	path := filepath.Join(GinkgoT().TempDir(), "images.yaml")
	Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	return "--from=list:" + path
}

// classified returns the versions of the first image in a file as VERSION CLASSIFICATION, followed by the expiration date if there is one.
func classified(file string) (all []string) {
	GinkgoHelper()
	object := &v1beta1.CloudProfile{}
	readFile(file, object)
	for _, v := range object.Spec.MachineImages[0].Versions {
		text := v.Version + " " + string(*v.Classification) //nolint:staticcheck // as people write it
		if v.ExpirationDate != nil {                        //nolint:staticcheck // as people write it
			text += v.ExpirationDate.UTC().Format(" 2006-01-02") //nolint:staticcheck // as people write it
		}
		all = append(all, text)
	}
	return all
}

func readFile(file string, into any) {
	GinkgoHelper()
	text, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.Unmarshal(text, into)).To(Succeed())
}

// using creates a Shoot that uses a version of a profile's gardenlinux.
func using(ctx context.Context, name, kind, profile, version string) {
	GinkgoHelper()
	s := shootOf(name, profile)
	s.Spec.CloudProfile.Kind = kind
	s.Spec.Provider.Workers[0].Machine.Image = &v1beta1.ShootMachineImage{Name: "gardenlinux", Version: &version}
	create(ctx, s)
}

var _ = Describe("import, with a garden,", Ordered, func() {
	var (
		profile *v1beta1.CloudProfile
		child   = &v1beta1.NamespacedCloudProfile{
			ObjectMeta: metav1.ObjectMeta{Name: "imported", Namespace: "garden-demo"},
			Spec:       v1beta1.NamespacedCloudProfileSpec{Parent: v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "importing"}},
		}
		ofProfile, ofChild string // files
	)

	// The specs are ordered, and share objects and files.
	BeforeAll(func(ctx SpecContext) {
		profile = offering("importing", offer{kubernetes: "1.33.2", images: []offeredImage{{
			name: "gardenlinux", strategy: v1beta1.UpdateStrategyMinor, versions: "1877.5.2:supported 1877.5.1:preview 1877.5.0:preview",
		}}}, time.Now())
		create(ctx, profile.DeepCopy())
		using(ctx, "importer", "CloudProfile", "importing", "1877.5.0")
		ofProfile, ofChild = written(profile), written(child)

		By("giving the NamespacedCloudProfile a version that its parent in the garden does not have, as the API server accepts it")
		a := admin("import", "-w", ofChild, listOf("1877.6.0", ""))
		Expect(a.status).To(Equal(0), a.stderr)
		Expect(a.stderr).To(ContainSubstring("garden-demo/imported: gardenlinux@1877.6.0: added, 1 flavor in 2 regions\n"))
		readFile(ofChild, child)
		Expect(child.Spec.MachineImages).To(HaveLen(1))
		create(ctx, child.DeepCopy())
		using(ctx, "inheriting", "NamespacedCloudProfile", "imported", "1877.5.1")
		using(ctx, "child-user", "NamespacedCloudProfile", "imported", "1877.6.0")
	})

	It("gives a NamespacedCloudProfile nothing that its parent in the garden has", func() {
		a := admin("import", ofChild, listOf("1877.5.2", ""))
		Expect(a.status).To(Equal(0), a.stderr)
		Expect(a.stdout).To(BeEmpty())
		Expect(a.stderr).To(ContainSubstring("note: garden-demo/imported: gardenlinux@1877.5.2: its parent has the version, which it inherits\n"))
	})

	It("deprecates no version that is in use, also by Shoots of children, and says by whom", func(ctx SpecContext) {
		before := classified(ofProfile)
		args := []string{ofProfile, listOf("1877.5.3", ""), "--keep=1", "--expire=2037-06-30"}
		unused := admin(append([]string{"import"}, args...)...)
		Expect(unused.status).To(Equal(0), unused.stderr)
		Expect(strings.Count(unused.stdout, "+      classification: deprecated\n")).To(Equal(3), unused.stdout)
		Expect(unused.stderr).To(And(ContainSubstring("note: --keep: no Shoots are among the inputs"), ContainSubstring("\nNo Shoots are among the inputs")))
		Expect(classified(ofProfile)).To(Equal(before))

		a := admin(append([]string{"import", "-w", "-A"}, args...)...)
		Expect(a.status).To(Equal(0), a.stderr)
		Expect(a.stderr).To(ContainSubstring("note: importing: gardenlinux@1877.5.0 stays as it is, because it is used by Shoot garden-demo/importer\n"))
		Expect(a.stderr).To(ContainSubstring("note: importing: gardenlinux@1877.5.1 stays as it is, because it is used by Shoot garden-demo/inheriting\n"))
		Expect(classified(ofProfile)).To(Equal([]string{
			"1877.5.3 preview", "1877.5.2 deprecated 2037-06-30", "1877.5.1 preview", "1877.5.0 preview",
		}))
		imported := &v1beta1.CloudProfile{}
		readFile(ofProfile, imported)
		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { p.Spec = imported.Spec })).To(Succeed())
		again := admin(append([]string{"import", "-w", "-A"}, args...)...)
		Expect(again.status).To(Equal(0), again.stderr)
		Expect(again.stderr).To(ContainSubstring("nothing to import\n"))
	})

	It("does so for versions of a NamespacedCloudProfile", func() {
		a := admin("import", "-w", "-n", "garden-demo", ofChild, listOf("1877.6.1", ""), "--keep=1")
		Expect(a.status).To(Equal(0), a.stderr)
		Expect(a.stderr).To(ContainSubstring("gardenlinux@1877.6.0 stays as it is, because it is used by Shoot garden-demo/child-user\n"))
		Expect(a.stderr).To(ContainSubstring("note: --keep: Shoots of one namespace alone were asked"))
		Expect(classified(ofChild)).To(Equal([]string{"1877.6.1 preview", "1877.6.0 preview"}))
	})

	It("replaces the images of a version in use only if it is asked to, and says whose machines that concerns", func() {
		source := listOf("1877.5.0", "-other")
		a := admin("import", "-w", "-A", ofProfile, source)
		Expect(a.status).To(Equal(1), a.stderr)
		Expect(a.stderr).To(MatchRegexp(
			`region europe: gardenlinux@1877\.5\.0 has another image here than in the source, .*--replace replaces it; it is used by Shoot garden-demo/importer`))
		a = admin("import", "-A", ofProfile, source, "--replace")
		Expect(a.status).To(Equal(0), a.stderr)
		Expect(a.stdout).To(ContainSubstring("id: europe-1877.5.0-other\n"))
		Expect(a.stderr).To(ContainSubstring("importing: gardenlinux@1877.5.0: replaced, 1 flavor in 2 regions\n"))
		Expect(a.stderr).To(ContainSubstring("garden-demo/importer"))
	})

	It("takes a cluster for one landscape", func() {
		canary, production := filepath.Dir(written(profile)), filepath.Dir(written(profile))
		a := admin("import", "-A", canary, production, listOf("1877.5.4", ""))
		Expect(a.status).To(Equal(2), a.stderr)
		Expect(a.stderr).To(ContainSubstring("a cluster is one landscape"))
	})
})
