// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestProcess(t *testing.T) {
	g := &Garden{folder: t.TempDir()} // it need not be running
	log := filepath.Join(t.TempDir(), "log")
	script := `trap "echo asked; exit 3" TERM; echo started; while :; do sleep 0.01; done`
	p, err := g.StartProcess(t.Context(), ProcessOptions{Path: "sh", Args: []string{"-c", script}, LogFile: log})
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
