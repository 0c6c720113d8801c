// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package image makes container images of the commands of this repository, without a container runtime: it compiles a
// command for each platform, and writes an OCI layout, a folder that any tool for container images can push to a registry.
// The same sources, built with the same version of Go, give the same digests on any machine.
//
// Start with [Make].
package image

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Platforms are those that images can be made for, in the order in which they are in the index.
var Platforms = []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}

// ParsePlatforms returns those of [Platforms] that are in a list like linux/amd64,linux/arm64, in their order.
func ParsePlatforms(list string) ([]v1.Platform, error) {
	names := strings.Split(list, ",")
	known := make([]string, len(Platforms))
	var chosen []v1.Platform
	for i, platform := range Platforms {
		known[i] = platform.String()
		if slices.Contains(names, known[i]) {
			chosen = append(chosen, platform)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("platform %q is not one of %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// Compile builds the packages ./cmd/NAME of the repository root for a platform, into [ProgramPath] below the folder programs.
// Programs are static, and the same wherever root is: neither paths nor the state of the version control are in them. ldflags
// are those of the linker besides; the symbol table, a third of a program, is left out. Stack traces do not need it.
//
// One run of the compiler for all: what they have in common, nearly everything, is looked at once.
func Compile(ctx context.Context, root, ldflags, programs string, platform v1.Platform, names ...string) error {
	folder, err := filepath.Abs(folderFor(programs, platform))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w "+ldflags, "-o", folder)
	for _, name := range names {
		build.Args = append(build.Args, "./cmd/"+name)
	}
	build.Dir, build.Stdout, build.Stderr = root, os.Stderr, os.Stderr
	// What a user may have set for other builds must not show here.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0",
		"GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	if err := build.Run(); err != nil {
		return fmt.Errorf("building %s for %s: %w", strings.Join(names, ", "), platform, err)
	}
	return nil
}
