// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/utils/secrets"
	"github.com/gardener/gardener/pkg/utils/secrets/manager"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden/extension"
)

// The names of the certificates in Gardener's secrets manager.
const (
	authorityName = "ca-admission-openstack-webhook"
	serverName    = "admission-openstack-webhook-server"
)

// settling is the time that replicas wait before they serve with a newly trusted certificate, and the interval of their
// certificate checks. It must be long enough for an API server on a busy machine to learn of it.
const settling = 3 * time.Second

var often = "--webhook-certificate-sync-period=" + settling.String()

var _ = Describe("A new certificate", Label("slow"), func() {
	It("disturbs nobody who writes meanwhile", func(ctx SpecContext) {
		replicas := []*replica{newReplica(often), newReplica(often)}
		serve(ctx, replicas...)
		l, fresh := startLoad(2, 1), shakeHands(replicas...)
		for i, name := range []string{authorityName, serverName, authorityName} {
			l.enter(fmt.Sprintf("%d: renewing %s", i, name))
			bundleBefore, before := bundle(ctx), newest(ctx, authorityName).Data[secrets.DataKeyCertificateCA]
			renew(ctx, name)
			now := newest(ctx, authorityName).Data[secrets.DataKeyCertificateCA]
			if same := Equal(before); name == serverName {
				Expect(now).To(same, "the authority changes with the certificate of the server")
			} else {
				Expect(now).NotTo(same, "the authority stays")
			}
			By("waiting until the present authority is trusted, and the one before, and the new certificate is served")
			Eventually(bundle).WithContext(ctx).Should(Satisfy(func(bundle string) bool { return contains(bundle, now) && contains(bundle, before) }))
			for _, r := range replicas {
				Eventually(func() bool { return serves(r, newest(ctx, serverName)) }).Should(BeTrue())
			}
			if name == serverName {
				Expect(bundle(ctx)).To(Equal(bundleBefore))
			}
			l.await(ctx)
		}
		fresh.expectNoProblems()
		Expect(l.problemsAtTheEnd(ctx)).To(BeEmpty())
	})

	// The component cannot publish a new authority, as if it had been stopped at that point. No client would trust a
	// certificate signed by it.
	It("is served once it is trusted", func(ctx SpecContext) {
		access := newAPIAccess()
		r := access.newReplica(often)
		serve(ctx, r)
		By("waiting until it leads, and has written both webhook configurations twice")
		Eventually(r.log).Should(MatchRegexp("(?s)(Updated source webhook config.*){4}"))
		fresh := shakeHands(r)
		before := newest(ctx, serverName)
		access.refuse(func(request *http.Request) bool {
			return request.Method == http.MethodPatch && strings.Contains(request.URL.Path, "webhookconfigurations")
		})
		renew(ctx, authorityName)
		Eventually(func() string { return newest(ctx, serverName).Name }).ShouldNot(Equal(before.Name))
		Eventually(func(expect Gomega) {
			content, err := os.ReadFile(filepath.Join(r.CertificateFolder, "tls.crt"))
			expect.Expect(err).NotTo(HaveOccurred())
			expect.Expect(content).To(Equal(newest(ctx, serverName).Data[secrets.DataKeyCertificate]))
		}).Should(Succeed())
		Eventually(access.refusals).Should(BeNumerically(">", 1))
		Consistently(serves).WithArguments(r, before).WithTimeout(2 * settling).Should(BeTrue())
		access.refuse(nil)
		Eventually(func() bool { return serves(r, newest(ctx, serverName)) }).Should(BeTrue())
		fresh.expectNoProblems()
	})
})

// renew makes the secrets manager renew a certificate, by changing the labels with its validity.
func renew(ctx context.Context, name string) {
	GinkgoHelper()
	before := newest(ctx, name)
	// The secrets manager orders secrets by their creation time in seconds.
	Eventually(time.Now).Should(BeTemporally(">=", before.CreationTimestamp.Add(time.Second)))
	Eventually(func(expect Gomega) {
		now := newest(ctx, name)
		if now.Name != before.Name {
			return
		}
		// The secrets manager may overwrite the labels, so this is repeated, but not so often that their writes get in each other's way.
		old := now.DeepCopy()
		now.Labels[manager.LabelKeyIssuedAtTime] = strconv.FormatInt(time.Now().Add(-30*24*time.Hour).Unix(), 10)
		now.Labels[manager.LabelKeyValidUntilTime] = strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
		Expect(client.IgnoreNotFound(g.Client().Patch(ctx, now, client.MergeFrom(old)))).To(Succeed())
		expect.Expect(newest(ctx, name).Name).NotTo(Equal(before.Name))
	}).WithPolling(time.Second).Should(Succeed())
}

// newest returns the latest secret of this name.
func newest(ctx context.Context, name string) *corev1.Secret {
	GinkgoHelper()
	list := &corev1.SecretList{}
	Expect(g.Client().List(ctx, list, client.InNamespace(extension.Namespace), client.MatchingLabels{manager.LabelKeyName: name})).To(Succeed())
	Expect(list.Items).NotTo(BeEmpty(), "secrets for %s", name)
	found := &list.Items[0]
	for i, secret := range list.Items {
		if secret.CreationTimestamp.After(found.CreationTimestamp.Time) {
			found = &list.Items[i]
		}
	}
	return found
}

// bundle returns the authorities that both webhook configurations trust, or the empty string if they differ.
func bundle(ctx context.Context) string {
	GinkgoHelper()
	validating, mutating := configurations(ctx)
	trusted := string(validating.Webhooks[0].ClientConfig.CABundle)
	if trusted != string(mutating.Webhooks[0].ClientConfig.CABundle) {
		return ""
	}
	return trusted
}
