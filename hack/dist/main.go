// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command dist packs the command capkit for people without Go; make dist calls it. It writes archives, bills of materials, a manifest for
// krew, and checksums into the folder given by -o, and prints the names of the files.
//
// goreleaser is not used, because it leaves bills of materials to syft, another program, which must be downloaded first. Everything packed
// here comes from this repository and Go's module proxy, so that anybody can reproduce it.
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
	flags := flag.NewFlagSet("dist", flag.ExitOnError) // libraries register flags in flag.CommandLine
	folder := flags.String("o", "bin/dist", "folder of the archives; what was there before is removed")
	version := flags.String("version", "", "version of the command, without v")
	ldflags := flags.String("ldflags", "", "flags of the linker")
	releases := flags.String("releases", "", "URL below which a release is in a folder of its own, like v1.2.3")
	platforms := archive.Platforms
	flags.Func("platforms", "`platforms` of the archives, with commas between them (default all)", func(list string) (err error) {
		platforms, err = program.ParsePlatforms(archive.Platforms, list)
		return err
	})
	_ = flags.Parse(os.Args[1:]) // exits on errors
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
