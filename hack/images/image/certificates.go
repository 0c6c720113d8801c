// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// CertificatesPath is the path at which programs look for the certificates of public CAs.
const CertificatesPath = "/etc/ssl/certs/ca-certificates.crt"

// certificatesModule is the module with the certificates, which are Mozilla's.
const certificatesModule = "golang.org/x/crypto/x509roots/fallback"

// certificates returns the root certificates that Mozilla trusts without constraints, in PEM format, each below its subject. It omits
// certificates with constraints, because PEM cannot express these.
func certificates() ([]byte, error) {
	var buffer bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		certificate, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return nil, fmt.Errorf("a certificate of %s: %w", certificatesModule, err)
		}
		fmt.Fprintf(&buffer, "# %s\n", certificate.Subject)
		if err := pem.Encode(&buffer, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return buffer.Bytes(), nil
}
