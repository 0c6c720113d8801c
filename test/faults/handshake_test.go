// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"github.com/gardener/gardener/pkg/utils/secrets"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden/extension"
)

// shakeHands makes connections continuously, each with the authorities that the webhook configurations trust at that
// moment. An API server would keep its connections, and rarely make a new one.
func shakeHands(replicas ...*replica) *repeated {
	return repeat(1, pause, func() error {
		for _, r := range replicas {
			if err := shakeHandsInTime(r); err != nil {
				return fmt.Errorf("handshake with %s: %w", r.Address, err)
			}
		}
		return nil
	})
}

// shakeHandsInTime ignores failures after the time that replicas allow for learning a new authority.
func shakeHandsInTime(r *replica) error {
	late, cancel := context.WithTimeout(context.Background(), settling)
	defer cancel()
	if err := shakeHandsOnce(r); err != nil && late.Err() == nil {
		return err
	}
	return nil
}

func shakeHandsOnce(r *replica) error {
	// In the order of their updates: the second one is the last to trust a new authority.
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	for _, object := range []client.Object{validating, mutating} {
		if err := g.Client().Get(context.Background(), client.ObjectKey{Name: extension.Name}, object); err != nil {
			return err
		}
	}
	for _, bundle := range [][]byte{mutating.Webhooks[0].ClientConfig.CABundle, validating.Webhooks[0].ClientConfig.CABundle} {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(bundle)
		conn, err := tls.Dial("tcp", r.Address, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})
		if err != nil {
			return err
		}
		_ = conn.Close()
	}
	return nil
}

// serves reports whether a replica currently serves with the certificate in a secret.
func serves(r *replica, secret *corev1.Secret) bool {
	conn, err := r.dial()
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	block, _ := pem.Decode(secret.Data[secrets.DataKeyCertificate])
	return block != nil && bytes.Equal(conn.ConnectionState().PeerCertificates[0].Raw, block.Bytes)
}

// contains reports whether a bundle has all certificates of part.
func contains(bundle string, part []byte) bool {
	for block, rest := pem.Decode(part); block != nil; block, rest = pem.Decode(rest) {
		if !bytes.Contains([]byte(bundle), bytes.TrimSpace(pem.EncodeToMemory(block))) {
			return false
		}
	}
	return true
}
