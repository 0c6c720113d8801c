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
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// keystoneURL checks the URL for all regions, and that each region has one. An empty one is none, as the empty
// certificates below are none.
func (c *cloudProfile) keystoneURL(at *field.Path) {
	switch general, urls := ptr.Deref(c.config.KeystoneURL, ""), c.config.KeystoneURLs; {
	case general != "":
		c.url(general, at)
	case len(urls) == 0:
		c.Found(RuleSettingMissing, field.ErrorTypeRequired, at, nil, "add the URL of the identity service"+exampleURL+
			", or one for each region in keystoneURLs")
	default:
		regions := make([]*string, 0, len(urls))
		for i := range urls {
			regions = append(regions, &urls[i].Region)
		}
		c.served(regions, at, "identity service", "add keystoneURL, or an entry for the region in keystoneURLs")
	}
}

func (c *cloudProfile) keystoneForceInsecure(at *field.Path) {
	if !ptr.Deref(c.config.KeystoneForceInsecure, false) {
		return
	}
	useless := ""
	ofRegion := func(k v1alpha1.KeystoneURL) bool { return given(k.CACert) }
	if given(c.config.KeystoneCACert) || slices.ContainsFunc(c.config.KeystoneURLs, ofRegion) {
		useless = "; the CA certificates that are given have no effect then"
	}
	c.Found(ruleKeystoneInsecure, field.ErrorTypeInvalid, at, true,
		"the certificate of the identity service is not verified, so that others can pose as it and get the credentials "+
			"of every Shoot%s", useless)
}

func (c *cloudProfile) keystoneURLs(at *field.Path) {
	entries := seen[string]{}
	for i := range c.config.KeystoneURLs {
		entry, path := &c.config.KeystoneURLs[i], at.Index(i)
		c.name(entry.Region, path.Child("region"), "region")
		if strings.TrimSpace(entry.Region) != "" {
			if before := entries.before(entry.Region, path); before != nil {
				c.duplicate(RuleEntryDuplicate, path.Child("region"), entry.Region, before, "is for region "+entry.Region)
			}
			c.region(&entry.Region, path.Child("region"))
		}
		if entry.URL == "" {
			c.Found(RuleSettingMissing, field.ErrorTypeRequired, path.Child("url"), nil,
				"add the URL of the region's identity service"+exampleURL)
		} else {
			c.url(entry.URL, path.Child("url"))
		}
		c.bundle(entry.CACert, path.Child("caCert"))
	}
}

// url checks the URL of an identity service. One that is wrong is not quoted: there may be a password in it.
func (f *findings) url(written string, at *field.Path) {
	if problem := urlProblem(written); problem != "" {
		f.Found(ruleKeystoneURL, field.ErrorTypeInvalid, at, field.OmitValueType{}, "%s", problem)
	} else if strings.HasPrefix(strings.ToLower(written), "http:") {
		f.Found(ruleKeystoneInsecure, field.ErrorTypeInvalid, at, written,
			"%s: credentials are sent to the identity service without encryption; use https:// if it can", quote(written))
	}
}

const (
	exampleURL  = ", as in https://keystone.example.com/v3/"
	largestPort = 1<<16 - 1
)

// urlProblem says what is wrong with the URL of an identity service, without quoting it; empty if nothing is.
func urlProblem(written string) string {
	if left := leftOver(written); left != "" && !strings.Contains(written, "@") {
		return "there is " + left + " in the URL, which looks like a part of a template that was not filled in; " +
			"write the URL" + exampleURL
	}
	if strings.ContainsFunc(written, isForeign) {
		return "there is white space, or something else that cannot be printed, in the URL; remove it"
	}
	address, err := url.Parse(written)
	switch {
	case strings.Contains(written, "@") && (err != nil || address.User != nil):
		return "a URL must not have a user or a password in it; these have keys of their own in the Secret of a Shoot"
	case err != nil:
		return "this is no URL; write one with scheme and host" + exampleURL
	case address.Scheme != "https" && address.Scheme != "http":
		return "the URL must begin with https:// or http://" + exampleURL
	case address.Hostname() == "":
		return "the URL has no host" + exampleURL
	case !validPort(address.Port()):
		return fmt.Sprintf("the port in the URL is none; ports go up to %d", largestPort)
	case address.RawQuery != "" || address.ForceQuery || address.Fragment != "":
		return "paths are added to the URL, so that it must have no ? and no #" + exampleURL
	}
	return ""
}

func validPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n > 0 && n <= largestPort
}

func given(s *string) bool { return strings.TrimSpace(ptr.Deref(s, "")) != "" }

// bundle checks CA certificates. They are not quoted: they are long, and may have a key among them.
func (f *findings) bundle(bundle *string, at *field.Path) {
	if !given(bundle) {
		return
	}
	if problem := bundleProblem(*bundle); problem != "" {
		f.Found(ruleCACertificate, field.ErrorTypeInvalid, at, field.OmitValueType{}, "%s", problem)
	}
}

// bundleProblem says what is wrong with a bundle of certificates in PEM format, without quoting it; empty if nothing
// is. Lines between the certificates that begin no block are comments.
func bundleProblem(bundle string) string {
	const unreadable = "block %d cannot be read; copy the certificates again, with all their lines and without indentation"
	begin, rest := []byte("-----BEGIN"), []byte(bundle)
	for number := 1; ; number++ {
		block, after := pem.Decode(rest)
		passed := rest[:len(rest)-len(after)]
		switch {
		case block == nil && bytes.Contains(rest, begin), bytes.Count(passed, begin) > 1:
			return fmt.Sprintf(unreadable, number)
		case block == nil && number == 1:
			return "there is no certificate in PEM format, which begins with -----BEGIN CERTIFICATE-----"
		case block == nil:
			return ""
		case strings.Contains(block.Type, "PRIVATE KEY"):
			return fmt.Sprintf("block %d is a private key, which does not belong here; remove it, and do not use it any more", number)
		case block.Type != "CERTIFICATE" || len(block.Headers) > 0:
			return fmt.Sprintf("block %d is no plain CERTIFICATE; only these can be here", number)
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Sprintf("block %d is no certificate that could be used; copy it again", number)
		}
		rest = after
	}
}
