// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestWhatAForgedRequestTells sends requests without being an API server, about other users' Secrets. The answers reveal whether a Secret
// exists and which keys are wrong, but no values, as docs/operators/security.md says.
func TestWhatAForgedRequestTells(t *testing.T) {
	e := newEndpoints(t)
	for name, want := range map[string]string{
		"openstack": "",
		"broken":    "Secret garden-demo/broken: data[password]: it ends with a line break",
		"missing":   "Secret garden-demo/missing does not exist",
	} {
		binding := newSecretBinding(name)
		binding.Namespace, binding.SecretRef.Namespace = "garden-of-the-attacker", "garden-demo"
		response, logged := e.ask(t, "validate-secretbinding", binding, nil)
		if response.Allowed != (want == "") {
			t.Errorf("%s: %v", name, response.Result)
		}
		shown := string(encode(t, response))
		if !strings.Contains(shown, want) {
			t.Errorf("%s: it should be %q: %s", name, want, shown)
		}
		if strings.Contains(shown+logged, secret) { // the password of the second Secret
			t.Errorf("%s: a value is shown: %s; the log is %s", name, shown, logged)
		}
	}
}

// TestWhatIsBeingDeletedIsNeverRefused breaks objects of all kinds, with and without a deletion timestamp.
func TestWhatIsBeingDeletedIsNeverRefused(t *testing.T) {
	e := newEndpoints(t)
	broken := func(document string, leaving bool) map[string]any {
		var object, spec map[string]any
		const wrong = `{type: openstack, provider: {type: openstack, workers: [{name: a, machine: {type: none}}]}}`
		if err := errors.Join(json.Unmarshal([]byte(document), &object), yaml.Unmarshal([]byte(wrong), &spec)); err != nil {
			t.Fatal(err)
		}
		object["spec"] = spec
		if leaving {
			object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-11-21T00:00:00Z"
		}
		return object
	}
	documents := kinds(t)
	for kind, object := range map[string]any{
		"Secret": newSecret("broken", "password", "\n"), "SecretBinding": newSecretBinding("missing"), "CredentialsBinding": newBinding("missing"),
	} {
		documents[kind] = string(encode(t, object))
	}
	for kind, document := range documents {
		i := slices.Index(e.names, "validate-"+strings.ToLower(kind))
		if i < 0 {
			t.Fatalf("there is no webhook for a %s", kind)
		}
		response, _ := e.ask(t, e.names[i], broken(document, true), nil)
		if !response.Allowed || len(response.Warnings) > 0 || len(response.Patch) > 0 {
			t.Errorf("a %s that is being deleted: %v", kind, response)
		}
		if response, _ := e.ask(t, e.names[i], broken(document, false), nil); response.Allowed {
			t.Errorf("a %s that is as wrong, and is not being deleted: %v", kind, response)
		}
	}
}
