// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// root is that of the repository.
const root = "../.."

// patience is how long a page may take for all that a test does with it.
const patience = 3 * time.Minute

var update = flag.Bool("update", false, "write the pictures in docs/pictures")

var (
	// capkit is the program, and chromium the browser, one for all tests.
	capkit   string
	chromium context.Context
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	folder, err := os.MkdirTemp("", "browser-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	capkit = filepath.Join(folder, "capkit")
	if _, err := inRoot("go", "build", "-ldflags=-w", "-o", capkit, "./cmd/capkit"); err != nil {
		return 0, err
	}
	path, err := inRoot("go", "run", "./hack/browser")
	if err != nil {
		return 0, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(strings.TrimSpace(path)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 800),
		chromedp.UserDataDir(filepath.Join(folder, "profile")), chromedp.WSURLReadTimeout(patience))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	var quit context.CancelFunc
	chromium, quit = chromedp.NewContext(allocator)
	defer quit()
	if err := chromedp.Do(chromium); err != nil {
		return 0, fmt.Errorf("Chromium does not start: %w", err)
	}
	return m.Run(), nil
}

// inRoot runs a program in the root of the repository, and returns what it prints.
func inRoot(program string, args ...string) (string, error) { return in(root, program, args...) }

// in runs a program in a folder, and returns what it prints.
func in(folder, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// printed runs capkit, with files below the root. Status 1 is fine.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	out, err := inRoot(capkit, args...)
	if err := unexpected(err); err != nil {
		t.Fatal(err)
	}
	return out
}

// unexpected returns an error of capkit unless it is status 1, that something is wrong with the files.
func unexpected(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	return err
}

// report writes the report of files, and returns where it is.
func report(t *testing.T, files ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(printed(t, append([]string{"report"}, files...)...)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// page is a report in a tab.
type page struct {
	context.Context
	t *testing.T

	mutex sync.Mutex
	// requests are the addresses that it has asked for, and complaints what the browser logs.
	requests, complaints []string
}

// open opens a report in a tab of its own, at what the address has behind the #.
func open(t *testing.T, path, hash string, before ...action) *page {
	t.Helper()
	return visit(t, (&url.URL{Scheme: "file", Path: path}).String(), hash, before...)
}

// visit opens a page in a tab of its own. When the test ends, it fails if the page has asked for anything besides itself, which of a site
// is all of it, or the browser complains about it.
func visit(t *testing.T, address, hash string, before ...action) *page {
	t.Helper()
	tab, closeTab := chromedp.NewContext(chromium)
	t.Cleanup(closeTab)
	if err := chromedp.Do(tab); err != nil {
		t.Fatal(err)
	}
	limited, cancel := context.WithTimeout(tab, patience)
	t.Cleanup(cancel)
	p := &page{Context: limited, t: t}
	if err := chromedp.Listen(limited, p.note); err != nil {
		t.Fatal(err)
	}
	p.run(command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}))
	p.run(before...)
	p.run(chromedp.Navigate(address+hash), chromedp.WaitReady(chromedp.CSS("html[data-drawn=yes], #notes [role=alert]")))
	t.Cleanup(func() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		for _, request := range p.requests {
			own, _, _ := strings.Cut(request, "#")
			inside := strings.HasSuffix(address, "/") && strings.HasPrefix(own, address)
			if own != address && !inside && !strings.HasPrefix(request, "data:") {
				t.Errorf("the page asks for %s", request)
			}
		}
		if len(p.requests) == 0 {
			t.Error("no request was seen, not even that for the page")
		}
		for _, complaint := range p.complaints {
			t.Errorf("the browser complains: %s", complaint)
		}
	})
	return p
}

func (p *page) note(event any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *log.EventEntryAdded:
		p.complaints = append(p.complaints, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			var said []string
			for _, a := range e.Args {
				said = append(said, string(a.Value)+a.Description)
			}
			p.complaints = append(p.complaints, strings.Join(said, " "))
		}
	case *runtime.EventExceptionThrown:
		p.complaints = append(p.complaints, e.ExceptionDetails.Text)
	}
}

// action is something to do with a page that has no result.
type action = chromedp.Action[chromedp.Void]

// command is an action by the browser's own protocol.
func command[P, R any](c cdp.Command[P, R], parameters P) action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, parameters)
		return err
	})
}

func (p *page) run(actions ...action) {
	p.t.Helper()
	if err := chromedp.Do(p, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// value returns what an expression is in the page.
func value[T any](p *page, expression string) T {
	p.t.Helper()
	result, err := chromedp.Run(p, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return result
}

// want fails the test if an expression is something else in the page.
func want[T comparable](p *page, expression string, wanted T) {
	p.t.Helper()
	if got := value[T](p, expression); got != wanted {
		p.t.Errorf("%s is\n%v\nwant\n%v", expression, got, wanted)
	}
}

// script runs a script in the page, whose result does not matter.
func script(text string, options ...chromedp.EvaluateOption) action {
	return chromedp.Evaluate[chromedp.Void](text, options...)
}

// awaited makes a script that returns a promise one that ends when that is kept.
var awaited chromedp.EvaluateOption = chromedp.EvalAwaitPromise

// forgive takes what the browser complains about, with such a text, as meant, and waits for that.
func (p *page) forgive(text string) {
	p.t.Helper()
	for {
		p.mutex.Lock()
		before := len(p.complaints)
		p.complaints = slices.DeleteFunc(p.complaints, func(c string) bool { return strings.Contains(c, text) })
		after := len(p.complaints)
		p.mutex.Unlock()
		if after < before {
			return
		}
		select { // it may say so a little later
		case <-p.Done():
			p.t.Fatalf("the browser does not complain that something %s", text)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
