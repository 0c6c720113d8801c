// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Updates in place are behind a feature gate of Gardener v1.150 that is off by default, so a garden refuses Shoots with them
// before any webhook is asked. Where the gate is on the API server asks; here the tests do, as it would: the component that
// runs beside the garden, with what it knows from there.

// ask sends the component the request about a Shoot that is to be written; old is nil on creation.
func ask(t *testing.T, u *user, s, old *v1beta1.Shoot) *admissionv1.AdmissionResponse {
	t.Helper()
	request := &admissionv1.AdmissionRequest{
		UID: "5b1a", Operation: admissionv1.Create, Name: s.Name, Namespace: s.Namespace,
		Kind:   metav1.GroupVersionKind{Group: v1beta1.GroupName, Version: "v1beta1", Kind: "Shoot"},
		Object: runtime.RawExtension{Object: s},
	}
	if old != nil {
		request.Operation, request.OldObject.Object = admissionv1.Update, old
	}
	review := &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request}
	body, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	c, url := direct(t, u, "validate-shoot")
	response, err := c.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil || answer.Response == nil {
		t.Fatal(response.Status, err)
	}
	return answer.Response
}

// direct returns the address of a webhook, and a client that trusts it.
func direct(t *testing.T, u *user, webhook string) (c *http.Client, url string) {
	t.Helper()
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := u.Get(t.Context(), client.ObjectKey{Name: "gardener-extension-admission-openstack"}, configuration); err != nil {
		t.Fatal(err)
	}
	for _, w := range configuration.Webhooks {
		if strings.HasPrefix(w.Name, webhook+".") {
			pool := x509.NewCertPool()
			pool.AppendCertsFromPEM(w.ClientConfig.CABundle)
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
			t.Cleanup(transport.CloseIdleConnections)
			return &http.Client{Timeout: time.Minute, Transport: transport}, *w.ClientConfig.URL
		}
	}
	t.Fatalf("there is no webhook %s", webhook)
	return nil, ""
}

// inPlace returns the example Shoot that is updated in place, under another name.
func inPlace(t *testing.T, name, profile string) *v1beta1.Shoot {
	t.Helper()
	s := read[v1beta1.Shoot](t, "../../example/shoot-in-place.yaml")
	s.Name, s.Spec.CloudProfile.Name = name, profile
	return s
}

// The image says nowhere that it has gardener-updateType, only inPlaceUpdates.supported of core does.
func TestUpdatesInPlace(t *testing.T) {
	u, profile := newUser(t), launching(t, "in-place")
	u.create(t, profile)
	s := inPlace(t, "in-place", "in-place")
	if err := u.Create(t.Context(), s); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "`InPlaceNodeUpdates` feature gate is disabled") {
		t.Errorf("Gardener has the feature gate on, or it is gone, and Shoots like this one can be written: %v", err)
	}
	if answer := ask(t, u, s, nil); !answer.Allowed || len(answer.Warnings) > 0 {
		t.Errorf("it is refused, or warned about: %v", answer)
	}

	const at, setting = "spec.provider.workers[0].updateStrategy", "update strategy AutoInPlaceUpdate asks for gardener-updateType [inPlace], and no flavor of "
	other := s.DeepCopy()
	other.Spec.Provider.Workers[0].Machine.Image = &v1beta1.ShootMachineImage{Name: "gardenlinux", Version: ptr.To("1592.9.0")}
	denied(t, ask(t, u, other, nil), cause{field.ErrorTypeInvalid, at, setting + "gardenlinux@1592.9.0"}, cause{says: "would work: version 2150.1.0"})

	// The operator takes it away. The Shoot is left in peace, unless its worker pool changes.
	err := change(t, u, profile, func(p *v1beta1.CloudProfile) { p.Spec.MachineImages[0].Versions[2].InPlaceUpdates = nil })
	u.accepted(t, err)
	eventually(t, "the webhook knows the profile", func() bool { return !ask(t, u, s, nil).Allowed })
	denied(t, ask(t, u, s, nil), cause{field.ErrorTypeInvalid, at, setting + "gardenlinux@2150.1.0"})
	s.ResourceVersion = "1"
	updated := s.DeepCopy()
	updated.ResourceVersion, updated.Spec.Hibernation, updated.Spec.Provider.Workers[0].Maximum = "2", &v1beta1.Hibernation{Enabled: ptr.To(true)}, 9
	answer := ask(t, u, updated, s)
	if !answer.Allowed || len(answer.Warnings) != 1 || !strings.Contains(answer.Warnings[0], at+": worker pool disks: "+setting) {
		t.Errorf("hibernation is refused, or not warned about: %v", answer)
	}
	updated.Spec.Provider.Workers[0].Machine.Type = "trusted_4_8"
	denied(t, ask(t, u, updated, s), cause{field.ErrorTypeInvalid, at, setting})
	updated = s.DeepCopy()
	updated.Spec.Provider.Workers[0].UpdateStrategy = nil // which Gardener does not allow, but it gets an image
	if answer := ask(t, u, updated, s); !answer.Allowed {
		t.Errorf("rolling updates are refused: %v", answer)
	}
}

// denied demands that an answer denies an object for one reason, which says all of this.
func denied(t *testing.T, answer *admissionv1.AdmissionResponse, want cause, more ...cause) {
	t.Helper()
	if answer.Allowed || answer.Result == nil || answer.Result.Details == nil {
		t.Fatalf("got %v, want a refusal for %v", answer, want)
	}
	differ(t, answer.Result.Details.Causes, []cause{want})
	for _, c := range more {
		want.says = c.says
		differ(t, answer.Result.Details.Causes, []cause{want})
	}
}
