// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"slices"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/gardener/gardener/pkg/chartrenderer"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/utils"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/garden/charts"
)

// TestGardenlet: the chart in example/controller-registration.yaml, as the API server keeps it, can be rendered and applied as
// gardenlet does that.
func TestGardenlet(t *testing.T) {
	apply(t, example(t, "controller-registration.yaml"))
	deployment := &gardencorev1.ControllerDeployment{}
	if err := clientSet(t, kubernetes.GardenScheme).Client().Get(t.Context(), client.ObjectKey{Name: "admission-openstack"}, deployment); err != nil {
		t.Fatal(err)
	}
	if deployment.InjectGardenKubeconfig == nil || !*deployment.InjectGardenKubeconfig {
		t.Error("gardenlet is not asked for a kubeconfig")
	}
	var values map[string]any
	if err := yaml.Unmarshal(deployment.Helm.Values.Raw, &values); err != nil {
		t.Fatal(err)
	}
	// What gardenlet adds to them, in a seed or in the cluster that it bootstraps.
	added := map[string]any{
		"gardener": map[string]any{
			"version":                "v1.150.0",
			"garden":                 map[string]any{"clusterIdentity": "garden", "genericKubeconfigSecretName": "generic-garden-kubeconfig"},
			"gardenlet":              map[string]any{"featureGates": map[string]any{}},
			"seed":                   map[string]any{"name": "runtime", "spec": map[string]any{}},
			"selfHostedShootCluster": true,
			"shoot":                  map[string]any{"name": "runtime"},
		},
		"usablePorts": []int{10250},
	}
	renderer, err := chartrenderer.NewForConfig(g.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := renderer.RenderArchive(deployment.Helm.RawChart, "admission-openstack", seedNamespace, utils.MergeMaps(values, added))
	if err != nil {
		t.Fatal(err)
	}
	data := rendered.AsSecretData()
	err = gardenerutils.MutateObjectsInSecretData(data, seedNamespace, []string{appsv1.GroupName}, func(object runtime.Object) error {
		return gardenerutils.InjectGenericGardenKubeconfig(object, "generic-garden-kubeconfig", "garden-access-extension", gardenerutils.VolumeMountPathGenericGardenKubeconfig)
	})
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for name, content := range data {
		decoded, err := charts.Decode(string(content))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		objects = append(objects, decoded...)
	}
	apply(t, objects)
	container := containerOf(t, find(t, objects, "Deployment"))
	isMounted(t, container)
	if arg := "--webhook-config-url=gardener-extension-admission-openstack." + seedNamespace; !slices.Contains(container.Args, arg) {
		t.Errorf("%s is not in %v", arg, container.Args)
	}
}
