// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command browser prints where Chromium is, for tests in test/browser and pictures. If it is not installed it is downloaded
// from Debian's packages into a folder of the user's cache, which is done once, takes a minute and needs no rights.
package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/capkit/capkit/test/debian"
)

// packages are those that have Chromium, and letters.
var packages = []string{"chromium", "fonts-dejavu-core"}

// names are those under which systems install Chromium, or what is made of it.
var names = []string{"chromium", "chromium-browser", "google-chrome"}

//go:embed chromium.sh
var script []byte

//go:embed fonts.conf
var fonts []byte

func main() {
	path, err := find(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}

// find returns the path of a program that starts Chromium.
func find(ctx context.Context) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	hash := sha256.New()
	_, _ = fmt.Fprintln(hash, runtime.GOARCH, packages, string(script), string(fonts))
	folder, err := debian.Once(filepath.Join("chromium", hex.EncodeToString(hash.Sum(nil))[:16]), func(folder string) error {
		return build(ctx, folder, func(what string) { fmt.Fprintln(os.Stderr, "browser: "+what) })
	})
	if err != nil {
		return "", fmt.Errorf("none of %s is on the PATH, and Chromium cannot be downloaded: %w", strings.Join(names, ", "), err)
	}
	return filepath.Join(folder, "chromium.sh"), nil
}

func build(ctx context.Context, folder string, say func(string)) error {
	if err := debian.Extract(ctx, packages, filepath.Join(folder, "root"), say); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "fonts.conf"), fonts, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "chromium.sh"), script, 0o755)
}
