// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/utils/secrets"
	"github.com/gardener/gardener/pkg/utils/secrets/manager"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden/extension"
)

// The names by which Gardener's secrets manager knows the certificates.
const (
	authorityName = "ca-admission-openstack-webhook"
	serverName    = "admission-openstack-webhook-server"
)

func TestCertificatesChangeWhileOthersWrite(t *testing.T) {
	const often = "--webhook-certificate-sync-period=1s"
	replicas := []*replica{newReplica(t, often), newReplica(t, often)}
	serve(t, replicas...)
	kinds := []*kind{&profiles, &shoots}
	l := startLoad(t, map[*kind]int{&profiles: 2, &shoots: 1})
	fresh := startHandshakes(t, replicas)
	for i, name := range []string{authorityName, serverName, authorityName} {
		l.enter(fmt.Sprintf("%d: renewing %s", i, name))
		bundleBefore, before := bundle(t), newest(t, authorityName).Data[secrets.DataKeyCertificateCA]
		renew(t, name)
		now := newest(t, authorityName).Data[secrets.DataKeyCertificateCA]
		if bytes.Equal(before, now) != (name == serverName) {
			t.Errorf("%s was renewed, and the authority is the same: %t", name, bytes.Equal(before, now))
		}
		waitFor(t, "the webhook configurations trust the present authority, and the one before", func() bool {
			trusted := bundle(t)
			return contains(trusted, now) && contains(trusted, before)
		})
		for _, r := range replicas {
			waitFor(t, "the new certificate is served", func() bool { return serves(r, newest(t, serverName)) })
		}
		if name == serverName && bundle(t) != bundleBefore {
			t.Error("the authorities have changed with the certificate of the server")
		}
		l.await(t, kinds, enough)
	}
	for _, problem := range append(l.verify(t, kinds), fresh.verify(t)...) {
		t.Error(problem)
	}
}

// renew makes the secrets manager renew a certificate: it looks at labels which say how long it is valid.
func renew(t *testing.T, name string) {
	t.Helper()
	time.Sleep(time.Second) // it tells secrets apart by when they were created, in seconds
	before := newest(t, name)
	waitFor(t, name+" is renewed", func() bool {
		now := newest(t, name)
		if now.Name != before.Name {
			return true
		}
		// It may just be writing the labels as they should be, so that this has to be done more than once.
		old := now.DeepCopy()
		now.Labels[manager.LabelKeyIssuedAtTime] = strconv.FormatInt(time.Now().Add(-30*24*time.Hour).Unix(), 10)
		now.Labels[manager.LabelKeyValidUntilTime] = strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
		if err := client.IgnoreNotFound(g.Client().Patch(t.Context(), now, client.MergeFrom(old))); err != nil {
			t.Fatal(err)
		}
		return false
	})
}

// newest returns the secret of this name that was created last.
func newest(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	list := &corev1.SecretList{}
	if err := g.Client().List(t.Context(), list, client.InNamespace(extension.Namespace), client.MatchingLabels{manager.LabelKeyName: name}); err != nil {
		t.Fatal(err)
	}
	var found *corev1.Secret
	for i, secret := range list.Items {
		if found == nil || secret.CreationTimestamp.After(found.CreationTimestamp.Time) {
			found = &list.Items[i]
		}
	}
	if found == nil {
		t.Fatalf("there is no secret for %s", name)
	}
	return found
}

// bundle returns the authorities that both webhook configurations trust; nothing if they differ.
func bundle(t *testing.T) string {
	t.Helper()
	validating, mutating := configurations(t)
	trusted := string(validating.Webhooks[0].ClientConfig.CABundle)
	if trusted != string(mutating.Webhooks[0].ClientConfig.CABundle) {
		return ""
	}
	return trusted
}

// TestANewCertificateIsServedOnceItIsTrusted keeps the component from telling the API server about a new authority, as if
// it had been stopped at that point: nobody would trust the certificate that is signed by it.
func TestANewCertificateIsServedOnceItIsTrusted(t *testing.T) {
	access := newAPIAccess(t)
	r := access.newReplica(t, "--webhook-certificate-sync-period=1s")
	serve(t, r)
	waitFor(t, "it leads, and has registered the webhooks", func() bool {
		return strings.Count(r.log(t), "Updated source webhook config") >= 4 // two configurations, twice
	})
	fresh := startHandshakes(t, []*replica{r})
	before := newest(t, serverName)
	access.refuse(func(request *http.Request) bool {
		return request.Method == http.MethodPatch && strings.Contains(request.URL.Path, "webhookconfigurations")
	})
	renew(t, authorityName)
	waitFor(t, "there is a new certificate", func() bool { return newest(t, serverName).Name != before.Name })
	waitFor(t, "the new certificate is on disk", func() bool {
		content, err := os.ReadFile(filepath.Join(r.CertificateFolder, "tls.crt"))
		return err == nil && bytes.Equal(content, newest(t, serverName).Data[secrets.DataKeyCertificate])
	})
	time.Sleep(3 * time.Second)
	if !serves(r, before) {
		t.Error("it shows a certificate that nobody trusts")
	}
	access.refuse(nil)
	waitFor(t, "the new certificate is served", func() bool { return serves(r, newest(t, serverName)) })
	for _, problem := range fresh.verify(t) {
		t.Error(problem)
	}
}
