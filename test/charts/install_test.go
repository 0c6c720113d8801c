// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"strings"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/pkg/admission"
	provider "github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/garden/charts"
	"github.com/capkit/capkit/test/garden/extension"
)

var _ = Describe("An API server", func() {
	DescribeTable("takes everything that Helm renders of the runtime chart", func(ctx SpecContext, name, namespace string) {
		apply(ctx, render(charts.Runtime, namespace, values(name)))
	},
		Entry("by default", "default", runtimeNamespace),
		Entry("with every value", "full", runtimeNamespace),
		Entry("with every value in a seed", "full", seedNamespace),
		Entry("with a kubeconfig", "kubeconfig", runtimeNamespace),
		Entry("without autoscaling", "no-autoscaling", runtimeNamespace),
	)

	DescribeTable("takes everything that Helm renders of the charts", func(ctx SpecContext, c components.Component) {
		apply(ctx, renderFor(c, charts.Runtime, runtimeNamespace, values("virtual-garden")))
		apply(ctx, renderFor(c, charts.Application, extensionNamespace, values("account")))
	}, each())

	DescribeTable("takes the manifests that register the component", func(ctx SpecContext, c components.Component) {
		for _, manifest := range []string{"extension.yaml", "controller-registration.yaml"} {
			apply(ctx, objects(read(root, "example", chart.ManifestFolder(c), manifest)))
		}
	}, each())

	DescribeTable("is told the name and port under which the Service listens", func(name string, separate bool, args ...string) {
		rendered := render(charts.Runtime, runtimeNamespace, values(name))
		Expect(find(rendered, "Service").GetName()).To(Equal(extension.Name))
		_, container := podOf(rendered)
		Expect(container.Args).To(ContainElements(args))
		// Certificates are stored in the pod's own cluster, which differs from the garden only with a virtual garden.
		source := ContainElement(corev1.EnvVar{Name: "SOURCE_CLUSTER", Value: "enabled"})
		if !separate {
			source = Not(source)
		}
		Expect(container.Env).To(source)
	},
		Entry("without a virtual garden", "default", false, "--webhook-config-mode=service", "--webhook-config-service-port=443"),
		Entry("with one", "port-443", true, "--webhook-config-mode=url", "--webhook-config-url="+extension.Name+".garden"),
		Entry("at another port", "port-8443", true, "--webhook-config-mode=url", "--webhook-config-url="+extension.Name+".garden:8443"),
	)
})

var _ = Describe("The pod", func() {
	DescribeTable("has no more rights on its node than it needs", func(ctx SpecContext, name string) {
		pod, container := podOf(render(charts.Runtime, runtimeNamespace, values(name)))
		Expect(container.SecurityContext.ReadOnlyRootFilesystem).To(HaveValue(BeTrue()))
		// The API server checks the rest, in a namespace that accepts only restricted pods: user, capabilities, seccomp,
		// volumes, namespaces.
		pod.PriorityClassName = ""
		object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "restricted", Namespace: restrictedNamespace}, Spec: pod}
		Expect(g.Client().Create(ctx, object.DeepCopy(), client.DryRunAll)).To(Succeed())
		object.Spec.HostNetwork = true
		Expect(g.Client().Create(ctx, object, client.DryRunAll)).To(MatchError(apierrors.IsForbidden, "IsForbidden"))
	},
		Entry("by default", "default"),
		Entry("with every value", "full"),
	)

	It("is not killed before it has answered what it has taken", func() {
		// After the shutdown delay, running requests get another 30 seconds.
		pod, container := podOf(render(charts.Runtime, runtimeNamespace, values("full")))
		flags := admission.NewCommand(provider.Provider{}).Flags()
		Expect(flags.Parse(container.Args)).To(Succeed())
		delay, err := flags.GetDuration("shutdown-delay-duration")
		Expect(err).NotTo(HaveOccurred())
		Expect(delay).To(Equal(20 * time.Second))
		Expect(pod.TerminationGracePeriodSeconds).To(HaveValue(BeNumerically(">", (delay + 30*time.Second).Seconds())))
	})

	DescribeTable("is started in a way that the component understands, and has the files that it is told about", func(name string) {
		_, container := podOf(render(charts.Runtime, runtimeNamespace, values(name)))
		Expect(admission.NewCommand(provider.Provider{}).ParseFlags(container.Args)).To(Succeed())
		var certificates string
		Expect(container.Args).To(ContainElement(HavePrefix("--webhook-config-cert-dir="), &certificates))
		_, path, _ := strings.Cut(certificates, "=")
		Expect(container.VolumeMounts).To(ContainElement(HaveField("MountPath", path)))
		if name == "full" {
			isMounted(container)
		}
	},
		Entry("by default", "default"),
		Entry("with every value", "full"),
	)

	It("has the image of the project's version, as the charts have", func() {
		version := strings.TrimSpace(string(read(root, "VERSION")))
		for _, kind := range []chart.Kind{charts.Runtime, charts.Application} {
			Expect(decode[map[string]any](read(folder(openstack, kind), "Chart.yaml"))).To(And(
				HaveKeyWithValue("version", version), HaveKeyWithValue("appVersion", "v"+version),
			))
		}
		_, container := podOf(render(charts.Runtime, runtimeNamespace, nil))
		Expect(container.Image).To(Equal("registry.example.com/capkit/gardener-extension-admission-openstack:v" + version))
	})

	It("may be pinned by a tag with a digest, which is not in the labels, since they are shorter", func() {
		pinned := values("pinned")
		rendered := render(charts.Runtime, runtimeNamespace, pinned)
		_, container := podOf(rendered)
		Expect(container.Image).To(HaveSuffix(":%s", pinned["image"].(map[string]any)["tag"]))
		Expect(find(rendered, "Deployment").GetLabels()).To(HaveKeyWithValue("app.kubernetes.io/version", "v1.2.3"))
	})

	It("may have any tag, of which the labels have what a label can have", func(ctx SpecContext) {
		tagged := map[string]any{"image": map[string]any{"tag": "_v1.2.3-" + strings.Repeat("0", 54) + "-dirty"}}
		apply(ctx, render(charts.Runtime, runtimeNamespace, tagged))
		for _, rendered := range [][]*unstructured.Unstructured{render(charts.Runtime, runtimeNamespace, tagged), renderWorker(tagged)} {
			Expect(find(rendered, "Deployment").GetLabels()).To(HaveKeyWithValue("app.kubernetes.io/version", "v1.2.3-"+strings.Repeat("0", 54)))
		}
	})
})

var _ = Describe("Gardener", func() {
	It("gives the component as many replicas as the values say", func() {
		deployment := find(render(charts.Runtime, runtimeNamespace, values("five-replicas")), "Deployment")
		Expect(deployment.GetLabels()).To(HaveKeyWithValue(
			resourcesv1alpha1.HighAvailabilityConfigType, resourcesv1alpha1.HighAvailabilityConfigTypeServer,
		))
		Expect(deployment.GetAnnotations()).To(HaveKeyWithValue(resourcesv1alpha1.HighAvailabilityConfigReplicas, "5"))
	})

	// In namespace garden, the Prometheus of a seed uses HTTPS by default. In other namespaces it always uses HTTP.
	DescribeTable("has the Prometheus of a seed scrape the pods over HTTP", func(namespace string) {
		annotations, _, err := unstructured.NestedStringMap(
			find(render(charts.Runtime, namespace, nil), "Deployment").Object, "spec", "template", "metadata", "annotations")
		Expect(err).NotTo(HaveOccurred())
		Expect(annotations).To(Equal(map[string]string{
			"prometheus.io/name": extension.Name, "prometheus.io/scrape": "true", "prometheus.io/port": "8080", "prometheus.io/scheme": "http",
		}))
	},
		Entry("that is the runtime cluster", runtimeNamespace),
		Entry("in which gardenlet has installed them", seedNamespace),
	)

	// Pods and Services have the same labels and annotations as Gardener's own.
	It("has a NetworkPolicy that opens the ports of the webhooks and the metrics, and the way to API servers", func() {
		rendered := render(charts.Runtime, runtimeNamespace, values("full"))
		policy := &networkingv1.NetworkPolicy{}
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(find(rendered, "NetworkPolicy").Object, policy)).To(Succeed())
		deployment := &appsv1.Deployment{}
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(find(rendered, "Deployment").Object, deployment)).To(Succeed())
		Expect(policy.Spec.PodSelector).To(Equal(*deployment.Spec.Selector))
		Expect(policy.Spec.PolicyTypes).To(ConsistOf(networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress))

		port := func(protocol corev1.Protocol, port intstr.IntOrString) networkingv1.NetworkPolicyPort {
			return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: &port}
		}
		named := func(name string) []networkingv1.NetworkPolicyPort {
			Expect(deployment.Spec.Template.Spec.Containers[0].Ports).To(ContainElement(HaveField("Name", name)))
			return []networkingv1.NetworkPolicyPort{port(corev1.ProtocolTCP, intstr.FromString(name))}
		}
		garden := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: v1beta1constants.GardenNamespace}}
		Expect(policy.Spec.Ingress).To(ConsistOf(
			networkingv1.NetworkPolicyIngressRule{Ports: named("webhooks")},
			networkingv1.NetworkPolicyIngressRule{Ports: named("metrics"), From: []networkingv1.NetworkPolicyPeer{
				{NamespaceSelector: garden}, {PodSelector: &metav1.LabelSelector{}},
			}},
		))
		Expect(policy.Spec.Egress).To(ConsistOf(
			networkingv1.NetworkPolicyEgressRule{Ports: []networkingv1.NetworkPolicyPort{
				port(corev1.ProtocolUDP, intstr.FromInt32(53)), port(corev1.ProtocolUDP, intstr.FromInt32(8053)),
				port(corev1.ProtocolTCP, intstr.FromInt32(53)), port(corev1.ProtocolTCP, intstr.FromInt32(8053)),
			}},
			networkingv1.NetworkPolicyEgressRule{Ports: []networkingv1.NetworkPolicyPort{port(corev1.ProtocolTCP, intstr.FromInt32(8443))}},
		))
	})

	Describe("lets through its NetworkPolicies what has to pass", func() {
		var service *corev1.Service

		BeforeEach(func() {
			service = &corev1.Service{}
			tcp, webhooks, metrics := corev1.ProtocolTCP, intstr.FromInt32(9443), intstr.FromInt32(9090)
			toWebhooks := networkingv1.NetworkPolicyPort{Protocol: &tcp, Port: &webhooks}
			toMetrics := networkingv1.NetworkPolicyPort{Protocol: &tcp, Port: &metrics}
			Expect(gardenerutils.InjectNetworkPolicyAnnotationsForWebhookTargets(service, toWebhooks)).To(Succeed())
			Expect(gardenerutils.InjectNetworkPolicyAnnotationsForGardenScrapeTargets(service, toMetrics)).To(Succeed())
			Expect(gardenerutils.InjectNetworkPolicyAnnotationsForSeedScrapeTargets(service, toMetrics)).To(Succeed())
		})

		It("in the runtime cluster", func() {
			rendered := render(charts.Runtime, runtimeNamespace, values("full"))
			Expect(find(rendered, "Service").GetAnnotations()).To(Equal(service.Annotations))
			labels, _, err := unstructured.NestedStringMap(find(rendered, "Deployment").Object, "spec", "template", "metadata", "labels")
			Expect(err).NotTo(HaveOccurred())
			for _, label := range []string{
				v1beta1constants.LabelNetworkPolicyToDNS, v1beta1constants.LabelNetworkPolicyToRuntimeAPIServer,
				gardenerutils.NetworkPolicyLabel(operatorv1alpha1.DeploymentNameVirtualGardenKubeAPIServer, 443),
			} {
				Expect(labels).To(HaveKeyWithValue(label, v1beta1constants.LabelNetworkPolicyAllowed))
			}
		})

		// In a seed, the Service also names the namespace of its clients, and the alias that they use for its own.
		It("in a seed", func() {
			others := metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: runtimeNamespace}}
			Expect(gardenerutils.InjectNetworkPolicyNamespaceSelectors(service, others)).To(Succeed())
			service.Annotations[resourcesv1alpha1.NetworkingPodLabelSelectorNamespaceAlias] = v1beta1constants.LabelNetworkPolicyExtensionsNamespaceAlias
			rendered := render(charts.Runtime, seedNamespace, values("full"))
			Expect(find(rendered, "Service").GetAnnotations()).To(Equal(service.Annotations))
		})
	})
})
