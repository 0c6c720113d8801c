// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
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
			errs = append(errs, finding.New(OriginCredentialsIncomplete, field.ErrorTypeRequired, at.Key(key), nil, reason+misspelt(data, key)).Error)
		case found:
			if problem := credentialProblem(key, string(value)); problem != "" {
				errs = append(errs, finding.New(OriginCredentialsValue, field.ErrorTypeInvalid, at.Key(key), field.OmitValueType{}, problem).Error)
			}
		}
		if others := applicationKeys(data); key == Password && len(value) > 0 && len(others) > 0 {
			errs = append(errs, finding.New(OriginCredentialsAmbiguous, field.ErrorTypeForbidden, at.Key(key), nil,
				"there are two ways to authenticate, "+key+" and "+strings.Join(others, ", ")+"; remove one of the two").Error)
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

// sameWord reports whether a key is another one in other letters: in upper case, with separators, with the prefix OS that
// the variables of OpenStack's own programs have, with project for tenant, or with one or two letters that are others.
func sameWord(key, known string) bool {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
	letters = strings.Replace(strings.TrimPrefix(letters, "os"), "project", "tenant", 1)
	return strictjson.Closest(letters, []string{known}) != ""
}

// credentialProblem returns what is wrong with the value of a key, without quoting it; empty if it is right.
func credentialProblem(key, value string) string {
	if value == "" {
		return "it is empty; write a value, or leave the key out"
	}
	if key == CACert {
		return bundleProblem(value)
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
		return urlProblem(value)
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
