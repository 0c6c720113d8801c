// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/capkit/capkit/test/garden/extension"
)

// secret is in every bad request, and must be in no log.
const secret = "sesame-open-9c1f"

// TestBadRequests sends over TLS what no API server sends.
func TestBadRequests(t *testing.T) {
	r := newReplica(t)
	serve(t, r)
	profile := profiles.fresh("direct")
	profile.SetAnnotations(map[string]string{"password": secret})
	good := review(t, profile, "CloudProfile")
	client := directClient(t, false)
	for name, body := range map[string]string{ // "right" are those that can be understood nevertheless
		"empty":                 "",
		"text":                  secret,
		"YAML":                  "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: {uid: 5b1a, object: {spec: " + secret + "}}\n",
		"another kind":          strings.ReplaceAll(string(good), "CloudProfile", secret),
		"right, another review": strings.Replace(string(good), "AdmissionReview", secret, 1),
		"truncated":             string(good[:len(good)-20]),
		"right, not UTF-8":      strings.ReplaceAll(string(good), secret, secret+"\xff\xfe"),
		"brackets":              `{"request": {"` + secret + `": ` + strings.Repeat("[", 1e6),
		"closed brackets":       `{"request": {"object": {"` + secret + `": ` + strings.Repeat("[", 1e6) + strings.Repeat("]", 1e6) + "}}}",
		"3 MiB of garbage":      strings.Repeat(secret, 3<<20/len(secret)),
		"right, 3 MiB":          strings.Replace(string(good), secret, strings.Repeat(secret+" ", 3<<20/len(secret)), 1),
	} {
		for _, webhook := range []string{"validate-cloudprofile", "mutate-cloudprofile", "validate-shoot"} {
			response, err := ask(client, r.Address, webhook, strings.NewReader(body))
			if err != nil {
				t.Errorf("%s, %s: %v", name, webhook, err)
				continue
			}
			if response.Allowed != (strings.HasPrefix(name, "right") && webhook != "validate-shoot") {
				t.Errorf("%s, %s: the answer is %v", name, webhook, response.Result)
			}
		}
	}
	if response, err := client.Get("https://" + r.Address + "/" + secret); err != nil || response.StatusCode != http.StatusNotFound {
		t.Errorf("%v, %v", response, err)
	} else if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	if response, err := ask(client, r.Address, "validate-cloudprofile", bytes.NewReader(good)); err != nil || !response.Allowed {
		t.Errorf("afterwards, a good request is answered with %v, %v", response, err)
	}
	log := r.log(t)
	if !strings.Contains(log, "unable to decode the request") {
		t.Error("nothing was logged")
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, secret) || strings.Contains(line, "panic") {
			t.Errorf("%s: %s", extension.LogFile(g, r.Replica), fmt.Sprintf("%.300s", line))
		}
	}
}
