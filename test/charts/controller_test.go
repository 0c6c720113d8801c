// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/api/operator/v1alpha1/validation"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/chartrenderer"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/extensions"
	"github.com/gardener/gardener/pkg/utils"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/gardener/gardener/pkg/utils/gardener/operator"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
	yamlv3 "go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/pkg/worker/kit/command"
	"github.com/capkit/capkit/test/garden/charts"
)

// worker is the worker controller under test.
var worker = components.Controllers()[0]

// controllerNamespace is the namespace in which gardenlet installs the worker controller.
const controllerNamespace = "extension-provider-openstack-worker-x7k2p"

// renderWorker renders the chart like Helm.
func renderWorker(values map[string]any) []*unstructured.Unstructured {
	GinkgoHelper()
	return renderFor(worker, charts.Worker, controllerNamespace, values)
}

// workerCommand returns the worker controller's command without its controllers.
func workerCommand() *cobra.Command {
	return command.New(command.Controller{
		Program: worker.Program(), Component: worker.Release(), Type: worker.Type,
		Add: func(context.Context, manager.Manager, command.Options) error { return nil },
	})
}

// workerRegistration returns the objects of example/worker-TYPE/controller-registration.yaml.
func workerRegistration() (*gardencorev1.ControllerDeployment, *v1beta1.ControllerRegistration) {
	GinkgoHelper()
	manifest := objects(read(root, "example", chart.ManifestFolder(worker), "controller-registration.yaml"))
	deployment, registration := &gardencorev1.ControllerDeployment{}, &v1beta1.ControllerRegistration{}
	into := func(kind string, object any) {
		content := find(manifest, kind).Object
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, object, true)).To(Succeed())
	}
	into("ControllerDeployment", deployment)
	into("ControllerRegistration", registration)
	return deployment, registration
}

var _ = Describe("The chart of the worker controller", func() {
	BeforeEach(func(ctx SpecContext) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: controllerNamespace}}
		Expect(client.IgnoreAlreadyExists(g.Client().Create(ctx, namespace))).To(Succeed())
	})

	DescribeTable("is taken by an API server", func(ctx SpecContext, name string) {
		apply(ctx, renderWorker(values(name)))
	},
		Entry("by default", "default"),
		Entry("with every value", "worker-full"),
		Entry("in a seed", "worker-gardenlet"),
		Entry("in a cluster that gardenlet bootstraps", "worker-bootstrap"),
		Entry("without autoscaling", "worker-no-autoscaling"),
	)

	It("has names that nothing of provider-openstack has, and the lease and the heartbeat that the program takes", func() {
		rendered := renderWorker(nil)
		for _, object := range rendered {
			Expect(object.GetName()).To(Equal("gardener-extension-provider-openstack-worker"), object.GetKind())
		}
		lease := workerCommand().Flag("leader-election-id").DefValue
		Expect(lease).To(Equal("provider-openstack-worker-leader-election"))
		role := &rbacv1.Role{}
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(find(rendered, "Role").Object, role)).To(Succeed())
		Expect(role.Rules).To(ContainElements(
			HaveField("ResourceNames", ConsistOf(lease)), HaveField("ResourceNames", ConsistOf(extensions.HeartBeatResourceName)),
		))
	})

	DescribeTable("starts the program in a way that it understands", func(name string) {
		pod, container := podOf(renderWorker(values(name)))
		cmd := workerCommand()
		Expect(cmd.ParseFlags(container.Args)).To(Succeed())
		for _, flag := range []string{"leader-election-namespace", "heartbeat-namespace"} {
			Expect(cmd.Flag(flag).Value.String()).To(Equal(controllerNamespace))
		}
		for flag, name := range map[string]string{"metrics-bind-address": "metrics", "health-bind-address": "health"} {
			var port corev1.ContainerPort
			Expect(container.Ports).To(ContainElement(HaveField("Name", name), &port))
			Expect(cmd.Flag(flag).Value.String()).To(Equal(fmt.Sprintf(":%d", port.ContainerPort)))
		}
		// A manager gives running work 30 seconds to end.
		Expect(pod.TerminationGracePeriodSeconds).To(HaveValue(BeNumerically(">", 30)))
	},
		Entry("by default", "default"),
		Entry("with every value", "worker-full"),
		Entry("in a seed", "worker-gardenlet"),
		Entry("in a cluster that gardenlet bootstraps", "worker-bootstrap"),
	)

	It("takes the ports that gardenlet has found to be free, and not those that others may have", func() {
		_, container := podOf(renderWorker(values("worker-bootstrap")))
		Expect(container.Args).To(ContainElements("--metrics-bind-address=:20001", "--health-bind-address=:20002"))
	})

	DescribeTable("gives the pod no more rights on its node than it needs", func(ctx SpecContext, name string) {
		pod, container := podOf(renderWorker(values(name)))
		Expect(container.SecurityContext.ReadOnlyRootFilesystem).To(HaveValue(BeTrue()))
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: pod.ServiceAccountName, Namespace: restrictedNamespace}}
		Expect(client.IgnoreAlreadyExists(g.Client().Create(ctx, account))).To(Succeed())
		pod.PriorityClassName = ""
		object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "restricted", Namespace: restrictedNamespace}, Spec: pod}
		Expect(g.Client().Create(ctx, object, client.DryRunAll)).To(Succeed())
	},
		Entry("by default", "default"),
		Entry("with every value", "worker-full"),
	)

	It("has the image of the project's version, which may be pinned with a digest", func() {
		version := strings.TrimSpace(string(read(root, "VERSION")))
		_, container := podOf(renderWorker(nil))
		Expect(container.Image).To(Equal("registry.example.com/capkit/gardener-extension-provider-openstack:v" + version))
		pinned := values("worker-pinned")
		rendered := renderWorker(pinned)
		_, container = podOf(rendered)
		Expect(container.Image).To(HaveSuffix(":%s", pinned["image"].(map[string]any)["tag"]))
		Expect(find(rendered, "Deployment").GetLabels()).To(HaveKeyWithValue("app.kubernetes.io/version", "v1.2.3"))
	})

	It("asks Gardener for the replicas that the values say, and for the ways that the pod needs", func() {
		rendered := renderWorker(values("worker-full"))
		deployment := &appsv1.Deployment{}
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(find(rendered, "Deployment").Object, deployment)).To(Succeed())
		Expect(deployment.Labels).To(HaveKeyWithValue(
			resourcesv1alpha1.HighAvailabilityConfigType, resourcesv1alpha1.HighAvailabilityConfigTypeController,
		))
		Expect(deployment.Annotations).To(HaveKeyWithValue(resourcesv1alpha1.HighAvailabilityConfigReplicas, "3"))
		for _, label := range []string{
			v1beta1constants.LabelNetworkPolicyToDNS, v1beta1constants.LabelNetworkPolicyToRuntimeAPIServer,
			v1beta1constants.LabelNetworkPolicyToPublicNetworks, v1beta1constants.LabelNetworkPolicyToPrivateNetworks,
			gardenerutils.NetworkPolicyLabel(v1beta1constants.GardenNamespace+"-"+operatorv1alpha1.DeploymentNameVirtualGardenKubeAPIServer, 443),
		} {
			Expect(deployment.Spec.Template.Labels).To(HaveKeyWithValue(label, v1beta1constants.LabelNetworkPolicyAllowed))
		}

		service, tcp, metrics := &corev1.Service{}, corev1.ProtocolTCP, intstr.FromInt32(20001)
		Expect(gardenerutils.InjectNetworkPolicyAnnotationsForSeedScrapeTargets(
			service, networkingv1.NetworkPolicyPort{Protocol: &tcp, Port: &metrics})).To(Succeed())
		garden := metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: v1beta1constants.GardenNamespace}}
		Expect(gardenerutils.InjectNetworkPolicyNamespaceSelectors(service, garden)).To(Succeed())
		service.Annotations[resourcesv1alpha1.NetworkingPodLabelSelectorNamespaceAlias] = v1beta1constants.LabelNetworkPolicyExtensionsNamespaceAlias
		Expect(find(rendered, "Service").GetAnnotations()).To(Equal(service.Annotations))
	})

	It("is scraped by the Prometheus of a seed", func() {
		annotations, _, err := unstructured.NestedStringMap(find(renderWorker(nil), "Deployment").Object, "spec", "template", "metadata", "annotations")
		Expect(err).NotTo(HaveOccurred())
		Expect(annotations).To(Equal(map[string]string{
			"prometheus.io/name": worker.Release(), "prometheus.io/scrape": "true", "prometheus.io/port": "8080",
		}))
	})
})

var _ = Describe("The values of the chart of the worker controller", func() {
	wrong := decode[map[string][]struct {
		What   string
		Values map[string]any
		Says   string
	}](read("testdata/wrong-values.yaml"))["worker"]

	It("please Helm's linter", func() {
		for _, v := range []map[string]any{nil, values("worker-full")} {
			Expect(lint.RunAll(folder(worker, charts.Worker), v, controllerNamespace).Messages).NotTo(
				ContainElement(HaveField("Severity", BeNumerically(">", support.InfoSev))),
			)
		}
	})

	for _, w := range wrong {
		It("are refused: "+w.What, func() {
			_, err := charts.Render(worker, charts.Worker, controllerNamespace, w.Values)
			Expect(err).To(MatchError(ContainSubstring(w.Says)))
		})
	}

	It("have a comment, or are in what has one", func() {
		var document yamlv3.Node
		Expect(yamlv3.Unmarshal(read(folder(worker, charts.Worker), "values.yaml"), &document)).To(Succeed())
		Expect(unexplained(document.Content[0], "")).To(BeEmpty())
	})

	It("name the controllers that can be disabled", func() {
		properties := properties(worker, charts.Worker)
		known, _, err := unstructured.NestedStringSlice(properties, "disableControllers", "items", "enum")
		Expect(err).NotTo(HaveOccurred())
		Expect(workerCommand().Flag("disable-controllers").Usage).To(ContainSubstring(": " + strings.Join(known, ", ") + "."))
	})

	It("each change what is rendered", func() {
		full := values("worker-full")
		Expect(lacks(full, decode[map[string]any](read(folder(worker, charts.Worker), "values.yaml")), "")).To(BeEmpty())
		plain := renderWorker(map[string]any{})
		leaves(full, nil, func(path []string, value any) {
			switch strings.Join(path, ".") {
			case "vpa.enabled":
				value = false
			case "component.name":
				value = "provider-acme-worker"
			}
			changed := map[string]any{}
			set(changed, path, value)
			Expect(reflect.DeepEqual(plain, renderWorker(changed))).To(BeFalse(), "%v: %v changes nothing", path, value)
		})
	})
})

var _ = Describe("The manifests of the worker controller", func() {
	BeforeEach(func(ctx SpecContext) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: controllerNamespace}}
		Expect(client.IgnoreAlreadyExists(g.Client().Create(ctx, namespace))).To(Succeed())
	})

	It("are taken by API servers, and register Workers of the type and nothing else", func(ctx SpecContext) {
		for _, manifest := range []string{"extension.yaml", "controller-registration.yaml"} {
			apply(ctx, objects(read(root, "example", chart.ManifestFolder(worker), manifest)))
		}
		registration := &v1beta1.ControllerRegistration{}
		Expect(clientSet(kubernetes.GardenScheme).Client().Get(ctx, client.ObjectKey{Name: worker.Release()}, registration)).To(Succeed())
		Expect(registration.Spec.Resources).To(HaveExactElements(And(
			HaveField("Kind", "Worker"), HaveField("Type", "openstack"), HaveField("Primary", HaveValue(BeTrue())),
		)))
	})

	It("say the same, of which gardener-operator makes one of the other", func() {
		extension := decode[*operatorv1alpha1.Extension](read(root, "example", chart.ManifestFolder(worker), "extension.yaml"))
		Expect(validation.ValidateExtension(extension)).To(BeEmpty())
		made, deployed := operator.ControllerRegistrationForExtension(extension)
		deployment, registration := workerRegistration()
		Expect(made.Name).To(Equal(registration.Name))
		Expect(made.Annotations).To(Equal(registration.Annotations))
		Expect(made.Spec).To(Equal(registration.Spec))
		Expect(deployed.InjectGardenKubeconfig).To(Equal(deployment.InjectGardenKubeconfig))
		Expect(decode[map[string]any](deployed.Helm.Values.Raw)).To(Equal(decode[map[string]any](deployment.Helm.Values.Raw)))
	})

	DescribeTable("make gardenlet install the chart as the API server keeps it, with a kubeconfig for the garden", func(ctx SpecContext, name string) {
		deployment, _ := workerRegistration()
		renderer, err := chartrenderer.NewForConfig(g.RESTConfig())
		Expect(err).NotTo(HaveOccurred())
		merged := utils.MergeMaps(decode[map[string]any](deployment.Helm.Values.Raw), values(name))
		rendered, err := renderer.RenderArchive(deployment.Helm.RawChart, worker.Release(), controllerNamespace, merged)
		Expect(err).NotTo(HaveOccurred())
		data := rendered.AsSecretData()
		inject := func(object runtime.Object) error {
			return gardenerutils.InjectGenericGardenKubeconfig(object, "generic-garden-kubeconfig", "garden-access-extension",
				gardenerutils.VolumeMountPathGenericGardenKubeconfig)
		}
		Expect(gardenerutils.MutateObjectsInSecretData(data, controllerNamespace, []string{appsv1.GroupName}, inject)).To(Succeed())
		var all []*unstructured.Unstructured
		for _, key := range slices.Sorted(maps.Keys(data)) {
			all = append(all, objects(data[key])...)
		}
		apply(ctx, all)
		_, container := podOf(all)
		isMounted(container)
	},
		Entry("in a seed", "worker-gardenlet"),
		Entry("in a cluster that gardenlet bootstraps", "worker-bootstrap"),
	)

	It("and the package are the same if they are made of copies from another time, and have version and registry", func() {
		o := chart.Options{Version: "1.2.3", Registry: "registry.example.com/mirror"}
		copied := GinkgoT().TempDir()
		Expect(os.CopyFS(filepath.Join(copied, "charts"), os.DirFS(filepath.Join(root, "charts")))).To(Succeed())
		made, err := chart.Load(root, worker, o)
		Expect(err).NotTo(HaveOccurred())
		again, err := chart.Load(copied, worker, o)
		Expect(err).NotTo(HaveOccurred())
		Expect(again).To(Equal(made))
		manifests, err := chart.Manifests(worker, made, o)
		Expect(err).NotTo(HaveOccurred())
		Expect(chart.Manifests(worker, again, o)).To(Equal(manifests))
		Expect(string(manifests["extension.yaml"])).To(And(
			ContainSubstring("ref: registry.example.com/mirror/charts/provider-openstack-worker:1.2.3\n"),
			ContainSubstring("repository: registry.example.com/mirror/gardener-extension-provider-openstack\n"),
		))
		loaded, err := loader.LoadArchive(strings.NewReader(string(made[0].Archive)))
		Expect(err).NotTo(HaveOccurred())
		Expect(loaded.Metadata).To(HaveValue(And(
			HaveField("Name", worker.Release()), HaveField("Version", "1.2.3"), HaveField("AppVersion", "v1.2.3"),
		)))
		Expect(loaded.Schema).NotTo(BeNil())
		Expect(made[0].Write(GinkgoT().TempDir())).To(Succeed())
	})
})
