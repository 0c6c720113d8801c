// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/test/garden/charts"
)

// metal is the component whose charts docs/operators/operations.md adapts to a cloud of one's own.
var metal = func() components.Component {
	c, _ := components.Of("ironcore-metal")
	return c
}()

var _ = Describe("The charts of a cloud by description", func() {
	It("tell the program a type that is built in, and mount nothing", func() {
		rendered := renderFor(metal, charts.Runtime, runtimeNamespace, nil)
		pod, container := podOf(rendered)
		Expect(container.Args).To(ContainElement("--provider-type=ironcore-metal"))
		Expect(container.Args).NotTo(ContainElement(HavePrefix("--provider-file")))
		Expect(pod.Volumes).NotTo(ContainElement(HaveField("ConfigMap", Not(BeNil()))))
	})

	It("mount the description of a cloud of one's own", func(ctx SpecContext) {
		values := decode[map[string]any](read(root, "docs/examples/values-metal-stack.yaml"))
		rendered := renderFor(metal, charts.Runtime, runtimeNamespace, values)
		apply(ctx, rendered)
		configMap := find(rendered, "ConfigMap")
		text, _, err := unstructured.NestedString(configMap.Object, "data", "description.yaml")
		Expect(err).NotTo(HaveOccurred())
		cloud, err := described.Read("description.yaml", []byte(text), nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(cloud.Type()).To(Equal("metal"))

		pod, container := podOf(rendered)
		Expect(find(rendered, "Deployment").GetName()).To(Equal("gardener-extension-admission-capkit-metal"))
		Expect(container.Image).To(HavePrefix("registry.example.com/capkit/gardener-extension-admission-capkit:v"))
		Expect(container.Args).To(ContainElements("--provider-type=metal",
			"--provider-file=/etc/gardener-extension-admission-capkit-metal/provider/description.yaml"))
		Expect(container.VolumeMounts).To(ContainElement(And(
			HaveField("Name", "description"), HaveField("MountPath", "/etc/gardener-extension-admission-capkit-metal/provider"),
		)))
		Expect(pod.Volumes).To(ContainElement(And(
			HaveField("Name", "description"), HaveField("ConfigMap.Name", configMap.GetName()),
		)))

		By("starting other pods for another description")
		checksum := func(values map[string]any) string {
			found, _, err := unstructured.NestedString(find(renderFor(metal, charts.Runtime, runtimeNamespace, values), "Deployment").Object,
				"spec", "template", "metadata", "annotations", "checksum/description")
			Expect(err).NotTo(HaveOccurred())
			return found
		}
		before := checksum(values)
		set(values, []string{"component", "description"}, text+"shared: true\n")
		Expect(checksum(values)).NotTo(Equal(before))
	})
})
