// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capkit/capkit/test/garden/internal/protocol"
)

func TestNoProcessIsLeftBehind(t *testing.T) {
	signals := map[string]os.Signal{
		"killed": syscall.SIGKILL, "killed while starting": syscall.SIGKILL, "interrupted": syscall.SIGINT, "panic": nil,
	}
	for how, signal := range signals {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+how, childFolderEnv+"="+folder)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill() }()
			if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" && line != "starting\n" {
				t.Fatal(line, err)
			}
			if how == "killed while starting" {
				waitFor(t, "etcd starts", func() bool { return slices.Contains(names(processes(t, folder)), "etcd") })
			} else if running := names(processes(t, folder)); len(running) < 4 && signal != nil {
				t.Errorf("only %v are running", running)
			}
			if signal != nil {
				if err := cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait()
			waitUntilNone(t, folder)
		})
	}
}

func TestWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	folder := start(t).Folder()
	server, err := findServer(folder)
	if server == nil || err != nil {
		t.Fatal(server, err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	waitUntilNone(t, folder)

	// Another garden can start in its folder, and stops when the folder is removed.
	again, err := Start(t.Context(), Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Kubectl(t.Context(), "get", "projects"); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	waitUntilNone(t, folder)
	if err := again.Stop(); err != nil {
		t.Error(err)
	}
}

func TestAGardenThatIsDetached(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	if _, err := Open(ctx, t.TempDir()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("open: %v", err)
	}
	started := start(t)
	folder := started.Folder()
	if _, err := Start(ctx, Options{Folder: folder}); !errors.Is(err, ErrRunning) {
		t.Errorf("start it twice: %v", err)
	}
	program := Program{Name: "program", Path: "/bin/sh", Args: []string{"-c", "echo $KUBECONFIG $FRUIT; exec sleep 1000"}, Env: []string{"FRUIT=plum"}}
	if err := started.Detach(program); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the program has started", func() bool { return slices.Contains(names(processes(t, folder)), "sleep") })
	g, err := Open(ctx, folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.NewProject(ctx, "detached"); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(filepath.Join(g.Logs(), "program.log")); string(content) != g.Kubeconfig()+" plum\n" {
		t.Errorf("the program says %q, %v", content, err)
	}
	for _, want := range []bool{true, false} {
		if running, err := StopFolder(ctx, folder); running != want || err != nil {
			t.Errorf("stop: %t, %v", running, err)
		}
	}
	for _, g := range []*Garden{started, g} {
		if err := errors.Join(g.Stop(), g.Stop()); err != nil {
			t.Error(err)
		}
	}
	if left := processes(t, folder); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestStartThatIsInterrupted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil && !slices.Contains(names(processes(t, folder)), "etcd") {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := Start(ctx, Options{Folder: folder}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if left := processes(t, folder); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// found is a process that uses a folder.
type found struct{ pid, name string }

// processes returns all other processes that have a file open in a folder, or name it in their arguments. It asks the
// kernel instead of the code under test.
func processes(t *testing.T, folder string) []found {
	t.Helper()
	pids, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Error(err)
	}
	var result []found
	for _, pid := range pids {
		if filepath.Base(pid) == fmt.Sprint(os.Getpid()) {
			continue
		}
		arguments, _ := os.ReadFile(filepath.Join(pid, "cmdline")) // a process may end at any time
		use := []string{string(arguments)}
		files, _ := filepath.Glob(filepath.Join(pid, "fd", "*"))
		for _, file := range files {
			link, _ := os.Readlink(file)
			use = append(use, link)
		}
		if slices.ContainsFunc(use, func(s string) bool { return strings.Contains(s, folder+"/") }) {
			name, _ := os.ReadFile(filepath.Join(pid, "comm"))
			result = append(result, found{filepath.Base(pid), strings.TrimSpace(string(name))})
		}
	}
	return result
}

func names(processes []found) (names []string) {
	for _, p := range processes {
		names = append(names, p.name)
	}
	return names
}

func waitUntilNone(t *testing.T, folder string) {
	t.Helper()
	waitFor(t, "all processes end", func() bool { return len(processes(t, folder)) == 0 })
	// The lock is released, too. It may take longer, because a process closes its files after it has disappeared.
	if file, err := os.Open(filepath.Join(folder, protocol.Alive)); err == nil {
		defer file.Close()
		if err := waitUntilGone(file); err != nil {
			t.Error(err)
		}
	}
}
