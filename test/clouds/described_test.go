// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package clouds

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capkit/capkit/hack/components"
	builtin "github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/garden/samples"
)

// metal is the built-in cloud whose description the specs modify.
const metal = "ironcore-metal"

// ownCloud returns a component for a type that is not built in, described like metal with some text replaced.
func ownCloud(providerType string, replaced ...string) extension.Component {
	return extension.Component{
		Component:   components.Component{Type: providerType, Title: "Acme", Beside: true, Described: true},
		Description: strings.NewReplacer(append(replaced, "type: "+metal, "type: "+providerType)...).Replace(builtin.Text(metal)),
	}
}

var _ = Describe("The component of a cloud by description", func() {
	It("knows a cloud of one's own by a value of its chart", func(ctx SpecContext) {
		c := ownCloud("acme")
		program, err := c.Build(ctx)
		Expect(err).NotTo(HaveOccurred())
		_, err = c.Run(ctx, g, program)
		Expect(err).NotTo(HaveOccurred())

		own := *all[metal]
		own.Profile = all[metal].Profile.DeepCopy()
		own.Profile.SetName("acme")
		Expect(unstructured.SetNestedField(own.Profile.Object, "acme", "spec", "type")).To(Succeed())
		Expect(samples.Apply(ctx, g.Client(), own.Profile, own.Bare())).To(Succeed())
		Expect(flavors(ctx, own.Bare().GetName())).To(Equal(flavors(ctx, "acme")))
		Expect(samples.Apply(ctx, g.Client(), own.Ahead("ahead"))).To(And(
			MatchError(apierrors.IsInvalid, "IsInvalid"), MatchError(ContainSubstring("the provider config has no entry for this version")),
		))
	})

	It("does not start with a faulty description, and says what is wrong, and where", func(ctx SpecContext) {
		c := ownCloud("faulty", "reference:", "references:", "path: machineImages", "path: machines")
		program, err := c.Build(ctx)
		Expect(err).NotTo(HaveOccurred())
		_, err = c.Run(ctx, g, program)
		Expect(err).To(And(
			MatchError(ContainSubstring("it has ended")),
			MatchError(ContainSubstring("-description.yaml:9:16: machines leads nowhere")),
			MatchError(ContainSubstring("-description.yaml:11:1: unknown key \"references\"; did you mean reference?")),
		))
	})
})
