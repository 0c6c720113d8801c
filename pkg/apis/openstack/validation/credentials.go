// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules about credentials.
const (
	OriginCredentialsIncomplete = "credentials-incomplete"
	OriginCredentialsAmbiguous  = "credentials-ambiguous"
	OriginCredentialsValue      = "credentials-value"
)

// The keys in the data of a Secret with credentials.
const (
	// DomainName is that of the domain, which decides what may be used.
	DomainName = "domainName"
	// TenantName is that of the project in the domain.
	TenantName = "tenantName"
	// UserName is that of the user, and with Password one way to authenticate.
	UserName = "username"
	// Password is that of the user.
	Password = "password"
	// ApplicationCredentialID, or ApplicationCredentialName with UserName, is the other way, with
	// ApplicationCredentialSecret.
	ApplicationCredentialID     = "applicationCredentialID"
	ApplicationCredentialName   = "applicationCredentialName"
	ApplicationCredentialSecret = "applicationCredentialSecret"
	// AuthURL is where the identity service is, if that is not said elsewhere.
	AuthURL = "authURL"
	// CACert are the certificates that the identity service is verified with.
	CACert = "caCert"
	// Insecure leaves out that verification if it is true.
	Insecure = "insecure"
)

// mostTenantName is how many characters OpenStack allows.
const mostTenantName = 64

// credentialKeys are all keys, in the order in which errors come.
var credentialKeys = []string{
	DomainName, TenantName, UserName, Password, ApplicationCredentialID, ApplicationCredentialName, ApplicationCredentialSecret,
	AuthURL, CACert, Insecure,
}

// Credentials checks the data of a Secret with credentials, which stands at the path at: there are a domain and a tenant,
// exactly one way to authenticate, and each value is what its key says. Other keys are not looked at, since a Secret may
// serve others as well. No error holds a value.
func Credentials(data map[string][]byte, at *field.Path) field.ErrorList {
	required := map[string]string{
		DomainName: "the name of the domain is missing",
		TenantName: "the name of the tenant, which is the project in OpenStack, is missing",
	}
	authentication(data, required)
	var errs field.ErrorList
	for _, key := range credentialKeys {
		reason, isRequired := required[key]
		value, found := data[key]
		switch {
		case isRequired && len(value) == 0:
			errs = append(errs, finding(OriginCredentialsIncomplete, field.ErrorTypeRequired, at.Key(key), nil, reason+misspelt(data, key)))
		case found:
			if problem := credentialProblem(key, string(value)); problem != "" {
				errs = append(errs, finding(OriginCredentialsValue, field.ErrorTypeInvalid, at.Key(key), field.OmitValueType{}, problem))
			}
		}
		if others := applicationKeys(data); key == Password && len(value) > 0 && len(others) > 0 {
			errs = append(errs, finding(OriginCredentialsAmbiguous, field.ErrorTypeForbidden, at.Key(key), nil,
				"there are two ways to authenticate, "+key+" and "+strings.Join(others, ", ")+"; remove one of the two"))
		}
	}
	return errs
}

// authentication adds the keys that are required to authenticate in the way that was begun, with the reason.
func authentication(data map[string][]byte, required map[string]string) {
	has := func(key string) bool { return len(data[key]) > 0 }
	const or = "; with an application credential instead, " + ApplicationCredentialID + " and " + ApplicationCredentialSecret + " are needed"
	switch application := applicationKeys(data); {
	case has(Password):
		required[UserName] = "a password needs the name of its user"
	case len(application) == 0:
		required[UserName] = "the name of the user is missing" + or
		required[Password] = "the password is missing" + or
	default:
		required[ApplicationCredentialSecret] = application[0] + " needs the secret of the application credential"
		switch {
		case has(ApplicationCredentialID):
		case has(ApplicationCredentialName):
			required[UserName] = "an application credential that is given by its name needs the name of its user; one that is given by " + ApplicationCredentialID + " does not"
		default:
			required[ApplicationCredentialID] = "the secret of an application credential needs its ID; or else " + ApplicationCredentialName + " and " + UserName
		}
	}
}

// applicationKeys returns the keys of an application credential that have a value.
func applicationKeys(data map[string][]byte) []string {
	return slices.DeleteFunc([]string{ApplicationCredentialID, ApplicationCredentialName, ApplicationCredentialSecret}, func(key string) bool {
		return len(data[key]) == 0
	})
}

// misspelt says which key was probably meant to be one that is missing; empty if there is none.
func misspelt(data map[string][]byte, key string) string {
	var similar []string
	for other := range data {
		if !slices.Contains(credentialKeys, other) && sameWord(other, key) {
			similar = append(similar, other)
		}
	}
	if len(similar) == 0 {
		return ""
	}
	return "; is " + slices.Min(similar) + " meant to be this key? The names of keys are case-sensitive"
}

// sameWord tells whether a key is another one in other letters: in upper case, with separators, with the prefix OS that
// the variables of OpenStack's own programs have, with project for tenant, or with a letter more or less.
func sameWord(key, known string) bool {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
	letters, known = strings.Replace(strings.TrimPrefix(letters, "os"), "project", "tenant", 1), strings.ToLower(known)
	longer, shorter := letters, known
	if len(longer) < len(shorter) {
		longer, shorter = shorter, longer
	}
	same := 0
	for same < len(shorter) && longer[same] == shorter[same] {
		same++
	}
	rest := shorter[same:]
	switch len(longer) - len(shorter) {
	case 0: // one letter is another one, at most
		return rest == "" || rest[1:] == longer[same+1:]
	case 1:
		return rest == longer[same+1:]
	}
	return false
}

// credentialProblem returns what is wrong with the value of a key, without quoting it; empty if it is right.
func credentialProblem(key, value string) string {
	if value == "" {
		return "it is empty; write a value, or leave the key out"
	}
	if key == CACert {
		return certificatesProblem(value)
	}
	if key == Insecure {
		if word := strings.ToLower(strings.TrimSpace(value)); word != "true" && word != "false" {
			return `it must be "true" or "false"`
		}
		return ""
	}
	if problem := textProblem(value, key == Password); problem != "" {
		return problem
	}
	switch {
	case key == TenantName && utf8.RuneCountInString(value) > mostTenantName:
		return "it has more than 64 characters, which is the most that the name of a tenant can have"
	case key == AuthURL:
		return authURLProblem(value)
	}
	return ""
}

// textProblem returns what is wrong with a value as text. It must not have white space at its ends; a password may have
// some, but no line break.
func textProblem(value string, password bool) string {
	switch trimmed := strings.TrimSpace(value); {
	case strings.TrimRight(value, "\r\n") != value:
		return "it ends with a line break, as what echo writes does; use printf, or stringData, which takes the value as it is"
	case strings.TrimLeft(value, "\r\n") != value:
		return "it begins with a line break; remove that"
	case !password && trimmed != value:
		return "it begins or ends with white space; remove that"
	case !utf8.ValidString(value):
		return "it is not text in UTF-8; the value in data is encoded in base64 once, that in stringData not at all"
	case strings.ContainsFunc(value, unicode.IsControl):
		return "it has a line break or another control character in it; remove that"
	}
	return ""
}

func authURLProblem(value string) string {
	const example = ", as https://keystone.example.com/v3/ is"
	address, err := url.Parse(value)
	switch {
	case err != nil:
		return "it is not a URL; it must be one of the identity service" + example
	case address.Scheme != "http" && address.Scheme != "https":
		return "it must be a URL that begins with https:// or http://" + example
	case address.Hostname() == "":
		return "it must be a URL with a host" + example
	case address.User != nil:
		return "it must not have a user or password in it; these have keys of their own"
	}
	return ""
}

// certificatesProblem returns what is wrong with a bundle of certificates.
func certificatesProblem(value string) string {
	number := 0
	for rest := []byte(value); ; number++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return "it must consist of certificates only; something else in PEM format is among them, such as a key"
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return "there is something in it that calls itself a certificate and is none; copy the bundle again"
		}
	}
	switch number {
	case 0:
		return "it must be certificates in PEM format, each of which begins with -----BEGIN CERTIFICATE-----"
	case strings.Count(value, "-----BEGIN"):
		return ""
	}
	return "one of the certificates is broken off, or its lines are; copy the bundle again"
}
