// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capkit/capkit/test/garden/extension"
)

// TestReadiness looks at the checks of a replica from its start to its end.
func TestReadiness(t *testing.T) {
	access := newAPIAccess(t)
	access.refuse(func(request *http.Request) bool { return strings.Contains(request.URL.Path, "/shoots") })
	r := access.newReplica(t)
	started := make(chan error, 1)
	go func() {
		var err error
		r.process, err = extension.Start(t.Context(), g, r.Replica)
		started <- err
	}()

	const waiting = "informer-sync webhook-server"
	waitFor(t, "while it cannot read Shoots, /readyz fails for "+waiting, func() bool { return strings.Join(failing(r, "readyz"), " ") == waiting })
	if got := failing(r, "healthz"); len(got) > 0 {
		t.Errorf("while it cannot read Shoots, /healthz fails for %s", got)
	}
	if reachable(r) {
		t.Error("it serves before it knows the Shoots")
	}
	access.refuse(nil)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	_, text := probe(r, "readyz?verbose")
	for _, check := range []string{"certificate", "informer-sync", "shutdown", "source-informer-sync", "webhook-server"} {
		if !strings.Contains(text, "[+]"+check+" ok\n") {
			t.Errorf("%s is not among the checks of /readyz:\n%s", check, text)
		}
	}
	if _, text := probe(r, "healthz?verbose"); text != "[+]certificate ok\n[+]informer-sync ok\n[+]ping ok\nhealthz check passed\n" {
		t.Errorf("the checks of /healthz are:\n%s", text)
	}
	if !reachable(r) {
		t.Error("it is ready, and does not serve")
	}

	if err := r.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "it is not ready any more", func() bool { return len(failing(r, "readyz")) > 0 })
	if got := strings.Join(failing(r, "readyz"), " "); got != "shutdown" {
		t.Errorf("while it stops, /readyz fails for %s", got)
	}
	if _, text := probe(r, "readyz/shutdown"); text != "internal server error: the process was asked to stop\n" {
		t.Errorf("/readyz/shutdown says %q", text)
	}
	if got := failing(r, "healthz"); len(got) > 0 {
		t.Errorf("while it stops, /healthz fails for %s", got)
	}
	if !reachable(r) {
		t.Error("it does not serve until clients know that it stops")
	}
	if err := r.process.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// patient is a client that gets an answer also from a machine that is busy.
var patient = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// probe returns what a health check says; nothing if nobody answers.
func probe(r *replica, path string) (status int, text string) {
	response, err := patient.Get("http://" + r.HealthAddress + "/" + path)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(content)
}

// failing returns the checks that fail.
func failing(r *replica, path string) []string {
	var checks []string
	_, text := probe(r, path)
	for line := range strings.Lines(text) {
		if check, found := strings.CutPrefix(line, "[-]"); found {
			checks = append(checks, strings.Fields(check)[0])
		}
	}
	return checks
}
