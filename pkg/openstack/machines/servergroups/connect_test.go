// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/testing/fakenova"
	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/openstack/machines/servergroups"
)

// wantCode checks the codes that Gardener extracts from an error, and that it contains no secret.
func wantCode(t testing.TB, err error, want ...v1beta1.ErrorCode) {
	t.Helper()
	if err == nil {
		t.Error("there is no error")
		return
	}
	got := v1beta1helper.ExtractErrorCodes(err)
	if len(got) != len(want) {
		t.Errorf("codes %v, want %v: %v", got, want, err)
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("codes %v, want %v: %v", got, want, err)
		}
	}
	wantNoSecret(t, err)
}

func wantNoSecret(t testing.TB, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		for _, secret := range []string{fakenova.Password, fakenova.ApplicationSecret, fakenova.Token, "wrong-17"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("there is a secret in %q", err)
			}
		}
	}
}

func wantWords(t testing.TB, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("there is no %q in: %v", word, err)
		}
	}
}

// with returns a copy of a Secret's data with other values; an empty value removes the key.
func with(data map[string][]byte, pairs ...string) map[string][]byte {
	changed := map[string][]byte{}
	for key, value := range data {
		changed[key] = value
	}
	for i := 0; i < len(pairs); i += 2 {
		if changed[pairs[i]] = []byte(pairs[i+1]); pairs[i+1] == "" {
			delete(changed, pairs[i])
		}
	}
	return changed
}

func TestCredentials(t *testing.T) {
	o := fakenova.New(t, false)
	secret := o.Secret()
	byID := with(secret, "username", "", "password", "",
		"applicationCredentialID", fakenova.ApplicationID, "applicationCredentialSecret", fakenova.ApplicationSecret)
	byName := with(secret, "password", "",
		"applicationCredentialName", fakenova.ApplicationName, "applicationCredentialSecret", fakenova.ApplicationSecret)
	for name, c := range map[string]struct {
		secret map[string][]byte
		code   v1beta1.ErrorCode
		words  []string
	}{
		"password":                         {secret, "", nil},
		"application credential":           {byID, "", nil},
		"application credential name":      {byName, "", nil},
		"no slash at the end, none needed": {with(secret, "authURL", o.Keystone()+"/"), "", nil},
		"no version":                       {with(secret, "authURL", o.URL+"/identity"), "", nil},

		"wrong password":           {with(secret, "password", "wrong-17"), v1beta1.ErrorInfraUnauthenticated, []string{"identity service", "401", "password"}},
		"wrong user":               {with(secret, "username", "nobody"), v1beta1.ErrorInfraUnauthenticated, nil},
		"wrong tenant":             {with(secret, "tenantName", "nowhere"), v1beta1.ErrorInfraUnauthenticated, []string{"tenant"}},
		"wrong application secret": {with(byID, "applicationCredentialSecret", "wrong-17"), v1beta1.ErrorInfraUnauthenticated, nil},
		"no password":              {with(secret, "password", ""), v1beta1.ErrorConfigurationProblem, []string{"data[password]"}},
		"nothing":                  {nil, v1beta1.ErrorConfigurationProblem, []string{"data[domainName]", "data[tenantName]", "data[username]", "data[password]"}},
		"two ways":                 {with(byID, "username", fakenova.User, "password", fakenova.Password), v1beta1.ErrorConfigurationProblem, []string{"two ways"}},
		"no URL":                   {with(secret, "authURL", ""), v1beta1.ErrorConfigurationProblem, []string{"keystoneURLs"}},
		"a URL that is none":       {with(secret, "authURL", "http://a b/"), v1beta1.ErrorConfigurationProblem, []string{"URL"}},
		"a URL without host":       {with(secret, "authURL", "keystone"), v1beta1.ErrorConfigurationProblem, []string{"URL"}},
	} {
		t.Run(name, func(t *testing.T) {
			compute, err := servergroups.Connect(t.Context(), servergroups.Credentials{Secret: c.secret}, o.Region)
			if c.code != "" {
				wantCode(t, err, c.code)
				wantWords(t, err, c.words...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := compute.List(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRegion(t *testing.T) {
	o := fakenova.New(t, false)
	_, err := servergroups.Connect(t.Context(), servergroups.Credentials{Secret: o.Secret()}, "asia")
	wantCode(t, err, v1beta1.ErrorConfigurationProblem)
	wantWords(t, err, `no public compute service for region "asia"; it has one for "europe"`, strings.TrimPrefix(o.URL, "http://"))
}

func TestCertificates(t *testing.T) {
	o := fakenova.New(t, true)
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: o.Certificate().Raw}))
	other := fakenova.New(t, true)
	other.TLS.Certificates[0] = o.TLS.Certificates[0]
	secret := o.Secret()
	for name, c := range map[string]struct {
		credentials servergroups.Credentials
		trusted     bool
	}{
		"nothing":           {servergroups.Credentials{Secret: secret}, false},
		"CA in the profile": {servergroups.Credentials{Secret: with(secret, "authURL", ""), Keystone: lookup.Endpoint{URL: o.Keystone(), CACert: ca}}, true},
		"CA in the Secret":  {servergroups.Credentials{Secret: with(secret, "caCert", ca)}, true},
		"insecure Secret":   {servergroups.Credentials{Secret: with(secret, "insecure", "true")}, true},
		"secure Secret":     {servergroups.Credentials{Secret: with(secret, "insecure", "false")}, false},
		"insecure profile":  {servergroups.Credentials{Secret: secret, Insecure: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			compute, err := servergroups.Connect(t.Context(), c.credentials, o.Region)
			if c.trusted {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := compute.List(t.Context()); err != nil {
					t.Error(err)
				}
				return
			}
			wantCode(t, err, v1beta1.ErrorConfigurationProblem)
			wantWords(t, err, "certificate", "keystoneCACert")
		})
	}
	_, err := servergroups.Connect(t.Context(), servergroups.Credentials{Secret: with(secret, "caCert", "no certificate")}, o.Region)
	wantCode(t, err, v1beta1.ErrorConfigurationProblem)
	wantWords(t, err, "CA certificates")
}

// TestCertificateNames has a certificate with terminal control characters in its names: the error appears in the Worker's status.
func TestCertificateNames(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	names := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"\x1b[2Ja"}, NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, names, names, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	defer s.Close()
	secret := with((&fakenova.OpenStack{Server: s}).Secret(), "authURL", strings.Replace(s.URL, "127.0.0.1", "localhost", 1))
	_, err = servergroups.Connect(t.Context(), servergroups.Credentials{Secret: secret}, "r")
	wantCode(t, err, v1beta1.ErrorConfigurationProblem)
	wantWords(t, err, `certificate is valid for \x1b[2Ja, not localhost`)
}

// TestProfileFirst prefers the profile's URL to the Secret's.
func TestProfileFirst(t *testing.T) {
	o := fakenova.New(t, false)
	credentials := servergroups.Credentials{
		Secret: with(o.Secret(), "authURL", "http://nowhere.invalid/v3"), Keystone: lookup.Endpoint{URL: o.Keystone()},
	}
	if _, err := servergroups.Connect(t.Context(), credentials, o.Region); err != nil {
		t.Error(err)
	}
}

func TestAway(t *testing.T) {
	o := fakenova.New(t, false)
	compute := connect(t, o)
	secret := o.Secret()
	o.Close()
	for range 2 { // the same text each time
		_, err := servergroups.Connect(t.Context(), servergroups.Credentials{Secret: secret}, o.Region)
		wantCode(t, err)
		host := strings.TrimPrefix(o.URL, "http://")
		want := "cannot log in: the identity service at " + host + " cannot be reached: connect: connection refused; " +
			"check keystoneURL and keystoneURLs of the CloudProfile, and that it is up"
		if err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		pools := []Pool{{Name: "a", Policy: hard}, {Name: "b", Policy: hard}}
		have := records{{PoolName: "a", ID: "1", Name: "n"}}
		ids, record, err := servergroups.Ensure(t.Context(), compute, s1, pools, have)
		wantCode(t, err)
		equal(t, "IDs", ids, map[string]string{})
		equal(t, "record", record, have)
		want = `worker pools a, b: cannot read server group "n": the compute service at ` + host + " cannot be reached: connect: connection refused; " +
			"check the service catalog of the identity service, and that it is up"
		if err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		for _, remove := range []func() (records, error){
			func() (records, error) { return servergroups.CleanUp(t.Context(), compute, s1, pools, have) },
			func() (records, error) { return servergroups.Delete(t.Context(), compute, s1, have) },
		} {
			record, err := remove()
			wantCode(t, err)
			wantWords(t, err, "cannot list the server groups", host)
			equal(t, "record", record, have)
		}
	}
}

func TestContext(t *testing.T) {
	o := fakenova.New(t, false)
	compute := connect(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	reached := make(chan struct{})
	o.Break(func(int, string, string) *fakenova.Fault {
		close(reached)
		<-t.Context().Done() // so that the client does not see an answer before it sees that ctx has ended
		return &fakenova.Fault{Status: 503}
	})
	go func() {
		<-reached
		cancel()
	}()
	have := records{{PoolName: "a", ID: "1", Name: "n"}}
	_, record, err := servergroups.Ensure(ctx, compute, s1, []Pool{{Name: "a", Policy: hard}, {Name: "b", Policy: hard}}, have)
	wantCode(t, err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error does not say so: %v", err)
	}
	equal(t, "record", record, have)
	if _, err = servergroups.Connect(ctx, servergroups.Credentials{Secret: o.Secret()}, o.Region); !errors.Is(err, context.Canceled) {
		t.Errorf("the error does not say so: %v", err)
	}
	late, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	_, err = servergroups.Connect(late, servergroups.Credentials{Secret: o.Secret()}, o.Region)
	wantWords(t, err, "does not answer in time")
}

// retryable is the code of errors that Gardener retries by itself.
var retryable = []v1beta1.ErrorCode{v1beta1.ErrorRetryableInfraDependencies}

// TestAnswers covers answers of the compute service.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		fault fakenova.Fault
		codes []v1beta1.ErrorCode
		words string
	}{
		"quota": {fakenova.Fault{Status: 403, Body: `{"forbidden": {"code": 403, "message": "Quota exceeded, too many server groups."}}`},
			[]v1beta1.ErrorCode{v1beta1.ErrorInfraQuotaExceeded}, "answers 403: Quota exceeded, too many server groups; remove server groups"},
		"forbidden": {fakenova.Fault{Status: 403, Body: `{"forbidden": {"code": 403, "message": "Policy doesn't allow it."}}`},
			[]v1beta1.ErrorCode{v1beta1.ErrorInfraUnauthorized}, "answers 403: Policy doesn't allow it; give the user"},
		"bad":      {fakenova.Fault{Status: 400}, []v1beta1.ErrorCode{v1beta1.ErrorConfigurationProblem}, "answers 400; check"},
		"expired":  {fakenova.Fault{Status: 401}, nil, "answers 401; the token may have expired"},
		"conflict": {fakenova.Fault{Status: 409}, retryable, "answers 409"},
		"rate":     {fakenova.Fault{Status: 429}, []v1beta1.ErrorCode{v1beta1.ErrorInfraRateLimitsExceeded}, "answers 429"},
		"broken":   {fakenova.Fault{Status: 500, Body: "oh"}, retryable, "answers 500; "},
		"moved":    {fakenova.Fault{Status: 301}, nil, "answers 301; check the service catalog"},
		"lines":    {fakenova.Fault{Status: 500, Body: `{"computeFault": {"message": "a\nb\t\u0007c"}}`}, retryable, "answers 500: a b c;"},
		"long":     {fakenova.Fault{Status: 500, Body: `{"computeFault": {"message": "` + strings.Repeat("ä", 301) + `"}}`}, retryable, "ää...;"},
		"secret":   {fakenova.Fault{Status: 500, Body: `{"computeFault": {"message": "it is ` + fakenova.Password + `."}}`}, retryable, "it is ...;"},
		"token": {fakenova.Fault{Status: 500, Body: `{"computeFault": {"message": "` + fakenova.Token + ` is no token."}}`}, retryable,
			"answers 500: ... is no token;"},
		"other fields": {fakenova.Fault{Status: 500, Body: `{"a": {"message": "no"}, "b": 1}`}, retryable, "answers 500; "},
		"empty":        {fakenova.Fault{Status: 200, Body: `{}`}, nil, "there is no server group in its answer"},
		"no JSON":      {fakenova.Fault{Status: 200, Body: `<`}, nil, "gives an answer that cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			o := fakenova.New(t, false)
			compute := connect(t, o)
			o.Break(func(_ int, method, _ string) *fakenova.Fault {
				if method == http.MethodPost {
					return &c.fault
				}
				return nil
			})
			_, record, err := servergroups.Ensure(t.Context(), compute, s1, []Pool{{Name: "a", Policy: hard}, {Name: "b", Policy: soft}}, nil)
			wantCode(t, err, c.codes...)
			wantWords(t, err, ` a`, ` b`, c.words, strings.TrimPrefix(o.URL, "http://"))
			equal(t, "record", record, records(nil))
		})
	}
}

// TestTokenAnswers covers answers of the identity service.
func TestTokenAnswers(t *testing.T) {
	status, body := http.StatusOK, ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://elsewhere.invalid/v3")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer s.Close()
	secret := with((&fakenova.OpenStack{Server: s}).Secret(), "authURL", s.URL)
	for _, c := range []struct {
		status int
		body   string
		codes  []v1beta1.ErrorCode
		words  string
	}{
		{201, `<`, nil, "cannot be read"},
		{201, `{}`, nil, "region"},
		{201, `{"token": {"catalog": [{"type": "compute", "endpoints": [{"interface": "public", "region": "r", "url": "::"}]}]}}`,
			[]v1beta1.ErrorCode{v1beta1.ErrorConfigurationProblem}, "URL of the compute service"},
		{301, ``, nil, "answers 301; check keystoneURL"},
		{404, `{}`, nil, "answers 404; check keystoneURL"},
		{429, ``, []v1beta1.ErrorCode{v1beta1.ErrorInfraRateLimitsExceeded}, "answers 429"},
		{503, ``, retryable, "answers 503"},
		// A revoked application credential, and a URL that is not Keystone's.
		{404, `{"error": {"code": 404, "message": "Could not find Application Credential: 0b2d.", "title": "Not Found"}}`,
			[]v1beta1.ErrorCode{v1beta1.ErrorInfraUnauthenticated}, "Could not find Application Credential: 0b2d; check the user, the password or the application"},
		{404, `{"error": {"code": 404, "message": "(http://k/auth/tokens): The resource could not be found.", "title": "Not Found"}}`,
			nil, "could not be found; check keystoneURL"},
		{403, ``, []v1beta1.ErrorCode{v1beta1.ErrorInfraUnauthorized}, "answers 403"},
	} {
		status, body = c.status, c.body
		_, err := servergroups.Connect(t.Context(), servergroups.Credentials{Secret: secret}, "r")
		if c.body == `{}` && c.status == 201 {
			c.codes = []v1beta1.ErrorCode{v1beta1.ErrorConfigurationProblem}
		}
		wantCode(t, err, c.codes...)
		wantWords(t, err, c.words)
	}
}

// TestRepeatedSecrets has an identity service that repeats its input: no part of a password is in the error.
func TestRepeatedSecrets(t *testing.T) {
	const password = "correct  horse\tbattery"
	for name, message := range map[string]string{
		"as it is":   "no such password: " + password,
		"at the end": strings.Repeat("x", 290) + " " + password,
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusUnauthorized)
				_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message}})
			}))
			defer s.Close()
			secret := with((&fakenova.OpenStack{Server: s}).Secret(), "authURL", s.URL, "password", password)
			_, err := servergroups.Connect(t.Context(), servergroups.Credentials{Secret: secret}, "r")
			wantCode(t, err, v1beta1.ErrorInfraUnauthenticated)
			wantWords(t, err, "..; check the user")
			for _, part := range []string{"corr", "horse"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("there is a part of the password in %v", err)
				}
			}
		})
	}
}

// TestMicroversions covers old and new compute services.
func TestMicroversions(t *testing.T) {
	for _, c := range []struct {
		minor   int
		hasSoft bool
	}{{96, true}, {64, true}, {63, true}, {15, true}, {14, false}, {1, false}} {
		o := fakenova.New(t, false)
		o.Minor = c.minor
		compute := connect(t, o)
		pools := []Pool{{Name: "a", Policy: hard}}
		ids, record := ensure(t, compute, pools, nil)
		again, _ := ensure(t, compute, pools, record)
		equal(t, "IDs", again, ids)
		_, record, err := servergroups.Ensure(t.Context(), compute, s1, append(pools, Pool{Name: "b", Policy: soft}), record)
		if c.hasSoft {
			if err != nil || len(record) != 2 {
				t.Errorf("2.%d: %v", c.minor, err)
			}
		} else {
			wantCode(t, err, v1beta1.ErrorConfigurationProblem)
			wantWords(t, err, `worker pool b`, soft)
		}
		if left := cleanUp(t, compute, nil, record); len(left)+len(o.Groups()) > 0 {
			t.Errorf("2.%d: left %v", c.minor, left)
		}
	}
}

// TestNoAnswer has a connection that stays open without an answer: it ends with the context.
func TestNoAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := listener.Accept(); err == nil {
			accepted <- conn // stays open
		}
		cancel()
	}()
	o := &fakenova.OpenStack{Server: &httptest.Server{URL: "http://" + listener.Addr().String()}}
	_, err = servergroups.Connect(ctx, servergroups.Credentials{Secret: o.Secret()}, "r")
	wantWords(t, err, "interrupted", listener.Addr().String())
	_ = (<-accepted).Close()
}
