// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/klog/v2"

	"github.com/capkit/capkit/internal/testing/fakegarden"
)

// What the client of Kubernetes logs is not for the user, who is told the same by the command.
func TestClientLogsNothing(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000") // and then there is less
	}))
	defer server.Close()
	var logged bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&logged)
	r := run(t, "", "lint", "-A", "--kubeconfig", fakegarden.Kubeconfig(t, server))
	klog.Flush()
	if r.status != 2 || logged.Len() > 0 {
		t.Errorf("status %d: %s%s", r.status, r.stderr, logged.String())
	}
	contains(t, r.stderr, "broke off in the middle of its answer")
}
