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
	"strings"
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
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
)

// gardener-operator's own code installs the charts from a registry, as example/extension.yaml's Extension requests.
var _ = Describe("gardener-operator", func() {
	DescribeTable("installs the charts from a registry, and removes all of it again", func(ctx SpecContext, component components.Component) {
		extension := pushed(ctx, component)
		Expect(validation.ValidateExtension(extension)).To(BeEmpty())
		DeferCleanup(func(interval time.Duration) { managedresources.IntervalWait = interval }, managedresources.IntervalWait)
		managedresources.IntervalWait = 100 * time.Millisecond

		runtimeCluster, virtualGarden := clientSet(operatorclient.RuntimeScheme), clientSet(operatorclient.VirtualScheme)
		c := runtimeCluster.Client()
		resourceManager, stop := context.WithCancel(ctx)
		DeferCleanup(stop)
		go healthy(resourceManager, c)
		deployment := admission.New(runtimeCluster, events.NewFakeRecorder(100), runtimeNamespace, oci.NewHelmRegistry(c))
		Expect(deployment.Reconcile(ctx, logr.Discard(), virtualGarden, "generic-token-kubeconfig", extension)).To(Succeed())

		By("applying what it makes of them")
		runtimeName := operator.ExtensionAdmissionRuntimeManagedResourceName(extension.Name)
		virtualName := operator.ExtensionAdmissionVirtualManagedResourceName(extension.Name)
		inRuntime, inVirtual := managed(ctx, c, runtimeName), managed(ctx, c, virtualName)
		apply(ctx, inVirtual)
		apply(ctx, inRuntime)

		By("comparing what belongs together")
		_, container := podOf(inRuntime)
		Expect(container.Image).To(HaveSuffix("/capkit/%s:v1.2.3", component.Program()))
		isMounted(container)
		// The component's identity in the virtual garden, the owner of its webhooks, and the same in the charts.
		access := &corev1.Secret{}
		key := client.ObjectKey{Namespace: runtimeNamespace, Name: "shoot-access-extension-admission-" + extension.Name}
		Expect(c.Get(ctx, key, access)).To(Succeed())
		account := access.Annotations["serviceaccount.resources.gardener.cloud/name"]
		Expect(account).NotTo(BeEmpty())
		subjects, _, err := unstructured.NestedSlice(find(inVirtual, "ClusterRoleBinding").Object, "subjects")
		Expect(err).NotTo(HaveOccurred())
		Expect(subjects).To(ConsistOf(And(
			HaveKeyWithValue("name", account), HaveKeyWithValue("namespace", access.Annotations["serviceaccount.resources.gardener.cloud/namespace"]),
		)))
		namespace := find(inVirtual, "Namespace").GetName()
		Expect(container.Args).To(ContainElement("--webhook-config-owner-namespace=" + namespace))
		rules, err := find(inVirtual, "ClusterRole").MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		Expect(string(rules)).To(ContainSubstring(`"resourceNames":["` + namespace + `"],"resources":["namespaces"]`))

		By("deleting it")
		Expect(deployment.Delete(ctx, logr.Discard(), extension)).To(Succeed())
		for _, name := range []string{runtimeName, virtualName} {
			err := c.Get(ctx, client.ObjectKey{Namespace: runtimeNamespace, Name: name}, &resourcesv1alpha1.ManagedResource{})
			Expect(err).To(MatchError(apierrors.IsNotFound, "IsNotFound"), name)
		}
	}, each())
})

// pushed copies the chart packages of make charts to a registry on this machine, and returns the Extension that make charts
// writes for them.
func pushed(ctx context.Context, c components.Component) *operatorv1alpha1.Extension {
	GinkgoHelper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	DeferCleanup(server.Close)
	o := chart.Options{Version: "1.2.3", Registry: strings.TrimPrefix(server.URL, "http://") + "/capkit"}
	packages, err := chart.Load(root, c, o)
	Expect(err).NotTo(HaveOccurred())
	folder := GinkgoT().TempDir()
	for _, p := range packages {
		Expect(p.Write(folder)).To(Succeed())
		push(ctx, filepath.Join(folder, p.Name), p.Reference(o))
	}
	manifests, err := chart.Manifests(c, packages, o)
	Expect(err).NotTo(HaveOccurred())
	return decode[*operatorv1alpha1.Extension](manifests["extension.yaml"])
}

// push copies the only artifact of an OCI layout to a registry.
func push(ctx context.Context, folder, to string) {
	GinkgoHelper()
	index, err := layout.ImageIndexFromPath(folder)
	Expect(err).NotTo(HaveOccurred())
	manifest, err := index.IndexManifest()
	Expect(err).NotTo(HaveOccurred())
	Expect(manifest.Manifests).To(HaveLen(1))
	artifact, err := index.Image(manifest.Manifests[0].Digest)
	Expect(err).NotTo(HaveOccurred())
	reference, err := name.ParseReference(to)
	Expect(err).NotTo(HaveOccurred())
	Expect(manifest.Manifests[0].Annotations).To(HaveKeyWithValue("org.opencontainers.image.ref.name", reference.Identifier()))
	Expect(remote.Write(reference, artifact, remote.WithContext(ctx))).To(Succeed())
}

// clientSet returns clients like those of gardener-operator for a cluster.
func clientSet(scheme *runtime.Scheme) kubernetes.Interface {
	GinkgoHelper()
	set, err := kubernetes.NewWithConfig(kubernetes.WithRESTConfig(g.RESTConfig()), kubernetes.WithDisabledCachedClient(),
		kubernetes.WithClientOptions(client.Options{Scheme: scheme}))
	Expect(err).NotTo(HaveOccurred())
	return set
}

// healthy marks every ManagedResource as healthy until ctx ends, like gardener-resource-manager once it has applied one.
func healthy(ctx context.Context, c client.Client) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		list := &resourcesv1alpha1.ManagedResourceList{}
		if err := c.List(ctx, list); err != nil {
			return
		}
		for _, resource := range list.Items {
			condition := func(kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) gardencorev1beta1.Condition {
				now := metav1.Now()
				return gardencorev1beta1.Condition{
					Type: kind, Status: status, LastTransitionTime: now, LastUpdateTime: now, Reason: "Test", Message: "test",
				}
			}
			resource.Status.ObservedGeneration = resource.Generation
			resource.Status.Conditions = []gardencorev1beta1.Condition{
				condition(resourcesv1alpha1.ResourcesApplied, gardencorev1beta1.ConditionTrue),
				condition(resourcesv1alpha1.ResourcesHealthy, gardencorev1beta1.ConditionTrue),
				condition(resourcesv1alpha1.ResourcesProgressing, gardencorev1beta1.ConditionFalse),
			}
			// It is retried.
			_ = c.Status().Update(ctx, &resource)
		}
	}, 50*time.Millisecond)
}

// managed returns the objects of a ManagedResource.
func managed(ctx context.Context, c client.Client, name string) []*unstructured.Unstructured {
	GinkgoHelper()
	resource := &resourcesv1alpha1.ManagedResource{}
	Expect(c.Get(ctx, client.ObjectKey{Namespace: runtimeNamespace, Name: name}, resource)).To(Succeed())
	var all []*unstructured.Unstructured
	for _, reference := range resource.Spec.SecretRefs {
		secret := &corev1.Secret{}
		Expect(c.Get(ctx, client.ObjectKey{Namespace: runtimeNamespace, Name: reference.Name}, secret)).To(Succeed())
		for key, data := range secret.Data {
			if strings.HasSuffix(key, ".br") {
				var err error
				data, err = io.ReadAll(brotli.NewReader(bytes.NewReader(data)))
				Expect(err).NotTo(HaveOccurred(), key)
			}
			all = append(all, objects(data)...)
		}
	}
	return all
}
