// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command images builds the container images of this repository; make images calls it. It writes OCI layouts into the folder given by -o,
// and prints folder, tag and digest of each.
//
// ko is not used, because it needs a base image from a registry or a Docker daemon. These images have no base, and everything in them comes
// from this repository and Go's module proxy, so that anybody can reproduce them.
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

	"github.com/capkit/capkit/hack/images/image"
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
	flags := flag.NewFlagSet("images", flag.ExitOnError) // libraries register flags in flag.CommandLine
	folder := flags.String("o", "bin/images", "folder of the layouts")
	version := flags.String("version", "", "version of the images, without v")
	ldflags := flags.String("ldflags", "", "flags of the linker")
	platforms := image.Platforms
	flags.Func("platforms", "`platforms` of the images, with commas between them (default all)", func(list string) (err error) {
		platforms, err = program.ParsePlatforms(image.Platforms, list)
		return err
	})
	_ = flags.Parse(os.Args[1:]) // exits on errors
	if *version == "" || flags.NArg() > 0 {
		return errors.New("usage: images -version VERSION [-ldflags FLAGS] [-platforms PLATFORM,...] [-o FOLDER]")
	}
	created, err := program.Created(ctx)
	if err != nil {
		return err
	}
	revision := program.Revision(ctx)
	images := image.All()
	for i := range images {
		images[i].Version, images[i].Created, images[i].Revision = *version, created, revision
	}
	digests, err := image.Make(ctx, ".", *ldflags, *folder, images, platforms)
	if err != nil {
		return err
	}
	for i, d := range images {
		fmt.Printf("%s:%s %s\n", filepath.Join(*folder, d.Name), d.Tag(), digests[i])
	}
	return nil
}
