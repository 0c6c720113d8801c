// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// newSecret returns a Secret with valid credentials, changed by pairs of key and value. The value "-" removes the key.
func newSecret(name string, more ...string) *corev1.Secret {
	s := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "garden-demo"},
		Data:       map[string][]byte{"domainName": []byte("demo"), "tenantName": []byte("shops"), "username": []byte("anna"), "password": []byte("s3cret")},
	}
	for i := 0; i < len(more); i += 2 {
		s.Data[more[i]] = []byte(more[i+1])
		if more[i+1] == "-" {
			delete(s.Data, more[i])
		}
	}
	return s
}

// newBinding returns a CredentialsBinding to the Secret of the same name.
func newBinding(name string) *securityv1alpha1.CredentialsBinding {
	return &securityv1alpha1.CredentialsBinding{
		TypeMeta:       metav1.TypeMeta{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "CredentialsBinding"},
		ObjectMeta:     metav1.ObjectMeta{Name: name, Namespace: "garden-demo"},
		Provider:       securityv1alpha1.CredentialsBindingProvider{Type: "openstack"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden-demo", Name: name},
	}
}

// newSecretBinding returns a SecretBinding to the Secret of the same name, in its own namespace.
func newSecretBinding(name string) *v1beta1.SecretBinding {
	return &v1beta1.SecretBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "core.gardener.cloud/v1beta1", Kind: "SecretBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "garden-demo"},
		Provider:   &v1beta1.SecretBindingProvider{Type: "openstack"},
		SecretRef:  corev1.SecretReference{Name: name},
	}
}

// expect sends the creation or update of an object. It wants a refusal at the fields in refused, with the text says, and warnings at the
// fields in warned.
func (e *endpoints) expect(t *testing.T, object, old client.Object, refused []string, says string, warned []string) {
	t.Helper()
	endpoint := "validate-" + strings.ToLower(object.GetObjectKind().GroupVersionKind().Kind)
	response, _ := e.ask(t, endpoint, object, old)
	var fields, warnings []string
	if !response.Allowed {
		if response.Result.Code != 422 || !strings.Contains(response.Result.Message, says) {
			t.Errorf("the answer is %v, and not %s", response.Result, says)
		}
		for _, cause := range response.Result.Details.Causes {
			fields = append(fields, cause.Field)
		}
	}
	for _, warning := range response.Warnings {
		at, _, _ := strings.Cut(warning, ":")
		warnings = append(warnings, at)
	}
	if !slices.Equal(fields, refused) || !slices.Equal(warnings, warned) {
		t.Errorf("refused at %q, with warnings at %q: %v", fields, warnings, response)
	}
}

func TestWebhooksForCredentials(t *testing.T) {
	rows := componentFor(openstack.Provider{}, nil).webhooks()
	for _, row := range rows {
		want := "provider.extensions.gardener.cloud/openstack"
		if row.name == "validate-secret" {
			want = "provider.shoot.gardener.cloud/openstack"
		}
		labels := row.webhook("openstack").ObjectSelector.MatchLabels
		if !maps.Equal(labels, map[string]string{want: "true"}) {
			t.Errorf("%s is for objects with the labels %q", row.name, labels)
		}
	}
	if len(rows) != 10 || len(Switches(openstack.Provider{})) != 10 {
		t.Errorf("there are %d", len(rows))
	}
	if others := componentFor(local.Provider{}, nil).webhooks(); len(others) != 7 {
		t.Errorf("of a provider without rules about credentials there are %d", len(others))
	}
}

func TestSecrets(t *testing.T) {
	e := newEndpoints(t)
	leaving := newSecret("leaving", "password", "a\n")
	leaving.DeletionTimestamp = ptr.To(metav1.Now())
	labelled := newSecret("labelled", "password", "a\n")
	labelled.Labels = map[string]string{"provider.shoot.gardener.cloud/openstack": "true"}
	anonymous := newSecret("", "password", "a\n") // sent by Gardener's admission when a binding is created
	anonymous.GenerateName = "openstack"
	for name, test := range map[string]struct {
		object, old client.Object
		refused     []string
		warned      []string
	}{
		"right":              {newSecret("a"), nil, nil, nil},
		"wrong":              {newSecret("a", "password", "a\n", "domainName", "-"), nil, []string{"data[domainName]", "data[password]"}, nil},
		"without a name yet": {anonymous, nil, []string{"data[password]"}, nil},
		"without data": {
			&corev1.Secret{TypeMeta: newSecret("").TypeMeta}, nil, []string{"data[domainName]", "data[password]", "data[tenantName]", "data[username]"}, nil,
		},
		"made wrong":            {newSecret("a", "tenantName", " b"), newSecret("a"), []string{"data[tenantName]"}, nil},
		"made right":            {newSecret("a"), newSecret("a", "tenantName", " b"), nil, nil},
		"wrong as before":       {labelled, newSecret("a", "password", "a\n"), nil, nil},
		"another value changed": {newSecret("a", "password", "a\n", "username", "b"), newSecret("a", "password", "a\n"), nil, []string{"data[password]"}},
		"made wrong otherwise": {
			newSecret("a", "password", "a\n", "username", " b"), newSecret("a", "password", "a\n"), []string{"data[username]"}, []string{"data[password]"},
		},
		"another wrong value":     {newSecret("a", "password", "b\n"), newSecret("a", "password", "a\n"), []string{"data[password]"}, nil},
		"still without":           {newSecret("a", "password", "-", "username", "b"), newSecret("a", "password", "-"), nil, []string{"data[password]"}},
		"no longer there":         {newSecret("a", "password", "-"), newSecret("a", "password", "a\n"), []string{"data[password]"}, nil},
		"empty instead of absent": {newSecret("a", "password", ""), newSecret("a", "password", "-"), nil, []string{"data[password]"}},
		"a key of somebody else":  {newSecret("a", "password", "a\n", "other", ""), newSecret("a", "password", "a\n"), nil, []string{"data[password]"}},
		"leaving":                 {leaving, newSecret("a"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e.expect(t, test.object, test.old, test.refused, "", test.warned)
		})
	}
}

func TestBindings(t *testing.T) {
	e := newEndpoints(t)
	changed := func(name string, change func(*corev1.ObjectReference)) *securityv1alpha1.CredentialsBinding {
		b := newBinding(name)
		change(&b.CredentialsRef)
		return b
	}
	elsewhere := newSecretBinding("openstack")
	elsewhere.SecretRef.Namespace = "garden-other"
	leaving := newBinding("missing")
	leaving.DeletionTimestamp = ptr.To(metav1.Now())
	for name, test := range map[string]struct {
		object, old client.Object
		refused     []string
		text        string
	}{
		"right":                {newBinding("openstack"), nil, nil, ""},
		"broken":               {newBinding("broken"), nil, []string{"credentialsRef"}, "Secret garden-demo/broken: data[password]: it ends with a line break"},
		"missing":              {newBinding("missing"), nil, []string{"credentialsRef"}, "Secret garden-demo/missing does not exist"},
		"missing, and stored":  {newBinding("missing"), newBinding("missing"), nil, ""},
		"missing, and leaving": {leaving, nil, nil, ""},
		"of no namespace":      {changed("openstack", func(r *corev1.ObjectReference) { r.Namespace = "" }), nil, nil, ""},
		"an identity": {changed("openstack", func(r *corev1.ObjectReference) {
			r.APIVersion, r.Kind = "security.gardener.cloud/v1alpha1", "WorkloadIdentity"
		}), nil, []string{"credentialsRef.kind"}, `supported values: "Secret"`},
		"an InternalSecret": {changed("openstack", func(r *corev1.ObjectReference) {
			r.APIVersion, r.Kind = "core.gardener.cloud/v1beta1", "InternalSecret"
		}), nil, []string{"credentialsRef"}, "InternalSecret garden-demo/openstack does not exist"},
		"a Secret of another API": {
			changed("openstack", func(r *corev1.ObjectReference) { r.APIVersion = "example.com/v1" }), nil, []string{"credentialsRef.kind"}, "",
		},
		"nothing": {
			changed("openstack", func(r *corev1.ObjectReference) { *r = corev1.ObjectReference{} }), nil, []string{"credentialsRef.kind"}, "",
		},
		"SecretBinding":            {newSecretBinding("openstack"), nil, nil, ""},
		"SecretBinding, broken":    {newSecretBinding("broken"), nil, []string{"secretRef"}, "Secret garden-demo/broken: data[password]: it ends with a line break"},
		"SecretBinding, missing":   {newSecretBinding("missing"), nil, []string{"secretRef"}, "Secret garden-demo/missing does not exist"},
		"SecretBinding, elsewhere": {elsewhere, nil, []string{"secretRef"}, "Secret garden-other/openstack does not exist"},
		"SecretBinding, stored":    {newSecretBinding("missing"), newSecretBinding("missing"), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e.expect(t, test.object, test.old, test.refused, test.text, nil)
		})
	}
}

// unreachable is a reader that cannot get objects of the type of what, and cannot list.
type unreachable struct {
	client.Reader
	what client.Object
}

func (u unreachable) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if fmt.Sprintf("%T", into) == fmt.Sprintf("%T", u.what) {
		return errors.New("no answer")
	}
	return u.Reader.Get(ctx, key, into, options...)
}

func (unreachable) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("no answer")
}

func TestCredentialsThatCannotBeRead(t *testing.T) {
	e := newEndpointsWith(t, unreachable{garden(t, sound()...), &corev1.Secret{}}, 1)
	for endpoint, object := range map[string]client.Object{
		"validate-credentialsbinding": newBinding("openstack"), "validate-secretbinding": newSecretBinding("openstack"),
	} {
		response, _ := e.ask(t, endpoint, object, nil)
		const want = "Secret garden-demo/openstack could not be read, so nothing was checked: no answer"
		if response.Allowed || response.Result.Code != 500 || !strings.Contains(response.Result.Message, want) {
			t.Errorf("%s: %v", endpoint, response.Result)
		}
	}
	// The binding to be created is not read.
	e = newEndpointsWith(t, unreachable{garden(t, sound()...), newBinding("")}, 1)
	if response, _ := e.ask(t, "validate-credentialsbinding", newBinding("openstack"), nil); !response.Allowed {
		t.Error(response.Result)
	}
}

// TestNothingOfASecretIsShown sends Secrets with arbitrary faults, and the bindings and Shoots that use them. Neither an answer nor the
// log, at its most verbose, contains a value, plain or in base64.
func TestNothingOfASecretIsShown(t *testing.T) {
	const marker = "zq7kx2mv"
	text := rapid.Custom(func(t *rapid.T) string {
		odd := rapid.SampledFrom([]string{"", "", " ", "\n", "\x00", "\xff", "https://", "https://a:", "@", "-----BEGIN CERTIFICATE-----\n", strings.Repeat("x", 64)})
		return odd.Draw(t, "before") + marker + odd.Draw(t, "after")
	})
	keys := []string{
		"domainName", "tenantName", "username", "password", "applicationCredentialID", "applicationCredentialName", "applicationCredentialSecret",
		"authURL", "caCert", "insecure", "userName", "other",
	}
	drawn := func(t *rapid.T, name string) *corev1.Secret {
		s := newSecret(name)
		for _, key := range keys {
			if delete(s.Data, key); rapid.Bool().Draw(t, key+" is there") {
				s.Data[key] = []byte(text.Draw(t, key))
			}
		}
		return s
	}
	spoil := []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.Replace(s, `"apiVersion":"v1"`, `"apiVersion":"v2"`, 1) },
		func(s string) string { return strings.Replace(s, `"data":{"`, `"data":{"number":12345,"`, 1) },
		func(s string) string { return strings.Replace(s, `"data":{"`, `"data":{"plain":"`+marker+`!","`, 1) },
		func(s string) string {
			return strings.Replace(s, `"data":{`, `"data":["`+marker+`"],"stringData":{`, 1)
		},
		func(s string) string {
			return strings.Replace(s, `"metadata":{`, `"metadata":{"generation":"`+marker+`",`, 1)
		},
	}
	shoot := bound(t, func(s *v1beta1.Shoot) { s.Spec.CredentialsBindingName = ptr.To("shop") })
	rapid.Check(t, func(r *rapid.T) {
		object, old := drawn(r, "openstack"), drawn(r, "openstack")
		if rapid.Bool().Draw(r, "creation") {
			old = nil
		}
		ofShoot := object.DeepCopy()
		ofShoot.Name = "shop"
		reader := garden(t, object, ofShoot, newBinding("shop"))
		patchConfig(t, reader[0].(*v1beta1.CloudProfile).Spec.ProviderConfig,
			`[{"op": "add", "path": "/constraints/floatingPools/0/domain", "value": "demo"}]`)
		e := newEndpointsWith(t, reader, 9)
		bodies := map[string]string{
			"validate-credentialsbinding": string(reviewed(t, newBinding("openstack"), nil)),
			"validate-shoot":              string(reviewed(t, shoot, nil)),
			"validate-secretbinding":      string(reviewed(t, newSecretBinding("openstack"), nil)),
			"validate-secret":             rapid.SampledFrom(spoil).Draw(r, "spoilt")(string(reviewed(t, object, old))),
		}
		for endpoint, body := range bodies {
			response, logged := e.send(t, endpoint, "application/json", []byte(body))
			for _, value := range []string{marker, base64.StdEncoding.EncodeToString([]byte(marker))[:8], "12345"} {
				if shown := string(encode(t, response)); strings.Contains(shown, value) || strings.Contains(logged, value) {
					r.Errorf("%s shows a value: %s; the log is %s", endpoint, shown, logged)
				}
			}
		}
	})
}

// The extension uses only the primary DNS provider of a Shoot.
func TestDNSServices(t *testing.T) {
	c := componentFor(openstack.Provider{}, garden(t, newSecret("broken", "password", "a\n", "authURL", "https://keystone.example.com/v3")))
	for name, test := range map[string]struct {
		kind, secret string
		primary      bool
		says         string
	}{
		"of somebody else":  {"aws-route53", "", true, ""},
		"not primary":       {"openstack-designate", "broken", false, ""},
		"primary":           {"openstack-designate", "broken", true, "data[password]"},
		"primary, and none": {"openstack-designate", "", true, "needs credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			shoot := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-demo", Name: "shop"}, Spec: v1beta1.ShootSpec{DNS: &v1beta1.DNS{}}}
			shoot.Spec.DNS.Providers = []v1beta1.DNSProvider{{ //nolint:staticcheck // as people write it
				Type: &test.kind, SecretName: &test.secret, Primary: &test.primary,
			}}
			errs, err := c.checkDNS(t.Context(), shoot)
			if err != nil || (len(errs) > 0) != (test.says != "") {
				t.Fatalf("%v %v", errs, err)
			}
			for _, found := range errs {
				if !strings.Contains(found.Detail, test.says) {
					t.Errorf("%v", found)
				}
			}
		})
	}
}

// dnsOnly is a provider that checks only the credentials of its DNS service.
type dnsOnly struct {
	provider.Provider[local.Image]
	provider.DNSCredentialsValidator
}

// The component may read Secrets if it checks DNS credentials, even without webhooks for bindings.
func TestRightsForDNS(t *testing.T) {
	var resources []string
	for _, rule := range Rights(dnsOnly{Provider: local.Provider{}}) {
		resources = append(resources, rule.Resources...)
	}
	want := []string{"cloudprofiles", "namespacedcloudprofiles", "shoots", "events", "internalsecrets", "secrets"}
	if !slices.Equal(resources, want) {
		t.Errorf("%v instead of %v", resources, want)
	}
}

// The caller owns the rules: changing one does not change another.
func TestRightsAreTheCallers(t *testing.T) {
	rules := Rights(openstack.Provider{})
	for i := range rules {
		rules[i].Verbs[0], rules[i].Resources[0] = fmt.Sprint("verb ", i), "another"
	}
	for i, rule := range rules {
		if rule.Verbs[0] != fmt.Sprint("verb ", i) {
			t.Errorf("rule %d has %s", i, rule.Verbs[0])
		}
	}
}
