// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/utils/secrets"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// trusting is a client.Reader of webhook configurations with this CA bundle; nil means there are none.
type trusting struct {
	client.Reader
	bundle []byte
	err    error
}

func (r *trusting) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if r.err != nil {
		return r.err
	}
	if r.bundle == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	config := admissionregistrationv1.WebhookClientConfig{CABundle: r.bundle}
	switch into := into.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		into.Webhooks = []admissionregistrationv1.ValidatingWebhook{{ClientConfig: config}}
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		into.Webhooks = []admissionregistrationv1.MutatingWebhook{{ClientConfig: config}}
	}
	return nil
}

// issue writes a server certificate into a folder, and returns its authority. Both are valid for the given durations.
func issue(t *testing.T, folder string, authority, server time.Duration) *secrets.Certificate {
	t.Helper()
	ca, err := (&secrets.CertificateSecretConfig{
		Name: "ca", CommonName: "ca", CertType: secrets.CACert, Validity: &authority,
	}).GenerateCertificate()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := (&secrets.CertificateSecretConfig{
		Name: "server", CommonName: "server", CertType: secrets.ServerCert, SigningCA: ca, Validity: &server,
	}).GenerateCertificate()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"tls.crt": pair.CertificatePEM, "tls.key": pair.PrivateKeyPEM} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return ca
}

func TestCertificate(t *testing.T) {
	reader := &trusting{}
	c := &certificate{log: logr.Discard(), reader: reader, folder: t.TempDir(), settling: 5 * time.Second}
	now := time.Now()
	check := func(after time.Duration) error { now = now.Add(after); return c.check(t.Context(), now) }
	shown := func() string { return string(c.current.Load().Leaf.Raw) }

	if check(0) == nil {
		t.Fatal("there are no files, and no error")
	}
	first := issue(t, c.folder, 24*time.Hour, time.Hour).CertificatePEM
	if err := check(0); err != nil {
		t.Fatalf("the first certificate, before there are webhook configurations: %v", err)
	}
	reader.bundle = first
	before := shown()
	second := issue(t, c.folder, 24*time.Hour, time.Hour).CertificatePEM
	if err := check(time.Minute); err == nil || shown() != before {
		t.Errorf("a certificate that nobody trusts: %v", err)
	}
	reader.err = errors.New("no API server")
	if err := check(time.Minute); !errors.Is(err, reader.err) || shown() != before {
		t.Errorf("nobody knows who trusts it: %v", err)
	}
	reader.err, reader.bundle = nil, append(second, first...)
	if err := check(time.Second); err != nil || shown() != before {
		t.Errorf("a certificate that is trusted since just now: %v", err)
	}
	reader.bundle = first
	if err := check(time.Minute); err == nil || shown() != before {
		t.Errorf("a certificate that is not trusted any more: %v", err)
	}
	reader.bundle = append(second, first...)
	for range 2 {
		if err := check(5 * time.Second); err != nil {
			t.Error(err)
		}
	}
	if shown() == before {
		t.Error("the new certificate does not come into use")
	}

	before = shown()
	issue(t, c.folder, 24*time.Hour, time.Hour)
	if err := check(2 * time.Hour); err != nil || shown() == before {
		t.Errorf("a certificate has expired, and is not replaced: %v", err)
	}
	if err := os.WriteFile(filepath.Join(c.folder, "tls.crt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before = shown()
	if err := check(time.Second); err == nil || shown() != before {
		t.Errorf("a file that is being written: %v", err)
	}
}

// TestCertificateExpiration uses an authority that expires before its certificates, as in Gardener's packages.
func TestCertificateExpiration(t *testing.T) {
	reader := &trusting{}
	c := &certificate{log: logr.Discard(), reader: reader, folder: t.TempDir()}
	authority := issue(t, c.folder, time.Hour, 365*24*time.Hour)
	if err := c.check(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	measure := func() float64 {
		c.measure(t.Context())
		return testutil.ToFloat64(certificateExpiration)
	}
	if got, want := measure(), float64(c.current.Load().Leaf.NotAfter.Unix()); got != want {
		t.Errorf("nobody is to trust it: %v, want %v", got, want)
	}
	reader.bundle = authority.CertificatePEM
	ends := float64(authority.Certificate.NotAfter.Unix())
	if got := measure(); got != ends {
		t.Errorf("%v, want %v, when the authority ends", got, ends)
	}
	reader.err = errors.New("no API server")
	if got := measure(); got != ends {
		t.Errorf("nobody knows: %v, want what it was", got)
	}
	reader.err, reader.bundle = nil, []byte("")
	if got := measure(); got != 0 {
		t.Errorf("it is not trusted: %v", got)
	}
}
