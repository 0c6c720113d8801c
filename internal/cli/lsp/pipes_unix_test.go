// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package lsp_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// If settings name a pipe, the server does not wait for a writer: neither at startup, nor when a description becomes a pipe.
func TestSettingsNameAPipe(t *testing.T) {
	text := example(t, "cloudprofile.yaml")
	pipe := func(e *editor) {
		if err := syscall.Mkfifo(e.folder+"/acme.yaml", 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says := func(e *editor) {
		e.until("the settings have an error", func() bool {
			d := e.told[".capkit.yaml"].List
			return len(d) == 1 && d[0].Range.Start.Line == 1 && strings.HasSuffix(d[0].Message, "acme.yaml is a pipe, and not read: write a file, or rename it")
		})
	}
	settings := "# ours\nproviderFiles: [acme.yaml]\n"

	e := begin(t, map[string]string{"p.yaml": text, ".capkit.yaml": settings})
	pipe(e)
	e.open("p.yaml", text)
	says(e)

	description, err := os.ReadFile("../../../docs/examples/metal-stack.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e = begin(t, map[string]string{"p.yaml": text, ".capkit.yaml": settings, "acme.yaml": string(description)})
	e.open("p.yaml", text)
	e.until("the profile is checked", func() bool { _, is := e.told["p.yaml"]; return is })
	if err := os.Remove(e.folder + "/acme.yaml"); err != nil {
		t.Fatal(err)
	}
	pipe(e)
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	says(e)
}
