// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package program compiles the commands of this repository for images and archives, and lists the modules that are linked into them. The
// programs are reproducible: they depend only on the sources and the version of Go.
package program

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// ParsePlatforms returns the known platforms in a list like linux/amd64,linux/arm64, in the order of known. It returns an error if the list
// has an unknown one.
func ParsePlatforms(known []v1.Platform, list string) ([]v1.Platform, error) {
	names := strings.Split(list, ",")
	all := make([]string, len(known))
	var chosen []v1.Platform
	for i, platform := range known {
		all[i] = platform.String()
		if slices.Contains(names, all[i]) {
			chosen = append(chosen, platform)
		}
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("platform %q is not one of %s", name, strings.Join(all, ", "))
		}
	}
	return chosen, nil
}

// Path returns the path of a program for a platform, in the folder programs.
func Path(programs string, platform v1.Platform, name string) string {
	return filepath.Join(programs, platform.OS+"-"+platform.Architecture, name)
}

// Compile builds the packages ./cmd/NAME of the repository root for a platform, into [Path] below the folder programs. Programs are static,
// and do not depend on root: they contain neither paths nor the state of version control. ldflags are additional flags of the linker. The
// symbol table, a third of a program, is omitted; stack traces do not need it.
//
// A root with a go.work is built as that workspace, because the modules of a release require each other in a version that is not published
// yet. Also, packages are then compiled once for tests and programs.
//
// All commands are built in one run, so that their common packages, which are nearly all, are processed once.
func Compile(ctx context.Context, root, ldflags, programs string, platform v1.Platform, names ...string) error {
	folder, err := filepath.Abs(filepath.Dir(Path(programs, platform, "any")))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w "+ldflags, "-o", folder)
	for _, name := range names {
		build.Args = append(build.Args, "./"+name)
	}
	build.Dir, build.Stdout, build.Stderr = filepath.Join(root, "cmd"), os.Stderr, os.Stderr
	workspace, err := filepath.Abs(filepath.Join(root, "go.work"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(workspace); err != nil {
		workspace = "off"
	}
	// Settings of the user for other builds must have no effect, including those of go env -w, which apply where a variable is empty: Read
	// detects an experiment. GOGC speeds up the compiler, as in the Makefile.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false -gcflags=all=-dwarf=false", "GOGC=400",
		"GOWORK="+workspace, "GOEXPERIMENT=", "GOFIPS140=off", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	if err := build.Run(); err != nil {
		return fmt.Errorf("building %s for %s: %w", strings.Join(names, ", "), platform, err)
	}
	return nil
}

// Read returns the content of a program. It returns an error if the program is not built for the platform with the settings of Compile,
// which would otherwise be noticed only where the program runs.
func Read(name string, platform v1.Platform) ([]byte, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	settings := make(map[string]string, len(info.Settings))
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	for key, want := range map[string]string{
		"GOOS": platform.OS, "GOARCH": platform.Architecture, "CGO_ENABLED": "0", "-trimpath": "true", "GOEXPERIMENT": "",
	} {
		if settings[key] != want {
			return nil, fmt.Errorf("%s is built with %s=%s, not %s", name, key, settings[key], cmp.Or(want, "without"))
		}
	}
	return content, nil
}
