// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command garden starts and stops a garden for people, in the background, in bin/garden. Run it from the root of the
// repository: make up, make down.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

// folder is where everything of the garden is. Removing it stops the garden, too.
const folder = "bin/garden"

const usage = `usage: go run ./hack/garden up | down | demo

up    start a garden with the admission component in the background, and say how to use it
down  stop it
demo  start a garden, show what admission does, and stop it again
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "garden:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	commands := map[string]func(context.Context) error{"up": up, "down": down, "demo": demo}
	if len(args) != 1 || commands[args[0]] == nil {
		fmt.Fprint(os.Stderr, usage)
		return errors.New("one command, please")
	}
	return commands[args[0]](ctx)
}

// up starts a garden, unless there is one. If it fails, or is interrupted, nothing of the garden is left but its logs.
func up(ctx context.Context) error {
	switch g, err := garden.Open(ctx, folder); {
	case err == nil:
		fmt.Println("A garden is running already.")
		explain(g)
		return nil
	case !errors.Is(err, garden.ErrNotRunning):
		return err
	}
	path, err := extension.Build(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "starting etcd, kube-apiserver, gardener-apiserver and gardener-controller-manager")
	begin := time.Now()
	g, err := garden.Start(ctx, garden.Options{Folder: folder})
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return fmt.Errorf("%w; what was started is stopped again", err)
	}
	if err != nil {
		return err
	}
	if err := settle(ctx, g, path); err != nil {
		return errors.Join(err, g.Stop())
	}
	fmt.Printf("A garden is ready, after %.0f seconds.\n", time.Since(begin).Seconds())
	explain(g)
	return nil
}

// settle creates the project of the examples, installs the charts, lets the garden live on with the admission component, and
// waits for that.
func settle(ctx context.Context, g *garden.Garden, program string) error {
	if err := project(ctx, g); err != nil {
		return err
	}
	installation, err := extension.Install(ctx, g)
	if err != nil {
		return err
	}
	replica, err := installation.New(program)
	if err != nil {
		return err
	}
	if err := g.Detach(replica.Program()); err != nil {
		return err
	}
	if err := replica.WaitUntilReady(ctx); err != nil {
		return err
	}
	return extension.WaitUntilInstalled(ctx, g)
}

func explain(g *garden.Garden) {
	fmt.Printf(`
  export KUBECONFIG=%s
  export PATH=%s:$PATH   # for kubectl
  kubectl apply -f example/cloudprofile.yaml -f example/shoot.yaml
  kubectl apply -f example/broken/provider-flavor-missing.yaml

The admission component of the OpenStack extension is installed, and there is a project, demo, for the Shoots of the
examples. The logs are in %s. To stop it: make down
`, g.Kubeconfig(), filepath.Dir(g.Binary("kubectl")), g.Logs())
}

// down stops the garden, and is content if there is none.
func down(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	running, err := garden.StopFolder(ctx, folder)
	if err != nil {
		return err
	}
	if !running {
		fmt.Println("No garden is running.")
		return nil
	}
	fmt.Println("The garden is stopped, and all its processes are gone.")
	return nil
}
