// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

var (
	withNeither     = map[string]string{"domainName": "demo", "tenantName": "shops"}
	withPassword    = with(withNeither, "username", "anna", "password", "s3cr et")
	withID          = with(withNeither, "applicationCredentialID", "a1", "applicationCredentialSecret", "b2")
	withName        = with(withNeither, "username", "anna", "applicationCredentialName", "ci", "applicationCredentialSecret", "b2")
	withEveryOption = with(withPassword, "authURL", "https://keystone.example.com:5000/v3/", "insecure", "false")
)

// with returns a copy changed by pairs of key and value. The value "-" removes the key.
func with(base map[string]string, more ...string) map[string]string {
	copied := maps.Clone(base)
	for i := 0; i < len(more); i += 2 {
		copied[more[i]] = more[i+1]
		if more[i+1] == "-" {
			delete(copied, more[i])
		}
	}
	return copied
}

// check checks credentials at the path data.
func check(t *testing.T, data map[string]string) finding.List {
	t.Helper()
	encoded := map[string][]byte{}
	for key, value := range data {
		encoded[key] = []byte(value)
	}
	domain, errs := validation.Credentials(encoded, field.NewPath("data"))
	if domain != data["domainName"] {
		t.Errorf("they are of domain %q", domain)
	}
	return finding.Of(errs)
}

func TestCredentials(t *testing.T) {
	lines := func(kind, rule string, keys ...string) (want []string) {
		for _, key := range keys {
			want = append(want, fmt.Sprintf("error %s data[%s] %s", kind, key, rule))
		}
		return want
	}
	required := func(keys ...string) []string { return lines("FieldValueRequired", "credentials-incomplete", keys...) }
	invalid := func(keys ...string) []string { return lines("FieldValueInvalid", "credentials-value", keys...) }
	forbidden := lines("FieldValueForbidden", "credentials-ambiguous", "password")
	ca, _ := selfSigned(t)
	for name, test := range map[string]struct {
		data map[string]string
		want []string
	}{
		"password":                       {withPassword, nil},
		"application credential by ID":   {withID, nil},
		"application credential by name": {withName, nil},
		"by ID and name":                 {with(withName, "applicationCredentialID", "a1"), nil},
		"by ID, with a user":             {with(withID, "username", "anna"), nil},
		"every option":                   {with(withEveryOption, "caCert", ca), nil},
		"keys for others":                {with(withPassword, "OS_USERNAME", " x\n", "AWS_ACCESS_KEY_ID", "", "Insecure", "maybe"), nil},

		"nothing":                   {nil, required("domainName", "tenantName", "username", "password")},
		"no domain":                 {with(withPassword, "domainName", "-"), required("domainName")},
		"empty domain":              {with(withPassword, "domainName", ""), required("domainName")},
		"no tenant":                 {with(withID, "tenantName", "-"), required("tenantName")},
		"no way to authenticate":    {withNeither, required("username", "password")},
		"no password":               {with(withPassword, "password", "-"), required("password")},
		"empty password":            {with(withPassword, "password", ""), required("password")},
		"no user":                   {with(withPassword, "username", "-"), required("username")},
		"an ID alone":               {with(withID, "applicationCredentialSecret", "-"), required("applicationCredentialSecret")},
		"a name alone":              {with(withNeither, "applicationCredentialName", "ci"), required("username", "applicationCredentialSecret")},
		"a name without its user":   {with(withName, "username", "-"), required("username")},
		"a secret alone":            {with(withID, "applicationCredentialID", "-"), required("applicationCredentialID")},
		"both ways":                 {with(withPassword, "applicationCredentialID", "a1", "applicationCredentialSecret", "b2"), forbidden},
		"both ways, one incomplete": {with(withPassword, "applicationCredentialID", "a1"), forbidden},
		"both ways, without user":   {with(withID, "password", "x"), append(required("username"), forbidden...)},
		"an empty key of the other": {with(withPassword, "applicationCredentialSecret", ""), invalid("applicationCredentialSecret")},
		"a user that is empty":      {with(withID, "username", ""), invalid("username")},
		"everything wrong at once": {
			map[string]string{"tenantName": "a\n", "username": " b", "password": "c\n", "authURL": "d", "caCert": "e", "insecure": "f"},
			append(required("domainName"), invalid("tenantName", "username", "password", "authURL", "caCert", "insecure")...),
		},
		"line breaks from echo":     {with(withPassword, "domainName", "demo\n", "password", "s3cret\n"), invalid("domainName", "password")},
		"line breaks of Windows":    {with(withPassword, "username", "anna\r\n"), invalid("username")},
		"a line break at the start": {with(withPassword, "password", "\ns3cret"), invalid("password")},
		"spaces in a password":      {with(withPassword, "password", " s3c ret "), nil},
		"spaces at the ends": {with(withID, "tenantName", " shops", "applicationCredentialSecret", "b2 "),
			invalid("tenantName", "applicationCredentialSecret")},
		"a space that does not break":  {with(withPassword, "domainName", "demo\u00a0"), invalid("domainName")},
		"spaces in names":              {with(withPassword, "tenantName", "my shops"), nil},
		"control characters":           {with(withPassword, "username", "an\x00na", "password", "a\nb"), invalid("username", "password")},
		"not UTF-8":                    {with(withPassword, "password", "\xff\xfe"), invalid("password")},
		"letters of other alphabets":   {with(withPassword, "username", "Анна", "password", "ключ"), nil},
		"64 characters":                {with(withPassword, "tenantName", strings.Repeat("ö", 64)), nil},
		"65 characters":                {with(withPassword, "tenantName", strings.Repeat("o", 65)), invalid("tenantName")},
		"URL with http":                {with(withPassword, "authURL", "http://10.0.0.1/identity"), nil},
		"URL without scheme":           {with(withPassword, "authURL", "keystone.example.com/v3"), invalid("authURL")},
		"URL of another scheme":        {with(withPassword, "authURL", "ftp://keystone.example.com"), invalid("authURL")},
		"URL without host":             {with(withPassword, "authURL", "https://:5000/v3"), invalid("authURL")},
		"URL with a user":              {with(withPassword, "authURL", "https://anna:s3cret@keystone.example.com"), invalid("authURL")},
		"URL that is none":             {with(withPassword, "authURL", "https://[::1"), invalid("authURL")},
		"URL with a line break":        {with(withPassword, "authURL", "https://keystone.example.com\n"), invalid("authURL")},
		"several certificates":         {with(withPassword, "caCert", "# ours\n"+ca+"\n"+ca+"\n"), nil},
		"a certificate broken off":     {with(withPassword, "caCert", ca+ca[:len(ca)/2]), invalid("caCert")},
		"a key among the certificates": {with(withPassword, "caCert", ca+"-----BEGIN PRIVATE KEY-----\nQUJD\n-----END PRIVATE KEY-----\n"), invalid("caCert")},
		"a certificate that is none":   {with(withPassword, "caCert", "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n"), invalid("caCert")},
		"an empty bundle":              {with(withPassword, "caCert", ""), invalid("caCert")},
		"insecure":                     {with(withPassword, "insecure", "true\n"), nil},
		"insecure in capitals":         {with(withPassword, "insecure", "False"), nil},
		"insecure as a number":         {with(withPassword, "insecure", "1"), invalid("insecure")},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, finding.Report{Errors: check(t, test.data)}, test.want...)
		})
	}
}

func TestMisspeltKeys(t *testing.T) {
	for key, others := range map[string][]string{
		"domainName": {"domainname", "DOMAIN_NAME", "OS_DOMAIN_NAME", "domain-name", "domanName", "domainNamee", "domainNane"},
		"tenantName": {"projectName", "OS_PROJECT_NAME", "tenantname"},
		"username":   {"userName", "OS_USERNAME", "usernam"},
		"password":   {"Password", "OS_PASSWORD", "passwort"},
	} {
		for _, other := range others {
			errs := check(t, with(withPassword, key, "-", other, "value"))
			if len(errs) != 1 || errs[0].Field != "data["+key+"]" || !strings.Contains(errs[0].Detail, "is "+other+" meant") {
				t.Errorf("%s for %s: %v", other, key, errs)
			}
		}
		for _, other := range []string{"x", "os", "", "name", "OS_USER_DOMAIN_NAME", "token", "domainNam..ess"} {
			errs := check(t, with(withPassword, key, "-", other, "value"))
			if len(errs) != 1 || strings.Contains(errs[0].Detail, "meant") {
				t.Errorf("%q for %s: %v", other, key, errs)
			}
		}
	}
}

// No error shows a value or depends on the order of keys. Without errors there is exactly one way to authenticate.
func TestCredentialsAreNotShown(t *testing.T) {
	keys := append(slices.Collect(maps.Keys(with(withName, "password", "", "authURL", "", "caCert", "", "insecure", "", "applicationCredentialID", ""))),
		"OS_DOMAIN_NAME", "userName", "token")
	slices.Sort(keys)
	const marker = "zq7"
	around := rapid.SampledFrom([]string{"", " ", "\n", "\r\n", "\x00", "\xff", "https://", "https://a:", "@", "://", "[", "%zz",
		"-----BEGIN CERTIFICATE-----\n", "\n-----END CERTIFICATE-----\n", "true", strings.Repeat("x", 64)})
	rapid.Check(t, func(t *rapid.T) {
		data := map[string][]byte{}
		for _, key := range keys {
			switch rapid.IntRange(0, 3).Draw(t, key+" is there") {
			case 0:
			case 1:
				data[key] = []byte("ok")
			default:
				data[key] = []byte(around.Draw(t, "before") + marker + key + around.Draw(t, "after"))
			}
		}
		_, errs := validation.Credentials(data, field.NewPath("data"))
		for _, err := range errs {
			if text := fmt.Sprintf("%s %v %#v", err.Error(), err.BadValue, err); strings.Contains(text, marker) {
				t.Errorf("a value is shown: %s", text)
			}
			if err.Origin == "" || !strings.HasPrefix(err.Field, "data[") {
				t.Errorf("%#v", err)
			}
		}
		if _, again := validation.Credentials(data, field.NewPath("data")); fmt.Sprint(again) != fmt.Sprint(errs) {
			t.Errorf("%v, and then %v", errs, again)
		}
		password, application := len(data["password"]) > 0, len(data["applicationCredentialSecret"]) > 0
		if len(errs) == 0 && password == application {
			t.Errorf("it is accepted: %v", data)
		}
	})
}

// A Secret for Designate may use the key names of OpenStack's own programs. Errors name the keys that are used.
func TestDNSCredentials(t *testing.T) {
	env := map[string]string{
		"OS_AUTH_URL": "https://keystone.example.com:5000/v3/", "OS_DOMAIN_NAME": "demo", "OS_PROJECT_NAME": "shops",
		"OS_USERNAME": "anna", "OS_PASSWORD": "s3cr et",
	}
	application := with(env, "OS_USERNAME", "-", "OS_PASSWORD", "-",
		"OS_APPLICATION_CREDENTIAL_ID", "a1", "OS_APPLICATION_CREDENTIAL_SECRET", "b2")
	for name, tc := range map[string]struct {
		data map[string]string
		want []string
	}{
		"as OpenStack calls them": {env, nil},
		"an application":          {application, nil},
		"as Gardener does":        {withEveryOption, nil},
		"both":                    {with(env, "tenantName", "more"), nil},
		"the first of two counts": {with(env, "tenantName", " more"), []string{"Invalid data[tenantName] credentials-value"}},
		"no URL":                  {with(env, "OS_AUTH_URL", "-"), []string{"Required data[authURL] credentials-incomplete"}},
		"no URL, either":          {withPassword, []string{"Required data[authURL] credentials-incomplete"}},
		"an empty URL":            {with(env, "OS_AUTH_URL", ""), []string{"Required data[OS_AUTH_URL] credentials-incomplete"}},
		"a password with a line break": {
			with(env, "OS_PASSWORD", "s3cr et\n"), []string{"Invalid data[OS_PASSWORD] credentials-value"},
		},
		"two ways": {with(env, "OS_APPLICATION_CREDENTIAL_ID", "a1"), []string{"Forbidden data[OS_PASSWORD] credentials-ambiguous"}},
		"nothing": {nil, []string{
			"Required data[domainName] credentials-incomplete", "Required data[tenantName] credentials-incomplete",
			"Required data[username] credentials-incomplete", "Required data[password] credentials-incomplete",
			"Required data[authURL] credentials-incomplete",
		}},
	} {
		data := map[string][]byte{}
		for key, value := range tc.data {
			data[key] = []byte(value)
		}
		before := maps.Clone(data)
		var got []string
		for _, err := range validation.DNSCredentials(data, field.NewPath("data")) {
			got = append(got, fmt.Sprintf("%s %s %s", strings.TrimPrefix(string(err.Type), "FieldValue"), err.Field, err.Origin))
			if strings.Contains(err.Error(), "s3cr") {
				t.Errorf("%s: the password is in %v", name, err)
			}
			if err.Field == "data[authURL]" && !strings.Contains(err.Detail, "OS_AUTH_URL") {
				t.Errorf("%s: it does not say what else the key may be called: %v", name, err)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q instead of %q", name, got, tc.want)
		}
		if !maps.EqualFunc(before, data, func(a, b []byte) bool { return string(a) == string(b) }) {
			t.Errorf("%s: the data was changed", name)
		}
	}
}
