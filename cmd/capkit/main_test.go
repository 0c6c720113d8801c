// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Log output of packages' init functions is hidden from users: package quiet is initialized before the package known to log.
func TestStartsQuietly(t *testing.T) {
	program := filepath.Join(t.TempDir(), "capkit")
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	cmd := exec.CommandContext(t.Context(), program, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	quiet := strings.Index(string(said), "\ninit github.com/capkit/capkit/cmd/capkit/internal/quiet ")
	loud := strings.Index(string(said), "\ninit github.com/VictoriaMetrics/metrics ")
	if quiet < 0 || loud < quiet {
		t.Errorf("initialized at %d and %d:\n%s", quiet, loud, said)
	}
}
