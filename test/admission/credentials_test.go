// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// password is the password in all Secrets of these specs. It must never be shown.
const password = "zq7kx2mv"

// shootProvider labels the Secrets that OpenStack Shoots use.
const shootProvider = "provider.shoot.gardener.cloud/openstack"

// secret returns a Secret with credentials of a domain, without the label that Gardener adds.
func secret(name, domain string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "garden-demo"},
		Data:       map[string][]byte{"domainName": []byte(domain), "tenantName": []byte("shops"), "username": []byte("anna"), "password": []byte(password)},
	}
}

func binding(name string) *securityv1alpha1.CredentialsBinding {
	return &securityv1alpha1.CredentialsBinding{
		ObjectMeta:     metav1.ObjectMeta{Name: name, Namespace: "garden-demo"},
		Provider:       securityv1alpha1.CredentialsBindingProvider{Type: "openstack"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden-demo", Name: name},
	}
}

func secretBinding(name string) *v1beta1.SecretBinding {
	return &v1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "garden-demo"},
		Provider:   &v1beta1.SecretBindingProvider{Type: "openstack"},
		SecretRef:  corev1.SecretReference{Namespace: "garden-demo", Name: name},
	}
}

// bind creates credentials of a domain, with a CredentialsBinding and a SecretBinding of the same name.
func bind(ctx context.Context, name, domain string) {
	GinkgoHelper()
	create(ctx, secret(name, domain))
	create(ctx, binding(name))
	create(ctx, secretBinding(name))
}

// set returns a change of a Secret.
func set(key, value string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.Data[key] = []byte(value) }
}

// beDiscreet matches an error that does not show the password.
func beDiscreet() types.GomegaMatcher {
	return WithTransform(func(err error) string {
		status, _ := json.Marshal(err)
		return err.Error() + string(status)
	}, Not(ContainSubstring(password)))
}

// expectNoPasswordInLogs searches the current logs of the component and the API servers for the password.
func expectNoPasswordInLogs() {
	GinkgoHelper()
	logs, err := filepath.Glob(filepath.Join(g.Logs(), "*.log"))
	Expect(err).NotTo(HaveOccurred())
	Expect(logs).NotTo(BeEmpty())
	for _, log := range logs {
		content, err := os.ReadFile(log)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(content)).NotTo(ContainSubstring(password), log)
	}
}

var _ = Describe("A Secret with credentials", func() {
	It("is refused for what is wrong with it, without its values", func(ctx SpecContext) {
		s := secret("written", "demo")
		s.Labels = map[string]string{shootProvider: "true"}
		set("password", password+"\n")(s)
		set("applicationCredentialID", "a1")(s)
		delete(s.Data, "tenantName")
		Expect(u.Create(ctx, s)).To(And(beRefusedAt("data[password]", "data[password]", "data[tenantName]"), beDiscreet()))

		set("password", password)(s)
		set("tenantName", "shops")(s)
		delete(s.Data, "applicationCredentialID")
		expectAccepted(u.Create(ctx, s))
		Expect(change(ctx, s, set("authURL", "https://anna:"+password+"@keystone.example.com"))).To(And(beRefusedAt("data[authURL]"), beDiscreet()))
	})

	It("is one from when a Shoot can use it", func(ctx SpecContext) {
		s := secret("bound", "demo")
		create(ctx, s)
		expectAccepted(u.Create(ctx, binding(s.Name)))
		Expect(u.Create(ctx, secretBinding(s.Name))).To(Succeed())
		Eventually(ctx, func() (map[string]string, error) {
			err := u.Get(ctx, client.ObjectKeyFromObject(s), s)
			return s.Labels, err
		}).Should(HaveKeyWithValue(shootProvider, "true"))
		Expect(change(ctx, s, func(s *corev1.Secret) { delete(s.Data, "domainName") })).To(beRefusedAt("data[domainName]"))
	})
})

var _ = Describe("A binding", func() {
	DescribeTable("to credentials that are not sound is refused", func(ctx SpecContext, name string, to func(name string) client.Object) {
		create(ctx, secret(name, "demo"))
		broken := secret(name+"-broken", "demo")
		set("password", password+"\n")(broken)
		create(ctx, broken)
		Expect(u.Create(ctx, to(broken.Name))).To(And(MatchError(ContainSubstring("data[password]: Invalid value: it ends with a line break")), beDiscreet()))
		Expect(u.Create(ctx, to("nothing"))).To(HaveOccurred())
		Expect(u.Create(ctx, to(name))).To(Succeed())
	},
		Entry("as a CredentialsBinding", "by-credentialsbinding", func(name string) client.Object { return binding(name) }),
		Entry("as a SecretBinding", "by-secretbinding", func(name string) client.Object { return secretBinding(name) }),
	)

	It("to a WorkloadIdentity is refused", func(ctx SpecContext) {
		create(ctx, &securityv1alpha1.WorkloadIdentity{
			ObjectMeta: metav1.ObjectMeta{Name: "identity", Namespace: "garden-demo"},
			Spec: securityv1alpha1.WorkloadIdentitySpec{
				Audiences: []string{"openstack"}, TargetSystem: securityv1alpha1.TargetSystem{Type: "openstack"},
			},
		})
		b := binding("identity")
		b.CredentialsRef.APIVersion, b.CredentialsRef.Kind = "security.gardener.cloud/v1alpha1", "WorkloadIdentity"
		Expect(u.Create(ctx, b)).To(beRefusedAt("credentialsRef.kind"))
	})
})

var _ = Describe("A Shoot with a DNS service of OpenStack", func() {
	It("is refused for credentials that are not sound, and for none", func(ctx SpecContext) {
		registration := &v1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "designate"}}
		registration.Spec.Resources = []v1beta1.ControllerResource{{Kind: "DNSRecord", Type: "openstack-designate"}}
		create(ctx, registration)
		create(ctx, openstack("dns"))
		credentials := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "designate", Namespace: "garden-demo"}, Data: map[string][]byte{
			"OS_DOMAIN_NAME": []byte("demo"), "OS_PROJECT_NAME": []byte("shops"), "OS_USERNAME": []byte("anna"),
			"OS_PASSWORD": []byte(password + "\n"),
		}}
		create(ctx, credentials)
		s := shoot("dns", "dns")
		s.Spec.DNS = &v1beta1.DNS{Domain: ptr.To("dns.example.com")}
		s.Spec.DNS.Providers = []v1beta1.DNSProvider{{ //nolint:staticcheck // as people write it
			Type: ptr.To("openstack-designate"), Primary: ptr.To(true), //nolint:staticcheck // as people write it
			CredentialsRef: &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: credentials.Name},
		}}
		const at = "spec.dns.providers[0].credentialsRef"
		Eventually(ctx, func() error { return u.Create(ctx, s.DeepCopy()) }).Should(And( // once Gardener knows the DNS service
			beRefusedAt(at, at), beDiscreet(),
			MatchError(ContainSubstring("Secret garden-demo/designate: data[OS_PASSWORD]: it ends with a line break")),
			MatchError(ContainSubstring("Secret garden-demo/designate: data[authURL]: the URL of the identity service is missing; "+
				"the key may also be called OS_AUTH_URL"))))
		Expect(change(ctx, credentials, set("OS_PASSWORD", password))).To(Succeed())
		Expect(change(ctx, credentials, set("OS_AUTH_URL", "https://keystone.example.com/v3"))).To(Succeed())
		Expect(u.Create(ctx, s)).To(Succeed())
		destroy(ctx, s)
	})
})

var _ = Describe("A Shoot whose Secret is gone", func() {
	It("can be changed, hibernated and deleted, and no other one can be created", func(ctx SpecContext) {
		create(ctx, constrained("secret-gone"))
		bind(ctx, "gone", "demo")
		s := shoot("gone", "secret-gone")
		s.Spec.CredentialsBindingName = ptr.To("gone")
		chooseFloatingPool("fp-demo")(s)
		expectAccepted(u.Create(ctx, s))
		destroy(ctx, secret("gone", "demo"))

		const why = "spec.credentialsBindingName: older than this update: Secret garden-demo/gone does not exist"
		Eventually(ctx, func(g Gomega) []string { // once the component knows
			g.Expect(change(ctx, s, scale)).To(Succeed())
			return u.Heard()
		}).Should(ContainElement(ContainSubstring(why)))
		expectAccepted(change(ctx, s, label))
		expectAccepted(change(ctx, s, scale), why)
		expectAccepted(change(ctx, s, hibernate), why)
		another := s.DeepCopy()
		another.ObjectMeta = metav1.ObjectMeta{Name: "another", Namespace: s.Namespace}
		Expect(u.Create(ctx, another)).To(beRefusedAt("spec.credentialsBindingName"))
		destroy(ctx, s)
	})
})
