// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/chartrenderer"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/utils"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
)

var _ = Describe("gardenlet", func() {
	const kubeconfig = "generic-garden-kubeconfig"

	DescribeTable("renders and applies the chart of controller-registration.yaml as the API server keeps it", func(ctx SpecContext, c components.Component) {
		apply(ctx, objects(read(root, "example", chart.ManifestFolder(c), "controller-registration.yaml")))
		deployment := &gardencorev1.ControllerDeployment{}
		Expect(clientSet(kubernetes.GardenScheme).Client().Get(ctx, client.ObjectKey{Name: c.Release()}, deployment)).To(Succeed())
		registration := &v1beta1.ControllerRegistration{}
		Expect(clientSet(kubernetes.GardenScheme).Client().Get(ctx, client.ObjectKey{Name: c.Release()}, registration)).To(Succeed())
		Expect(registration.Annotations).To(HaveKeyWithValue(v1beta1constants.AnnotationPodSecurityEnforce, "restricted"))
		Expect(deployment.InjectGardenKubeconfig).To(HaveValue(BeTrue()), "gardenlet is asked for a kubeconfig")

		renderer, err := chartrenderer.NewForConfig(g.RESTConfig())
		Expect(err).NotTo(HaveOccurred())
		merged := utils.MergeMaps(decode[map[string]any](deployment.Helm.Values.Raw), values("gardenlet"))
		rendered, err := renderer.RenderArchive(deployment.Helm.RawChart, c.Release(), seedNamespace, merged)
		Expect(err).NotTo(HaveOccurred())
		data := rendered.AsSecretData()
		inject := func(object runtime.Object) error {
			folder := gardenerutils.VolumeMountPathGenericGardenKubeconfig
			return gardenerutils.InjectGenericGardenKubeconfig(object, kubeconfig, "garden-access-extension", folder)
		}
		Expect(gardenerutils.MutateObjectsInSecretData(data, seedNamespace, []string{appsv1.GroupName}, inject)).To(Succeed())

		var all []*unstructured.Unstructured
		for _, content := range data {
			all = append(all, objects(content)...)
		}
		apply(ctx, all)
		pod, container := podOf(all)
		isMounted(container)
		Expect(pod.PriorityClassName).To(Equal(v1beta1constants.PriorityClassNameSeedSystem900))
		Expect(container.Args).To(ContainElement("--webhook-config-url=" + c.Name() + "." + seedNamespace))
	}, each())
})
