// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/inventory/openstack"
	"github.com/capkit/capkit/internal/cli/inventory/openstack/fakecloud"
)

// asked connects to a cloud, and returns the request to Keystone as JSON, and the error.
func asked(t *testing.T, name string, cloud *fakecloud.Cloud, getenv func(string) string) (string, error) {
	t.Helper()
	var request struct{ Auth json.RawMessage }
	cloud.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		fakecloud.Fail(w, http.StatusUnauthorized, "seen")
		return true
	}
	found, err := openstack.Find(name, getenv)
	if err != nil {
		return "", err
	}
	if _, err = openstack.Connect(t.Context(), found, openstack.Options{Sleep: (&waits{}).sleep}); err == nil || !strings.HasSuffix(err.Error(), ": seen") {
		return string(request.Auth), err
	}
	return string(request.Auth), nil
}

// settings writes files into a home folder, and returns its environment. $URL in the files is replaced by the cloud's.
func settings(t *testing.T, cloud *fakecloud.Cloud, files, variables map[string]string) func(string) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, ".config", "openstack", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "$URL", cloud.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string {
		if name == "HOME" {
			return home
		}
		return strings.NewReplacer("$URL", cloud.URL, "$HOME", home).Replace(variables[name])
	}
}

const (
	password = `{"identity":{"methods":["password"],"password":{"user":{"domain":%d,"name":"u","password":"0123"}}},"scope":{"project":{"domain":%p,"name":"p"}}}`
	byID     = `{"identity":{"methods":["password"],"password":{"user":{"id":"ui","password":"0123"}}},"scope":{"project":{"id":"pi"}}}`
	byApp    = `{"identity":{"application_credential":{"id":"ac","secret":"s3c"},"methods":["application_credential"]}}`
)

func domains(user, project string) string {
	return strings.NewReplacer("%d", user, "%p", project).Replace(password)
}

// Credentials are found where other clients find them, with the same meaning.
func TestFind(t *testing.T) {
	def := `{"id":"default"}`
	for name, tc := range map[string]struct {
		files, env map[string]string
		cloud      string
		want       string
	}{
		"environment": {
			env:  map[string]string{"OS_AUTH_URL": "$URL/v3", "OS_USERNAME": "u", "OS_PASSWORD": "0123", "OS_PROJECT_NAME": "p"},
			want: domains(def, def),
		},
		"environment, older names, Keystone without version": {
			env:  map[string]string{"OS_AUTH_URL": "$URL", "OS_USERNAME": "u", "OS_PASSWORD": "0123", "OS_TENANT_NAME": "p", "OS_USER_DOMAIN_NAME": "D"},
			want: domains(`{"name":"D"}`, `{"name":"D"}`),
		},
		"two domains": {
			env: map[string]string{
				"OS_AUTH_URL": "$URL/v3/", "OS_USERNAME": "u", "OS_PASSWORD": "0123", "OS_PROJECT_NAME": "p", "OS_USER_DOMAIN_NAME": "D",
				"OS_PROJECT_DOMAIN_ID": "e",
			},
			want: domains(`{"name":"D"}`, `{"id":"e"}`),
		},
		"IDs": {
			env:  map[string]string{"OS_AUTH_URL": "$URL/v3", "OS_USER_ID": "ui", "OS_PASSWORD": "0123", "OS_PROJECT_ID": "pi", "OS_PROJECT_NAME": "p"},
			want: byID,
		},
		"application credential": {
			env: map[string]string{
				"OS_AUTH_URL": "$URL/v3", "OS_AUTH_TYPE": "v3applicationcredential", "OS_APPLICATION_CREDENTIAL_ID": "ac",
				"OS_APPLICATION_CREDENTIAL_SECRET": "s3c",
			},
			want: byApp,
		},
		"the only cloud": {
			files: map[string]string{"clouds.yaml": "clouds: {a: {auth: {auth_url: $URL/v3, username: u, password: 0123, project_name: p}}}"},
			want:  domains(def, def),
		},
		"a cloud that is named, with secrets and anchors": {
			files: map[string]string{
				"clouds.yaml": "x: &x {project_name: p, user_domain_id: ud}\nclouds:\n  a: {}\n  b:\n    region_name: x\n" +
					"    auth: {<<: *x, auth_url: $URL/v3, username: u, password: wrong}\n",
				"secure.yaml": "clouds: {b: {auth: {password: 0123}}, c: {}}",
			},
			cloud: "b",
			want:  domains(`{"id":"ud"}`, `{"id":"ud"}`),
		},
		"OS_CLOUD before OS_AUTH_URL": {
			files: map[string]string{"clouds.yml": "clouds: {a: {}, b: {auth: {auth_url: $URL/v3, user_id: ui, password: 0123, project_id: pi}}}"},
			env:   map[string]string{"OS_CLOUD": "b", "OS_AUTH_URL": "http://elsewhere.invalid", "OS_USERNAME": "other"},
			want:  byID,
		},
		"a password of the environment": {
			files: map[string]string{"clouds.json": `{"clouds": {"a": {"auth": {"auth_url": "$URL/v3", "user_id": "ui", "project_id": "pi"}}}}`},
			env:   map[string]string{"OS_CLOUD": "a", "OS_PASSWORD": "0123"},
			want:  byID,
		},
		"a file that is named, and a profile": {
			files: map[string]string{
				"mine": "clouds: {a: {profile: p, auth: {application_credential_id: ac, application_credential_secret: s3c}}}",
				"pub":  "public-clouds: {p: {auth: {auth_url: $URL/v3}}}", "clouds.yaml": "broken: [",
			},
			env:  map[string]string{"OS_CLIENT_CONFIG_FILE": "$HOME/.config/openstack/mine", "OS_CLIENT_VENDOR_FILE": "$HOME/.config/openstack/pub"},
			want: byApp,
		},
		"a token": {
			env:  map[string]string{"OS_AUTH_URL": "$URL/v3", "OS_TOKEN": "tok", "OS_PROJECT_ID": "pi"},
			want: `{"identity":{"methods":["token"],"token":{"id":"tok"}},"scope":{"project":{"id":"pi"}}}`,
		},
		"a trust": {
			env:  map[string]string{"OS_AUTH_URL": "$URL/v3", "OS_USER_ID": "ui", "OS_PASSWORD": "0123", "OS_TRUST_ID": "tr"},
			want: `{"identity":{"methods":["password"],"password":{"user":{"id":"ui","password":"0123"}}},"scope":{"OS-TRUST:trust":{"id":"tr"}}}`,
		},
		"the system": {
			env:  map[string]string{"OS_AUTH_URL": "$URL/v3", "OS_USER_ID": "ui", "OS_PASSWORD": "0123", "OS_SYSTEM_SCOPE": "all"},
			want: `{"identity":{"methods":["password"],"password":{"user":{"id":"ui","password":"0123"}}},"scope":{"system":{"all":true}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := fakecloud.Start("europe")
			defer cloud.Close()
			t.Chdir(t.TempDir())
			got, err := asked(t, tc.cloud, cloud, settings(t, cloud, tc.files, tc.env))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// All errors are reported at once, with their places and without secrets.
func TestFindFails(t *testing.T) {
	for name, tc := range map[string]struct {
		files, env map[string]string
		cloud      string
		want       string
	}{
		"nothing": {want: "no cloud is named, and there is no clouds.yaml: set OS_AUTH_URL and the other OS_*, or OS_CLIENT_CONFIG_FILE, " +
			"or write ~/.config/openstack/clouds.yaml"},
		"a name without a file": {
			cloud: "production", env: map[string]string{"OS_AUTH_URL": "http://b"},
			want: "there is no clouds.yaml that has cloud production: set OS_CLIENT_CONFIG_FILE, or write ~/.config/openstack/clouds.yaml",
		},
		"environment": {
			env: map[string]string{"OS_AUTH_URL": "keystone", "OS_INTERFACE": "secret", "OS_CACERT": "$HOME/missing"},
			want: "the environment has an OS_AUTH_URL that is not a URL\nthe environment has the OS_INTERFACE secret: use public, internal or admin\n" +
				"the environment has no OS_USERNAME\nthe environment has no OS_PASSWORD\nthe environment has no OS_PROJECT_NAME, and so no regions\n" +
				"the environment has a cacert that cannot be read: open $HOME/missing: no such file or directory",
		},
		"a user in the URL": {
			env:  map[string]string{"OS_AUTH_URL": "http://a:swordfish@b", "OS_USERNAME": "u", "OS_PASSWORD": "p", "OS_PROJECT_ID": "p"},
			want: "the environment has a user in its OS_AUTH_URL; write it as OS_USERNAME and OS_PASSWORD",
		},
		"another way": {
			env:  map[string]string{"OS_AUTH_URL": "http://b", "OS_AUTH_TYPE": "v3oidcpassword"},
			want: "the environment has the OS_AUTH_TYPE v3oidcpassword: use password, token or v3applicationcredential",
		},
		"several": {
			files: map[string]string{"clouds.yaml": "clouds: {prod: {}, dev: {}}"},
			want:  "$HOME/.config/openstack/clouds.yaml has several clouds: use --os-cloud with one of dev, prod",
		},
		"unknown": {
			files: map[string]string{"clouds.yaml": "clouds: {production: {}, dev: {}}"}, cloud: "prodution",
			want: "$HOME/.config/openstack/clouds.yaml has no cloud prodution, but dev, production; did you mean production?",
		},
		"none": {files: map[string]string{"clouds.yaml": "a: b"}, want: "$HOME/.config/openstack/clouds.yaml has no clouds"},
		"no file": {
			env: map[string]string{"OS_CLIENT_CONFIG_FILE": "/missing"}, want: "open /missing: no such file or directory: that is what OS_CLIENT_CONFIG_FILE names",
		},
		"profile": {
			files: map[string]string{"clouds.yaml": "clouds: {a: {profile: vexxhost}}"},
			want: "cloud a in $HOME/.config/openstack/clouds.yaml has the profile vexxhost, which is in no clouds-public.yaml here; " +
				"profiles that other clients bring along are not known: write what it says into clouds.yaml",
		},
		"no YAML": {
			files: map[string]string{"clouds.yaml": "clouds:\n  a: {auth: {password: swordfish}\n"},
			want:  "$HOME/.config/openstack/clouds.yaml cannot be read: yaml: line 1: did not find expected ',' or '}'",
		},
		"wrong type": {
			files: map[string]string{"clouds.yaml": "clouds: {a: {auth: swordfish}}"},
			want:  "$HOME/.config/openstack/clouds.yaml cannot be read: yaml: unmarshal errors: line 1: cannot unmarshal !!str into openstack.auth",
		},
		"a password like an alias": {
			files: map[string]string{"clouds.yaml": "clouds: {a: {auth: {password: *swordfish}}}"},
			want:  "$HOME/.config/openstack/clouds.yaml cannot be read: yaml: unknown anchor referenced",
		},
		"what is missing": {
			files: map[string]string{"clouds.yaml": "clouds: {a: {auth_type: v3applicationcredential, key: x}}"},
			want: "cloud a in $HOME/.config/openstack/clouds.yaml has no auth_url: that of Keystone, as in https://keystone.example.com:5000/v3\n" +
				"cloud a in $HOME/.config/openstack/clouds.yaml has no application_credential_secret\n" +
				"cloud a in $HOME/.config/openstack/clouds.yaml has no application_credential_id\n" +
				"cloud a in $HOME/.config/openstack/clouds.yaml has a key without a cert",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := fakecloud.Start("europe")
			defer cloud.Close()
			t.Chdir(t.TempDir())
			getenv := settings(t, cloud, tc.files, tc.env)
			_, err := openstack.Find(tc.cloud, getenv)
			if err == nil {
				t.Fatal("it is found")
			}
			got := strings.ReplaceAll(err.Error(), getenv("HOME"), "$HOME")
			if diff := cmp.Diff(tc.want, got); diff != "" || strings.Contains(got, "swordfish") {
				t.Error(diff)
			}
		})
	}
}

func TestCertificates(t *testing.T) {
	cloud := fakecloud.StartTLS("europe")
	defer cloud.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: cloud.Certificate().Raw}
	if err := os.WriteFile(ca, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"":                "has a certificate that is not trusted: ",
		"OS_CACERT=" + ca: "",
		"OS_INSECURE=1":   "",
	} {
		set, value, _ := strings.Cut(name, "=")
		found, err := openstack.Find("", func(variable string) string {
			if variable == set {
				return value
			}
			return cloud.Environment(variable)
		})
		if err != nil {
			t.Fatal(err)
		}
		w := &waits{}
		_, err = openstack.Connect(t.Context(), found, openstack.Options{Sleep: w.sleep})
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || w.all != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestServiceWithoutTLS(t *testing.T) {
	cloud := fakecloud.Start("europe")
	defer cloud.Close()
	found, err := openstack.Find("", func(variable string) string {
		return strings.Replace(cloud.Environment(variable), "http:", "https:", 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = openstack.Connect(t.Context(), found, openstack.Options{Sleep: (&waits{}).sleep})
	if err == nil || !strings.HasSuffix(err.Error(), "/v3 does not speak TLS, and its URL begins with https") {
		t.Error(err)
	}
}

// Only a clear no disables the verification of certificates: neither a misspelt value nor the path of a certificate, which openstacksdk
// also accepts, does.
func TestVerify(t *testing.T) {
	cloud := fakecloud.StartTLS("europe")
	defer cloud.Close()
	for verify, verified := range map[string]bool{
		"true": true, "yes": true, "flase": true, "/etc/ssl/ca.pem": true, "''": true, "false": false, "No": false, "0": false,
	} {
		t.Chdir(t.TempDir())
		found, err := openstack.Find("", settings(t, cloud, map[string]string{"clouds.yaml": "clouds: {a: {verify: " + verify +
			", auth: {auth_url: $URL/v3, username: " + fakecloud.User + ", password: " + fakecloud.Password + ", project_name: gardener}}}"}, nil))
		if err != nil {
			t.Fatal(err)
		}
		_, err = openstack.Connect(t.Context(), found, openstack.Options{Sleep: (&waits{}).sleep})
		if refused := err != nil && strings.Contains(err.Error(), "has a certificate that is not trusted: "); refused != verified {
			t.Errorf("verify: %s: %v", verify, err)
		}
	}
}

// A foreign folder may have a link to an infinite device as its clouds.yaml.
func TestCloudsWithoutAnEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Symlink("/dev/zero", "clouds.yaml"); err != nil {
		t.Fatal(err)
	}
	if _, err := openstack.Find("", func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "clouds.yaml: it is larger than 32 MiB") {
		t.Error(err)
	}
}

// Services behind a TLS terminator often redirect to http, where an attacker could read the password or token.
func TestRedirectWithoutTLS(t *testing.T) {
	cloud := fakecloud.StartTLS("europe")
	defer cloud.Close()
	cloud.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "http://"+r.Host+r.URL.Path, http.StatusPermanentRedirect)
		return true
	}
	found, err := openstack.Find("", func(variable string) string {
		if variable == "OS_INSECURE" {
			return "1"
		}
		return cloud.Environment(variable)
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = openstack.Connect(t.Context(), found, openstack.Options{Sleep: (&waits{}).sleep})
	if err == nil || !strings.Contains(err.Error(), "it redirects from https to http") {
		t.Error(err)
	}
}
