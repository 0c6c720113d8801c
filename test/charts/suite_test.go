// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package charts tests the charts, and the manifests that register them, on a real API server: as Helm, gardener-operator
// and gardenlet render them.
package charts

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/charts"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/suite"
)

// root is the root of the repository.
const root = "../.."

// The namespaces that the charts are installed in: by gardener-operator, in the virtual garden, and by gardenlet.
const (
	runtimeNamespace   = "garden"
	extensionNamespace = "extension-admission-openstack"
	seedNamespace      = "extension-admission-openstack-x7k2p"
	// restrictedNamespace accepts only pods that meet the strictest of Kubernetes' pod security standards.
	restrictedNamespace = "restricted"
)

// g is the garden of all specs, runtime cluster and virtual garden in one. The specs apply the same objects repeatedly, and
// do not depend on leftovers of others.
var g *garden.Garden

func TestCharts(t *testing.T) { suite.Run(t, "test/charts", "garden") }

// The garden gets the contents of a runtime cluster: Gardener's versions of kinds that are not built in, and namespaces.
var _ = BeforeSuite(func(ctx SpecContext) {
	slog.SetDefault(slog.New(slog.NewTextHandler(GinkgoWriter, nil)))
	g = suite.StartGarden(ctx, garden.Options{})
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/gardener/gardener").Output()
	Expect(err).NotTo(HaveOccurred())
	example := filepath.Join(strings.TrimSpace(string(module)), "example")
	_, err = envtest.InstallCRDs(g.RESTConfig(), envtest.CRDInstallOptions{ErrorIfPathMissing: true, MaxTime: time.Minute, Paths: []string{
		filepath.Join(example, "operator", "10-crd-operator.gardener.cloud_extensions.yaml"),
		filepath.Join(example, "operator", "10-crd-monitoring.coreos.com_prometheusrules.yaml"),
		filepath.Join(example, "operator", "10-crd-monitoring.coreos.com_servicemonitors.yaml"),
		filepath.Join(example, "resource-manager", "10-crd-resources.gardener.cloud_managedresources.yaml"),
		filepath.Join(example, "seed-crds", "10-crd-autoscaling.k8s.io_verticalpodautoscalers.yaml"),
	}})
	Expect(err).NotTo(HaveOccurred())
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: extensionNamespace}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: seedNamespace}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: restrictedNamespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
		}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: extension.Name, Namespace: restrictedNamespace}},
	} {
		Expect(g.Client().Create(ctx, object)).To(Succeed())
	}
})

// apply applies objects like Helm, and fails if the API server finds an unknown field: server-side apply always validates strictly.
func apply(ctx context.Context, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	Expect(objects).NotTo(BeEmpty())
	for _, object := range objects {
		configuration := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		Expect(g.Client().Apply(ctx, configuration, client.FieldOwner("test"), client.ForceOwnership)).To(Succeed(),
			"%s %s", object.GetKind(), object.GetName())
	}
}

// openstack is the component under test, unless a spec names another.
var openstack = components.OpenStack

// render renders a chart of the OpenStack component like Helm.
func render(kind chart.Kind, namespace string, values map[string]any) []*unstructured.Unstructured {
	GinkgoHelper()
	return renderFor(openstack, kind, namespace, values)
}

// renderFor renders a chart of a component like Helm.
func renderFor(c components.Component, kind chart.Kind, namespace string, values map[string]any) []*unstructured.Unstructured {
	GinkgoHelper()
	objects, err := charts.Render(c, kind, namespace, values)
	Expect(err).NotTo(HaveOccurred())
	return objects
}

// each returns a table entry for every component.
func each() []TableEntry {
	var rows []TableEntry
	for _, c := range components.All() {
		rows = append(rows, Entry("for "+c.Type, c))
	}
	return rows
}

// values returns the values of this name in testdata/values.txtar.
func values(name string) map[string]any {
	GinkgoHelper()
	archive, err := txtar.ParseFile("testdata/values.txtar")
	Expect(err).NotTo(HaveOccurred())
	i := slices.IndexFunc(archive.Files, func(file txtar.File) bool { return file.Name == name+".yaml" })
	Expect(i).To(BeNumerically(">=", 0), "there are no values %s", name)
	return decode[map[string]any](archive.Files[i].Data)
}

func read(path ...string) []byte {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(path...))
	Expect(err).NotTo(HaveOccurred())
	return content
}

func decode[T any](manifest []byte) (object T) {
	GinkgoHelper()
	Expect(yaml.UnmarshalStrict(manifest, &object)).To(Succeed())
	return object
}

// objects returns the objects in YAML documents.
func objects(documents []byte) []*unstructured.Unstructured {
	GinkgoHelper()
	decoded, err := charts.Decode(string(documents))
	Expect(err).NotTo(HaveOccurred())
	return decoded
}

// find returns the only object of a kind.
func find(objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	GinkgoHelper()
	var found *unstructured.Unstructured
	Expect(objects).To(ContainElement(HaveField("GetKind()", kind), &found))
	return found
}

// podOf returns the pod of the only Deployment, and its only container.
func podOf(objects []*unstructured.Unstructured) (corev1.PodSpec, corev1.Container) {
	GinkgoHelper()
	deployment := &appsv1.Deployment{}
	manifest := find(objects, "Deployment").Object
	Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(manifest, deployment, true)).To(Succeed())
	pod := deployment.Spec.Template.Spec
	Expect(pod.InitContainers).To(BeEmpty())
	Expect(pod.Containers).To(HaveLen(1))
	return pod, pod.Containers[0]
}

// isMounted checks that the container has the injected kubeconfig.
func isMounted(container corev1.Container) {
	GinkgoHelper()
	var variable corev1.EnvVar
	Expect(container.Env).To(ContainElement(HaveField("Name", "GARDEN_KUBECONFIG"), &variable))
	Expect(container.VolumeMounts).To(ContainElement(HaveField("MountPath", filepath.Dir(variable.Value))))
}
