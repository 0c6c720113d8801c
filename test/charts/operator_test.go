// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/gardener/gardener/pkg/api/operator/v1alpha1/validation"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	operatorclient "github.com/gardener/gardener/pkg/operator/client"
	"github.com/gardener/gardener/pkg/operator/controller/extension/extension/admission"
	"github.com/gardener/gardener/pkg/utils/gardener/operator"
	"github.com/gardener/gardener/pkg/utils/managedresources"
	"github.com/gardener/gardener/pkg/utils/oci"
	"github.com/go-logr/logr"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/test/garden/charts"
)

// pushed copies the charts, as make charts leaves them in a folder, to a registry on this machine, and returns the Extension
// that make charts writes for it.
func pushed(t *testing.T) *operatorv1alpha1.Extension {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	o := chart.Options{Version: "1.2.3", Registry: strings.TrimPrefix(server.URL, "http://") + "/capkit"}
	packages, err := chart.Load(filepath.Join("..", ".."), o)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, p := range packages {
		if err := p.Write(folder); err != nil {
			t.Fatal(err)
		}
		push(t, filepath.Join(folder, p.Name), p.Reference(o))
	}
	manifests, err := chart.Manifests(packages, o)
	if err != nil {
		t.Fatal(err)
	}
	extension := &operatorv1alpha1.Extension{}
	if err := yaml.UnmarshalStrict(manifests["extension.yaml"], extension); err != nil {
		t.Fatal(err)
	}
	return extension
}

// push copies the only artifact of an OCI layout to a registry.
func push(t *testing.T, folder, to string) {
	t.Helper()
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 {
		t.Fatalf("%s has %d artifacts", folder, len(manifest.Manifests))
	}
	artifact, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := name.ParseReference(to)
	if err != nil {
		t.Fatal(err)
	}
	if tag := manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; tag != reference.Identifier() {
		t.Errorf("the tag in the layout is %q, and in the reference %q", tag, reference.Identifier())
	}
	if err := remote.Write(reference, artifact, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// clientSet is how gardener-operator talks to a cluster.
func clientSet(t *testing.T, scheme *runtime.Scheme) kubernetes.Interface {
	t.Helper()
	set, err := kubernetes.NewWithConfig(kubernetes.WithRESTConfig(g.RESTConfig()), kubernetes.WithDisabledCachedClient(),
		kubernetes.WithClientOptions(client.Options{Scheme: scheme}))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// healthy says of every ManagedResource that it is, as gardener-resource-manager does once it has applied it, until ctx ends.
func healthy(ctx context.Context, c client.Client) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		list := &resourcesv1alpha1.ManagedResourceList{}
		if err := c.List(ctx, list); err != nil {
			return
		}
		for _, resource := range list.Items {
			condition := func(kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) gardencorev1beta1.Condition {
				now := metav1.Now()
				return gardencorev1beta1.Condition{Type: kind, Status: status, LastTransitionTime: now, LastUpdateTime: now, Reason: "Test", Message: "test"}
			}
			resource.Status.ObservedGeneration = resource.Generation
			resource.Status.Conditions = []gardencorev1beta1.Condition{
				condition(resourcesv1alpha1.ResourcesApplied, gardencorev1beta1.ConditionTrue),
				condition(resourcesv1alpha1.ResourcesHealthy, gardencorev1beta1.ConditionTrue),
				condition(resourcesv1alpha1.ResourcesProgressing, gardencorev1beta1.ConditionFalse),
			}
			// What fails is tried again.
			_ = c.Status().Update(ctx, &resource)
		}
	}, 50*time.Millisecond)
}

// managed returns the objects of a ManagedResource.
func managed(t *testing.T, c client.Client, name string) []*unstructured.Unstructured {
	t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: runtimeNamespace, Name: name}, resource); err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, reference := range resource.Spec.SecretRefs {
		secret := &corev1.Secret{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: runtimeNamespace, Name: reference.Name}, secret); err != nil {
			t.Fatal(err)
		}
		for key, data := range secret.Data {
			if strings.HasSuffix(key, ".br") {
				uncompressed, err := io.ReadAll(brotli.NewReader(bytes.NewReader(data)))
				if err != nil {
					t.Fatalf("%s: %v", key, err)
				}
				data = uncompressed
			}
			decoded, err := charts.Decode(string(data))
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			objects = append(objects, decoded...)
		}
	}
	return objects
}

// TestGardenerOperator: gardener-operator's own code installs the charts from a registry, by the Extension of
// example/extension.yaml: the API server takes what it makes of them, which belongs together, and it removes all of it again.
func TestGardenerOperator(t *testing.T) {
	extension := pushed(t)
	if errs := validation.ValidateExtension(extension); len(errs) > 0 {
		t.Fatal(errs)
	}
	interval := managedresources.IntervalWait
	managedresources.IntervalWait = 100 * time.Millisecond
	t.Cleanup(func() { managedresources.IntervalWait = interval })

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	runtimeCluster, virtualGarden := clientSet(t, operatorclient.RuntimeScheme), clientSet(t, operatorclient.VirtualScheme)
	go healthy(ctx, runtimeCluster.Client())
	deployment := admission.New(runtimeCluster, events.NewFakeRecorder(100), runtimeNamespace, oci.NewHelmRegistry(runtimeCluster.Client()))
	if err := deployment.Reconcile(ctx, logr.Discard(), virtualGarden, "generic-token-kubeconfig", extension); err != nil {
		t.Fatal(err)
	}

	runtimeName, virtualName := operator.ExtensionAdmissionRuntimeManagedResourceName(extension.Name), operator.ExtensionAdmissionVirtualManagedResourceName(extension.Name)
	inRuntime, inVirtual := managed(t, runtimeCluster.Client(), runtimeName), managed(t, runtimeCluster.Client(), virtualName)
	apply(t, inVirtual)
	apply(t, inRuntime)
	container := containerOf(t, find(t, inRuntime, "Deployment"))
	if image := "/capkit/gardener-extension-admission-openstack:v1.2.3"; !strings.HasSuffix(container.Image, image) {
		t.Errorf("the image is %s, want %s in the same registry", container.Image, image)
	}
	isMounted(t, container)
	// Who the component is in the virtual garden, which namespace owns its webhooks, and what the charts say about both.
	access := &corev1.Secret{}
	accessKey := client.ObjectKey{Namespace: runtimeNamespace, Name: "shoot-access-extension-admission-" + extension.Name}
	if err := runtimeCluster.Client().Get(ctx, accessKey, access); err != nil {
		t.Fatal(err)
	}
	hasRights(t, inVirtual, access.Annotations["serviceaccount.resources.gardener.cloud/namespace"], access.Annotations["serviceaccount.resources.gardener.cloud/name"])
	namespace := find(t, inVirtual, "Namespace").GetName()
	if arg := "--webhook-config-owner-namespace=" + namespace; !slices.Contains(container.Args, arg) {
		t.Errorf("%s is not in %v", arg, container.Args)
	}
	if rules := find(t, inVirtual, "ClusterRole"); !strings.Contains(text(t, rules), `"resourceNames":["`+namespace+`"],"resources":["namespaces"]`) {
		t.Errorf("may not read namespace %s: %s", namespace, text(t, rules))
	}

	if err := deployment.Delete(ctx, logr.Discard(), extension); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{runtimeName, virtualName} {
		if err := runtimeCluster.Client().Get(ctx, client.ObjectKey{Namespace: runtimeNamespace, Name: name}, &resourcesv1alpha1.ManagedResource{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

// isMounted checks that the container has the kubeconfig that was injected.
func isMounted(t *testing.T, container corev1.Container) {
	t.Helper()
	i := slices.IndexFunc(container.Env, func(env corev1.EnvVar) bool { return env.Name == "GARDEN_KUBECONFIG" })
	if i < 0 {
		t.Fatalf("GARDEN_KUBECONFIG is not in %v", container.Env)
	}
	folder := filepath.Dir(container.Env[i].Value)
	if !slices.ContainsFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool { return mount.MountPath == folder }) {
		t.Errorf("%s is not mounted: %v", folder, container.VolumeMounts)
	}
}

// hasRights checks that the only ClusterRoleBinding is for a ServiceAccount.
func hasRights(t *testing.T, objects []*unstructured.Unstructured, namespace, name string) {
	t.Helper()
	subjects, _, err := unstructured.NestedSlice(find(t, objects, "ClusterRoleBinding").Object, "subjects")
	if err != nil || len(subjects) != 1 {
		t.Fatalf("subjects %v, %v", subjects, err)
	}
	subject := subjects[0].(map[string]any)
	if name == "" || subject["name"] != name || subject["namespace"] != namespace {
		t.Errorf("the rights are those of %v, and the component is %s in %s", subject, name, namespace)
	}
}

func text(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	content, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
