// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// password is in the Secrets here, and nobody must show it.
const password = "zq7kx2mv"

// shootProvider is the label of Secrets that Shoots of OpenStack use.
const shootProvider = "provider.shoot.gardener.cloud/openstack"

// secret returns a Secret with credentials of a domain, without the label that Gardener gives it.
func secret(name, domain string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "garden-demo"},
		Data:       map[string][]byte{"domainName": []byte(domain), "tenantName": []byte("shops"), "username": []byte("anna"), "password": []byte(password)},
	}
}

// binding returns a CredentialsBinding to the Secret of the same name.
func binding(name string) *securityv1alpha1.CredentialsBinding {
	return &securityv1alpha1.CredentialsBinding{
		ObjectMeta:     metav1.ObjectMeta{Name: name, Namespace: "garden-demo"},
		Provider:       securityv1alpha1.CredentialsBindingProvider{Type: "openstack"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden-demo", Name: name},
	}
}

// secretBinding returns a SecretBinding to the Secret of the same name.
func secretBinding(name string) *v1beta1.SecretBinding {
	return &v1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "garden-demo"},
		Provider:   &v1beta1.SecretBindingProvider{Type: "openstack"},
		SecretRef:  corev1.SecretReference{Namespace: "garden-demo", Name: name},
	}
}

// discreet demands that an error does not show the password.
func discreet(t *testing.T, err error) {
	t.Helper()
	status, _ := json.Marshal(err)
	if text := err.Error() + string(status); strings.Contains(text, password) {
		t.Errorf("the password is shown: %s", text)
	}
}

func TestSecretWithCredentials(t *testing.T) {
	u, s := newUser(t), secret("written", "demo")
	s.Labels = map[string]string{shootProvider: "true"}
	s.Data["password"] = []byte(password + "\n")
	s.Data["applicationCredentialID"] = []byte("a1")
	delete(s.Data, "tenantName")
	err := u.Create(t.Context(), s)
	refused(t, err, "data[password]", "data[password]", "data[tenantName]")
	discreet(t, err)

	s.Data["password"], s.Data["tenantName"] = []byte(password), []byte("shops")
	delete(s.Data, "applicationCredentialID")
	u.accepted(t, u.Create(t.Context(), s))
	err = change(t, u, s, func(s *corev1.Secret) {
		s.Data["authURL"] = []byte("https://anna:" + password + "@keystone.example.com")
	})
	refused(t, err, "data[authURL]")
	discreet(t, err)
}

// What was wrong with a Secret before Gardener has made it one with credentials is in nobody's way.
func TestSecretThatWasWrongBefore(t *testing.T) {
	u, s := newUser(t), secret("wrong", "demo\n")
	u.create(t, s)
	u.accepted(t, change(t, u, s, func(s *corev1.Secret) { s.Labels = map[string]string{shootProvider: "true"} }))
	u.accepted(t, change(t, u, s, func(s *corev1.Secret) { s.Data["username"] = []byte("berta") }), "data[domainName]: it ends with a line break")
	refused(t, change(t, u, s, func(s *corev1.Secret) { s.Data["domainName"] = []byte("other\n") }), "data[domainName]")
	u.accepted(t, change(t, u, s, func(s *corev1.Secret) { s.Data["domainName"] = []byte("other") }))
	if err := u.Delete(t.Context(), s); err != nil {
		t.Error(err)
	}
}

func TestBindings(t *testing.T) {
	u := newUser(t)
	u.create(t, secret("bound", "demo"))
	u.accepted(t, u.Create(t.Context(), binding("bound")))
	u.heard()
	if err := u.Create(t.Context(), secretBinding("bound")); err != nil {
		t.Error(err)
	}
	// From now on the Secret is one with credentials.
	s := secret("bound", "demo")
	eventually(t, "Gardener has labelled the Secret", func() bool {
		return u.Get(t.Context(), client.ObjectKeyFromObject(s), s) == nil && s.Labels[shootProvider] == "true"
	})
	refused(t, change(t, u, s, func(s *corev1.Secret) { delete(s.Data, "domainName") }), "data[domainName]")

	broken := secret("unbound", "demo")
	broken.Data["password"] = []byte(password + "\n")
	u.create(t, broken)
	for _, object := range []client.Object{binding("unbound"), secretBinding("unbound")} {
		err := u.Create(t.Context(), object)
		if err == nil || !strings.Contains(err.Error(), "data[password]: Invalid value: it ends with a line break") {
			t.Errorf("%T: %v", object, err)
			continue
		}
		discreet(t, err)
	}
	for _, object := range []client.Object{binding("nothing"), secretBinding("nothing")} {
		if err := u.Create(t.Context(), object); err == nil {
			t.Errorf("%T is created without Secret", object)
		}
	}
}

func TestBindingToAnIdentity(t *testing.T) {
	u := newUser(t)
	identity := &securityv1alpha1.WorkloadIdentity{
		ObjectMeta: metav1.ObjectMeta{Name: "identity", Namespace: "garden-demo"},
		Spec:       securityv1alpha1.WorkloadIdentitySpec{Audiences: []string{"openstack"}, TargetSystem: securityv1alpha1.TargetSystem{Type: "openstack"}},
	}
	u.create(t, identity)
	b := binding("identity")
	b.CredentialsRef.APIVersion, b.CredentialsRef.Kind = "security.gardener.cloud/v1alpha1", "WorkloadIdentity"
	refused(t, u.Create(t.Context(), b), "credentialsRef.kind")
}

// A Shoot whose Secret is gone can be changed, hibernated and deleted. Another one cannot be created.
func TestShootWhoseSecretIsGone(t *testing.T) {
	u := newUser(t)
	u.create(t, constrained(t, "secret-gone"))
	bind(t, u, "gone", "demo")
	s := shoot(t, "gone", "secret-gone")
	s.Spec.CredentialsBindingName = &[]string{"gone"}[0]
	chooseFloatingPool(s, "fp-demo")
	u.accepted(t, u.Create(t.Context(), s))
	remove(t, u, secret("gone", "demo"))

	const why = "spec.credentialsBindingName: Secret garden-demo/gone does not exist"
	u.accepted(t, change(t, u, s, func(s *v1beta1.Shoot) { s.Labels = map[string]string{"a": "b"} }))
	u.accepted(t, change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum++ }), why)
	u.accepted(t, change(t, u, s, hibernate), why)
	another := s.DeepCopy()
	another.ObjectMeta = metav1.ObjectMeta{Name: "another", Namespace: s.Namespace}
	refused(t, u.Create(t.Context(), another), "spec.credentialsBindingName")
	destroy(t, u, s)
}

// bind creates credentials of a domain, and a CredentialsBinding and a SecretBinding to them, all of one name.
func bind(t *testing.T, u *user, name, domain string) {
	t.Helper()
	u.create(t, secret(name, domain))
	u.create(t, binding(name))
	u.create(t, secretBinding(name))
	u.heard()
	eventually(t, "Gardener knows the bindings", func() bool {
		s := secret(name, domain)
		return u.Get(t.Context(), client.ObjectKeyFromObject(s), s) == nil && len(s.Finalizers) > 0
	})
}

// remove deletes an object together with what holds it back.
func remove(t *testing.T, u *user, object client.Object) {
	t.Helper()
	if err := u.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is gone", func() bool {
		err := u.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if err == nil {
			object.SetFinalizers(nil)
			err = u.Update(t.Context(), object)
		}
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
		return apierrors.IsNotFound(err)
	})
}

// TestNothingOfASecretIsLogged looks at what the component has logged so far.
func TestNothingOfASecretIsLogged(t *testing.T) {
	logs, err := filepath.Glob(filepath.Join(g.Logs(), "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	for _, log := range logs {
		if content, err := os.ReadFile(log); err != nil || strings.Contains(string(content), password) {
			t.Errorf("%s shows the password (%v)", log, err)
		}
	}
}
