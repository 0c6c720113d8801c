// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command images makes the container images of this repository; make images calls it. Its images are OCI layouts, in the
// folder given by -o; for each it prints folder, tag and digest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/hack/images/image"
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
	flags := flag.NewFlagSet("images", flag.ExitOnError) // libraries have flags of their own in flag.CommandLine
	folder := flags.String("o", "bin/images", "folder of the layouts")
	version := flags.String("version", "", "version of the images, without v")
	ldflags := flags.String("ldflags", "", "flags of the linker")
	platforms := image.Platforms
	flags.Func("platforms", "`platforms` of the images, with commas between them (default all)", func(list string) (err error) {
		platforms, err = image.ParsePlatforms(list)
		return err
	})
	_ = flags.Parse(os.Args[1:]) // it exits
	if *version == "" || flags.NArg() > 0 {
		return errors.New("usage: images -version VERSION [-ldflags FLAGS] [-platforms PLATFORM,...] [-o FOLDER]")
	}
	created, err := created(ctx)
	if err != nil {
		return err
	}
	// Without git, from a source archive, the revision is not known.
	revision, _ := git(ctx, "describe", "--always", "--dirty", "--match=", "--abbrev=40")
	var images []image.Description
	for _, c := range components.All() {
		images = append(images, image.Of(c))
	}
	for _, c := range components.Controllers() {
		images = append(images, image.OfController(c))
	}
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

// created returns the time that the environment variable SOURCE_DATE_EPOCH says, or that of the commit.
func created(ctx context.Context) (time.Time, error) {
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		var err error
		if seconds, err = git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, fmt.Errorf("the time of the images; without git, set SOURCE_DATE_EPOCH to seconds since 1970: %w", err)
		}
	}
	number, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(number, 0), nil
}

func git(ctx context.Context, args ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "git", args...).Output()
	return strings.TrimSpace(string(output)), err
}
