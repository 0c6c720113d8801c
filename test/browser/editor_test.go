// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/capkit/capkit/test/npm"
)

// editor is CodeMirror in a page, at a file, with a language server of its own.
type editor struct {
	*page
	// name is that of its file, and others are the files beside it, below the root.
	name   string
	others []string
	server *exec.Cmd
	in     io.Writer
	// said gets what the server says, and is closed when it is gone; ended is closed after that.
	said  chan []byte
	ended chan struct{}

	mutex sync.Mutex
	// heard is what the server was told.
	heard []string
}

// bundle makes the page's script of editor/main.js and the packages of npm, once for all tests.
var bundle = sync.OnceValues(func() ([]byte, error) {
	installed, err := npm.Install(context.Background(), "editor", "codemirror", func(what string) { fmt.Fprintln(os.Stderr, what) })
	if err != nil {
		return nil, err
	}
	modules := filepath.Join(installed.Folder, "node_modules")
	found, err := filepath.Glob(filepath.Join(modules, "@esbuild", "*", "bin", "esbuild")) // npm installs that of the machine
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("esbuild is at %q: %w", found, err)
	}
	cmd := exec.Command(found[0], "editor/main.js", "--bundle", "--format=esm", "--log-level=warning")
	cmd.Env, cmd.Stderr = append(os.Environ(), "NODE_PATH="+modules), os.Stderr
	return cmd.Output()
})

// edit opens a text in the editor, as a file of a folder that has others, too. When the test ends, it fails if the server is not there
// any more, does not end with status 0, or has logged anything.
func edit(t *testing.T, name, text string, others ...string) *editor {
	t.Helper()
	script, err := bundle()
	if err != nil {
		t.Fatal(err)
	}
	folder := laid(t, name, text, others)
	e := &editor{name: name, others: others, said: make(chan []byte, 1000), ended: make(chan struct{})}
	var logged bytes.Buffer
	e.server = exec.Command(capkit, "lsp") // not with the context of the test, which ends before what is cleaned up
	e.server.Stderr = &logged
	if e.in, err = e.server.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := e.server.StdoutPipe()
	if err == nil {
		err = e.server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.server.Process.Kill() })
	go e.listen(out)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<!DOCTYPE html><title>editor</title><link rel="icon" href="data:,"><script type="module" src="main.js"></script>`)
	})
	mux.HandleFunc("GET /main.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(script)
	})
	mux.HandleFunc("GET /file", func(w http.ResponseWriter, _ *http.Request) {
		at := "file://" + folder
		_ = json.NewEncoder(w).Encode(map[string]string{"root": at, "uri": at + "/" + name, "text": text})
	})
	mux.HandleFunc("POST /lsp", e.tell)
	mux.HandleFunc("GET /lsp", e.stream)
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	e.page = visit(t, site.URL+"/", "", screen(1280, 3000)) // so high that all lines are drawn
	t.Cleanup(func() {
		e.run(chromedp.Evaluate[chromedp.Void](`leave()`, awaited))
		<-e.ended
		if err := e.server.Wait(); err != nil || logged.Len() > 0 {
			t.Errorf("the server ends with %v, and logs %q", err, logged.String())
		}
	})
	return e
}

// laid returns a folder with a file, and others from below the root.
func laid(t *testing.T, name, text string, others []string) string {
	t.Helper()
	folder := t.TempDir()
	for _, other := range others {
		content, err := os.ReadFile(filepath.Join(root, other))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(other)), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// linted is what lint says of the file with a text.
func (e *editor) linted(text string) (said []string) {
	e.t.Helper()
	out, err := in(laid(e.t, e.name, text, e.others), capkit, "lint", "-o", "json", ".")
	var linted struct {
		Findings []struct{ File, Message string }
	}
	if err := errors.Join(json.Unmarshal([]byte(out), &linted), unexpected(err)); err != nil {
		e.t.Fatal(err)
	}
	for _, f := range linted.Findings {
		if f.File == e.name {
			said = append(said, f.Message)
		}
	}
	return said
}

// agrees waits until the list of what is found, which a key opens and another one closes, has what lint says of the text.
func (e *editor) agrees() {
	e.t.Helper()
	e.keys("M", chromedp.ModifierCtrl, chromedp.ModifierShift)
	said := e.linted(value[string](e.page, `written()`))
	slices.Sort(said)
	if len(said) == 0 {
		said = []string{"No diagnostics"}
	}
	becomes(e.page, `[...document.querySelectorAll('.cm-panel-lint .cm-diagnosticText')].map((e) => e.textContent).sort().join('\n')`, strings.Join(said, "\n"))
	e.keys(kb.Escape)
}

// listen takes what the server says apart.
func (e *editor) listen(out io.Reader) {
	defer close(e.ended)
	defer close(e.said)
	raw := bufio.NewReader(out)
	for {
		header, err := textproto.NewReader(raw).ReadMIMEHeader()
		if err != nil {
			return // at the end; if that is too early, the page waits in vain
		}
		length, _ := strconv.Atoi(header.Get("Content-Length"))
		text := make([]byte, length)
		if _, err := io.ReadFull(raw, text); err != nil {
			return
		}
		e.said <- text
	}
}

// stream sends the page what the server says.
func (e *editor) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := http.NewResponseController(w)
	for {
		_ = flusher.Flush() // of a page that is gone nothing is to be said
		select {
		case text, more := <-e.said:
			if !more {
				return
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
		case <-r.Context().Done():
			return
		}
	}
}

// tell tells the server what the page says.
func (e *editor) tell(w http.ResponseWriter, r *http.Request) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	text, err := io.ReadAll(r.Body)
	if err == nil {
		e.heard = append(e.heard, string(text))
		_, err = fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// becomes waits until an expression is something in the page.
func becomes[T comparable](p *page, expression string, wanted T) {
	p.t.Helper()
	text, err := json.Marshal(wanted)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := chromedp.Do(p, until("("+expression+") === "+string(text))); err != nil {
		fresh, cancel := context.WithTimeout(context.WithoutCancel(p), patience)
		defer cancel()
		last, _ := chromedp.Run(fresh, chromedp.Evaluate[T](expression))
		p.t.Fatalf("%s is\n%v\nand does not become\n%v: %v", expression, last, wanted, err)
	}
}

// mouse does something at a part of the text, so many characters behind its beginning.
func (e *editor) mouse(part string, offset int, do func(x, y float64) action) {
	e.t.Helper()
	type rectangle struct{ Left, Top, Bottom float64 }
	at, err := chromedp.Run(e.page, chromedp.Evaluate[rectangle](fmt.Sprintf("place(%s, %d)", quoted(part), offset), awaited))
	if err != nil {
		e.t.Fatal(err)
	}
	e.run(do(at.Left+1, (at.Top+at.Bottom)/2))
}

func click(x, y float64) action { return chromedp.MouseClickXY(x, y) }

func point(x, y float64) action { return chromedp.MouseEvent(chromedp.MouseMoved, x, y) }

// keys types. Enter is one event with its text, as keyboards make it: so a page that makes something else of it gets no new line as well.
func (e *editor) keys(all string, modifiers ...chromedp.Modifier) {
	e.t.Helper()
	for i, part := range strings.Split(all, kb.Enter) {
		for _, typ := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			if enter := (input.DispatchKeyEventParams{Type: typ, Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13}); i > 0 {
				e.run(command(input.DispatchKeyEvent, enter))
			}
		}
		e.run(chromedp.KeyEvent(part, chromedp.KeyModifiers(modifiers...)))
	}
}

const (
	// marks is what is underlined in the text, and gutter how often there is a mark beside it.
	marks  = `[...document.querySelectorAll('.cm-lintRange')].map((e) => e.textContent).join('')`
	gutter = `document.querySelectorAll('.cm-gutter-lint .cm-lint-marker').length`
	// found is what the mouse shows of a mistake, and hover what the server says of a place.
	found = `document.querySelector('.cm-tooltip-lint')?.textContent ?? ''`
	hover = `document.querySelector('.cm-lsp-hover-tooltip')?.innerText.trim() ?? ''`
	// choices is what is proposed.
	choices = `[...document.querySelectorAll('.cm-tooltip-autocomplete li')].map((li) =>
		[...li.querySelectorAll('.cm-completionLabel, .cm-completionDetail')].map((e) => e.textContent).join(' ')).join('; ')`
)

// example returns a file of the examples.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "example", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A mistake is shown as lint prints it, and goes when it is repaired. CodeMirror has no \r in its text, so the server gets none.
func TestEditorFindings(t *testing.T) {
	const name, line = "broken/unknown-field.yaml", "keyStoneURL: https://keystone.example.com/v3/"
	text := example(t, name)
	for ends, written := range map[string]string{"LF": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n")} {
		t.Run(ends, func(t *testing.T) {
			e := edit(t, "profile.yaml", written)
			becomes(e.page, marks, line)
			want(e.page, gutter, 1)
			e.mouse(line, 1, point)
			becomes(e.page, found, e.linted(text)[0])
			e.mouse(line, len("keyS"), click)
			e.keys(kb.Backspace + "s")
			becomes(e.page, gutter, 0)
			want(e.page, marks, "")
			e.agrees()
			for range 2 {
				e.keys("z", chromedp.ModifierCtrl)
			}
			becomes(e.page, `written()`, text)
			becomes(e.page, marks, line)
			e.agrees()
			e.mutex.Lock()
			defer e.mutex.Unlock()
			if all := strings.Join(e.heard, "\n"); !strings.Contains(all, quoted(text)) || strings.Contains(all, `\r`) {
				t.Errorf("the server was told\n%s", all)
			}
		})
	}
}

// What stands behind characters that are two units of UTF-16 is edited where it is, and marked where it is.
func TestEditorBeyondTheBasicPlane(t *testing.T) {
	const old, id = "- name: asia\n            id: 5678-amd64-old", `{id: "𝄞𝄞", name: `
	text := strings.Replace(example(t, "cloudprofile.yaml"), old, "- "+id+"asai} # 𝄞 asai", 1)
	e := edit(t, "profile.yaml", text)
	becomes(e.page, marks, "name: asai")
	e.mouse("asai}", len("asai"), click)
	e.agrees()
	e.keys(strings.Repeat(kb.Backspace, 2) + "ia")
	becomes(e.page, gutter, 0)
	e.mouse("} #", 0, click)
	e.keys(strings.Repeat(kb.Backspace, len("asia")))
	e.run(command(input.InsertText, input.InsertTextParams{Text: "𝄞"})) // as an input method does
	e.keys("x")
	becomes(e.page, "("+marks+`).endsWith("name: 𝄞x")`, true) // that asia has no image is marked before
	e.agrees()
	e.keys(strings.Repeat(kb.Backspace, 2) + "asia")
	e.keys(kb.End + strings.Repeat(kb.Backspace, len("𝄞 asai")-3) + "\U0001d11e")
	becomes(e.page, gutter, 0)
	e.agrees()
	want(e.page, `written().includes(`+quoted("- "+id+"asia} # ")+`)`, true)
}

// While a file is typed it is half written, and cannot be read: that is found, and completion goes on.
func TestEditorHalfWritten(t *testing.T) {
	const first, before, line = "    updateStrategy: minor", "architecture: [arm64]", "\n      hypervisor: [virtualized]"
	text := example(t, "cloudprofile.yaml")
	e := edit(t, "profile.yaml", strings.Replace(text, before+line, before, 1))
	e.mouse(first, len(first), click)
	e.keys(kb.Enter + "}")
	becomes(e.page, gutter, 1)
	e.agrees()
	e.mouse(before, len(before), click)
	for _, typed := range []string{kb.Enter, "h", "y"} {
		e.keys(typed)
		e.agrees()
	}
	e.keys(" ", chromedp.ModifierCtrl)
	becomes(e.page, choices, "hypervisor virtualized, baremetal")
	e.keys(kb.Enter)
	e.agrees()
	e.keys(" ", chromedp.ModifierCtrl)
	becomes(e.page, choices, "virtualized hypervisor, preference 1 of 2; baremetal hypervisor, preference 2 of 2")
	e.keys(kb.Enter)
	e.mouse("}", 1, click)
	e.keys(kb.Backspace)
	becomes(e.page, gutter, 0)
	e.agrees()
	want(e.page, `written().replace(/\n +\n/, '\n')`, text)
}

// What can stand at a place is proposed, and taken by Enter.
func TestEditorCompletion(t *testing.T) {
	const architectures = "amd64 architecture, preference 1 of 2; arm64 architecture, preference 2 of 2"
	for name, tc := range map[string]struct {
		// The value at the end of the first place like at is removed, and typed is typed instead.
		file, at, value, typed, proposed, chosen, written string
	}{
		"values of a capability": {
			"cloudprofile.yaml", "architecture: [arm64]", " [arm64]", " ", architectures, kb.ArrowDown, " [arm64]",
		},
		"a value within brackets": {
			"cloudprofile.yaml", "architecture: [arm64]", "[arm64]", "[", architectures, "ar", "[arm64]",
		},
		"regions": {
			"cloudprofile.yaml", "id: 1234-amd64-old\n          - name: asia", " asia", " ", "asia", "as", " asia",
		},
		"versions": {
			"shoot.yaml", "name: gardenlinux\n          version: 1877.5.0", " 1877.5.0", " ", "1877.5.0 supported; 1592.9.0 deprecated", "1592.", " 1592.9.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := example(t, tc.file)
			e := edit(t, tc.file, text, "example/cloudprofile.yaml")
			becomes(e.page, gutter, 0)
			e.mouse(tc.at, len(tc.at), click)
			e.keys(strings.Repeat(kb.Backspace, len(tc.value)) + tc.typed)
			becomes(e.page, choices, tc.proposed)
			e.keys(tc.chosen + kb.Enter)
			becomes(e.page, `written()`, strings.Replace(text, tc.at, strings.TrimSuffix(tc.at, tc.value)+tc.written, 1))
			e.agrees()
		})
	}
}

// What the mouse points at is explained, as explain does it, drawn from Markdown.
func TestEditorHover(t *testing.T) {
	explained := printed(t, "explain", "example/cloudprofile.yaml", "example/shoot.yaml")
	e := edit(t, "shoot.yaml", example(t, "shoot.yaml"), "example/cloudprofile.yaml")
	e.mouse("bare_8_16", 3, point)
	const code = `document.querySelector('.cm-lsp-hover-tooltip pre code')?.textContent.trim() ?? ''`
	becomes(e.page, "("+code+`).startsWith('garden-demo/shop, worker pool db: ')`, true)
	if shown := value[string](e.page, code); !strings.Contains(explained, shown) {
		t.Errorf("%s\nis not in\n%s", shown, explained)
	}
	e = edit(t, "cloudprofile.yaml", example(t, "cloudprofile.yaml"))
	e.mouse("medium_4_8_arm", 3, point)
	becomes(e.page, parts("strong code"), "medium_4_8_arm")
	want(e.page, parts("li code"), "gardenlinux@1877.5.0; gardenlinux@1592.9.0")
	want(e.page, "/[`*]/.test("+hover+")", false)
}

// parts are the texts of some elements of what is shown of a place.
func parts(of string) string {
	return `[...document.querySelectorAll('.cm-lsp-hover-tooltip ` + of + `')].map((e) => e.textContent).join('; ')`
}

// Names are texts there, too, though nothing cleans the HTML that the editor makes of the Markdown.
func TestEditorNames(t *testing.T) {
	text := strings.ReplaceAll(example(t, "cloudprofile.yaml"), "name: asia\n", "name: "+quoted(awful)+"\n")
	text = strings.Replace(text, "          - name: europe\n            id: 1234-amd64-virt\n", "", 1)
	e := edit(t, "profile.yaml", text)
	for _, name := range []string{"medium_4_8", "medium_4_8_arm"} {
		e.mouse("name: "+name+"\n", len("name: me"), point)
		becomes(e.page, parts("strong code"), name)
		want(e.page, `(`+hover+`).includes(`+quoted(awful)+`)`, true)
		want(e.page, `document.querySelector('img') === null && document.title`, "editor")
	}
}

// A flavor leads to the other half of it, and back.
func TestEditorDefinition(t *testing.T) {
	e := edit(t, "cloudprofile.yaml", example(t, "cloudprofile.yaml"))
	const core = "- architecture: [amd64]\n        hypervisor: [baremetal]"
	e.mouse(core, len(core)-3, click)
	e.keys(kb.F12)
	becomes(e.page, "cursor()", 89)
	e.keys(kb.F12)
	becomes(e.page, "cursor()", 45)
}
