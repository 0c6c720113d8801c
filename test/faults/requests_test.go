// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

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
	clients := directClient(t, false)
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
			response, err := ask(clients, r.Address, webhook, strings.NewReader(body))
			if err != nil {
				t.Errorf("%s, %s: %v", name, webhook, err)
				continue
			}
			if response.Allowed != (strings.HasPrefix(name, "right") && webhook != "validate-shoot") {
				t.Errorf("%s, %s: the answer is %v", name, webhook, response.Result)
			}
		}
	}
	if response, err := clients.Get("https://" + r.Address + "/" + secret); err != nil || response.StatusCode != http.StatusNotFound {
		t.Errorf("%v, %v", response, err)
	} else if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	if response, err := ask(clients, r.Address, "validate-cloudprofile", bytes.NewReader(good)); err != nil || !response.Allowed {
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

// largest is how much an API server takes as an object.
const largest = 3 << 20

// TestTheLargestUpdate has two of the largest objects in one request.
func TestTheLargestUpdate(t *testing.T) {
	r := newReplica(t)
	serve(t, r)
	profile := profiles.fresh("large")
	raw, err := json.Marshal(profile)
	if err != nil {
		t.Fatal(err)
	}
	profile.SetAnnotations(map[string]string{"large": strings.Repeat("x", largest-len(raw)-100)})
	large, err := json.Marshal(profile)
	if err != nil {
		t.Fatal(err)
	}
	profiles.vary(profile, 1)
	for protocol, oneAtATime := range map[string]bool{"HTTP/1.1": true, "HTTP/2": false} {
		body := update(t, profile, large)
		response, err := ask(directClient(t, oneAtATime), r.Address, "validate-cloudprofile", bytes.NewReader(body))
		if err != nil || !response.Allowed || len(body) < 2*largest-1000 {
			t.Errorf("%s: %d bytes are answered with %v, %v", protocol, len(body), response, err)
		}
	}
}

// update returns the request of the API server about an object that is to be changed.
func update(t *testing.T, object client.Object, stored []byte) []byte {
	t.Helper()
	body := review(t, object, "CloudProfile")
	return bytes.Replace(body, []byte(`"operation":"CREATE"`), []byte(`"operation":"UPDATE","oldObject":`+string(stored)), 1)
}

// TestAFlood has many send the largest requests all the time. Each of them is answered, or refused for want of room; others
// are served meanwhile, and the memory that is used has bounds.
func TestAFlood(t *testing.T) {
	r := newReplica(t)
	serve(t, r)
	profile := profiles.fresh("flood")
	profile.SetAnnotations(map[string]string{"large": strings.Repeat("x", 2*largest)})
	large := review(t, profile, "CloudProfile")
	small := review(t, profiles.fresh("small"), "CloudProfile")
	var mu sync.Mutex
	statuses := map[int]int{}
	var attackers sync.WaitGroup
	for range 40 {
		attacker := directClient(t, true)
		attackers.Go(func() {
			for range 3 {
				response, err := attacker.Post("https://"+r.Address+"/webhooks/validate-cloudprofile", "application/json", bytes.NewReader(large))
				status := 0
				if err == nil {
					status = response.StatusCode
					_ = response.Body.Close()
				}
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	friend, served := directClient(t, false), 0
	for range 20 {
		if response, err := ask(friend, r.Address, "validate-cloudprofile", bytes.NewReader(small)); err == nil && response.Allowed {
			served++
		}
	}
	attackers.Wait()
	t.Logf("the statuses of the flood are %v; of 20 others %d were served; at most %d MiB of memory were used", statuses, served, most(t, r)>>20)
	if statuses[http.StatusOK] == 0 || statuses[http.StatusOK]+statuses[http.StatusServiceUnavailable]+statuses[0] != 120 {
		t.Error("that is not what the flood is to be answered with")
	}
	if served == 0 {
		t.Error("nobody else was served")
	}
	if used := most(t, r); used > 1<<30 {
		t.Errorf("%d MiB of memory were used", used>>20)
	}
	if response, err := ask(friend, r.Address, "validate-cloudprofile", bytes.NewReader(small)); err != nil || !response.Allowed {
		t.Errorf("afterwards, a good request is answered with %v, %v", response, err)
	}
}

// most returns how many bytes of memory a replica has used at most.
func most(t *testing.T, r *replica) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.process.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("the system does not tell")
	return 0
}
