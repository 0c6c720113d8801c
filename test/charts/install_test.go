// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/garden/charts"
)

// containerOf returns the only container of a Deployment.
func containerOf(t *testing.T, object *unstructured.Unstructured) corev1.Container {
	t.Helper()
	spec := podOf(t, object)
	if len(spec.Containers) != 1 || len(spec.InitContainers) > 0 {
		t.Fatalf("%d containers", len(spec.Containers)+len(spec.InitContainers))
	}
	return spec.Containers[0]
}

// podOf returns the pod of a Deployment.
func podOf(t *testing.T, object *unstructured.Unstructured) corev1.PodSpec {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, deployment, true); err != nil {
		t.Fatal(err)
	}
	return deployment.Spec.Template.Spec
}

// TestInstall: an API server takes everything that Helm renders, without any field that it does not know.
func TestInstall(t *testing.T) {
	full := read(t, "testdata/full.yaml")
	for name, test := range map[string]struct {
		namespace string
		values    map[string]any
	}{
		"default":             {runtimeNamespace, nil},
		"full":                {runtimeNamespace, full},
		"full, in a seed":     {seedNamespace, full},
		"with a kubeconfig":   {runtimeNamespace, map[string]any{"gardener": full["gardener"], "kubeconfig": "apiVersion: v1\nkind: Config\n"}},
		"without autoscaling": {runtimeNamespace, map[string]any{"vpa": map[string]any{"enabled": false}}},
	} {
		t.Run(name, func(t *testing.T) {
			apply(t, render(t, charts.Runtime, test.namespace, test.values))
		})
	}
	apply(t, render(t, charts.Application, extensionNamespace, account))
}

// TestAddress: the API server is told the name and port under which the Service listens.
func TestAddress(t *testing.T) {
	virtual := func(port int) map[string]any {
		return map[string]any{
			"gardener":      map[string]any{"virtualCluster": map[string]any{"enabled": true}},
			"webhookConfig": map[string]any{"servicePort": port},
		}
	}
	const name = "gardener-extension-admission-openstack"
	for _, test := range []struct {
		values map[string]any
		want   []string
	}{
		{nil, []string{"--webhook-config-mode=service", "--webhook-config-service-port=443"}},
		{virtual(443), []string{"--webhook-config-mode=url", "--webhook-config-url=" + name + ".garden"}},
		{virtual(8443), []string{"--webhook-config-mode=url", "--webhook-config-url=" + name + ".garden:8443"}},
	} {
		objects := render(t, charts.Runtime, runtimeNamespace, test.values)
		if service := find(t, objects, "Service"); service.GetName() != name {
			t.Errorf("the Service is called %s", service.GetName())
		}
		container := containerOf(t, find(t, objects, "Deployment"))
		for _, want := range test.want {
			if !slices.Contains(container.Args, want) {
				t.Errorf("%s is not in %v", want, container.Args)
			}
		}
		// Certificates are kept where the pod is, which is another cluster only with a virtual garden.
		source := slices.Contains(container.Env, corev1.EnvVar{Name: "SOURCE_CLUSTER", Value: "enabled"})
		if source != (test.values != nil) {
			t.Errorf("%v has the environment %v", test.values, container.Env)
		}
	}
}

// TestPod: the pod has no more rights on its node than it needs.
func TestPod(t *testing.T) {
	for name, values := range map[string]map[string]any{"default": nil, "full": read(t, "testdata/full.yaml")} {
		t.Run(name, func(t *testing.T) {
			deployment := find(t, render(t, charts.Runtime, runtimeNamespace, values), "Deployment")
			pod := podOf(t, deployment)
			if readOnly := containerOf(t, deployment).SecurityContext.ReadOnlyRootFilesystem; readOnly == nil || !*readOnly {
				t.Error("the container can write to its own files")
			}
			// The API server judges the rest, in a namespace that takes nothing but restricted pods: user, capabilities, seccomp,
			// volumes, namespaces.
			pod.PriorityClassName = ""
			created := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "restricted", Namespace: restrictedNamespace}, Spec: pod}
			if err := g.Client().Create(t.Context(), created, client.DryRunAll); err != nil {
				t.Error(err)
			}
			created = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "restricted", Namespace: restrictedNamespace}, Spec: pod}
			created.Spec.HostNetwork = true
			if err := g.Client().Create(t.Context(), created, client.DryRunAll); !apierrors.IsForbidden(err) {
				t.Errorf("the namespace takes pods that are not restricted: %v", err)
			}
		})
	}
}

// TestReplicas: Gardener gives highly available components two replicas, unless they say how many they want.
func TestReplicas(t *testing.T) {
	deployment := find(t, render(t, charts.Runtime, runtimeNamespace, map[string]any{"replicaCount": 5}), "Deployment")
	if label := deployment.GetLabels()[resourcesv1alpha1.HighAvailabilityConfigType]; label != resourcesv1alpha1.HighAvailabilityConfigTypeServer {
		t.Errorf("the type is %q", label)
	}
	if replicas := deployment.GetAnnotations()[resourcesv1alpha1.HighAvailabilityConfigReplicas]; replicas != "5" {
		t.Errorf("%q replicas are wanted, not 5", replicas)
	}
}

// TestEnd: a pod is not killed before it has answered what it has taken: when it has gone on serving for a while, requests are
// given another 30 seconds.
func TestEnd(t *testing.T) {
	delay, err := admission.NewCommand(openstack.Provider{}).Flags().GetDuration("shutdown-delay-duration")
	if err != nil {
		t.Fatal(err)
	}
	given := podOf(t, find(t, render(t, charts.Runtime, runtimeNamespace, nil), "Deployment")).TerminationGracePeriodSeconds
	if given == nil || time.Duration(*given)*time.Second <= delay+30*time.Second {
		t.Errorf("%v seconds after a delay of %v", given, delay)
	}
}

// TestNetwork: Gardener's NetworkPolicies let through what has to pass: pods and Services have the labels and annotations that
// Gardener gives to its own.
func TestNetwork(t *testing.T) {
	values := read(t, "testdata/full.yaml")
	webhooks, metrics := intstr.FromInt32(9443), intstr.FromInt32(9090)
	tcp := corev1.ProtocolTCP
	want := &corev1.Service{}
	port := func(port intstr.IntOrString) networkingv1.NetworkPolicyPort {
		return networkingv1.NetworkPolicyPort{Protocol: &tcp, Port: &port}
	}
	for _, err := range []error{
		gardenerutils.InjectNetworkPolicyAnnotationsForWebhookTargets(want, port(webhooks)),
		gardenerutils.InjectNetworkPolicyAnnotationsForGardenScrapeTargets(want, port(metrics)),
		gardenerutils.InjectNetworkPolicyAnnotationsForSeedScrapeTargets(want, port(metrics)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	inGarden := render(t, charts.Runtime, runtimeNamespace, values)
	if annotations := find(t, inGarden, "Service").GetAnnotations(); !maps.Equal(annotations, want.Annotations) {
		t.Errorf("the Service has %v, want %v", annotations, want.Annotations)
	}
	labels, _, _ := unstructured.NestedStringMap(find(t, inGarden, "Deployment").Object, "spec", "template", "metadata", "labels")
	for _, label := range []string{
		v1beta1constants.LabelNetworkPolicyToDNS, v1beta1constants.LabelNetworkPolicyToRuntimeAPIServer,
		gardenerutils.NetworkPolicyLabel(operatorv1alpha1.DeploymentNameVirtualGardenKubeAPIServer, 443),
	} {
		if labels[label] != v1beta1constants.LabelNetworkPolicyAllowed {
			t.Errorf("the pods do not have the label %s", label)
		}
	}

	// Elsewhere the Service says, too, which namespace the others are in, and by what name they know this one.
	if err := gardenerutils.InjectNetworkPolicyNamespaceSelectors(want, metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: runtimeNamespace}}); err != nil {
		t.Fatal(err)
	}
	want.Annotations[resourcesv1alpha1.NetworkingPodLabelSelectorNamespaceAlias] = v1beta1constants.LabelNetworkPolicyExtensionsNamespaceAlias
	if annotations := find(t, render(t, charts.Runtime, seedNamespace, values), "Service").GetAnnotations(); !maps.Equal(annotations, want.Annotations) {
		t.Errorf("the Service in a seed has %v, want %v", annotations, want.Annotations)
	}
}

// TestExamples: the API servers take the manifests that register the component, without any field that they do not know.
func TestExamples(t *testing.T) {
	apply(t, example(t, "extension.yaml"))
	apply(t, example(t, "controller-registration.yaml"))
}

// example returns the objects in a file of the folder example.
func example(t *testing.T, name string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "example", name))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := charts.Decode(string(content))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return objects
}

// TestVersion: the charts have the version of the project, and its image.
func TestVersion(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "VERSION"))
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSpace(string(content))
	for _, chart := range []string{charts.Runtime, charts.Application} {
		metadata := read(t, filepath.Join(folder(t, chart), "Chart.yaml"))
		if metadata["version"] != version || metadata["appVersion"] != "v"+version {
			t.Errorf("%s has versions %v and %v, want %s: run make generate", chart, metadata["version"], metadata["appVersion"], version)
		}
	}
	want := "registry.example.com/capkit/gardener-extension-admission-openstack:v" + version
	if image := containerOf(t, find(t, render(t, charts.Runtime, runtimeNamespace, nil), "Deployment")).Image; image != want {
		t.Errorf("the image is %s, want %s", image, want)
	}
}

// TestTagWithDigest: a tag may pin the image, but labels are shorter than that.
func TestTagWithDigest(t *testing.T) {
	tag := "v1.2.3@sha256:" + strings.Repeat("0123456789abcdef", 4)
	deployment := find(t, render(t, charts.Runtime, runtimeNamespace, map[string]any{"image": map[string]any{"tag": tag}}), "Deployment")
	if image := containerOf(t, deployment).Image; !strings.HasSuffix(image, ":"+tag) {
		t.Errorf("the image is %s", image)
	}
	if version := deployment.GetLabels()["app.kubernetes.io/version"]; version != "v1.2.3" {
		t.Errorf("the label is %q", version)
	}
}
