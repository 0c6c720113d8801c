// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/words"
)

// keystoneURL checks the URL for all regions, and that each region has one. An empty one is none.
func (c *cloudProfile) keystoneURL(at *field.Path) {
	switch general, urls := ptr.Deref(c.config.KeystoneURL, ""), c.config.KeystoneURLs; {
	case general != "":
		c.url(general, at)
	case len(urls) == 0:
		c.missing(at, "add the URL of the identity service"+exampleURL+", or one for each region in keystoneURLs")
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
			"of every Shoot%s; remove keystoneForceInsecure; if a private CA signed the certificate, put that CA into keystoneCACert", useless)
}

func (c *cloudProfile) keystoneURLs(at *field.Path) {
	entries := seen[string]{}
	for i := range c.config.KeystoneURLs {
		entry, path := &c.config.KeystoneURLs[i], at.Index(i)
		c.name(entry.Region, path.Child("region"), "region")
		if given(&entry.Region) {
			entries.again(&c.findings, RuleEntryDuplicate, entry.Region, path, path.Child("region"), entry.Region, "is for region "+entry.Region)
			c.region(&entry.Region, path.Child("region"))
		}
		if entry.URL == "" {
			c.missing(path.Child("url"), "add the URL of the region's identity service"+exampleURL)
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

const exampleURL = ", as in https://keystone.example.com/v3/"

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
		return "remove user and password from the URL; the credentials Secret of a Shoot has keys of its own for them"
	case err != nil:
		return "this is not a URL; write one with scheme and host" + exampleURL
	case address.Scheme != "https" && address.Scheme != "http":
		return "the URL must begin with https:// or http://" + exampleURL
	case address.Hostname() == "":
		return "the URL has no host" + exampleURL
	case !validPort(address.Port()):
		return "the port in the URL is invalid; ports go up to 65535"
	case address.RawQuery != "" || address.ForceQuery || address.Fragment != "":
		return "paths are added to the URL, so that it must have no ? and no #" + exampleURL
	}
	return ""
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
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
			return "write the certificate itself in PEM format, from -----BEGIN CERTIFICATE----- on" + notThePath(bundle)
		case block == nil:
			return ""
		case strings.Contains(block.Type, "PRIVATE KEY"):
			return fmt.Sprintf("block %d is a private key, which does not belong here; remove it, and do not use it any more", number)
		case block.Type != "CERTIFICATE" || len(block.Headers) > 0:
			return fmt.Sprintf("block %d is not a plain CERTIFICATE; only these are accepted", number)
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Sprintf("block %d is not a usable certificate; copy it again", number)
		}
		rest = after
	}
}

// notThePath ends what is said about a text that should be a certificate, if it looks like the path of a file.
func notThePath(text string) string {
	if text = strings.TrimSpace(text); strings.ContainsAny(text, " \t\r\n") || filepath.Ext(text) == "" && !filepath.IsAbs(text) {
		return ""
	}
	return ", and not the path of a file"
}

// The keys in the data of a Secret with credentials. Authentication needs username and password, or else
// applicationCredentialSecret with applicationCredentialID, or with applicationCredentialName and username. The other
// keys after tenantName, which is the name of the project, say where the identity service is and how it is verified.
const (
	domainName        = "domainName"
	tenantName        = "tenantName"
	username          = "username"
	password          = "password"
	applicationID     = "applicationCredentialID"
	applicationName   = "applicationCredentialName"
	applicationSecret = "applicationCredentialSecret"
	authURL           = "authURL"
	caCert            = "caCert"
	insecure          = "insecure"
)

// maxTenantName is how many characters OpenStack allows.
const maxTenantName = 64

// credentialKeys are all keys, in the order in which errors come.
var credentialKeys = []string{
	domainName, tenantName, username, password, applicationID, applicationName, applicationSecret, authURL, caCert, insecure,
}

// Credentials checks the data of a Secret with credentials, which stands at the path at: there are a domain and a
// tenant, exactly one way to authenticate, and each value is what its key says. Other keys are not looked at. No error
// holds a value. It returns the name of the domain as well, empty if there is none.
func Credentials(data map[string][]byte, at *field.Path) (domain string, errs field.ErrorList) {
	return string(data[domainName]), credentials(data, at, requiredKeys(data), nil)
}

// dnsKeys are further names of keys in a Secret for Designate, those that its users know. Where both are there the first
// counts.
var dnsKeys = map[string]string{
	domainName: "OS_DOMAIN_NAME", tenantName: "OS_PROJECT_NAME", username: "OS_USERNAME", password: "OS_PASSWORD",
	applicationID: "OS_APPLICATION_CREDENTIAL_ID", applicationName: "OS_APPLICATION_CREDENTIAL_NAME",
	applicationSecret: "OS_APPLICATION_CREDENTIAL_SECRET", authURL: "OS_AUTH_URL", caCert: "CACERT",
}

// DNSCredentials validates the data of a Secret for Designate, OpenStack's DNS service, see [Credentials]. Its keys may have the names of
// OpenStack's own programs, such as OS_DOMAIN_NAME, and it must have the URL of the identity service, which does not come from a
// CloudProfile here.
func DNSCredentials(data map[string][]byte, at *field.Path) field.ErrorList {
	known, written := maps.Clone(data), map[string]string{}
	for key, other := range dnsKeys {
		value, found := data[other]
		if _, both := data[key]; found && !both {
			known[key], written[key] = value, other
		}
	}
	required := requiredKeys(known)
	required[authURL] = "the URL of the identity service is missing"
	for key := range required {
		if other := dnsKeys[key]; len(data[other]) == 0 {
			required[key] += "; the key may also be called " + other
		}
	}
	return credentials(known, at, required, written)
}

// credentials checks the data of a Secret. required are the keys that have to be there, with the reasons; written has the
// keys that the user has called otherwise.
func credentials(data map[string][]byte, at *field.Path, required, written map[string]string) field.ErrorList {
	var f findings
	application := applicationKeys(data)
	name := func(key string) string { return cmp.Or(written[key], key) }
	for _, key := range credentialKeys {
		value, found := data[key]
		problem := ""
		if found {
			problem = credentialProblem(key, string(value))
		}
		switch reason, isRequired := required[key]; {
		case isRequired && len(value) == 0:
			f.Found(ruleCredentialsIncomplete, field.ErrorTypeRequired, at.Key(name(key)), nil, "%s%s", reason, misspelt(data, key))
		case problem != "":
			f.Found(ruleCredentialsValue, field.ErrorTypeInvalid, at.Key(name(key)), field.OmitValueType{}, "%s", problem)
		}
		if key == password && len(value) > 0 && len(application) > 0 {
			for i := range application {
				application[i] = name(application[i])
			}
			f.Found(ruleCredentialsAmbiguous, field.ErrorTypeForbidden, at.Key(name(key)), nil,
				"there are two ways to authenticate, %s and %s; remove one of the two", name(key), strings.Join(application, ", "))
		}
	}
	return f.Errors.Errors()
}

// requiredKeys returns the keys that are always required, and those to authenticate in the way begun, with the reason.
func requiredKeys(data map[string][]byte) map[string]string {
	required := map[string]string{
		domainName: "the name of the domain is missing",
		tenantName: "the name of the tenant, which is the project in OpenStack, is missing",
	}
	const or = "; with an application credential instead, " + applicationID + " and " + applicationSecret + " are needed"
	has := func(key string) bool { return len(data[key]) > 0 }
	application := applicationKeys(data)
	switch {
	case has(password):
		required[username] = "a password needs the name of its user"
		return required
	case len(application) == 0:
		required[username] = "the name of the user is missing" + or
		required[password] = "the password is missing" + or
		return required
	case has(applicationID):
	case has(applicationName):
		required[username] = "an application credential that is given by its name needs the name of its user; " +
			"one that is given by " + applicationID + " does not"
	default:
		required[applicationID] = "the secret of an application credential needs its ID; or else " +
			applicationName + " and " + username
	}
	required[applicationSecret] = application[0] + " needs the secret of the application credential"
	return required
}

// applicationKeys returns the keys of an application credential that have a value.
func applicationKeys(data map[string][]byte) []string {
	keys := []string{applicationID, applicationName, applicationSecret}
	return slices.DeleteFunc(keys, func(key string) bool { return len(data[key]) == 0 })
}

// misspelt asks which key was probably meant to be one that is missing; empty if there is none.
func misspelt(data map[string][]byte, key string) string {
	for _, other := range slices.Sorted(maps.Keys(data)) {
		if !slices.Contains(credentialKeys, other) && sameWord(other, key) {
			return "; is " + other + " meant to be this key? The names of keys are case-sensitive"
		}
	}
	return ""
}

// sameWord reports whether a key is another one in other letters: in upper case, with separators, with the prefix OS of
// OpenStack's own programs, with project for tenant, or with one or two other letters.
func sameWord(key, known string) bool {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
	letters = strings.Replace(strings.TrimPrefix(letters, "os"), "project", "tenant", 1)
	return words.Closest(letters, []string{known}) != ""
}

// credentialProblem returns what is wrong with the value of a key, without quoting it; empty if it is right.
func credentialProblem(key, value string) string {
	text := textProblem(value, key == password)
	switch word := strings.ToLower(strings.TrimSpace(value)); {
	case value == "":
		return "it is empty; write a value, or leave the key out"
	case key == caCert:
		return bundleProblem(value)
	case key == insecure && word != "true" && word != "false":
		return `it must be "true" or "false"`
	case key == insecure:
	case text != "":
		return text
	case key == tenantName && utf8.RuneCountInString(value) > maxTenantName:
		return "it has more than 64 characters, which is the most that the name of a tenant can have"
	case key == authURL:
		return urlProblem(value)
	}
	return ""
}

// textProblem returns what is wrong with a value as text. Only a password may have blanks at its ends.
func textProblem(value string, isPassword bool) string {
	switch {
	case strings.TrimRight(value, "\r\n") != value:
		return "it ends with a line break, as what echo writes does; use printf, or stringData, which takes the value as it is"
	case strings.TrimLeft(value, "\r\n") != value:
		return "it begins with a line break; remove that"
	case !isPassword && strings.TrimSpace(value) != value:
		return "it begins or ends with white space; remove that"
	case !utf8.ValidString(value):
		return "it is not text in UTF-8; the value in data is encoded in base64 once, that in stringData not at all"
	case strings.ContainsFunc(value, unicode.IsControl):
		return "it has a line break or another control character in it; remove that"
	}
	return ""
}
