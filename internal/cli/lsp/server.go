// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/creachadair/jrpc2"
	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/lsp/protocol"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/lsp/workspace"
	"github.com/capkit/capkit/internal/cli/report"
)

// Command returns the command lsp.
func Command(c *command.Call) *cobra.Command {
	var stdio bool
	s := &server{call: c}
	cmd := &cobra.Command{
		Use:        "lsp",
		SuggestFor: []string{"language-server", "languageserver", "serve"},
		Short:      "Run a language server for an editor: findings, repairs, completion and explanations",
		Long: `Runs a language server for CloudProfiles, NamespacedCloudProfiles and Shoots in YAML and JSON. An editor starts it, and talks to it
over standard input and output by the Language Server Protocol.

In the editor it reports what lint reports about the files of the workspace, unsaved text included; it offers the repairs of
lint --fix; it completes capabilities, their values, regions, zones, machine types, images and rules; it shows what explain says
at machine types, images and flavors; and it leads from a core flavor to the provider's and back, and from a Shoot to its profile.

A .capkit.yaml applies to the files in its folder, as it does for lint. docs/commands/lsp.md has the settings of editors.`,
		Example: "  capkit lsp",
		Args:    command.NoFiles("lsp takes no FILE: the editor that starts it says what is open"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "use standard input and output, as without the flag; some editors add it")
	return cmd
}

// server answers the requests of one editor.
type server struct {
	call *command.Call
	rpc  *jrpc2.Server
	// exited receives the result of the command: nil after an exit that follows a shutdown.
	exited chan error
	work   *workspace.Workspace

	// logging guards the log.
	logging sync.Mutex
	// mutex guards the following fields.
	mutex    sync.Mutex
	state    state
	encoding text.Encoding
	// watches reports whether the editor can watch files for servers.
	watches bool
}

// state is the stage of the session.
type state int

const (
	unborn state = iota
	ready
	down
)

// concurrent bounds the requests that are answered at once. Most of them wait for the same check.
const concurrent = 64

// run serves until the editor sends exit or disappears.
func (s *server) run(ctx context.Context) error {
	s.exited = make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	s.encoding = text.UTF16
	s.work = workspace.New(&workspace.Editor{
		Call: s.call, Log: s.log, Failed: s.failed, Counting: s.counting,
		Notify: func(ctx context.Context, method string, params any) error { return s.rpc.Notify(ctx, method, params) },
	})
	var checking sync.WaitGroup
	checking.Go(func() { s.work.Loop(ctx) })
	defer checking.Wait()
	defer cancel()
	s.rpc = jrpc2.NewServer(s, &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: concurrent, NewContext: func() context.Context { return ctx },
	})
	s.rpc.Start(protocol.NewWire(s.call.Stdin, s.call.Raw))
	gone := make(chan error, 1)
	go func() { gone <- s.rpc.Wait() }()
	select {
	case err := <-s.exited:
		return err
	case err := <-gone:
		select {
		case err := <-s.exited: // just before
			return err
		default:
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("the editor cannot be understood: %w", err)
		}
		s.log("the editor has closed the connection without exit")
		return command.ErrWrong
	}
}

// log writes a line for people. It must not contain text of a manifest.
func (s *server) log(format string, args ...any) {
	s.logging.Lock()
	defer s.logging.Unlock()
	report.Printf(s.call.Stderr, "capkit lsp: "+format+"\n", args...)
}

// failed logs a recovered panic, without details that may come from a manifest.
func (s *server) failed(what string, recovered any) {
	said := fmt.Sprintf("%T", recovered)
	var own runtime.Error
	if err, isError := recovered.(error); isError && errors.As(err, &own) {
		said = own.Error()
	}
	s.log("a mistake in capkit: %s failed: %s", what, said)
	s.logging.Lock()
	defer s.logging.Unlock()
	_, _ = s.call.Stderr.Write(debug.Stack()) // write errors are ignored, as for all text
}

// handlers maps methods to their handlers. A nil answer becomes null.
var handlers = map[string]func(s *server, ctx context.Context, r *jrpc2.Request) (any, error){
	"exit":        (*server).exit,
	"initialized": (*server).watch,
	"$/cancelRequest": with(func(s *server, _ context.Context, p protocol.CancelParams) (any, error) {
		s.rpc.CancelRequest(string(p.ID))
		return nil, nil
	}),
	"workspace/didChangeWorkspaceFolders": with(func(s *server, _ context.Context, p protocol.FoldersParams) (any, error) {
		return nil, s.work.Folders(p.Event.Added, p.Event.Removed)
	}),
	"workspace/didChangeWatchedFiles":  (*server).look,
	"workspace/didChangeConfiguration": (*server).look,
	"textDocument/didSave":             (*server).look,
	"textDocument/didOpen": with(func(s *server, _ context.Context, p protocol.DocumentParams) (any, error) {
		return nil, s.work.Open(&p)
	}),
	"textDocument/didChange": with(func(s *server, _ context.Context, p protocol.DocumentParams) (any, error) {
		return nil, s.work.Change(&p, s.counting())
	}),
	"textDocument/didClose": with(func(s *server, _ context.Context, p protocol.DocumentParams) (any, error) {
		return nil, s.work.Close(&p)
	}),

	"textDocument/completion": with((*server).completion),
	"textDocument/hover":      with((*server).hover),
	"textDocument/definition": with((*server).definition),
	"textDocument/codeAction": with(func(s *server, ctx context.Context, p protocol.ActionParams) (any, error) {
		return s.work.Actions(ctx, p)
	}),
}

func (s *server) look(context.Context, *jrpc2.Request) (any, error) { return nil, s.work.Look() }

// with returns a handler that decodes the parameters of a request for do.
func with[P any](do func(*server, context.Context, P) (any, error)) func(*server, context.Context, *jrpc2.Request) (any, error) {
	return func(s *server, ctx context.Context, r *jrpc2.Request) (any, error) {
		var params P
		if err := r.UnmarshalParams(&params); err != nil {
			return nil, jrpc2.Errorf(jrpc2.InvalidParams, "the parameters of %s cannot be read", r.Method())
		}
		return do(s, ctx, params)
	}
}

// Assign returns the handler of a method, or nil if there is none; then the editor gets an error.
func (s *server) Assign(_ context.Context, method string) jrpc2.Handler {
	var do func(*server, context.Context, *jrpc2.Request) (any, error)
	state := s.is() // requests are assigned in order, so concurrent answers cannot change it
	switch method {
	case "shutdown":
		s.shutdown()
		do = func(*server, context.Context, *jrpc2.Request) (any, error) { return nil, nil }
	case "initialize":
		do = with((*server).initialize)
	default:
		if do = handlers[method]; do == nil && state == ready {
			return nil
		}
	}
	return func(ctx context.Context, r *jrpc2.Request) (answer any, err error) {
		defer func() {
			if recovered := recover(); recovered != nil {
				s.failed(method, recovered)
				answer, err = nil, jrpc2.Errorf(jrpc2.InternalError, "a mistake in capkit: the log has more")
			}
			if r.IsNotification() { // it has no answer, but package jrpc2 would send some errors
				err = nil
			}
		}()
		switch {
		case method == "initialize" || method == "exit":
		case state == unborn:
			return nil, jrpc2.Errorf(protocol.CodeNotInitialized, "%s before initialize", method)
		case state == down:
			return nil, jrpc2.Errorf(jrpc2.InvalidRequest, "%s after shutdown", method)
		}
		return do(s, ctx, r)
	}
}

func (s *server) is() state {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.state
}

// counting returns the editor's encoding of positions.
func (s *server) counting() text.Encoding {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.encoding
}

func (s *server) initialize(_ context.Context, p protocol.InitializeParams) (any, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.state != unborn {
		return nil, jrpc2.Errorf(jrpc2.InvalidRequest, "initialize was sent before")
	}
	s.state = ready
	if slices.Contains(p.Capabilities.General.PositionEncodings, text.UTF8) {
		s.encoding = text.UTF8
	}
	s.watches = p.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	if len(p.WorkspaceFolders) == 0 && p.RootURI != "" {
		p.WorkspaceFolders = []protocol.WorkspaceFolder{{URI: p.RootURI}}
	}
	if err := s.work.Folders(p.WorkspaceFolders, nil); err != nil {
		return nil, err
	}
	return map[string]any{
		"capabilities": map[string]any{
			"positionEncoding":   s.encoding,
			"textDocumentSync":   map[string]any{"openClose": true, "change": 2, "save": true},
			"completionProvider": map[string]any{"triggerCharacters": []string{":", " ", "-", "[", ",", `"`}},
			"hoverProvider":      true,
			"definitionProvider": true,
			"codeActionProvider": map[string]any{"codeActionKinds": []string{workspace.KindQuickFix, workspace.KindFixAll}},
			"workspace":          map[string]any{"workspaceFolders": map[string]any{"supported": true, "changeNotifications": true}},
		},
		"serverInfo": map[string]string{"name": "capkit", "version": s.call.Versions().Version},
	}, nil
}

// watch requests notifications from the editor about changed files.
func (s *server) watch(ctx context.Context, _ *jrpc2.Request) (any, error) {
	s.mutex.Lock()
	watches := s.watches
	s.mutex.Unlock()
	if !watches {
		return nil, nil
	}
	watchers := []map[string]string{{"globPattern": "**/*.{yaml,yml,json}"}, {"globPattern": "**/.capkit{.yaml,ignore}"}}
	go func() { // the answer arrives after this notification has been handled
		_, err := s.rpc.Callback(ctx, "client/registerCapability", map[string]any{"registrations": []any{map[string]any{
			"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": map[string]any{"watchers": watchers},
		}}})
		if err != nil && ctx.Err() == nil {
			s.log("the editor does not watch files: %s", err.Error())
		}
	}()
	return nil, nil
}

// shutdown prepares for an exit.
func (s *server) shutdown() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.state == ready {
		s.state = down
	}
}

// exit ends the command, with an error unless a shutdown came before.
func (s *server) exit(context.Context, *jrpc2.Request) (any, error) {
	err := command.ErrWrong
	if s.is() == down {
		err = nil
	}
	select {
	case s.exited <- err:
	default: // said before
	}
	return nil, nil
}
