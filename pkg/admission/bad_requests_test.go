// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// secret is in every bad request, and must not be logged.
const secret = "sesame-open-9c1f"

// kinds returns a valid object of each kind that the webhooks check, with the secret in many places.
func kinds(t testing.TB) map[string]string {
	t.Helper()
	documents := map[string]string{}
	for kind, object := range map[string]any{
		"CloudProfile":           example[v1beta1.CloudProfile](t, "cloudprofile.yaml"),
		"NamespacedCloudProfile": example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml"),
		"Shoot":                  example[v1beta1.Shoot](t, "shoot.yaml"),
	} {
		annotated := strings.Replace(string(encode(t, object)), `"metadata":{`, `"metadata":{"annotations":{"password":"`+secret+`"},`, 1)
		documents[kind] = strings.ReplaceAll(annotated, "1877.5.0", secret)
	}
	return documents
}

// bodies returns bad requests about a kind, by name. Their UID, if it can be read, is 705ab4f5.
func bodies(t testing.TB, kind, document string) map[string]string {
	t.Helper()
	review := func(operation, more string) string {
		return `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "705ab4f5", "operation": "` + operation + `"` + more + `}}`
	}
	object := func(document string) string { return review("CREATE", `, "object": `+document) }
	asYAML, err := yaml.JSONToYAML([]byte(object(document)))
	if err != nil {
		t.Fatal(err)
	}
	deep := func(open, inside, closed string, n int) string {
		value := strings.Repeat(open, n) + inside + strings.Repeat(closed, n)
		return `{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "` + kind + `", "` + secret + `": ` + value + "}"
	}
	replace := func(old, with string) string { return object(strings.Replace(document, old, with, 1)) }
	return map[string]string{
		"empty":                   "",
		"space":                   " \n",
		"text":                    secret,
		"null":                    "null",
		"list":                    `["` + secret + `"]`,
		"no request":              `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "password": "` + secret + `"}`,
		"null request":            `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": null}`,
		"request not an object":   `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": "` + secret + `"}`,
		"no operation":            review("", `, "object": `+document),
		"unknown operation":       review(secret, `, "object": `+document),
		"no object":               review("CREATE", ""),
		"null object":             object("null"),
		"empty object":            object("{}"),
		"object a list":           object("[" + document + "]"),
		"object a string":         object(`"` + secret + `"`),
		"object a number":         object("1e400"),
		"wrong kind":              replace(`"kind":"`+kind+`"`, `"kind":"Project"`),
		"wrong version":           replace("core.gardener.cloud/v1beta1", "core.gardener.cloud/v1"),
		"wrong group":             replace("core.gardener.cloud/v1beta1", "v1"),
		"no kind":                 replace(`"kind":"`+kind+`",`, ""),
		"update without old":      review("UPDATE", `, "object": `+strings.Replace(document, `"name":`, `"finalizers":["x"],"name":`, 1)),
		"update with null":        review("UPDATE", `, "oldObject": null, "object": `+document),
		"update of another kind":  review("UPDATE", `, "oldObject": {"kind": "`+secret+`"}, "object": `+document),
		"update of a string":      review("UPDATE", `, "oldObject": "`+secret+`", "object": `+document),
		"truncated":               object(document)[:len(object(document))-len(document)/2],
		"followed by more":        object(document) + object(document),
		"YAML":                    string(asYAML),
		"not UTF-8":               strings.ReplaceAll(object(document), secret, secret+"\xff\xc0\xaf"),
		"half a surrogate":        strings.ReplaceAll(object(document), secret, secret+`\ud800`),
		"null character":          strings.ReplaceAll(object(document), secret, secret+`\u0000`),
		"duplicate key":           replace(`"metadata":{`, `"metadata":{"name":"`+secret+`"},"metadata":{`),
		"duplicate operation":     review("CREATE", `, "operation": "DELETE", "object": `+document),
		"spec a string":           replace(`"spec":{`, `"spec":"`+secret+`","other":{`),
		"huge number":             replace(`"spec":{`, `"spec":{"seedSelector":`+strings.Repeat("9", 1e5)+`,`),
		"huge generation":         replace(`"metadata":{`, `"metadata":{"generation":`+strings.Repeat("9", 1e5)+`,`),
		"huge exponent":           replace(`"metadata":{`, `"metadata":{"generation":1e999999999,`),
		"open brackets":           object(deep("[", "", "", 1e6)),
		"brackets":                object(deep("[", "", "]", 1e6)),
		"braces":                  object(deep(`{"a":`, "1", "}", 3e5)),
		"brackets around":         strings.Repeat("[", 1e6),
		"3 MiB of garbage":        strings.Repeat(secret, 3<<20/len(secret)),
		"3 MiB of garbage inside": object(`{"kind": "` + strings.Repeat(secret, 3<<20/len(secret)) + `"}`),
		"3 MiB in a version":      object(strings.Replace(document, secret, strings.Repeat(secret, 3<<20/len(secret)), 1)),
		"3 MiB in a name":         object(strings.ReplaceAll(document, `"openstack"`, `"`+strings.Repeat(secret, 3<<20/len(secret))+`"`)),
		"8 MiB":                   object(`{"kind": "` + strings.Repeat(secret, 8<<20/len(secret)) + `"}`),
	}
}

// understood names the bodies from which the object can still be judged.
var understood = map[string]bool{
	"not UTF-8": true, "half a surrogate": true, "null character": true, "duplicate key": true, "duplicate operation": true, "YAML": true,
	"brackets": true, "braces": true, "huge number": true, "update without old": true, "update with null": true,
	"3 MiB in a version": true, "3 MiB in a name": true, "update of another kind": true, "update of a string": true, "followed by more": true,
}

func TestBadRequests(t *testing.T) {
	e := newEndpoints(t)
	for kind, document := range kinds(t) {
		for name, body := range bodies(t, kind, document) {
			for _, endpoint := range e.names {
				if about := "-" + strings.ToLower(kind); len(body) > 1<<20 && !strings.Contains(endpoint, about) {
					continue // to save time, only its own webhooks get a large one
				}
				what := fmt.Sprintf("%s at %s, about a %s", name, endpoint, kind)
				response := e.bad(t, what, endpoint, []byte(body))
				if response.Allowed && !understood[name] {
					t.Errorf("%s: it is allowed", what)
				}
				if response.UID != ptr.Deref(requestOf([]byte(body)), admissionv1.AdmissionRequest{}).UID {
					t.Errorf("%s: the UID is %q", what, response.UID)
				}
			}
		}
	}
}

func TestOtherOperations(t *testing.T) {
	e := newEndpoints(t)
	for _, operation := range []string{"DELETE", "CONNECT"} {
		body := `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
			"uid": "705ab4f5", "operation": "` + operation + `", "oldObject": {"kind": "` + secret + `"}}}`
		for _, endpoint := range e.names {
			response, logged := e.send(t, endpoint, "application/json", []byte(body))
			if !response.Allowed || response.UID != "705ab4f5" || len(response.Patch) > 0 || strings.Contains(logged, secret) {
				t.Errorf("%s at %s: %v; the log is %s", operation, endpoint, response, logged)
			}
		}
	}
}

func TestOtherContentTypes(t *testing.T) {
	e := newEndpoints(t)
	for _, contentType := range []string{"", "text/plain", "application/yaml", "application/json; charset=utf-8", "application/" + secret} {
		for kind, document := range kinds(t) {
			response, logged := e.send(t, "validate-cloudprofile", contentType, []byte(document))
			if response.Allowed || response.Result.Code != http.StatusBadRequest || strings.Contains(logged, secret) {
				t.Errorf("a %s as %q: %v; the log is %s", kind, contentType, response, logged)
			}
		}
	}
}

// TestNobodyWaits cancels the request before the check begins. An object that would be refused is then not checked.
func TestNobodyWaits(t *testing.T) {
	e := newEndpoints(t)
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	for kind, document := range kinds(t) {
		object := json.RawMessage(strings.Replace(document, `"openstack"`, `"unheard-of"`, 1))
		name := "validate-" + strings.ToLower(kind)
		request := httptest.NewRequest(http.MethodPost, "/webhooks/"+name, bytes.NewReader(reviewed(t, object, nil)))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		e.handlers[name].ServeHTTP(recorder, request.WithContext(ctx))
		review := &admissionv1.AdmissionReview{}
		if err := json.Unmarshal(recorder.Body.Bytes(), review); err != nil {
			t.Fatal(err)
		}
		if r := review.Response; r.Allowed || r.Result.Code != http.StatusInternalServerError {
			t.Errorf("%s: answered with %v", name, r)
		}
	}
}
