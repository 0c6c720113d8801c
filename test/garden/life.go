// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/capkit/capkit/test/garden/internal/protocol"
)

// session makes the server the leader of a session, apart from the terminal of its parent.
func session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Logs is the folder of the log files: gardener.log (API server and controller manager), kube-apiserver.log, etcd.log,
// and one for each program of the options.
func (g *Garden) Logs() string { return filepath.Join(g.folder, protocol.Logs) }

func (g *Garden) serverLog() string { return filepath.Join(g.Logs(), protocol.ServerLog) }

// LogTail returns the last lines of gardener.log. It is empty if there is none.
func (g *Garden) LogTail(lines int) string {
	content, err := os.ReadFile(g.serverLog())
	if err != nil {
		return ""
	}
	all := strings.SplitAfter(strings.TrimSuffix(string(content), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// isLocked tells whether a process holds the lock of an open file.
func isLocked(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
}

// waitUntilGone waits until no process of the garden is left.
func waitUntilGone(alive *os.File) error {
	for range 100 {
		if locked, err := isLocked(alive); !locked || err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("a process of the garden is left: fuser %s shows which", alive.Name())
}
