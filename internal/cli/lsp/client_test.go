// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

// patience is a timeout for hangs. Nothing takes that long otherwise.
const patience = 5 * time.Minute

// editor is an editor controlled by a test. The server is the command, in this process.
type editor struct {
	t      testing.TB
	folder string
	client *jrpc2.Client
	// status receives the command's exit status.
	status chan int
	stderr *buffer
	// close closes the command's input.
	close func()

	mutex sync.Mutex
	// told are the latest diagnostics of each file, by its name in the folder. news is closed when new ones arrive.
	told map[string]diagnostics
	news chan struct{}
	// asked are the methods called by the server.
	asked []string
	// answer is the result of initialize, and versions holds the current version of each document.
	answer   map[string]any
	versions map[string]int
}

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type diagnostic struct {
	Range           span
	Severity        int
	Code            string
	CodeDescription struct{ Href string }
	Source, Message string
	Related         []struct {
		Location struct {
			URI   string
			Range span
		}
		Message string
	} `json:"relatedInformation"`
}

type diagnostics struct {
	URI     string
	Version *int
	List    []diagnostic `json:"diagnostics"`
}

type edit struct {
	Range   span
	NewText string
}

type action struct {
	Title, Kind string
	Edit        struct{ Changes map[string][]edit }
}

type item struct {
	Label, Detail, SortText, FilterText string
	Tags                                []int
	TextEdit                            edit
}

// buffer receives the command's error output.
type buffer struct {
	mutex sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.Buffer.Write(p)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.Buffer.String()
}

// start starts the command, and returns the other ends of its pipes.
func start(t testing.TB) (in *io.PipeWriter, out *io.PipeReader, status chan int, stderr *buffer) {
	t.Helper()
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	status, stderr = make(chan int, 1), &buffer{}
	go func() {
		status <- cli.Run([]string{"capkit", "lsp", "--stdio"}, stdin, stdout, stderr, clouds.All()...)
		_ = stdout.Close()
	}()
	t.Cleanup(func() { _ = in.Close() })
	return in, out, status, stderr
}

// begin starts a server for a folder with these files.
func begin(t testing.TB, files map[string]string) *editor {
	t.Helper()
	return beginWith(t, files, map[string]any{})
}

// beginWith starts a server for an editor with these capabilities.
func beginWith(t testing.TB, files map[string]string, capabilities map[string]any) *editor {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, folder: folder, told: map[string]diagnostics{}, news: make(chan struct{}), versions: map[string]int{}}
	for name, text := range files {
		e.write(name, text)
	}
	in, out, status, stderr := start(t)
	e.status, e.stderr, e.close = status, stderr, func() { _ = in.Close() }
	e.client = jrpc2.NewClient(channel.LSP(out, in), &jrpc2.ClientOptions{
		OnNotify: func(r *jrpc2.Request) { e.note(r) },
		OnCallback: func(_ context.Context, r *jrpc2.Request) (any, error) {
			e.mutex.Lock()
			defer e.mutex.Unlock()
			e.asked = append(e.asked, r.Method())
			close(e.news)
			e.news = make(chan struct{})
			return nil, nil
		},
	})
	t.Cleanup(func() { _ = e.client.Close() })
	e.ask("initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": "file://" + folder, "capabilities": capabilities,
	}, &e.answer)
	e.tell("initialized", map[string]any{})
	return e
}

// note records a notification of the server.
func (e *editor) note(r *jrpc2.Request) {
	var d diagnostics
	if r.Method() != "textDocument/publishDiagnostics" || r.UnmarshalParams(&d) != nil {
		e.t.Errorf("the server says %s", r.Method())
		return
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.told[strings.TrimPrefix(d.URI, "file://"+e.folder+"/")] = d
	close(e.news)
	e.news = make(chan struct{})
}

// until waits until a condition holds for the server's notifications.
func (e *editor) until(what string, holds func() bool) {
	e.t.Helper()
	end := time.After(patience)
	for {
		e.mutex.Lock()
		held, news := holds(), e.news
		e.mutex.Unlock()
		if held {
			return
		}
		select {
		case <-news:
		case <-end:
			e.mutex.Lock()
			defer e.mutex.Unlock()
			e.t.Fatalf("%s does not come true: %+v\n%s", what, e.told, e.stderr)
		}
	}
}

// codes waits until the latest version of a file has findings of exactly these rules.
func (e *editor) codes(name string, want ...string) []diagnostic {
	e.t.Helper()
	var list []diagnostic
	e.until(name+" has "+strings.Join(want, ", "), func() bool {
		d, told := e.told[name]
		var got []string
		for _, one := range d.List {
			got = append(got, one.Code)
		}
		list = d.List
		version, open := e.versions[name]
		return told && slices.Equal(got, want) && (!open || d.Version != nil && *d.Version == version)
	})
	return list
}

func (e *editor) context() context.Context {
	ctx, cancel := context.WithTimeout(e.t.Context(), patience)
	e.t.Cleanup(cancel)
	return ctx
}

// ask sends a request, which must not fail.
func (e *editor) ask(method string, params, answer any) {
	e.t.Helper()
	response, err := e.client.Call(e.context(), method, params)
	if err == nil && answer != nil {
		err = response.UnmarshalResult(answer)
	}
	if err != nil {
		e.t.Fatalf("%s: %v\n%s", method, err, e.stderr)
	}
}

// refused returns the error code of a request.
func (e *editor) refused(method string, params any) jrpc2.Code {
	e.t.Helper()
	_, err := e.client.Call(e.context(), method, params)
	if err == nil {
		e.t.Fatalf("%s is answered", method)
	}
	return jrpc2.ErrorCode(err)
}

func (e *editor) tell(method string, params any) {
	e.t.Helper()
	if err := e.client.Notify(e.context(), method, params); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) uri(name string) string { return "file://" + e.folder + "/" + name }

func (e *editor) write(name, text string) {
	e.t.Helper()
	path := filepath.Join(e.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) open(name, text string) {
	e.t.Helper()
	e.mutex.Lock()
	e.versions[name] = 1
	e.mutex.Unlock()
	e.tell("textDocument/didOpen", map[string]any{
		"textDocument": map[string]any{"uri": e.uri(name), "languageId": "yaml", "version": 1, "text": text},
	})
}

// change sends changes of a document: texts, or maps with a range and a text.
func (e *editor) change(name string, changes ...any) {
	e.t.Helper()
	e.mutex.Lock()
	e.versions[name]++
	version := e.versions[name]
	e.mutex.Unlock()
	for i, c := range changes {
		if text, isText := c.(string); isText {
			changes[i] = map[string]any{"text": text}
		}
	}
	e.tell("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": e.uri(name), "version": version}, "contentChanges": changes,
	})
}

func (e *editor) closeFile(name string) {
	e.t.Helper()
	e.mutex.Lock()
	delete(e.versions, name)
	e.mutex.Unlock()
	e.tell("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}})
}

// at returns the parameters of a request about a position.
func (e *editor) at(name string, p position) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}, "position": p}
}

// hover returns the hover text at a position.
func (e *editor) hover(name string, p position) string {
	e.t.Helper()
	var h struct{ Contents struct{ Value string } }
	e.ask("textDocument/hover", e.at(name, p), &h)
	return h.Contents.Value
}

// complete returns the completions at a position.
func (e *editor) complete(name string, p position) []item {
	e.t.Helper()
	var list struct{ Items []item }
	e.ask("textDocument/completion", e.at(name, p), &list)
	return list.Items
}

func labels(items []item) []string {
	names := make([]string, 0, len(items))
	for _, i := range items {
		names = append(names, i.Label)
	}
	return names
}

// actions returns the code actions on a line.
func (e *editor) actions(name string, line int) []action {
	e.t.Helper()
	return e.actionsIn(name, span{position{line, 0}, position{line, 0}})
}

// actionsIn returns the code actions in a range.
func (e *editor) actionsIn(name string, within span) []action {
	e.t.Helper()
	var all []action
	e.ask("textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": e.uri(name)}, "context": map[string]any{"diagnostics": []any{}}, "range": within,
	}, &all)
	return all
}

// leads returns the definitions for a position, as FILE:LINE, from 0.
func (e *editor) leads(name string, p position) []string {
	e.t.Helper()
	var all []struct {
		URI   string
		Range span
	}
	e.ask("textDocument/definition", e.at(name, p), &all)
	places := []string{}
	for _, l := range all {
		places = append(places, strings.TrimPrefix(l.URI, e.uri(""))+":"+number(l.Range.Start.Line))
	}
	return places
}

func number(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

// end ends the session in order, and returns the exit status.
func (e *editor) end() int {
	e.t.Helper()
	e.ask("shutdown", nil, nil)
	e.tell("exit", nil)
	return e.exited()
}

func (e *editor) exited() int {
	e.t.Helper()
	select {
	case status := <-e.status:
		return status
	case <-time.After(patience):
		e.t.Fatal("the server does not end")
		return -1
	}
}

// where returns the UTF-16 position of a mark in a text, and the text without it.
func where(t testing.TB, text string) (position, string) {
	t.Helper()
	const mark = "‸"
	before, after, found := strings.Cut(text, mark)
	if !found {
		t.Fatal("no mark")
	}
	line := before[strings.LastIndex(before, "\n")+1:]
	return position{strings.Count(before, "\n"), len(utf16.Encode([]rune(line)))}, before + after
}

// of returns the position after the first character of the n-th occurrence of a word, from 0.
func of(t testing.TB, text, word string, n int) position {
	t.Helper()
	at := -1
	for range n + 1 {
		next := strings.Index(text[at+1:], word)
		if next < 0 {
			t.Fatalf("%q is not there %d times", word, n+1)
		}
		at += 1 + next
	}
	line := text[strings.LastIndex(text[:at], "\n")+1 : at]
	return position{strings.Count(text[:at], "\n"), len(utf16.Encode([]rune(line))) + 1}
}

// applied returns a text with edits, whose positions are in UTF-16.
func applied(t testing.TB, text string, edits []edit) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	offset := func(p position) int {
		at := 0
		for _, line := range lines[:p.Line] {
			at += len(line)
		}
		units := utf16.Encode([]rune(lines[p.Line]))
		return at + len(string(utf16.Decode(units[:p.Character])))
	}
	for _, e := range slices.Backward(edits) {
		text = text[:offset(e.Range.Start)] + e.NewText + text[offset(e.Range.End):]
	}
	return text
}

// example returns one of the examples.
func example(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../example", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
