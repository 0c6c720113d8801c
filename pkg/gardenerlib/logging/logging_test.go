// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package logging_test

import (
	"encoding/json"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/logger"
	"github.com/go-logr/logr/funcr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	logzap "sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/capkit/capkit/pkg/gardenerlib/logging"
)

// logChild makes this test binary log and exit.
const logChild = "LOGGING_TEST_CHILD"

// TestEverybodyLogsJSON logs through each library's logger. It needs a process of its own: controller-runtime's logger can be set only
// once, and after half a minute not at all.
func TestEverybodyLogsJSON(t *testing.T) {
	if os.Getenv(logChild) != "" {
		base, err := logger.NewZapLogger(logger.InfoLevel, logger.FormatJSON, logzap.WriteTo(os.Stdout))
		if err != nil {
			t.Fatal(err)
		}
		logging.SetLoggers(base)
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

// The start message contains the flags that are set, and no others.
func TestAnnounce(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.String("set", "", "")
	flags.String("not-set", "default", "")
	if err := flags.Parse([]string{"--set=value"}); err != nil {
		t.Fatal(err)
	}
	var logged string
	logging.Announce(funcr.NewJSON(func(line string) { logged = line }, funcr.Options{}), "acme", flags)
	for _, want := range []string{`"msg":"Starting"`, `"provider":"acme"`, `"flags":{"set":"value"}`, `"version":"v`} {
		if !strings.Contains(logged, want) {
			t.Errorf("no %s in %s", want, logged)
		}
	}
}
