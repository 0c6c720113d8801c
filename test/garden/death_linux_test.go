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

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/capkit/capkit/test/garden/internal/protocol"
)

const (
	// childEnv makes this test binary start a garden in the folder childFolderEnv and end in the way that it names.
	childEnv       = "GARDEN_TEST_CHILD"
	childFolderEnv = "GARDEN_TEST_FOLDER"
)

// child is a program that uses a garden and does not stop it.
func child(how string) {
	ctx, folder := context.Background(), os.Getenv(childFolderEnv)
	if how == "killed while starting" {
		fmt.Println("starting")
	}
	g, err := Start(ctx, Options{Folder: folder})
	if err == nil {
		// Something beside the garden that has no reason to end by itself.
		_, err = g.StartProcess(ctx, ProcessOptions{Path: "sleep", Args: []string{"1000"}, LogFile: filepath.Join(folder, "sleep.log")})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	if how == "panic" {
		panic("as the test wants")
	}
	select {}
}

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
	folder := t.TempDir()
	g, err := Start(t.Context(), Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
	}()
	server, err := findServer(folder)
	if server == nil || err != nil {
		t.Fatal(server, err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	waitUntilNone(t, folder)

	// Another one can start in its place, and stops when the folder is removed.
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
	ctx, folder := t.Context(), t.TempDir()
	if _, err := Open(ctx, folder); !errors.Is(err, ErrNotRunning) {
		t.Errorf("open: %v", err)
	}
	program := Program{Name: "program", Path: "/bin/sh", Args: []string{"-c", "echo $KUBECONFIG; exec sleep 1000"}}
	started, err := Start(ctx, Options{Folder: folder, Programs: []Program{program}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(ctx, Options{Folder: folder}); !errors.Is(err, ErrRunning) {
		t.Errorf("start it twice: %v", err)
	}
	if err := started.Detach(); err != nil {
		t.Fatal(err)
	}
	g, err := Open(ctx, folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.NewProject(ctx, "detached"); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(filepath.Join(g.Logs(), "program.log")); string(content) != g.Kubeconfig()+"\n" {
		t.Errorf("the program says %q, %v", content, err)
	}
	if running := names(processes(t, folder)); !slices.Contains(running, "sleep") {
		t.Errorf("%v are running", running)
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

func TestProcess(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	script := `trap "echo asked; exit 3" TERM; echo started; while :; do sleep 0.01; done`
	p, err := shared.StartProcess(t.Context(), ProcessOptions{Path: "sh", Args: []string{"-c", script}, LogFile: log})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "it starts", func() bool { content, _ := os.ReadFile(log); return string(content) == "started\n" })
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	var exit *exec.ExitError
	if err := p.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("wait: %v", err)
	}
	if content, _ := os.ReadFile(log); string(content) != "started\nasked\n" {
		t.Errorf("the log is %q", content)
	}
	if err := errors.Join(p.Stop(t.Context()), p.Kill()); err != nil {
		t.Errorf("stop and kill what has ended: %v", err)
	}
	if err := p.Signal(syscall.SIGHUP); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal what has ended: %v", err)
	}
}

// found is a process that has to do with a folder.
type found struct{ pid, name string }

// processes returns all processes but this one that have a file open in a folder, or name it in their arguments. It asks
// the kernel, not what it is to test.
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
	// The lock says the same. It may come later, since a process gives its files back after it has forgotten them.
	if file, err := os.Open(filepath.Join(folder, protocol.Alive)); err == nil {
		defer file.Close()
		if err := waitUntilGone(file); err != nil {
			t.Error(err)
		}
	}
}

func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return condition(), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
