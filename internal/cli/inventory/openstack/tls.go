// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tls returns the client's TLS configuration: the trusted certificates and its own certificate.
func (s *settings) tls() (*tls.Config, error) {
	config := &tls.Config{InsecureSkipVerify: on(s.Insecure) || off(s.Verify)}
	if s.CACert != "" {
		text, err := os.ReadFile(home(s.CACert))
		if err != nil {
			return nil, fmt.Errorf("has a cacert that cannot be read: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("has the cacert %s, which has no certificate in PEM", s.CACert)
		}
	}
	switch {
	case s.Cert == "" && s.Key == "":
		return config, nil
	case s.Cert == "":
		return nil, errors.New("has a key without a cert")
	}
	key := cmp.Or(s.Key, s.Cert) // one file may have both
	certificate, err := tls.LoadX509KeyPair(home(s.Cert), home(key))
	if err != nil {
		return nil, fmt.Errorf("has a cert or a key that cannot be used: %w", err)
	}
	config.Certificates = []tls.Certificate{certificate}
	return config, nil
}

// home returns a path with a leading ~/ expanded to the user's home folder.
func home(path string) string {
	rest, found := strings.CutPrefix(path, "~/")
	folder, err := os.UserHomeDir()
	if !found || err != nil {
		return path
	}
	return filepath.Join(folder, rest)
}
