// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command server is a garden in one process: the API server and the controller manager of Gardener, with etcd and
// kube-apiserver as its children. It is started by package garden only, and ends with its parent, see package protocol.
//
// It is a process of its own, not a part of the tests, for three reasons: Gardener's components have global state and
// log to standard error; the tests need not be linked with them; and whatever happens to a test, this process is still
// there to tidy up.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/capkit/capkit/test/garden/internal/protocol"
)

// The children are to be killed when their parent dies, and by that Linux means the thread that started them. All are
// started by the main goroutine, which stays on the main thread, and that one lives as long as the process.
func init() { runtime.LockOSThread() }

func main() {
	stdin := bufio.NewReader(os.Stdin)
	config, err := readConfig(stdin)
	if err == nil {
		err = serve(config, stdin)
	} else {
		reply(protocol.Reply{Error: err.Error()})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "garden:", err)
		os.Exit(1)
	}
}

func readConfig(stdin *bufio.Reader) (protocol.Config, error) {
	var config protocol.Config
	line, err := stdin.ReadBytes('\n')
	if err != nil {
		return config, fmt.Errorf("this program is started by package garden, with a line of JSON as its input: %w", err)
	}
	if err := json.Unmarshal(line, &config); err != nil {
		return config, err
	}
	if !filepath.IsAbs(config.Folder) || !filepath.IsAbs(config.Assets) {
		return config, fmt.Errorf("folder %q and assets %q must be absolute paths", config.Folder, config.Assets)
	}
	return config, nil
}

// serve runs a garden until it is told to stop. The reply is written in any case.
func serve(config protocol.Config, stdin *bufio.Reader) (err error) {
	locks, err := lock(config.Folder)
	if err != nil {
		reply(protocol.Reply{Error: err.Error(), Running: errors.Is(err, errRunning)})
		return err
	}
	defer locks.release()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer func() {
		// A parent that lives will want to read the log of what has failed, and removes the folder itself.
		if config.Remove && ctx.Err() != nil {
			err = errors.Join(err, os.RemoveAll(config.Folder))
		}
	}()
	programs := make(chan []protocol.Program)
	go func() { cancel(waitForEnd(stdin, programs)) }()
	go func() { cancel(waitForRemoval(ctx, config.Folder)) }()

	g, err := start(ctx, config)
	if err != nil {
		reply(protocol.Reply{Error: err.Error()})
		return errors.Join(err, g.stop())
	}
	reply(protocol.Reply{})
	return errors.Join(g.wait(ctx, programs), g.stop())
}

// reply answers the parent. That it may be gone already is not an error: the input has ended then, too.
func reply(r protocol.Reply) {
	_ = json.NewEncoder(os.Stdout).Encode(r)
	_ = os.Stdout.Close()
}
