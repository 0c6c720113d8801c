// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/capkit/capkit/test/garden/internal/protocol"
)

// Logs is the folder of the log files: gardener.log (API server and controller manager), kube-apiserver.log, etcd.log,
// and one for each program of the options.
func (g *Garden) Logs() string { return filepath.Join(g.folder, protocol.Logs) }

func (g *Garden) serverLog() string { return filepath.Join(g.Logs(), protocol.ServerLog) }

// logTail returns the last lines of gardener.log. It is empty if there is none.
func (g *Garden) logTail(lines int) string {
	content, err := os.ReadFile(g.serverLog())
	if err != nil {
		return ""
	}
	all := strings.SplitAfter(strings.TrimSuffix(string(content), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// Detach lets the garden live on when this process ends, until somebody calls Stop, or StopFolder. With it live
// programs, which it starts now, in this order, and stops before it stops itself. KUBECONFIG is set for them. Whether
// they start well is for the caller to find out; for a program that a test stops itself there is StartProcess. It
// detaches once: another call does nothing.
func (g *Garden) Detach(programs ...Program) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.detached {
		return nil
	}
	if err := json.NewEncoder(g.life).Encode(protocol.Detach{Programs: programs}); err != nil {
		return err
	}
	g.detached, g.temporary = true, false
	err := g.life.Close()
	g.life = nil
	return err
}

// Open returns the garden that runs in a folder and was detached by the process which started it. To stop it is for
// this process as good as for any other. The error is ErrNotRunning if there is none.
func Open(ctx context.Context, folder string) (*Garden, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	server, err := findServer(folder)
	if err != nil {
		return nil, err
	}
	g := &Garden{folder: folder, detached: true}
	g.stop = sync.OnceValue(g.stopAll)
	if _, err := os.Stat(g.Kubeconfig()); server == nil || errors.Is(err, os.ErrNotExist) {
		return nil, ErrNotRunning
	}
	if g.assets, err = buildControlPlane(ctx, os.Stderr); err != nil {
		return nil, err
	}
	if err := g.connect(); err != nil {
		return nil, err
	}
	g.alive, err = os.Open(filepath.Join(folder, protocol.Alive))
	return g, err
}

// StopFolder stops the garden in a folder, however it was started, and waits until every process of it is gone. It
// reports whether there was one. The folder stays. When ctx ends, the garden is killed.
func StopFolder(ctx context.Context, folder string) (running bool, err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return false, err
	}
	alive, err := os.Open(filepath.Join(folder, protocol.Alive))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer alive.Close()
	running, err = stopFolder(ctx, folder)
	return running, errors.Join(err, waitUntilGone(alive))
}

// stopFolder stops the server, whose children end with it at the latest.
func stopFolder(ctx context.Context, folder string) (running bool, err error) {
	server, err := findServer(folder)
	if server == nil || err != nil {
		return false, err
	}
	if err := server.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return true, err
	}
	for {
		if again, err := findServer(folder); again == nil || err != nil {
			return true, err
		}
		select {
		case <-ctx.Done():
			return true, errors.Join(errors.New("the server of the garden did not stop, and was killed"), server.Kill())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// findServer returns the process of the server in a folder, or nil if there is none. It cannot be another process that
// has got its id: the server holds its lock still after the process was looked up.
func findServer(folder string) (*os.Process, error) {
	file, err := os.Open(filepath.Join(folder, protocol.Lock))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	pid, err := protocol.Owner(file)
	if pid == 0 || err != nil {
		return nil, err
	}
	server, err := os.FindProcess(pid)
	if err != nil {
		return nil, err
	}
	if again, err := protocol.Owner(file); again != pid || err != nil {
		return nil, err
	}
	return server, nil
}

// waitUntilGone waits until no process of the garden is left: until nobody holds the lock of an open file.
func waitUntilGone(alive *os.File) error {
	for range 200 {
		err := syscall.Flock(int(alive.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		if err == nil {
			return syscall.Flock(int(alive.Fd()), syscall.LOCK_UN)
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("a process of the garden is left: fuser %s shows which", alive.Name())
}
