// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net"
	"strconv"
	"time"

	webhookcmd "github.com/gardener/gardener/extensions/pkg/webhook/cmd"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/test/authors/acme"
	"github.com/capkit/capkit/test/authors/acme/embedded"
	"github.com/capkit/capkit/test/garden"
)

// registering are the rights of an extension that registers arbitrary webhooks itself.
var registering = rbacv1.PolicyRule{
	APIGroups: []string{"admissionregistration.k8s.io"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch"},
	Resources: []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"},
}

// somebody returns the client configuration of a new user with exactly these rights.
func somebody(ctx context.Context, name string, rules []rbacv1.PolicyRule) *rest.Config {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Name: name}
	Expect(g.Client().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules})).To(Succeed())
	Expect(g.Client().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	})).To(Succeed())
	as := g.RESTConfig()
	as.Impersonate = rest.ImpersonationConfig{UserName: name}
	return as
}

// ownManager returns a manager like that of an existing admission command. It serves the webhooks for acme.
func ownManager(as *rest.Config) manager.Manager {
	GinkgoHelper()
	address, err := garden.FreeAddress()
	Expect(err).NotTo(HaveOccurred())
	host, port, err := net.SplitHostPort(address)
	Expect(err).NotTo(HaveOccurred())
	number, err := strconv.Atoi(port)
	Expect(err).NotTo(HaveOccurred())
	options := webhookcmd.NewAddToManagerOptions("own", "", nil, nil, &webhookcmd.ServerOptions{Mode: "url", URL: address}, embedded.SwitchOptions())
	Expect(options.Complete()).To(Succeed())
	mgr, err := embedded.NewManager(as, manager.Options{
		Logger: logr.Discard(), Scheme: kubernetes.GardenScheme, Metrics: server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: host, Port: number, CertDir: GinkgoT().TempDir()}),
	})
	Expect(err).NotTo(HaveOccurred())
	_, err = options.Completed().AddToManager(context.Background(), mgr, nil)
	Expect(err).NotTo(HaveOccurred())
	return mgr
}

// ofAcme reads a sample manifest of acme.
func ofAcme[T any](file string) *T {
	GinkgoHelper()
	return read[T](root + "/test/authors/acme/" + file)
}

// credentialsOfAcme returns the credentials of acme's Shoot.
func credentialsOfAcme(token string) []client.Object {
	meta := metav1.ObjectMeta{Name: "acme", Namespace: "garden-demo"}
	return []client.Object{
		&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"token": []byte(token)}},
		&securityv1alpha1.CredentialsBinding{
			ObjectMeta: meta, Provider: securityv1alpha1.CredentialsBindingProvider{Type: "acme"},
			CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: meta.Namespace, Name: meta.Name},
		},
	}
}

var _ = Describe("A manager that an extension has already, with the switches, the cache options and the rights that are exported", Ordered, func() {
	var mgr manager.Manager

	BeforeAll(func(ctx SpecContext) {
		registration := &v1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "acme"}}
		for _, kind := range []string{"Infrastructure", "ControlPlane", "Worker"} {
			registration.Spec.Resources = append(registration.Spec.Resources, v1beta1.ControllerResource{Kind: kind, Type: "acme"})
		}
		Expect(g.Client().Create(ctx, registration)).To(Succeed())
		mgr = ownManager(somebody(ctx, "own", append(admission.Rights(acme.Provider{}), registering)))
		running, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- mgr.Start(running) }()
		DeferCleanup(func(ctx SpecContext) {
			meta := metav1.ObjectMeta{Name: "gardener-extension-own"}
			Expect(g.Client().Delete(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta})).To(Succeed())
			Expect(g.Client().Delete(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta})).To(Succeed())
			stop()
			Expect(<-ended).To(Succeed())
		})
		Eventually(ctx, func() error {
			return u.Create(ctx, ofAcme[v1beta1.CloudProfile]("broken.yaml"), client.DryRunAll)
		}).WithTimeout(time.Minute).Should(MatchError(ContainSubstring("no provider image for")))

		s, child := ofAcme[v1beta1.Shoot]("shoot.yaml"), ofAcme[v1beta1.NamespacedCloudProfile]("namespacedcloudprofile.yaml")
		s.Name, s.Spec.Maintenance = "own-acme", &v1beta1.Maintenance{TimeWindow: garden.LaterToday()}
		child.Name = "own-acme"
		for _, object := range append(credentialsOfAcme("secret"),
			ofAcme[v1beta1.CloudProfile]("cloudprofile.yaml"), child, s,
			openstack("own"), shoot("own", "own"),
		) {
			Expect(u.Create(ctx, object)).To(Succeed())
		}
	})

	It("keeps of Shoots, and of profiles, those of the provider alone, and of Shoots what the webhooks read", func(ctx SpecContext) {
		var shoots v1beta1.ShootList
		Eventually(ctx, func(o Gomega) {
			o.Expect(mgr.GetClient().List(ctx, &shoots)).To(Succeed())
			o.Expect(shoots.Items).To(HaveExactElements(HaveField("Name", "own-acme")))
		}).Should(Succeed())
		kept, stored := shoots.Items[0], &v1beta1.Shoot{}
		Expect(u.Get(ctx, client.ObjectKeyFromObject(&kept), stored)).To(Succeed())
		Expect(kept.Spec.Provider.Workers).To(HaveLen(2))
		Expect(kept.Spec.Provider.Workers[0].ProviderConfig).To(Equal(stored.Spec.Provider.Workers[0].ProviderConfig))
		Expect(stored.Spec.Networking).NotTo(BeNil())
		Expect(kept.Spec.Networking).To(BeNil())
		Expect(kept.ManagedFields).To(BeNil())

		var profiles v1beta1.CloudProfileList
		Expect(mgr.GetClient().List(ctx, &profiles)).To(Succeed())
		Expect(profiles.Items).To(HaveExactElements(HaveField("Spec.Type", "acme")))
		var children v1beta1.NamespacedCloudProfileList
		Expect(mgr.GetClient().List(ctx, &children)).To(Succeed())
		Expect(children.Items).To(HaveExactElements(HaveField("Status.CloudProfileSpec", Equal(v1beta1.CloudProfileSpec{}))))
	})

	It("answers as the component does: warnings arrive, and what has to be read for an answer is", func(ctx SpecContext) {
		unused := ofAcme[v1beta1.CloudProfile]("cloudprofile.yaml")
		unused.Name = "acme-unused"
		unused.Spec.MachineImages[0].Versions = unused.Spec.MachineImages[0].Versions[:1]
		u.Heard()
		Expect(u.Create(ctx, unused)).To(Succeed())
		Expect(u.Heard()).To(ContainElement(ContainSubstring("is not listed in spec.machineImages")))

		// The warning is about the Shoot in the cache.
		profile := &v1beta1.CloudProfile{}
		Expect(u.Get(ctx, client.ObjectKey{Name: "acme"}, profile)).To(Succeed())
		profile.Spec.MachineTypes = profile.Spec.MachineTypes[1:]
		Eventually(ctx, func(o Gomega) {
			o.Expect(u.Update(ctx, profile.DeepCopy(), client.DryRunAll)).To(Succeed())
			o.Expect(u.Heard()).To(ContainElement(And(ContainSubstring("m.large"), ContainSubstring("garden-demo/own-acme"))))
		}).Should(Succeed())

		for _, object := range credentialsOfAcme("")[:1] {
			object.SetName("acme-empty")
			Expect(u.Create(ctx, object)).To(Succeed())
		}
		binding := credentialsOfAcme("")[1].(*securityv1alpha1.CredentialsBinding)
		binding.Name, binding.CredentialsRef.Name = "acme-empty", "acme-empty"
		Expect(u.Create(ctx, binding)).To(MatchError(ContainSubstring("write the token that acme gave you")))
	})
})
