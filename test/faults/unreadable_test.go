// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/test/garden/extension"
)

func TestAProfileThatCannotBeRead(t *testing.T) {
	access := newAPIAccess(t)
	serve(t, access.newReplica(t))
	write(t, namespaced("readable", "orchard"), "")
	about := func(request *http.Request) bool { return strings.Contains(request.URL.Path, "/cloudprofiles") }

	// Its rights are taken away, and its watch ends, as a watch does every few minutes.
	giveBack := take(t, "cloudprofiles")
	waitFor(t, "it may not read CloudProfiles", func() bool { return apierrors.IsForbidden(readAs(t, access, profiles.fresh("orchard"))) })
	access.refuse(about)
	access.refuse(nil)
	// What it knew still counts.
	write(t, namespaced("remembered", "orchard"), "")
	write(t, profiles.fresh("unreadable"), "")
	const reason = `CloudProfile unreadable could not be read, so nothing was checked: cloudprofiles.core.gardener.cloud "unreadable" is forbidden`
	write(t, namespaced("forbidden", "unreadable"), reason)
	write(t, shootOf("forbidden", "unreadable"), reason)

	// The API server does not answer.
	access.refuse(about)
	write(t, namespaced("unanswered", "unreadable"), "CloudProfile unreadable could not be read, so nothing was checked: an error on the server")
	access.refuse(nil)

	giveBack()
	waitFor(t, "it may read CloudProfiles again", func() bool { return readAs(t, access, profiles.fresh("unreadable")) == nil })
	write(t, namespaced("again", "unreadable"), "")
	write(t, shootOf("again", "unreadable"), "")
}

// take takes all rights to resources from the component, until the function that it returns is called, or the test ends.
func take(t *testing.T, resources ...string) (giveBack func()) {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	if err := g.Client().Get(t.Context(), client.ObjectKey{Name: extension.Name}, role); err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(role.Rules)
	set := func(rules []rbacv1.PolicyRule) {
		role.Rules = rules
		if err := g.Client().Update(context.Background(), role); err != nil {
			t.Error(err)
		}
	}
	var rest []rbacv1.PolicyRule
	for _, rule := range before {
		rule.Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(r string) bool { return slices.Contains(resources, r) })
		if len(rule.Resources) > 0 {
			rest = append(rest, rule)
		}
	}
	set(rest)
	giveBack = sync.OnceFunc(func() { set(before) })
	t.Cleanup(giveBack)
	return giveBack
}

func TestCredentialsThatCannotBeRead(t *testing.T) {
	access := newAPIAccess(t)
	r := access.newReplica(t)
	serve(t, r)
	domains := profiles.fresh("domains").(*v1beta1.CloudProfile)
	changeConfig(domains, func(config *v1alpha1.CloudProfileConfig) {
		config.Constraints.FloatingPools[0].Domain = ptr.To("example")
	})
	write(t, domains, "")
	write(t, shootOf("domain", "domains"), "")
	legacy := &v1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "legacy", Namespace: "garden-orchard"},
		SecretRef:  corev1.SecretReference{Name: "openstack", Namespace: "garden-orchard"}, Provider: &v1beta1.SecretBindingProvider{Type: "openstack"},
	}
	write(t, legacy, "")
	bySecretBinding := shootOf("legacy", "domains")
	bySecretBinding.Spec.CredentialsBindingName, bySecretBinding.Spec.SecretBindingName = nil, ptr.To("legacy")
	write(t, bySecretBinding, "")

	take(t, "secrets", "secretbindings", "credentialsbindings")
	waitFor(t, "it may not read Secrets", func() bool {
		return apierrors.IsForbidden(readAs(t, access, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "openstack", Namespace: "garden-orchard"}}))
	})
	write(t, shootOf("nobody", "domains"),
		`CredentialsBinding garden-orchard/openstack could not be read, so nothing was checked: credentialsbindings.security.gardener.cloud "openstack" is forbidden`)
	legacy = legacy.DeepCopy()
	legacy.Name, legacy.ResourceVersion, legacy.Finalizers = "unreadable", "", nil
	write(t, legacy, `Secret garden-orchard/openstack could not be read, so nothing was checked: secrets "openstack" is forbidden`)
	write(t, shootOf("any-domain", "orchard"), "") // the domain makes no difference here
	if log := r.log(t); strings.Contains(log, "not-a-password") {
		t.Error("the log has the password")
	}
}

// write creates an object. If that is to fail, it must be with an internal error for this reason, and nothing is stored.
func write(t *testing.T, object client.Object, reason string) {
	t.Helper()
	err := writing.Create(t.Context(), object)
	if reason == "" {
		if err != nil {
			t.Errorf("%s: %v", object.GetName(), err)
		}
		return
	}
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("%s: the error is %q (%s)", object.GetName(), err, apierrors.ReasonForError(err))
	}
	if err := g.Client().Get(t.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
		t.Errorf("%s is stored: %v", object.GetName(), err)
	}
}

// readAs reads an object as the component does.
func readAs(t *testing.T, access *apiAccess, object client.Object) error {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", access.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: g.Client().Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
}

// namespaced returns a NamespacedCloudProfile that is right.
func namespaced(name, parent string) *v1beta1.NamespacedCloudProfile {
	object := read[v1beta1.NamespacedCloudProfile]("namespaced.yaml")
	object.Name, object.Spec.Parent.Name = name, parent
	return object
}

// shootOf returns a Shoot that is right.
func shootOf(name, profile string) *v1beta1.Shoot {
	shoot := read[v1beta1.Shoot]("shoot.yaml")
	shoot.Name, shoot.Spec.CloudProfile.Name = name, profile
	return shoot
}
