// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package process starts programs that do not outlive the process which started them, however that one ends.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// grace is how long a process that was asked to end by its context is left to do so.
const grace = time.Minute

// Options say what to start.
type Options struct {
	// Path is the program; a name without a slash is looked up in PATH.
	Path string
	Args []string
	// Env is added to the environment of this process.
	Env []string
	// LogFile receives standard output and standard error, after what is in it already. If it is empty they are dropped.
	LogFile string
}

// Process is a process that was started. Its methods may be called from any goroutine, any number of times, also after
// the process has ended.
type Process struct {
	process *os.Process
	name    string
	done    chan struct{}
	err     error // to be read once done is closed
}

// Start starts a process, which is asked to end (SIGTERM) when ctx ends, and killed if it does not within a minute.
// It runs in a process group of its own: Ctrl-C in a terminal reaches this process only, which decides what to do.
func Start(ctx context.Context, o Options) (*Process, error) {
	cmd := exec.CommandContext(ctx, o.Path, o.Args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	cmd.Env = append(os.Environ(), o.Env...)
	cmd.SysProcAttr = attributes()
	if o.LogFile != "" {
		log, err := os.OpenFile(o.LogFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
	}
	return Run(cmd)
}

// Run starts a command, and gives it the attributes that Start gives. It is for those who need pipes.
func Run(cmd *exec.Cmd) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = attributes()
	}
	p := &Process{name: filepath.Base(cmd.Path), done: make(chan struct{})}
	started := make(chan error)
	// Linux kills the child when the thread that started it ends, not the process. So this goroutine keeps a thread to
	// itself until the child has ended.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	p.process = cmd.Process
	return p, nil
}

// Pid is the process id, which means nothing any more once the process has ended.
func (p *Process) Pid() int { return p.process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends a signal. If the process has ended the error is os.ErrProcessDone.
func (p *Process) Signal(s os.Signal) error { return p.process.Signal(s) }

// Kill kills the process and waits until it is gone. That it had ended before is not an error.
func (p *Process) Kill() error {
	if err := p.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.done
	return nil
}

// Wait waits until the process has ended. The error says how: nil for exit status 0, otherwise an *exec.ExitError.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Stop asks the process to end (SIGTERM), and waits until it has. If ctx ends before, the process is killed, which is an
// error. How the process ended is not: Wait says that.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("%s did not end when asked to, and was killed: %w", p.name, context.Cause(ctx)), p.Kill())
	}
}
