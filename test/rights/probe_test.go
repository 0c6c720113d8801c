// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/secrets/manager"
	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

// probe is a process of the component that meets everything it needs a right for.
type probe struct {
	extension.Replica
	// answers are what it said to the questions, once it could be asked.
	answers string
}

// newProbe starts a probe, which is killed when the test ends.
func newProbe(t *testing.T) *probe {
	t.Helper()
	tidyUp(t)
	replica, err := installation.New(program)
	if err != nil {
		t.Fatal(err)
	}
	replica.Args = []string{"--webhook-certificate-sync-period=1s", "--log-level=debug"}
	p := replica.Program()
	process, err := g.StartProcess(context.Background(), garden.ProcessOptions{
		Path: p.Path, Args: p.Args, Env: p.Env, LogFile: extension.LogFile(g, replica),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Kill(); err != nil {
			t.Error(err)
		}
	})
	return &probe{Replica: replica}
}

// tidyUp removes the lease of the probe before, so that the next one leads at once, and its webhook configurations. Of its
// certificates it leaves the authority, with a label too many, and one that nobody needs any more: the component makes a new
// certificate, corrects the authority and deletes the other.
func tidyUp(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: extension.Name + "-leader-election", Namespace: extension.Namespace}}
	if err := client.IgnoreNotFound(g.Client().Delete(ctx, lease)); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Kubectl(ctx, "delete", "--ignore-not-found", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "--all"); err != nil {
		t.Fatal(err)
	}
	certificates := &corev1.SecretList{}
	if err := g.Client().List(ctx, certificates, client.InNamespace(extension.Namespace), client.HasLabels{manager.LabelKeyManagedBy}); err != nil {
		t.Fatal(err)
	}
	for i := range certificates.Items {
		secret := &certificates.Items[i]
		if secret.Labels[manager.LabelKeyName] != "ca-admission-openstack-webhook" {
			if err := g.Client().Delete(ctx, secret); err != nil {
				t.Fatal(err)
			}
			continue
		}
		unneeded := secret.DeepCopy()
		unneeded.Name, unneeded.ResourceVersion = "unneeded", ""
		unneeded.Labels[manager.LabelKeyName] = "unneeded"
		if err := client.IgnoreAlreadyExists(g.Client().Create(ctx, unneeded)); err != nil {
			t.Fatal(err)
		}
		secret.Labels["unneeded"] = "true"
		if err := g.Client().Update(ctx, secret); err != nil {
			t.Fatal(err)
		}
	}
}

// says returns what the component has said so far, in its log and in its answers.
func (p *probe) says(t *testing.T) string {
	t.Helper()
	log, err := os.ReadFile(extension.LogFile(g, p.Replica))
	if err != nil {
		t.Fatal(err)
	}
	if p.answers == "" {
		p.ask(t)
	}
	return strings.ReplaceAll(string(log), `\"`, `"`) + p.answers
}

// ask asks all questions, unless the component cannot be asked yet.
func (p *probe) ask(t *testing.T) {
	t.Helper()
	ready, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if p.WaitUntilReady(ready) != nil {
		return
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(p.CertificateFolder, "tls.crt"), filepath.Join(p.CertificateFolder, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	browser := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, DisableKeepAlives: true,
	}}
	for _, q := range questions() {
		response, err := browser.Post("https://"+p.Address+"/webhooks/"+q.webhook, "application/json", bytes.NewReader(q.review(t)))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		p.answers += strings.ReplaceAll(string(answer), `\"`, `"`) + "\n"
	}
}

// question is about an object that is to be created.
type question struct {
	webhook string
	object  client.Object
}

// questions make the component read one object of each kind that it reads from the API server.
func questions() []question {
	shoot := func(kind, profile string) *v1beta1.Shoot {
		return &v1beta1.Shoot{
			ObjectMeta: metav1.ObjectMeta{Name: "apple", Namespace: "garden-orchard"},
			Spec: v1beta1.ShootSpec{
				CloudProfile: &v1beta1.CloudProfileReference{Kind: kind, Name: profile}, Region: "europe",
				CredentialsBindingName: ptr.To("openstack"),
				Provider:               v1beta1.Provider{Type: "openstack", Workers: []v1beta1.Worker{{Name: "basket"}}},
			},
		}
	}
	// The domain of the credentials matters for this profile.
	byCredentialsBinding, bySecretBinding := shoot("CloudProfile", "orchard"), shoot("CloudProfile", "orchard")
	bySecretBinding.Spec.CredentialsBindingName, bySecretBinding.Spec.SecretBindingName = nil, ptr.To("openstack")
	toInternalSecret := &securityv1alpha1.CredentialsBinding{
		ObjectMeta:     metav1.ObjectMeta{Name: "internal", Namespace: "garden-orchard"},
		Provider:       securityv1alpha1.CredentialsBindingProvider{Type: "openstack"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "InternalSecret", Name: "openstack", Namespace: "garden-orchard"},
	}
	return []question{
		{"validate-shoot", shoot("CloudProfile", "none")},
		{"validate-shoot", shoot("NamespacedCloudProfile", "none")},
		{"validate-shoot", byCredentialsBinding},
		{"validate-shoot", bySecretBinding},
		{"validate-credentialsbinding", toInternalSecret},
	}
}

func (q question) review(t *testing.T) []byte {
	t.Helper()
	kinds, _, err := g.Client().Scheme().ObjectKinds(q.object)
	if err != nil {
		t.Fatal(err)
	}
	q.object.GetObjectKind().SetGroupVersionKind(kinds[0])
	raw, err := json.Marshal(q.object)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "5b1a", Operation: admissionv1.Create, Name: q.object.GetName(), Namespace: q.object.GetNamespace(),
			Object: runtime.RawExtension{Raw: raw},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}
