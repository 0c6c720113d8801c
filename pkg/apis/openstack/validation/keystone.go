// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// keystoneURL checks the URL for all regions, and that each region has one. An empty one is none, as the empty
// certificates below are none.
func (f *Findings) keystoneURL(config *v1alpha1.CloudProfileConfig, known regions, at *field.Path) {
	general := config.KeystoneURL != nil && *config.KeystoneURL != ""
	switch {
	case general:
		f.url(*config.KeystoneURL, at)
	case len(config.KeystoneURLs) == 0:
		f.fail(OriginSettingMissing, field.ErrorTypeRequired, at, nil, "add the URL of the identity service, as in https://keystone.example.com/v3/, or one for each region in keystoneURLs")
	default:
		of := make([]*string, 0, len(config.KeystoneURLs))
		for i := range config.KeystoneURLs {
			of = append(of, &config.KeystoneURLs[i].Region)
		}
		f.served(known, of, at, "identity service", "add keystoneURL, or an entry for the region in keystoneURLs")
	}
}

func (f *Findings) keystoneCACert(config *v1alpha1.CloudProfileConfig, _ regions, at *field.Path) {
	f.bundle(config.KeystoneCACert, at)
}

func (f *Findings) keystoneForceInsecure(config *v1alpha1.CloudProfileConfig, _ regions, at *field.Path) {
	if config.KeystoneForceInsecure == nil || !*config.KeystoneForceInsecure {
		return
	}
	useless := ""
	if given(config.KeystoneCACert) || slices.ContainsFunc(config.KeystoneURLs, func(k v1alpha1.KeystoneURL) bool { return given(k.CACert) }) {
		useless = "; the CA certificates that are given have no effect then"
	}
	f.warn(OriginKeystoneInsecure, field.ErrorTypeInvalid, at, true,
		"the certificate of the identity service is not verified, so that others can pose as it and get the credentials of every Shoot%s", useless)
}

func (f *Findings) keystoneURLs(config *v1alpha1.CloudProfileConfig, known regions, at *field.Path) {
	entries := seen[string]{}
	for i := range config.KeystoneURLs {
		entry, path := &config.KeystoneURLs[i], at.Index(i)
		f.name(entry.Region, path.Child("region"), "region")
		if strings.TrimSpace(entry.Region) != "" {
			before, first := entries.first(entry.Region, path)
			if !first {
				f.fail(OriginEntryDuplicate, field.ErrorTypeDuplicate, path.Child("region"), entry.Region, "%s is for region %s already; remove one of the two", before, entry.Region)
			}
			f.region(&entry.Region, path.Child("region"), known)
		}
		if entry.URL == "" {
			f.fail(OriginSettingMissing, field.ErrorTypeRequired, path.Child("url"), nil, "add the URL of the region's identity service, as in https://keystone.example.com/v3/")
		} else {
			f.url(entry.URL, path.Child("url"))
		}
		f.bundle(entry.CACert, path.Child("caCert"))
	}
}

// url checks the URL of an identity service. One that is wrong is not quoted: there may be a password in it.
func (f *Findings) url(written string, at *field.Path) {
	if problem := urlProblem(written); problem != "" {
		f.fail(OriginKeystoneURL, field.ErrorTypeInvalid, at, field.OmitValueType{}, "%s", problem)
	} else if strings.HasPrefix(strings.ToLower(written), "http:") {
		f.warn(OriginKeystoneInsecure, field.ErrorTypeInvalid, at, written, "%s: credentials are sent to the identity service without encryption; use https:// if it can", quote(written))
	}
}

const largestPort = 1<<16 - 1

// urlProblem says what is wrong with the URL of an identity service, without quoting it; empty if nothing is.
func urlProblem(written string) string {
	const example = ", as in https://keystone.example.com/v3/"
	if left := leftOver(written); left != "" && !strings.Contains(written, "@") {
		return "there is " + left + " in the URL, which looks like a part of a template that was not filled in; write the URL" + example
	}
	if i := strings.IndexFunc(written, isForeign); i >= 0 {
		return "there is white space, or something else that cannot be printed, in the URL; remove it"
	}
	address, err := url.Parse(written)
	switch {
	case strings.Contains(written, "@") && (err != nil || address.User != nil):
		return "a URL must not have a user or a password in it; these have keys of their own in the Secret of a Shoot"
	case err != nil:
		return "this is no URL; write one with scheme and host" + example
	case address.Scheme != "https" && address.Scheme != "http":
		return "the URL must begin with https:// or http://" + example
	case address.Hostname() == "":
		return "the URL has no host" + example
	case !validPort(address.Port()):
		return "the port in the URL is none; ports go up to " + strconv.Itoa(largestPort)
	case address.RawQuery != "" || address.ForceQuery || address.Fragment != "":
		return "paths are added to the URL, so that it must have no ? and no #" + example
	}
	return ""
}

func validPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n > 0 && n <= largestPort
}

func given(s *string) bool { return s != nil && strings.TrimSpace(*s) != "" }

// bundle checks CA certificates. They are not quoted: they are long, and may have a key among them.
func (f *Findings) bundle(bundle *string, at *field.Path) {
	if !given(bundle) {
		return
	}
	if problem := bundleProblem(*bundle); problem != "" {
		f.fail(OriginCACertificate, field.ErrorTypeInvalid, at, field.OmitValueType{}, "%s", problem)
	}
}

// bundleProblem says what is wrong with a bundle of certificates in PEM format, without quoting it; empty if nothing is.
// Lines between the certificates that begin no block are comments.
func bundleProblem(bundle string) string {
	begin, rest, count := []byte("-----BEGIN"), []byte(bundle), 0
	for ; ; count++ {
		block, after := pem.Decode(rest)
		if block == nil {
			break
		}
		if passed := rest[:len(rest)-len(after)]; bytes.Count(passed, begin) > 1 {
			return fmt.Sprintf("block %d cannot be read; copy the certificates again, with all their lines and without indentation", count+1)
		}
		if strings.Contains(block.Type, "PRIVATE KEY") {
			return fmt.Sprintf("block %d is a private key, which does not belong here; remove it, and do not use it any more", count+1)
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) > 0 {
			return fmt.Sprintf("block %d is no plain CERTIFICATE; only these can be here", count+1)
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Sprintf("block %d is no certificate that could be used; copy it again", count+1)
		}
		rest = after
	}
	switch {
	case bytes.Contains(rest, begin):
		return fmt.Sprintf("block %d cannot be read; copy the certificates again, with all their lines and without indentation", count+1)
	case count == 0:
		return "there is no certificate in PEM format, which begins with -----BEGIN CERTIFICATE-----"
	}
	return ""
}
