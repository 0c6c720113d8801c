// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package reserved

import (
	"bytes"
	"encoding/json"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/test/suite"
)

// foretold returns the versions that capkit maintenance predicts for the worker pools of a Shoot.
func foretold(shoot string) map[string]string {
	GinkgoHelper()
	var stdout, stderr bytes.Buffer
	args := []string{"capkit", "maintenance", "-o", "json", "-n", "garden-demo", "--kubeconfig", g.Kubeconfig()}
	cli.Run(args, nil, &stdout, &stderr, clouds.All()...)
	var answer struct {
		Pools []struct{ Shoot, Pool, To string }
	}
	Expect(json.Unmarshal(stdout.Bytes(), &answer)).To(Succeed(), stderr.String())
	versions := map[string]string{}
	for _, p := range answer.Pools {
		if p.Shoot == "garden-demo/"+shoot {
			versions[p.Pool] = p.To
		}
	}
	return versions
}

// mixed returns versions of which some have a flavor for in-place updates. The newest has none, although core declares its support. The
// newest but one has only such a flavor.
func mixed() offer {
	return offer{[]v1beta1.CapabilityDefinition{updates}, []release{
		{"1.0.0", []flavor{rolling, inPlace}}, {"1.1.0", []flavor{both}}, {"1.2.0", []flavor{inPlace}}, {"1.3.0", []flavor{rolling}},
	}}
}

// oneSided is the component's warning about a version that has only flavors for in-place updates.
const oneSided = "gardenlinux@1.2.0: only worker pools that ask for gardener-update-type [in-place] can boot it"

var _ = Describe("A worker pool", func() {
	It("boots a flavor that fits how it is updated, whether its version is given or left out", func(ctx SpecContext) {
		create(ctx, profileOf("fits", mixed()), oneSided)
		create(ctx, shootOf("fits",
			pool{name: "auto", strategy: auto, version: "1.0.0"}, pool{name: "manual", strategy: manual, version: "1.2.0"},
			pool{name: "web", strategy: replace, version: "1.3.0"}, pool{name: "old", strategy: replace, version: "1.0.0", machineType: oldType}))
		left := shootOf("fits", pool{name: "auto", strategy: auto}, pool{name: "manual", strategy: manual}, pool{name: "web", strategy: replace})
		left.Name = "fits-left"
		create(ctx, left, "worker pool auto gets gardenlinux@1.2.0: Gardener chose gardenlinux@1.3.0, but update strategy AutoInPlaceUpdate",
			"worker pool manual gets gardenlinux@1.2.0: Gardener chose gardenlinux@1.3.0, but update strategy ManualInPlaceUpdate")
		Expect(versionsOf(left)).To(Equal(map[string]string{"auto": "1.2.0", "manual": "1.2.0", "web": "1.3.0"}))
	})

	DescribeTable("is refused where no flavor fits", func(ctx SpecContext, p pool, texts ...string) {
		create(ctx, profileOf("refused-"+p.name, mixed()), oneSided)
		Expect(u.Create(ctx, shootOf("refused-"+p.name, p))).To(refused(texts...))
	},
		Entry("updated in place automatically", pool{name: "auto", strategy: auto, version: "1.3.0"},
			"update strategy AutoInPlaceUpdate asks for gardener-update-type [in-place]", "would work: version"),
		Entry("updated in place by hand", pool{name: "manual", strategy: manual, version: "1.3.0"},
			"update strategy ManualInPlaceUpdate asks for gardener-update-type [in-place]", "would work: version"),
		Entry("updated in place on a machine type that cannot be", pool{name: "old", strategy: auto, version: "1.1.0", machineType: oldType},
			"and machine type old_8_16 has [rolling]; would work: machine type medium_4_8"),
		Entry("replaced", pool{name: "web", strategy: replace, version: "1.2.0"}, "asks for gardener-update-type [rolling]", "would work: version"),
	)

	It("is moved in maintenance to the newest version with a flavor that fits", func(ctx SpecContext) {
		before, after := mixed(), mixed()
		before.releases = before.releases[:1]
		profile := profileOf("maintained", before)
		create(ctx, profile)
		s := shootOf("maintained", pool{name: "auto", strategy: auto, version: "1.0.0"},
			pool{name: "manual", strategy: manual, version: "1.0.0"}, pool{name: "web", strategy: replace, version: "1.0.0"})
		create(ctx, s)
		Expect(change(ctx, profile, after.write)).To(Succeed())
		Expect(foretold("maintained")).To(Equal(map[string]string{"auto": "1.2.0", "manual": "1.2.0", "web": "1.3.0"}))
		Eventually(ctx, func(g Gomega) { // once every server has seen the profile
			last := suite.Maintain(ctx, u, s)
			g.Expect(last).To(HaveValue(HaveField("FailureReason", BeNil())))
			g.Expect(versionsOf(s)).To(Equal(map[string]string{"auto": "1.2.0", "manual": "1.2.0", "web": "1.3.0"}))
		}).Should(Succeed())
	})
})

var _ = Describe("Registering in a profile that is in use", func() {
	It("passes if the flavors declare what they had before, and warns of the worker pools that lose their image", func(ctx SpecContext) {
		// The flavor of 1.0.0 is silent. That means both values, because core declares support of in-place updates.
		before := offer{nil, []release{{"1.0.0", []flavor{silent}}, {"1.1.0", []flavor{rolling, inPlace}}}}
		same := offer{[]v1beta1.CapabilityDefinition{updates}, []release{{"1.0.0", []flavor{both}}, {"1.1.0", []flavor{rolling, inPlace}}}}
		less := offer{[]v1beta1.CapabilityDefinition{updates}, []release{{"1.0.0", []flavor{rolling}}, {"1.1.0", []flavor{rolling, inPlace}}}}
		profile := profileOf("in-use", before)
		create(ctx, profile)
		s := shootOf("in-use", pool{name: "auto", strategy: auto, version: "1.0.0"},
			pool{name: "newer", strategy: auto, version: "1.1.0"}, pool{name: "web", strategy: replace, version: "1.0.0"})
		create(ctx, s)
		Eventually(ctx, func(g Gomega) []string { // once the component knows the Shoot
			g.Expect(change(ctx, profile, before.write)).To(Succeed())
			g.Expect(change(ctx, profile, less.write)).To(Succeed())
			return u.Heard()
		}).Should(ContainElement(ContainSubstring("no image is left for worker pools of Shoot garden-demo/in-use (1 pool)")))
		Expect(change(ctx, profile, before.write)).To(Succeed())
		Expect(change(ctx, profile, same.write)).To(Succeed())
		expectWarnings()
		By("changing the Shoot, which fits as before")
		Expect(change(ctx, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum = 9 })).To(Succeed())
		expectWarnings()
	})
})
