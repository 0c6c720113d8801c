// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capkit/capkit/test/garden/internal/protocol"
)

var (
	errRunning     = errors.New("a garden runs in this folder already")
	errParentEnded = errors.New("the parent process has ended, or closed the pipe")
	errRemoved     = errors.New("the folder was removed")
)

// waitForEnd returns when the input ends, and not at all if the server is to outlive its parent: then it says which
// programs are to be started.
func waitForEnd(stdin *bufio.Reader, programs chan<- []protocol.Program) error {
	var detach protocol.Detach
	if line, err := stdin.ReadBytes('\n'); err == nil && json.Unmarshal(line, &detach) == nil {
		programs <- detach.Programs
		select {}
	}
	return errParentEnded
}

// waitForRemoval returns when the folder is gone, for example after make clean.
func waitForRemoval(ctx context.Context, folder string) error {
	for {
		if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
			return errRemoved
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// locks are the two signs of life, see package protocol. The kernel releases them however the processes end, and unlike
// a process id in a file they cannot be taken for something else.
type locks struct{ server, alive *os.File }

// lock takes both locks, or fails with errRunning.
func lock(folder string) (*locks, error) {
	server, err := os.OpenFile(filepath.Join(folder, protocol.Lock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if owned, err := protocol.Own(server); !owned || err != nil {
		return nil, errors.Join(errRunning, err, server.Close())
	}
	alive, err := lockAlive(filepath.Join(folder, protocol.Alive))
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &locks{server: server, alive: alive}, nil
}

// lockAlive takes the lock that every process which is started from here on inherits, with the open file. If the server
// before was killed, its children are about to end: they are given some time.
func lockAlive(name string) (*os.File, error) {
	alive, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for range 600 {
		err = syscall.Flock(int(alive.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err == nil {
		_, err = unix.FcntlInt(alive.Fd(), unix.F_SETFD, 0)
	}
	if err == nil {
		return alive, nil
	}
	return nil, errors.Join(fmt.Errorf("lock %s, which a process of an earlier garden may hold: %w", name, err), alive.Close())
}

// release closes both. The kernel would do it at the end of the process, but until then the garbage collector must not.
func (l *locks) release() {
	_ = l.alive.Close()
	_ = l.server.Close()
}
