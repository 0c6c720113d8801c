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
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils/secrets/manager"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

// probe is a process of the component that needs every one of its rights.
type probe struct {
	*subject
	extension.Replica
	// answers are its responses to the requests of ask, once it is ready.
	answers string
}

// newProbe starts a probe that is killed at the end of the spec.
func (s *subject) newProbe(ctx context.Context) *probe {
	GinkgoHelper()
	s.tidyUp(ctx)
	replica, err := s.New(s.program)
	Expect(err).NotTo(HaveOccurred())
	replica.Args = []string{"--webhook-certificate-sync-period=1s", "--log-level=debug"}
	p := replica.Program()
	process, err := g.StartProcess(context.WithoutCancel(ctx), garden.ProcessOptions{
		Path: p.Path, Args: p.Args, Env: p.Env, LogFile: extension.LogFile(g, replica),
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(process.Kill)
	return &probe{subject: s, Replica: replica}
}

// lease returns the name of the leader election's lease.
func (s *subject) lease() string { return s.Name() + "-leader-election" }

// tidyUp removes the previous probe's lease, so that the next one leads at once, and its webhook configurations. Of its certificates it
// keeps the authority, with a superfluous label, and adds an unneeded one. The component then creates a certificate, corrects the
// authority, and deletes the unneeded one.
func (s *subject) tidyUp(ctx context.Context) {
	GinkgoHelper()
	c := g.Client()
	Expect(client.IgnoreNotFound(c.Delete(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: s.lease(), Namespace: extension.Namespace,
	}}))).To(Succeed())
	meta := metav1.ObjectMeta{Name: s.Name()}
	for _, configuration := range []client.Object{
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta}, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta},
	} {
		Expect(client.IgnoreNotFound(c.Delete(ctx, configuration))).To(Succeed())
	}

	certificates := &corev1.SecretList{}
	Expect(c.List(ctx, certificates, client.InNamespace(extension.Namespace), client.MatchingLabels{
		manager.LabelKeyManagerIdentity: s.Name() + "-webhook",
	})).To(Succeed())
	var authorities []corev1.Secret
	for _, secret := range certificates.Items {
		if secret.Labels[manager.LabelKeyName] == "ca-"+s.Release()+"-webhook" {
			authorities = append(authorities, secret)
			continue
		}
		Expect(client.IgnoreNotFound(c.Delete(ctx, &secret))).To(Succeed())
	}
	Expect(authorities).To(HaveLen(1))
	unneeded := authorities[0].DeepCopy()
	unneeded.Name, unneeded.ResourceVersion = "unneeded-"+s.Type, ""
	unneeded.Labels[manager.LabelKeyName] = "unneeded"
	Expect(c.Create(ctx, unneeded)).To(Succeed()) // the previous probe has deleted its own
	before := authorities[0].DeepCopy()
	authorities[0].Labels["unneeded"] = "true"
	Expect(c.Patch(ctx, &authorities[0], client.MergeFrom(before))).To(Succeed())
}

// says returns the component's log and responses so far.
func (p *probe) says(ctx context.Context) (string, error) {
	log, err := os.ReadFile(extension.LogFile(g, p.Replica))
	if err != nil {
		return "", err
	}
	if p.answers == "" {
		p.ask(ctx)
	}
	return strings.ReplaceAll(string(log)+p.answers, `\"`, `"`), nil
}

// ask sends all requests, unless the component is not ready yet.
func (p *probe) ask(ctx context.Context) {
	GinkgoHelper()
	if _, err := send(ctx, http.DefaultClient, http.MethodGet, "http://"+p.HealthAddress+"/readyz", nil); err != nil {
		return
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(p.CertificateFolder, "tls.crt"), filepath.Join(p.CertificateFolder, "tls.key"))
	Expect(err).NotTo(HaveOccurred())
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	browser := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, DisableKeepAlives: true,
	}}
	questions, err := txtar.ParseFile("testdata/questions.txtar")
	Expect(err).NotTo(HaveOccurred())
	for _, question := range questions.Files {
		if strings.HasPrefix(path.Base(question.Name), "credentials-") && !p.Credentials {
			continue
		}
		object, err := yaml.YAMLToJSON(bytes.ReplaceAll(question.Data, []byte("type: TYPE"), []byte("type: "+p.Type)))
		Expect(err).NotTo(HaveOccurred())
		body, err := extension.Review(object)
		Expect(err).NotTo(HaveOccurred())
		p.answers += p.answer(ctx, browser, path.Dir(question.Name), body) + "\n"
	}
	p.answers += p.answer(ctx, browser, "mutate-shoot", p.maintenance(ctx)) + "\n"
}

// answer returns the response of a webhook.
func (p *probe) answer(ctx context.Context, browser *http.Client, webhook string, body []byte) string {
	GinkgoHelper()
	answer, err := send(ctx, browser, http.MethodPost, "https://"+p.Address+"/webhooks/"+webhook, body)
	Expect(err).NotTo(HaveOccurred())
	return answer
}

// maintenance returns the request by which Gardener updates the Shoot to the newest version.
func (s *subject) maintenance(ctx context.Context) []byte {
	GinkgoHelper()
	shoot := &v1beta1.Shoot{}
	Expect(g.Client().Get(ctx, s.shoot, shoot)).To(Succeed())
	shoot.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("Shoot"))
	old, err := json.Marshal(shoot)
	Expect(err).NotTo(HaveOccurred())
	*shoot.Spec.Provider.Workers[0].Machine.Image.Version = s.newer
	updated, err := json.Marshal(shoot)
	Expect(err).NotTo(HaveOccurred())
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "5b1b", Operation: admissionv1.Update, Name: shoot.Name, Namespace: shoot.Namespace,
			UserInfo: authenticationv1.UserInfo{Username: admission.MaintenanceUser},
			Object:   runtime.RawExtension{Raw: updated}, OldObject: runtime.RawExtension{Raw: old},
		},
	})
	Expect(err).NotTo(HaveOccurred())
	return body
}

// send sends a request and returns the body of the response, whose status must be 200.
func send(ctx context.Context, browser *http.Client, method, url string, body []byte) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := browser.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", response.Status, content)
	}
	return string(content), err
}
