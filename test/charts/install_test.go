// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

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
		args := containerOf(t, find(t, objects, "Deployment")).Args
		for _, want := range test.want {
			if !slices.Contains(args, want) {
				t.Errorf("%s is not in %v", want, args)
			}
		}
	}
}

// TestPod: the pod has no more rights on its node than it needs.
func TestPod(t *testing.T) {
	for name, values := range map[string]map[string]any{"default": nil, "full": read(t, "testdata/full.yaml")} {
		t.Run(name, func(t *testing.T) {
			deployment := find(t, render(t, charts.Runtime, runtimeNamespace, values), "Deployment")
			pod := podOf(t, deployment)
			if context := pod.SecurityContext; !*context.RunAsNonRoot || *context.RunAsUser == 0 || context.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("the pod has %v", context)
			}
			context := containerOf(t, deployment).SecurityContext
			if *context.AllowPrivilegeEscalation || !*context.ReadOnlyRootFilesystem || !slices.Equal(context.Capabilities.Drop, []corev1.Capability{"ALL"}) || context.Capabilities.Add != nil {
				t.Errorf("the container has %v", context)
			}
			if pod.HostNetwork || pod.HostPID || pod.HostIPC {
				t.Error("the pod shares namespaces with its node")
			}
			for _, volume := range pod.Volumes {
				if volume.HostPath != nil {
					t.Errorf("volume %s is a folder of the node", volume.Name)
				}
			}
		})
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
