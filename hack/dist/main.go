// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command dist packs the command capkit for people who have no Go; make dist calls it. In the folder given by -o are then archives,
// what is in each of them, a manifest for krew, and the checksums of all; it prints their names.
//
// goreleaser does not serve here: it leaves bills of materials to syft, another program, which has to be downloaded first. All that is
// packed here comes from this repository and Go's module proxy, so that anybody can build the same bytes again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/capkit/capkit/hack/dist/archive"
	"github.com/capkit/capkit/hack/program"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("dist", flag.ExitOnError) // libraries have flags of their own in flag.CommandLine
	folder := flags.String("o", "bin/dist", "folder of the archives; what was there before is removed")
	version := flags.String("version", "", "version of the command, without v")
	ldflags := flags.String("ldflags", "", "flags of the linker")
	releases := flags.String("releases", "", "URL below which a release is in a folder of its own, like v1.2.3")
	platforms := archive.Platforms
	flags.Func("platforms", "`platforms` of the archives, with commas between them (default all)", func(list string) (err error) {
		platforms, err = program.ParsePlatforms(archive.Platforms, list)
		return err
	})
	_ = flags.Parse(os.Args[1:]) // it exits
	if *version == "" || *releases == "" || flags.NArg() > 0 {
		return errors.New("usage: dist -version VERSION -releases URL [-ldflags FLAGS] [-platforms PLATFORM,...] [-o FOLDER]")
	}
	created, err := program.Created(ctx)
	if err != nil {
		return err
	}
	release := archive.Release{Version: *version, Created: created, Base: *releases}
	names, err := release.Make(ctx, ".", *ldflags, *folder, platforms)
	if err != nil {
		return err
	}
	for _, name := range names {
		fmt.Println(filepath.Join(*folder, name))
	}
	return nil
}
