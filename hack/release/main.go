// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command release does the steps of a release that change or write files. hack/release.sh calls it; docs/releasing.md explains it. Run it
// from the root of the repository:
//
//	release prepare -version 1.2.3 -next 1.3.0-dev -date 2026-12-01
//	                                                  checks, then writes CHANGELOG, VERSION and the go.mod files
//	release sums -version 1.2.3                       writes the sums of the modules of HEAD into cmd/go.sum
//	release pack -version 1.2.3 -registry R           collects what make dist, images and charts have made
//	release next -version 1.3.0-dev                   begins the next version
//
// A step either writes everything, or reports all errors and writes nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// options are the flags of the steps.
type options struct{ version, next, date, registry, folder string }

func run(ctx context.Context, args []string) error {
	steps := map[string]func(context.Context, options) error{"prepare": prepare, "sums": sums, "pack": pack, "next": next}
	if len(args) == 0 || steps[args[0]] == nil {
		return errors.New("usage: release prepare|sums|pack|next -version VERSION [-next VERSION] [-date DATE] [-registry REGISTRY] [-o FOLDER]")
	}
	flags := flag.NewFlagSet("release "+args[0], flag.ExitOnError)
	var o options
	flags.StringVar(&o.version, "version", "", "the version, without v")
	flags.StringVar(&o.next, "next", "", "the version after it, which is begun at the end")
	flags.StringVar(&o.date, "date", "", "the date of the release, as YYYY-MM-DD")
	flags.StringVar(&o.registry, "registry", "", "where images and charts are going to be")
	flags.StringVar(&o.folder, "o", "bin/release", "folder of what is published")
	_ = flags.Parse(args[1:]) // exits on errors
	if flags.NArg() > 0 {
		return fmt.Errorf("release %s takes no arguments but flags: %q", args[0], flags.Args())
	}
	return steps[args[0]](ctx, o)
}

// output runs a command in a folder, with additional environment variables, and returns its standard output. An error includes both
// outputs.
func output(ctx context.Context, folder string, env []string, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir, command.Env = folder, append(os.Environ(), env...)
	var said strings.Builder
	command.Stderr = &said
	content, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, content, said.String())
	}
	return strings.TrimSpace(string(content)), nil
}

// replace reads a file, and returns a function that writes the changed text.
func replace(file string, change func(text string) (string, error)) (write func() error, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	changed, err := change(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return func() error { return os.WriteFile(file, []byte(changed), 0o644) }, nil
}
