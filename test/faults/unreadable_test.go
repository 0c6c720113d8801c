// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

var _ = Describe("A write is refused with an internal error", func() {
	It("if a profile that it needs cannot be read", func(ctx SpecContext) {
		access := newAPIAccess()
		serve(ctx, access.newReplica())
		create(ctx, namespaced("readable", "orchard"))
		about := func(request *http.Request) bool { return strings.Contains(request.URL.Path, "/cloudprofiles") }

		By("taking away the rights of the component, and ending its watch, as a watch does every few minutes")
		giveBack := take(ctx, profiles.fresh("orchard"), "cloudprofiles")
		access.refuse(about)
		access.refuse(nil)
		create(ctx, namespaced("remembered", "orchard")) // cached objects still apply
		create(ctx, profiles.fresh("unreadable"))
		const reason = `CloudProfile unreadable could not be read, so nothing was checked: cloudprofiles.core.gardener.cloud "unreadable" is forbidden`
		expectError(ctx, namespaced("forbidden", "unreadable"), reason)
		expectError(ctx, shootOf("forbidden", "unreadable"), reason)

		By("letting the API server not answer")
		access.refuse(about)
		expectError(ctx, namespaced("unanswered", "unreadable"),
			"CloudProfile unreadable could not be read, so nothing was checked: an error on the server")
		access.refuse(nil)

		By("giving back the rights")
		giveBack(ctx)
		create(ctx, namespaced("again", "unreadable"))
		create(ctx, shootOf("again", "unreadable"))
	})

	It("if credentials that it needs cannot be read", func(ctx SpecContext) {
		r := newReplica()
		serve(ctx, r)
		domains := profiles.fresh("domains").(*v1beta1.CloudProfile)
		changeConfig(domains, func(config *v1alpha1.CloudProfileConfig) {
			config.Constraints.FloatingPools[0].Domain = ptr.To("example")
		})
		create(ctx, domains)
		create(ctx, shootOf("domain", "domains"))
		create(ctx, secretBinding("legacy"))
		bySecretBinding := shootOf("legacy", "domains")
		bySecretBinding.Spec.CredentialsBindingName, bySecretBinding.Spec.SecretBindingName = nil, ptr.To("legacy")
		create(ctx, bySecretBinding)

		credentials := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "openstack", Namespace: "garden-orchard"}}
		take(ctx, credentials, "secrets", "secretbindings", "credentialsbindings")
		expectError(ctx, shootOf("nobody", "domains"), "CredentialsBinding garden-orchard/openstack could not be read, so nothing was checked: "+
			`credentialsbindings.security.gardener.cloud "openstack" is forbidden`)
		expectError(ctx, secretBinding("unreadable"), `Secret garden-orchard/openstack could not be read, so nothing was checked: secrets "openstack" is forbidden`)
		create(ctx, shootOf("any-domain", "orchard")) // the domain does not matter here
		Expect(r.log()).NotTo(ContainSubstring("not-a-password"))
	})
})

// take revokes all of the component's rights to resources, until giveBack is called or the spec ends. It waits until the
// API server has seen that, by reading an example object.
func take(ctx context.Context, example client.Object, resources ...string) (giveBack func(context.Context)) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(g.Client().Get(ctx, client.ObjectKey{Name: extension.Name}, role)).To(Succeed())
	before := role.DeepCopy()
	giveBack = func(ctx context.Context) {
		role.Rules = before.Rules
		Expect(g.Client().Update(ctx, role)).To(Succeed())
		Eventually(readAsComponent).WithContext(ctx).WithArguments(example).Should(Succeed())
	}
	DeferCleanup(giveBack)
	for i := range role.Rules {
		role.Rules[i].Resources = slices.DeleteFunc(role.Rules[i].Resources, func(r string) bool { return slices.Contains(resources, r) })
	}
	role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return len(rule.Resources) == 0 })
	Expect(g.Client().Update(ctx, role)).To(Succeed())
	Eventually(readAsComponent).WithContext(ctx).WithArguments(example).Should(MatchError(apierrors.IsForbidden, "forbidden"))
	return giveBack
}

// readAsComponent reads an object with the component's rights.
func readAsComponent(ctx context.Context, object client.Object) error {
	config, err := clientcmd.BuildConfigFromFlags("", installation.GardenKubeconfig)
	Expect(err).NotTo(HaveOccurred())
	c, err := client.New(config, client.Options{Scheme: g.Client().Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return c.Get(ctx, client.ObjectKeyFromObject(object), object)
}

func create(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(writing.Create(ctx, object)).To(Succeed(), object.GetName())
}

// expectError expects that creating an object fails with an internal error for this reason.
func expectError(ctx context.Context, object client.Object, reason string) {
	GinkgoHelper()
	err := writing.Create(ctx, object)
	Expect(err).To(MatchError(apierrors.IsInternalError, "internal error"), object.GetName())
	Expect(err).To(MatchError(And(ContainSubstring(reason), Not(ContainSubstring("failed calling webhook")))), object.GetName())
	Expect(g.Client().Get(ctx, client.ObjectKeyFromObject(object), object)).To(MatchError(apierrors.IsNotFound, "not found"), object.GetName())
}

// secretBinding returns a valid SecretBinding.
func secretBinding(name string) *v1beta1.SecretBinding {
	GinkgoHelper()
	object := read[v1beta1.SecretBinding]("secretbinding.yaml")
	object.Name = name
	return object
}

// namespaced returns a valid NamespacedCloudProfile.
func namespaced(name, parent string) *v1beta1.NamespacedCloudProfile {
	object := read[v1beta1.NamespacedCloudProfile]("namespaced.yaml")
	object.Name, object.Spec.Parent.Name = name, parent
	return object
}

// shootOf returns a valid Shoot. Gardener maintains it only on request.
func shootOf(name, profile string) *v1beta1.Shoot {
	shoot := read[v1beta1.Shoot]("shoot.yaml")
	shoot.Name, shoot.Spec.CloudProfile.Name = name, profile
	shoot.Spec.Maintenance = &v1beta1.Maintenance{TimeWindow: garden.LaterToday()}
	return shoot
}
