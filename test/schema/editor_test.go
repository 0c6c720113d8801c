// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build editor

package schema

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/internal/cli/schema"
	"github.com/capkit/capkit/test/npm"
)

// server is a connection to a yaml-language-server, as in an editor.
type server struct {
	t      *testing.T
	in     io.Writer
	out    *textproto.Reader
	raw    *bufio.Reader
	sent   int
	folder string
}

// message is a protocol message: a request has a method and an ID, a response an ID, and a notification a method.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
}

// received is a message from the server.
type received struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

type diagnostic struct {
	Range struct {
		Start struct {
			Line      int `json:"line"`
			Character int `json:"character"`
		} `json:"start"`
	} `json:"range"`
	Message string `json:"message"`
}

// start starts a server that ends with the test.
func start(t *testing.T) *server {
	t.Helper()
	installed, err := npm.Install(t.Context(), "editor", "yaml-language-server", func(what string) { t.Log(what) })
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(installed.Folder, "node_modules", "yaml-language-server", "bin", "yaml-language-server")
	cmd := exec.CommandContext(t.Context(), installed.Node, program, "--stdio")
	cmd.Env, cmd.Stderr = append(os.Environ(), installed.Environment...), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	reader := bufio.NewReader(out)
	s := &server{t: t, in: in, raw: reader, out: textproto.NewReader(reader), folder: t.TempDir()}
	for name, text := range schema.Files(clouds.All()) {
		file := filepath.Join(s.folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.ask("initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": "file://" + s.folder,
		"capabilities": map[string]any{"workspace": map[string]any{"configuration": true}},
	})
	s.send(message{Method: "initialized", Params: map[string]any{}})
	return s
}

func (s *server) send(m message) {
	s.t.Helper()
	m.JSONRPC = "2.0"
	text, err := json.Marshal(m)
	if err == nil {
		_, err = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// receive returns the next message that is not a request. It answers requests for settings itself.
func (s *server) receive() received {
	s.t.Helper()
	for {
		header, err := s.out.ReadMIMEHeader()
		if err != nil {
			s.t.Fatal(err)
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			s.t.Fatal(err)
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(s.raw, text); err != nil {
			s.t.Fatal(err)
		}
		var got received
		if err := json.Unmarshal(text, &got); err != nil {
			s.t.Fatal(err)
		}
		if got.ID == nil || got.Method == "" {
			return got
		}
		s.send(message{ID: got.ID, Result: answer(got)})
	}
}

// answer returns an editor's response to a request: the settings that docs/commands/schema.md recommends, once for each requested item.
func answer(request received) any {
	if request.Method != "workspace/configuration" {
		return map[string]any{}
	}
	var asked struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	_ = json.Unmarshal(request.Params, &asked) // without items there is nothing to answer
	settings := []any{}
	for _, item := range asked.Items {
		if item.Section == "yaml" {
			settings = append(settings, map[string]any{"yamlVersion": "1.1", "validate": true, "completion": true, "hover": true})
			continue
		}
		settings = append(settings, nil)
	}
	return settings
}

// ask sends a request, and returns the result.
func (s *server) ask(method string, params any) json.RawMessage {
	s.t.Helper()
	s.sent++
	id := json.RawMessage(strconv.Itoa(s.sent))
	s.send(message{ID: id, Method: method, Params: params})
	for {
		if got := s.receive(); bytes.Equal(got.ID, id) {
			return got.Result
		}
	}
}

// open opens a manifest that begins with the line that --all prints, and returns its URI.
func (s *server) open(text string) (uri string) {
	s.t.Helper()
	s.sent++
	uri = fmt.Sprintf("file://%s/%d.yaml", s.folder, s.sent)
	text = "# yaml-language-server: $schema=" + filepath.Join(s.folder, "all.json") + "\n" + text
	s.send(message{Method: "textDocument/didOpen", Params: map[string]any{
		"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": 1, "text": text},
	}})
	return uri
}

// said returns the server's diagnostics for open files.
func (s *server) said(uris ...string) map[string][]diagnostic {
	s.t.Helper()
	found := map[string][]diagnostic{}
	for len(found) < len(uris) {
		got := s.receive()
		if got.Method != "textDocument/publishDiagnostics" {
			continue
		}
		var published struct {
			URI         string       `json:"uri"`
			Diagnostics []diagnostic `json:"diagnostics"`
		}
		if err := json.Unmarshal(got.Params, &published); err != nil {
			s.t.Fatal(err)
		}
		if slices.Contains(uris, published.URI) {
			found[published.URI] = published.Diagnostics
		}
	}
	return found
}

// The server has the same findings as the library in the other tests: for the examples, and for a mistake of each kind in each kind of
// object.
func TestEditor(t *testing.T) {
	s, all := start(t), compiled(t, "", "")
	examples := manifests(t, "example", "docs/examples")
	// The server delays its diagnostics, so several files are open at once.
	type opened struct {
		name string
		manifest
	}
	batch, count := map[string]opened{}, 0
	flush := func() {
		t.Helper()
		for uri, found := range s.said(slices.Collect(maps.Keys(batch))...) {
			m := batch[uri]
			if want := judged(t, all, m.manifest); (len(want) > 0) != (len(found) > 0) {
				t.Errorf("%s: the schema says %v, and the editor %v", m.name, want, found)
			}
		}
		count += len(batch)
		clear(batch)
	}
	compareWith := func(name string, m manifest) {
		t.Helper()
		text, err := yaml.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		batch[s.open(string(text))] = opened{name, m}
		if len(batch) == 50 {
			flush()
		}
	}
	done := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		compareWith(name, examples[name])
		if strings.HasPrefix(name, "example/broken/") {
			continue
		}
		for i, p := range places(examples[name]) {
			what := slices.Sorted(maps.Keys(mutations))[i%len(mutations)]
			id := fmt.Sprint(examples[name]["kind"], ofCloud(examples[name], p.path), index.ReplaceAllString(p.path, ""))
			if freely.MatchString(p.path) || done[id] {
				continue
			}
			done[id] = true
			changed := clone(examples[name])
			if mutations[what](places(changed)[i]) {
				compareWith(name+", "+what+" at "+p.path, changed)
			}
		}
	}
	flush()
	if count < 500 {
		t.Errorf("only %d manifests were opened", count)
	}
}

// The diagnostics of mistakes are readable, and are at the right place.
func TestEditorWords(t *testing.T) {
	s := start(t)
	profile := `apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata:
  name: europe
spec:
  type: openstack
  machineTypes:
  - name: small
    cpu: two
    gpu: "0"
    memory: 8Gi
    usible: true
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    machineImage: []
`
	uri := s.open(profile)
	var said []string
	for _, d := range s.said(uri)[uri] {
		said = append(said, fmt.Sprintf("%d: %s", d.Range.Start.Line, d.Message))
	}
	for line, words := range map[int]string{9: "no quantity", 12: "usible", 16: "machineImage"} {
		if !slices.ContainsFunc(said, func(text string) bool {
			return strings.HasPrefix(text, fmt.Sprint(line, ":")) && strings.Contains(text, words)
		}) {
			t.Errorf("nothing about %q in line %d: %q", words, line, said)
		}
	}
}

// An editor completes keys and values, even in provider configs, and explains a key.
func TestEditorHelp(t *testing.T) {
	s := start(t)
	text := "apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\nspec:\n  type: openstack\n  providerConfig:\n" +
		"    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\n    kind: CloudProfileConfig\n    keystoneURL: x\n    \n"
	uri := s.open(text)
	s.said(uri)
	at := func(line, character int) map[string]any {
		return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": line, "character": character}}
	}
	if completed := s.ask("textDocument/completion", at(9, 4)); !bytes.Contains(completed, []byte(`"label":"machineImages"`)) {
		t.Errorf("completed by %.500s", completed)
	}
	if explained := s.ask("textDocument/hover", at(8, 8)); !bytes.Contains(explained, []byte("the URL of the identity service")) {
		t.Errorf("explained as %.500s", explained)
	}
}
