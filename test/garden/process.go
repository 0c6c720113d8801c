// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"context"

	"github.com/capkit/capkit/test/garden/internal/process"
)

// Process is a process beside the garden: Signal, Kill, Wait, Stop, Pid and Done.
type Process = process.Process

// ProcessOptions say what to start: Path, Args, Env (added to that of this process) and LogFile.
type ProcessOptions = process.Options

// StartProcess starts a program that cannot outlive this process, however this process ends. KUBECONFIG is set for it,
// unless Env sets it. When ctx ends, it is asked to end (SIGTERM), and killed if it does not within a minute; when the
// garden stops it is stopped before.
func (g *Garden) StartProcess(ctx context.Context, o ProcessOptions) (*Process, error) {
	o.Env = append([]string{"KUBECONFIG=" + g.Kubeconfig()}, o.Env...)
	p, err := process.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.processes = append(g.processes, p)
	return p, nil
}

// Launch starts a program beside no garden. It cannot outlive this process either, and is asked to end when ctx ends.
func Launch(ctx context.Context, o ProcessOptions) (*Process, error) { return process.Start(ctx, o) }
