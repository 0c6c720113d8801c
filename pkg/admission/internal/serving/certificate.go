// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// maxSettling bounds the time between the update of the webhook configurations and the use of a new certificate.
const maxSettling = 5 * time.Second

// certificate is the server's certificate. It switches to a new one in its files once the webhook configurations trust that, and API
// servers have had some time to notice. A new CA signs its first certificate before any configuration contains it. If the leader stops in
// between, that may last long.
type certificate struct {
	log logr.Logger
	// reader reads the webhook configurations, which are called configuration.
	reader        client.Reader
	configuration string
	folder        string
	settling      time.Duration

	current atomic.Pointer[tls.Certificate]
	// trustedSince is when the new certificate was first found to be trusted; zero if it is not, or if there is no new one.
	trustedSince time.Time
}

// trustedCertificate returns the certificate in a folder, where it must already exist. The manager keeps it up to date, as far as the
// named webhook configurations trust new ones.
func trustedCertificate(ctx context.Context, mgr manager.Manager, folder, configuration string, syncPeriod time.Duration) (*certificate, error) {
	c := &certificate{
		log: mgr.GetLogger().WithName("webhook-certificate"), reader: mgr.GetClient(),
		configuration: configuration, folder: folder, settling: min(maxSettling, syncPeriod),
	}
	if err := c.check(ctx, time.Now()); err != nil {
		return nil, fmt.Errorf("reading the certificate of the webhook server: %w", err)
	}
	return c, mgr.Add(eachSecond(c.step))
}

// step compares files and webhook configurations once.
func (c *certificate) step(ctx context.Context) {
	c.measure(ctx)
	if err := c.check(ctx, time.Now()); err != nil && ctx.Err() == nil {
		c.log.Info("Keeping the certificate as it is for now", "reason", err.Error())
	}
}

// check switches to the certificate in the files if the time has come. An error means that this is unknown; the files may be half
// written.
func (c *certificate) check(ctx context.Context, now time.Time) error {
	next, err := tls.LoadX509KeyPair(filepath.Join(c.folder, "tls.crt"), filepath.Join(c.folder, "tls.key"))
	if err != nil {
		return err
	}
	current := c.current.Load()
	switch {
	case current == nil || now.After(current.Leaf.NotAfter):
		c.current.Store(&next)
		return nil
	case bytes.Equal(current.Leaf.Raw, next.Leaf.Raw):
		c.trustedSince = time.Time{}
		return nil
	}
	_, err = c.trustedUntil(ctx, next.Leaf)
	switch {
	case err != nil:
		c.trustedSince = time.Time{}
	case c.trustedSince.IsZero():
		c.trustedSince = now
	case now.Sub(c.trustedSince) >= c.settling:
		c.current.Store(&next)
		c.log.Info("Serving with a new certificate", "notAfter", next.Leaf.NotAfter)
	}
	return err
}

// valid returns nil if the server's certificate is valid now, or expired at most this long ago. It ignores whether clients trust the
// certificate, which a metric reports, because only the leader can repair that. If new pods were not ready until then, a Deployment could
// not replace a leader that fails to.
func (c *certificate) valid(now time.Time, expired time.Duration) error {
	current := c.current.Load()
	switch {
	case current == nil:
		return errors.New("there is no certificate")
	case now.Before(current.Leaf.NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", current.Leaf.NotBefore)
	case now.After(current.Leaf.NotAfter.Add(expired)):
		return fmt.Errorf("the certificate has expired at %s", current.Leaf.NotAfter)
	}
	return nil
}

// measure sets the metric of the time until which clients accept the certificate. The metric keeps its value while the webhook
// configurations cannot be read.
func (c *certificate) measure(ctx context.Context) {
	until, err := c.trustedUntil(ctx, c.current.Load().Leaf)
	switch {
	case errors.Is(err, errDistrust):
		certificateExpiration.Set(0)
	case err == nil:
		certificateExpiration.Set(float64(until.Unix()))
	}
}

// errDistrust means that a webhook configuration does not trust a certificate.
var errDistrust = errors.New("does not trust it")

// trustedUntil returns the time until which all existing webhook configurations trust a certificate, and an error if one of them does
// not. A CA may expire before the certificates that it has signed.
func (c *certificate) trustedUntil(ctx context.Context, leaf *x509.Certificate) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{}
	for _, object := range []client.Object{validating, mutating} {
		if err := client.IgnoreNotFound(c.reader.Get(ctx, client.ObjectKey{Name: c.configuration}, object)); err != nil {
			return time.Time{}, err
		}
	}
	var bundles [][]byte
	for _, w := range validating.Webhooks {
		bundles = append(bundles, w.ClientConfig.CABundle)
	}
	for _, w := range mutating.Webhooks {
		bundles = append(bundles, w.ClientConfig.CABundle)
	}
	until := leaf.NotAfter
	for _, bundle := range bundles {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(bundle)
		chains, err := leaf.Verify(x509.VerifyOptions{Roots: roots})
		if err != nil {
			return time.Time{}, fmt.Errorf("webhook configuration %s %w: %w", c.configuration, errDistrust, err)
		}
		ends := make([]time.Time, 0, len(chains)) // of the CAs: there are no intermediates
		for _, chain := range chains {
			ends = append(ends, chain[len(chain)-1].NotAfter)
		}
		if last := slices.MaxFunc(ends, time.Time.Compare); last.Before(until) {
			until = last
		}
	}
	return until, nil
}
