// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Lifecycles need a feature gate of Gardener, which is enabled in the garden of these specs.

var _ = Describe("A version with a lifecycle", func() {
	// The command warns about it (version-unavailable): Gardener's maintenance skips previews, but not unavailable versions.
	It("of Kubernetes is what maintenance updates to before it is available", func(ctx SpecContext) {
		profile := openstack("lifecycle-early")
		profile.Spec.Kubernetes.Versions = []v1beta1.ExpirableVersion{{Version: "1.33.2"}}
		create(ctx, profile)
		s := shoot("lifecycle-early", profile.Name)
		create(ctx, s)
		later := metav1.NewTime(time.Now().Add(time.Hour).Truncate(time.Second))
		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			p.Spec.Kubernetes.Versions = append(p.Spec.Kubernetes.Versions, v1beta1.ExpirableVersion{
				Version: "1.33.3", Lifecycle: []v1beta1.LifecycleStage{{Classification: v1beta1.ClassificationSupported, StartTime: &later}},
			})
		})).To(Succeed())
		Expect(profile.Spec.Kubernetes.Versions).To(HaveLen(2), "an update drops none")
		Eventually(ctx, func(g Gomega) { // once Gardener knows the profile
			Expect(change(ctx, s, func(s *v1beta1.Shoot) {
				metav1.SetMetaDataAnnotation(&s.ObjectMeta, v1beta1constants.GardenerOperation, v1beta1constants.ShootOperationMaintain)
			})).To(Succeed())
			g.Expect(u.Get(ctx, client.ObjectKeyFromObject(s), s)).To(Succeed())
			g.Expect(s.Spec.Kubernetes.Version).To(Equal("1.33.3"))
		}).Should(Succeed())
		destroy(ctx, s)
	})

	It("is written by capkit migrate --lifecycle so that the garden takes it, and back", func(ctx SpecContext) {
		text, err := os.ReadFile(root + "/example/cloudprofile.yaml")
		Expect(err).NotTo(HaveOccurred())
		legacy := strings.Replace(string(text), "name: openstack", "name: lifecycle-migrated", 1)
		legacy = strings.Replace(legacy, "classification: deprecated", "classification: deprecated\n      expirationDate: \"2037-01-31T00:00:00Z\"", 1)
		file := filepath.Join(GinkgoT().TempDir(), "profile.yaml")
		Expect(os.WriteFile(file, []byte(legacy), 0o600)).To(Succeed())
		Expect(g.Apply(ctx, file)).To(Succeed())
		profile := &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "lifecycle-migrated"}}
		stored := func() v1beta1.ExpirableVersion {
			GinkgoHelper()
			Expect(g.Apply(ctx, file)).To(Succeed())
			Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
			return profile.Spec.MachineImages[0].Versions[1].ExpirableVersion
		}
		was := stored()

		migrate("--lifecycle", file)
		v := stored()
		Expect(v.Classification).To(BeNil()) //nolint:staticcheck // as people write it
		Expect(v.ExpirationDate).To(BeNil()) //nolint:staticcheck // as people write it
		Expect(v.Lifecycle).To(HaveLen(2))

		migrate("--lifecycle", "--back", file)
		Expect(os.ReadFile(file)).To(BeEquivalentTo(legacy))
		Expect(stored()).To(Equal(was))
	})
})
