// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// FuzzMessages sends arbitrary text, possibly not a message, between initialize and exit. The server must exit without an internal error.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:a","version":1,"text":"kind: Shoot\nspec:\n  region: "}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"textDocument/completion","params":{"textDocument":{"uri":"untitled:a"},"position":{"line":2,"character":10}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"textDocument/codeAction","params":{"textDocument":{"uri":"untitled:a"},"range":{"start":{"line":-1}}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"untitled:a"},"contentChanges":[` +
			`{"range":{"start":{"line":9},"end":{"line":0}},"text":"x"}]}}`,
		`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":{"added":[{"uri":"untitled:"}]}}}`, `[]`, `{`, `null`,
		`{"method":"exit"}`, `[{"jsonrpc":2,"method":"initialized"},{"jsonrpc":"2.0","id":7,"method":"shutdown"}]`,
	} {
		f.Add(seed)
	}
	frame := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	f.Fuzz(func(t *testing.T, message string) {
		if strings.Contains(message, "file:") { // would refer to this machine
			return
		}
		in, out, status, stderr := start(t)
		go func() {
			for _, m := range []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`, message, message} {
				_, _ = io.WriteString(in, frame(m))
			}
			_ = in.Close()
		}()
		_, _ = io.Copy(io.Discard, out)
		if got := <-status; got != 0 && got != 1 || strings.Contains(stderr.String(), "a mistake in capkit") {
			t.Errorf("status %d, %s", got, stderr)
		}
	})
}
