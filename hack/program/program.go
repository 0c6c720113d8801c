// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package program compiles the commands of this repository for images and archives, and says what is linked into them. The same
// sources, built with the same version of Go, give the same programs on any machine.
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

// ParsePlatforms returns those platforms that are in a list like linux/amd64,linux/arm64, in the order of known. It is an
// error to name one that is not known.
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

// Path is where in the folder programs the one of this name for a platform is.
func Path(programs string, platform v1.Platform, name string) string {
	return filepath.Join(programs, platform.OS+"-"+platform.Architecture, name)
}

// Compile builds the packages ./cmd/NAME of the repository root for a platform, into [Path] below the folder programs.
// Programs are static, and the same wherever root is: neither paths nor the state of the version control are in them. ldflags
// are those of the linker besides; the symbol table, a third of a program, is left out. Stack traces do not need it.
//
// A root with a go.work is built as this workspace: the modules of a release require each other in a version that is to come. Packages are
// then compiled once for tests and programs.
//
// One run of the compiler for all: what they have in common, nearly everything, is looked at once.
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
	// What a user may have set for other builds, by go env -w as well, must not show here. That counts where a variable is empty: an
	// experiment is found by Read. The garbage collection is the compiler's own, as in the Makefile.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false", "GOGC=400", "GOWORK="+workspace,
		"GOEXPERIMENT=", "GOFIPS140=off", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	if err := build.Run(); err != nil {
		return fmt.Errorf("building %s for %s: %w", strings.Join(names, ", "), platform, err)
	}
	return nil
}

// Read returns the content of a program, and insists that it is one for the platform: a mistake here would be noticed only
// where it is to run.
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
