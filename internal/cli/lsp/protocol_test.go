// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
)

// Violations of the protocol are refused, and do not stop the server.
func TestConversation(t *testing.T) {
	in, out, status, stderr := start(t)
	e := &editor{t: t, status: status, stderr: stderr}
	e.client = jrpc2.NewClient(channel.LSP(out, in), nil)
	e.tell("textDocument/didOpen", map[string]any{}) // dropped before initialize
	if code := e.refused("textDocument/hover", map[string]any{}); code != -32002 {
		t.Errorf("before initialize: %d", code)
	}
	if code := e.refused("no/such", map[string]any{}); code != -32002 {
		t.Errorf("unknown, before initialize: %d", code)
	}
	var answer struct {
		ServerInfo   struct{ Name string }
		Capabilities struct{ PositionEncoding string }
	}
	e.ask("initialize", map[string]any{"capabilities": map[string]any{}, "rootUri": nil, "workspaceFolders": nil}, &answer)
	if answer.ServerInfo.Name != "capkit" || answer.Capabilities.PositionEncoding != "utf-16" {
		t.Errorf("%+v", answer)
	}
	for method, want := range map[string]jrpc2.Code{
		"no/such": jrpc2.MethodNotFound, "$/such": jrpc2.MethodNotFound, "rpc.serverInfo": jrpc2.MethodNotFound, "initialize": jrpc2.InvalidRequest,
	} {
		if code := e.refused(method, map[string]any{"capabilities": map[string]any{}}); code != want {
			t.Errorf("%s: %d", method, code)
		}
	}
	if code := e.refused("textDocument/hover", []int{1}); code != jrpc2.InvalidParams {
		t.Errorf("parameters of another shape: %d", code)
	}
	e.tell("no/such", nil)
	e.tell("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": "file:///nowhere.yaml"}})
	e.tell("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": "file:///nowhere.yaml"}})
	e.tell("$/cancelRequest", map[string]any{"id": 99})
	for _, uri := range []string{"file:///nowhere.yaml", "untitled:1", "", "%", "https://example.com/a.yaml"} {
		var none any
		e.ask("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": uri}}, &none)
		if none != nil {
			t.Errorf("%s: %v", uri, none)
		}
	}
	e.ask("shutdown", nil, nil)
	if code := e.refused("textDocument/hover", map[string]any{}); code != jrpc2.InvalidRequest {
		t.Errorf("after shutdown: %d", code)
	}
	e.tell("exit", nil)
	if status := e.exited(); status != 0 || stderr.String() != "" {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// The exit statuses follow the protocol. Without an exit notification the server ends with the connection.
func TestEnds(t *testing.T) {
	e := begin(t, map[string]string{})
	e.tell("exit", nil)
	if status := e.exited(); status != 1 {
		t.Errorf("exit without shutdown: %d", status)
	}
	e = begin(t, map[string]string{})
	e.close()
	if status := e.exited(); status != 1 || !strings.Contains(e.stderr.String(), "closed the connection") {
		t.Errorf("the connection is closed: %d, %s", status, e.stderr)
	}
	e = begin(t, map[string]string{})
	e.ask("shutdown", nil, nil)
	e.close()
	if status := e.exited(); status != 1 {
		t.Errorf("shutdown without exit: %d", status)
	}
}

// next returns the next message without its header. It fails on anything else.
func next(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	length := 0
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line, "Content-Length: %d\r\n", &length); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	body := make([]byte, 2+length)
	if _, err := io.ReadFull(r, body); err != nil || !json.Valid(body) {
		t.Fatalf("%q: %v", body, err)
	}
	return string(body)
}

// Invalid input ends the session if the beginning of the next message is unknown; otherwise it is answered.
func TestWhatIsNoMessage(t *testing.T) {
	frame := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`
	for name, tc := range map[string]struct {
		sent, answered string
		// last ends the session.
		last   string
		status int
	}{
		"no JSON":        {frame("{"), `"code":-32700`, "", 1},
		"an empty batch": {frame("[]"), `"code":-32600`, "", 1},
		"no request":     {frame("5"), `"code":-3`, "", 1},
		"no version":     {frame(`{"id":4,"method":"shutdown"}`), `"code":-32600`, "", 1},
		"no method":      {frame(`{"jsonrpc":"2.0","id":4}`), `"code":-32600`, "", 1},
		"faulty, at the end": {
			frame(`{"method":"exit"}`), `invalid version marker`,
			strings.Repeat(frame(`{"method":"exit"}`)+frame("["+hello+`,{"jsonrpc":"2.0","method":"no/such","id":{}}]`), 50), 1,
		},
		"other contents":    {"Content-Type: application/vscode-jsonrpc; charset=utf8\r\n" + frame(hello), `"capkit"`, "", 1},
		"a batch":           {frame("[" + hello + "]"), `"capkit"`, "", 1},
		"no length":         {frame(hello), `"capkit"`, "Content-Type: x\r\n\r\n{}", 2},
		"a length of words": {frame(hello), `"capkit"`, "Content-Length: many\r\n\r\n{}", 2},
		"a huge length":     {frame(hello), `"capkit"`, "Content-Length: 99999999999999\r\n\r\n{}", 2},
		"a length below 0":  {frame(hello), `"capkit"`, "Content-Length: -1\r\n\r\n{}", 2},
		"no header":         {frame(hello), `"capkit"`, "of-a-manifest\r\n\r\n", 2},
		"cut off":           {frame(hello), `"capkit"`, "Content-Length: 70\r\n\r\n{", 2},
	} {
		t.Run(name, func(t *testing.T) {
			in, out, status, stderr := start(t)
			r := bufio.NewReader(out)
			if _, err := io.WriteString(in, tc.sent); err != nil {
				t.Fatal(err)
			}
			if said := next(t, r); !strings.Contains(said, tc.answered) {
				t.Error(said)
			}
			go func() {
				_, _ = io.WriteString(in, tc.last)
				_ = in.Close()
			}()
			if _, err := io.ReadAll(r); err != nil {
				t.Error(err)
			}
			if got := <-status; got != tc.status || strings.Contains(stderr.String(), "goroutine") || strings.Contains(stderr.String(), "of-a-manifest") {
				t.Errorf("status %d, %s", got, stderr)
			}
		})
	}
}

// A cancelled request is answered as the protocol requires, whether it has started or not.
func TestCancelled(t *testing.T) {
	in, out, _, _ := start(t)
	w, r := channel.LSP(strings.NewReader(""), in), bufio.NewReader(out)
	if err := w.Send([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}`)); err != nil {
		t.Fatal(err)
	}
	_ = next(t, r)
	const requests = 20
	go func() {
		_ = w.Send([]byte(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:1","version":1,"text":"a"}}}`))
		for id := range requests {
			_ = w.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"textDocument/codeAction","params":{"textDocument":{"uri":"untitled:1"}}}`, id))
			_ = w.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, id))
		}
	}()
	for answered := 0; answered < requests; {
		said := next(t, r)
		if strings.Contains(said, "publishDiagnostics") {
			continue
		}
		if answered++; !strings.Contains(said, `"code":-32800`) && !strings.Contains(said, `"result":`) {
			t.Error(said)
		}
	}
}

// Standard output contains only messages.
func TestOutputIsMessagesAlone(t *testing.T) {
	in, out, status, _ := start(t)
	w, r := channel.LSP(strings.NewReader(""), in), bufio.NewReader(out)
	if err := w.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)); err != nil {
		t.Fatal(err)
	}
	_ = next(t, r)
	go func() {
		for _, m := range []string{
			`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:1","version":1,"text":"kind: Shoot\u001b[2J\n"}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"textDocument/codeAction","params":{"textDocument":{"uri":"untitled:1"}}}`,
			`{"jsonrpc":"2.0","id":3,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`,
		} {
			_ = w.Send([]byte(m))
		}
	}()
	for {
		if _, err := r.Peek(1); err == io.EOF {
			break
		}
		_ = next(t, r)
	}
	if got := <-status; got != 0 {
		t.Errorf("status %d", got)
	}
}
