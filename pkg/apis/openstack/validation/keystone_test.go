// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

func TestKeystoneURL(t *testing.T) {
	for url, valid := range map[string]bool{
		"https://keystone.example.com/v3/": true, "https://url-to-keystone/v3/": true, "https://10.0.0.1:5000": true,
		"HTTPS://[2001:db8::1]:5000/v3": true, "https://keystone.example.com/@/v3": true, "https://keystone:": true,
		"https://": false, "https:///v3": false, "https://:5000/v3": false, "//keystone/v3": false, "/v3": false,
		"keystone:5000/v3": false, "ldap://keystone": false, "https//keystone": false, "https://keystone:port": false,
		"https://keystone:0": false, "https://keystone:65536": false, "https://key stone": false, " https://keystone": false,
		"https://keystone\n": false, "https://key\u200bstone": false, "https://[::1": false, "https://%zz": false,
		"https://keystone/v3?a=b": false, "https://keystone/v3?": false, "https://keystone/v3#a": false,
		"https://admin@keystone": false, "https://admin:topsecret@keystone": false, "admin:topsecret@keystone": false,
		"https://admin:topsecret@keystone:port": false, "https://admin:top%secret@keystone": false,
		"ftp://admin:topsecret@keystone": false, "https://admin:topsecret@key stone": false,
		"https://admin:topsecret%40keystone/v3": false, "https://keystone/v3?password=topsecret": false,
	} {
		config := sound(t, "{}")
		config.KeystoneURL = &url
		found, want := checked(config)(), []string{"error FieldValueInvalid config.keystoneURL keystone-url"}
		if valid {
			want = nil
		}
		expect(t, found, want...)
		for _, err := range found.Errors {
			if (err.BadValue != field.OmitValueType{}) || strings.Contains(err.String(), "secret") {
				t.Errorf("%q: %v", url, err)
			}
		}
	}
}

// selfSigned returns a certificate and its key in PEM format.
func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return block("CERTIFICATE", der, nil), block("PRIVATE KEY", keyDER, nil)
}

func block(kind string, der []byte, headers map[string]string) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der, Headers: headers}))
}

func TestCACertificates(t *testing.T) {
	certificate, key := selfSigned(t)
	der, _ := pem.Decode([]byte(certificate))
	indented := strings.ReplaceAll(certificate, "\n", "\n  ")
	for name, tc := range map[string]struct {
		bundle string
		valid  bool
	}{
		"one":                       {certificate, true},
		"one without last newline":  {strings.TrimSpace(certificate), true},
		"several":                   {certificate + "\n" + certificate + certificate, true},
		"with comments":             {"# Root CA\n" + certificate + "\n# -- expires 2030 --\n" + certificate + "# end\n", true},
		"with other line ends":      {strings.ReplaceAll(certificate, "\n", "\r\n"), true},
		"text":                      {"/etc/ssl/certs/ca.pem", false},
		"base64 without frame":      {strings.Join(strings.Split(certificate, "\n")[1:4], "\n"), false},
		"a key":                     {key, false},
		"a key behind":              {certificate + key, false},
		"a key before":              {key + certificate, false},
		"another key":               {certificate + block("RSA PRIVATE KEY", []byte("topsecret"), nil), false},
		"a request":                 {block("CERTIFICATE REQUEST", []byte("x"), nil), false},
		"headers":                   {block("CERTIFICATE", der.Bytes, map[string]string{"A": "b"}), false},
		"no certificate in it":      {block("CERTIFICATE", []byte("topsecret"), nil), false},
		"empty":                     {"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", false},
		"cut off":                   {certificate[:len(certificate)/2], false},
		"cut off behind":            {certificate + certificate[:len(certificate)/2], false},
		"cut off before":            {certificate[:len(certificate)/2] + "\n" + certificate, false},
		"cut off within":            {certificate + certificate[:len(certificate)/2] + "\n" + certificate, false},
		"all in one line":           {strings.ReplaceAll(certificate, "\n", " "), false},
		"a key that cannot be read": {certificate + key[:len(key)-9], false},
		"indented":                  {indented, false},
	} {
		t.Run(name, func(t *testing.T) {
			config := sound(t, "{}")
			config.KeystoneCACert = &tc.bundle
			found, want := checked(config)(), []string{"error FieldValueInvalid config.keystoneCACert ca-certificate"}
			if tc.valid {
				want = nil
			}
			expect(t, found, want...)
			for _, err := range found.Errors {
				if of := strings.Contains(err.Detail, "not the path of a file"); of != (name == "text") {
					t.Errorf("%v", err)
				}
				if err.BadValue != (field.OmitValueType{}) {
					t.Errorf("%#v", err)
				}
				for line := range strings.Lines(tc.bundle) {
					if len(line) > 20 && !strings.HasPrefix(line, "-----") && strings.Contains(err.String(), line[:20]) {
						t.Errorf("quoted: %v", err)
					}
				}
			}
		})
	}
}

// The warning about an insecure connection also says that certificates have no effect.
func TestCertificatesWithoutUse(t *testing.T) {
	certificate, _ := selfSigned(t)
	general, regional := sound(t, "keystoneForceInsecure: true"), sound(t, "keystoneForceInsecure: true")
	general.KeystoneCACert = &certificate
	regional.KeystoneURLs = []v1alpha1.KeystoneURL{{Region: "europe", URL: "https://e/v3", CACert: &certificate}}
	for _, config := range []*v1alpha1.CloudProfileConfig{general, regional} {
		found := checked(config)()
		expect(t, found, "warning FieldValueInvalid config.keystoneForceInsecure keystone-insecure")
		if !strings.Contains(found.Warnings[0].Detail, "no effect") {
			t.Error(found.Warnings)
		}
	}
}
