// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/logger"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	logzap "sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// TestFailuresAreLogged asks about objects that cannot be judged.
func TestFailuresAreLogged(t *testing.T) {
	e := newEndpoints(t)
	profile := example[map[string]any](t, "cloudprofile.yaml")
	response, logged := e.ask(t, "validate-cloudprofile", profile, map[string]any{"kind": secret, "spec": secret})
	if response.Allowed || !strings.Contains(logged, `"Not judged"`) || !strings.Contains(logged, "the request could not be decoded") ||
		strings.Contains(logged, secret) {
		t.Errorf("a stored object that cannot be decoded: %s", logged)
	}
	e = newEndpointsWith(t, unreachable{what: &v1beta1.CloudProfile{}}, 0)
	response, logged = e.ask(t, "validate-shoot", example[map[string]any](t, "shoot.yaml"), nil)
	if response.Allowed || !strings.Contains(logged, `"Not judged"`) || !strings.Contains(logged, "no answer") {
		t.Errorf("a profile that cannot be read: %s", logged)
	}
	if lines := strings.Count(logged, "\n"); lines != 1 {
		t.Errorf("%d lines at level info", lines)
	}
}

// logChild makes this test binary log, and end.
const logChild = "ADMISSION_TEST_LOG_CHILD"

// TestEverybodyLogsJSON logs by each of the ways that libraries know. It does so in a process of its own: who may set
// controller-runtime's logger is decided once, and for a process that has not done so after half a minute.
func TestEverybodyLogsJSON(t *testing.T) {
	if os.Getenv(logChild) != "" {
		base, err := logger.NewZapLogger(logger.InfoLevel, logger.FormatJSON, logzap.WriteTo(os.Stdout))
		if err != nil {
			t.Fatal(err)
		}
		setLoggers(base)
		log.Printf("http: TLS handshake error from %s: EOF", "127.0.0.1:1")
		slog.Warn("slog")
		klog.Info("klog")
		logf.Log.WithName("controller-runtime").Info("logr")
		os.Exit(0)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), logChild+"=true")
	output, err := child.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	messages := map[string]bool{}
	for line := range strings.Lines(string(output)) {
		entry := map[string]any{}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("not JSON: %s", line)
		}
		messages[strings.TrimSpace(entry["msg"].(string))] = true
	}
	for _, want := range []string{"http: TLS handshake error from 127.0.0.1:1: EOF", "slog", "klog", "logr"} {
		if !messages[want] {
			t.Errorf("%q is not in the log: %v", want, messages)
		}
	}
}
