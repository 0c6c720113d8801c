// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command garden starts and stops a garden for interactive use, in the background, in bin/garden: make up, make down. Run it from the root
// of the repository.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

// folder has all files of the garden. Removing it also stops the garden.
const folder = "bin/garden"

const usage = `usage: go run ./hack/garden up [TYPE] | down | demo [TYPE] | demo-reserved

up             start a garden with an admission component in the background, and say how to use it
down           stop it
demo           start a garden, show what admission does, and stop it again
demo-reserved  the same for what worker pools ask for, on a Gardener that accepts its own capabilities in CloudProfiles

TYPE is the provider type of the admission component: openstack, which is the default, or another one.
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
	commands := map[string]func(context.Context, extension.Component) error{"up": up, "down": down, "demo": demo, "demo-reserved": demoReserved}
	if len(args) == 0 || len(args) > 2 || commands[args[0]] == nil {
		fmt.Fprint(os.Stderr, usage)
		return errors.New("one command, please")
	}
	c := extension.OpenStack
	if len(args) == 2 {
		component, found := components.Of(args[1])
		if !found {
			return fmt.Errorf("there is no admission component for provider type %q; there are those for %s",
				args[1], strings.Join(components.Types(), ", "))
		}
		c.Component = component
	}
	return commands[args[0]](ctx, c)
}

// up starts a garden, unless one is running. If it fails or is interrupted, only the logs are left.
func up(ctx context.Context, c extension.Component) error {
	switch g, err := garden.Open(ctx, folder); {
	case err == nil:
		fmt.Println("A garden is running already.")
		return explain(ctx, g)
	case !errors.Is(err, garden.ErrNotRunning):
		return err
	}
	path, err := c.Build(ctx)
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
	if err := settle(ctx, g, c, path); err != nil {
		return errors.Join(err, g.Stop())
	}
	fmt.Printf("A garden is ready, after %.0f seconds.\n", time.Since(begin).Seconds())
	return explain(ctx, g)
}

// settle creates the project of the examples, installs the charts, and detaches the garden with the admission component, which then keeps
// running. It waits until the component is ready.
func settle(ctx context.Context, g *garden.Garden, c extension.Component, program string) error {
	if err := project(ctx, g, c); err != nil {
		return err
	}
	installation, err := c.Install(ctx, g)
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
	return c.WaitUntilInstalled(ctx, g)
}

// explain prints how to use a garden, and its installed components.
func explain(ctx context.Context, g *garden.Garden) error {
	fmt.Printf("\n  export KUBECONFIG=%s\n  export PATH=%s:$PATH   # for kubectl\n", g.Kubeconfig(), filepath.Dir(g.Binary("kubectl")))
	var installed []string
	for _, c := range components.All() {
		err := g.Client().Get(ctx, client.ObjectKey{Name: c.Name()}, &admissionregistrationv1.ValidatingWebhookConfiguration{})
		if apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return err
		}
		installed = append(installed, c.Short())
		folder := "example/" + chart.ManifestFolder(c)
		fmt.Printf("  kubectl apply -f %scloudprofile.yaml -f %sshoot.yaml\n", folder, folder)
		if c == components.OpenStack {
			fmt.Println("  kubectl apply -f example/broken/provider-flavor-missing.yaml")
		}
	}
	fmt.Printf(`
The %s is installed, and there is a project, demo, for the Shoots of the
examples. The logs are in %s. To stop it: make down
`, strings.Join(installed, " and the "), g.Logs())
	return nil
}

// down stops the garden, if there is one.
func down(ctx context.Context, _ extension.Component) error {
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
