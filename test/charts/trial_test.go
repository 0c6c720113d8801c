// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"strings"
	"time"

	resourcemanagerconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/resourcemanager/v1alpha1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/controllermanager/controller/controllerregistration/controllerinstallation"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/managedresource"
	resourcemanagerpredicate "github.com/gardener/gardener/pkg/resourcemanager/predicate"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/gardener/gardener/pkg/utils/managedresources"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// otherDeployment is the part of provider-openstack's chart that a trial changes.
const otherDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: gardener-extension-provider-openstack
spec:
  selector: {matchLabels: {app: provider-openstack}}
  template:
    metadata: {labels: {app: provider-openstack}}
    spec:
      containers:
      - name: provider-openstack
        image: registry.example.com/provider-openstack:v1.57.0
        command:
        - /gardener-extension-provider-openstack
        - --config-file=/etc/config.yaml
`

// seedOf is a valid Seed with a placeholder for its name.
const seedOf = `
apiVersion: core.gardener.cloud/v1beta1
kind: Seed
metadata:
  name: NAME
spec:
  provider: {type: openstack, region: europe, zones: [europe-1a]}
  networks: {nodes: 10.240.0.0/16, pods: 10.241.0.0/16, services: 10.242.0.0/16, blockCIDRs: [169.254.169.254/32]}
  dns:
    provider: {type: openstack-designate, credentialsRef: {apiVersion: v1, kind: Secret, name: dns, namespace: garden}}
    internal:
      type: openstack-designate
      domain: internal.NAME.example.com
      credentialsRef: {apiVersion: v1, kind: Secret, name: dns, namespace: garden}
  ingress: {domain: ingress.NAME.example.com, controller: {kind: nginx}}
`

var _ = Describe("A trial of the worker controller", func() {
	It("is done by the commands of the document, in one seed of two", func(ctx SpecContext) {
		_, virtualGarden := clusters()
		operated(ctx)
		credentials := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "dns", Annotations: map[string]string{
			"dns.gardener.cloud/provider": "openstack-designate", "dns.gardener.cloud/domain": "internal.example.com",
		}}}
		Expect(client.IgnoreAlreadyExists(g.Client().Create(ctx, credentials))).To(Succeed())
		for _, name := range []string{"first", "second"} {
			apply(ctx, objects([]byte(strings.ReplaceAll(seedOf, "NAME", name))))
		}
		DeferCleanup(func(ctx SpecContext) {
			_, err := g.Kubectl(ctx, "delete", "controllerinstallations", "--all")
			Expect(err).NotTo(HaveOccurred())
			_, err = g.Kubectl(ctx, "delete", "seeds", "first", "second")
			Expect(err).NotTo(HaveOccurred())
		})
		during(func(ctx context.Context) { installControllers(ctx, virtualGarden) })

		By("being in a seed where provider-openstack is installed")
		var installation v1beta1.ControllerInstallation
		Eventually(func() []v1beta1.ControllerInstallation { return installations(ctx, virtualGarden) }).Should(ContainElement(And(
			HaveField("Spec.RegistrationRef.Name", "provider-openstack"), HaveField("Spec.SeedRef.Name", "first"),
		), &installation))
		seed := clientSet(kubernetes.SeedScheme).Client()
		namespace := gardenerutils.NamespaceNameForControllerInstallation(&installation)
		install(ctx, seed, &installation, otherDeployment)
		during(manageResources)
		command := func() []string {
			deployment := &appsv1.Deployment{}
			if err := seed.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "gardener-extension-provider-openstack"}, deployment); err != nil {
				return nil
			}
			return deployment.Spec.Template.Spec.Containers[0].Command
		}
		on := []string{"/gardener-extension-provider-openstack", "--config-file=/etc/config.yaml"}
		off := append(on[:2:2], "--disable-controllers=worker")
		Eventually(command).Should(Equal(on))

		By("switching the other controller off, where gardener-resource-manager leaves it alone")
		steps := allCommands("One seed first")
		Expect(steps).To(HaveLen(7))
		for i := range steps {
			steps[i] = strings.ReplaceAll(steps[i], "SEED", "first")
		}
		interrupted, _, found := strings.Cut(steps[0], "words() {")
		Expect(found).To(BeTrue())
		again(ctx, interrupted)
		again(ctx, steps[0])
		Expect(command()).To(Equal(off))
		install(ctx, seed, &installation, strings.ReplaceAll(otherDeployment, "v1.57.0", "v1.57.1")) // gardenlet does this regularly
		Consistently(command, "2s").Should(Equal(off))

		By("installing this one in the seed, and in no other")
		again(ctx, steps[1])
		again(ctx, steps[2])
		Eventually(func() string { return follow(ctx, steps[3]) }).Should(Equal("first\n"))
		registrations := &v1beta1.ControllerRegistrationList{}
		Expect(virtualGarden.List(ctx, registrations)).To(Succeed())
		Expect(registrations.Items).To(ContainElements(
			And(HaveField("Name", "provider-openstack"), HaveField("Spec.Resources", ContainElement(
				And(HaveField("Kind", "Worker"), HaveField("Primary", HaveValue(BeTrue())))))),
			And(HaveField("Name", worker.Release()), HaveField("Spec.Resources", ConsistOf(
				And(HaveField("Kind", "Worker"), HaveField("Primary", HaveValue(BeFalse())))))),
		))
		Consistently(func() string { return follow(ctx, steps[3]) }, "2s").Should(Equal("first\n"))

		By("ending it")
		again(ctx, steps[4])
		Eventually(func() string { return follow(ctx, steps[3]) }).Should(BeEmpty())
		again(ctx, steps[5])
		again(ctx, steps[6])
		Eventually(command).Should(Equal(on))
		gone := seed.Get(ctx, client.ObjectKey{Name: worker.Release()}, &operatorv1alpha1.Extension{})
		Expect(gone).To(HaveOccurred())
		Eventually(func() error { // gardener-operator would have waited for this before deleting the Extension
			return virtualGarden.Get(ctx, client.ObjectKey{Name: worker.Release()}, &v1beta1.ControllerRegistration{})
		}).Should(MatchError(apierrors.IsNotFound, "nobody is registered"))

		By("taking over everywhere")
		taking := commands("Taking over")
		again(ctx, taking[0])
		again(ctx, taking[1])
		Eventually(func() string { return follow(ctx, taking[2]) }).Should(Equal("provider-openstack-worker: Worker/openstack \n"))
	})
})

func installations(ctx context.Context, virtualGarden client.Client) []v1beta1.ControllerInstallation {
	list := &v1beta1.ControllerInstallationList{}
	if virtualGarden.List(ctx, list) != nil {
		return nil
	}
	return list.Items
}

// installControllers acts as gardener-controller-manager for Seeds until ctx ends: it decides with that component's own
// code which registrations are installed in which Seed.
func installControllers(ctx context.Context, virtualGarden client.Client) {
	r := &controllerinstallation.Reconciler{
		APIReader: virtualGarden, Client: virtualGarden, Kind: controllerinstallation.SeedKind,
		NewTargetObjectFunc: func() client.Object { return &v1beta1.Seed{} },
	}
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		for _, name := range []string{"first", "second"} {
			if _, err := r.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}); err != nil { // it is retried
				GinkgoWriter.Printf("installing controllers in %s: %v\n", name, err)
			}
		}
	}, 100*time.Millisecond)
}

// install applies the objects of a ControllerInstallation with the same library as gardenlet.
func install(ctx context.Context, seed client.Client, installation *v1beta1.ControllerInstallation, manifest string) {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   gardenerutils.NamespaceNameForControllerInstallation(installation),
		Labels: map[string]string{"controllerregistration.core.gardener.cloud/name": installation.Spec.RegistrationRef.Name},
	}}
	Expect(client.IgnoreAlreadyExists(seed.Create(ctx, namespace))).To(Succeed())
	name := gardenerutils.ManagedResourceNameForControllerInstallation(installation)
	deployment := objects([]byte(manifest))
	deployment[0].SetNamespace(namespace.Name)
	data, err := deployment[0].MarshalJSON()
	Expect(err).NotTo(HaveOccurred())
	Expect(managedresources.Create(ctx, seed, "garden", name, nil, false, "seed", map[string][]byte{"deployment.json": data}, nil, nil, nil)).To(Succeed())
}

// manageResources acts as gardener-resource-manager for ManagedResources, with its own controller, until ctx ends.
func manageResources(ctx context.Context) {
	mgr, err := manager.New(g.RESTConfig(), manager.Options{
		Scheme: kubernetes.SeedScheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err == nil {
		err = (&managedresource.Reconciler{
			Config: resourcemanagerconfigv1alpha1.ManagedResourceControllerConfig{
				ConcurrentSyncs: ptr.To(1), SyncPeriod: &metav1.Duration{Duration: time.Minute}, ManagedByLabelValue: ptr.To("gardener"),
			},
			ClassFilter: resourcemanagerpredicate.NewClassFilter("seed"),
		}).AddToManager(mgr, mgr, mgr)
	}
	if err == nil {
		err = mgr.Start(ctx)
	}
	if err != nil {
		GinkgoWriter.Println("managing resources:", err)
	}
}
