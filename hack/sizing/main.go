// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command sizing measures what memory and CPU the admission component takes, beside a real Gardener API, and prints the table
// of docs/operators/operations.md: with more and more CloudProfiles of about 1 MiB, and a thousand writes a minute.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

const (
	// perMinute is how many writes there are in a minute.
	perMinute = 1000
	// perProfile is how many of them there are for each one of a CloudProfile, which asks two webhooks. The others are those of
	// Shoots, which ask one.
	perProfile = 50
)

// stages are how many profiles and Shoots there are when something is measured.
var stages = []struct{ profiles, shoots int }{{0, 0}, {1, 0}, {10, 0}, {10, 1000}, {40, 1000}}

func main() {
	duration := flag.Duration("duration", time.Minute, "how long to write at each stage")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *duration)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sizing:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, duration time.Duration) (err error) {
	program, err := extension.Build(ctx)
	if err != nil {
		return err
	}
	g, err := garden.Start(ctx, garden.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	process, err := extension.Run(ctx, g, program)
	if err != nil {
		return err
	}
	config := g.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	writer, err := client.New(config, client.Options{Scheme: g.Client().Scheme()})
	if err != nil {
		return err
	}
	l, err := newLandscape(ctx, g, writer)
	if err != nil {
		return err
	}
	fmt.Println("| CloudProfiles | Shoots | memory at rest | memory under load | CPU under load | slowest write of a Shoot, of a CloudProfile |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, stage := range stages {
		if err := l.grow(ctx, stage.profiles, stage.shoots); err != nil {
			return err
		}
		if err := measure(ctx, l, process.Pid(), duration); err != nil {
			return err
		}
	}
	return nil
}

// measure prints a line of the table.
func measure(ctx context.Context, l *landscape, pid int, duration time.Duration) error {
	time.Sleep(5 * time.Second) // what has arrived is read by then
	process, err := procfs.NewProc(pid)
	if err != nil {
		return err
	}
	before, err := process.Stat()
	if err != nil {
		return err
	}
	begin, most := time.Now(), before.ResidentMemory()
	slow, err := l.write(ctx, duration, func() error {
		now, err := process.Stat()
		most = max(most, now.ResidentMemory())
		return err
	})
	if err != nil {
		return err
	}
	after, err := process.Stat()
	if err != nil {
		return err
	}
	cpu := (after.CPUTime() - before.CPUTime()) / time.Since(begin).Seconds()
	fmt.Printf("| %d of %d KiB | %d | %d MiB | %d MiB | %.0f m | %d ms, %d ms |\n", l.profiles, l.size>>10, l.shoots,
		before.ResidentMemory()>>20, most>>20, 1000*cpu, slow.shoot.Milliseconds(), slow.profile.Milliseconds())
	return nil
}
