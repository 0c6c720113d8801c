// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command browser prints the path of Chromium, for the tests in test/browser and for pictures. If Chromium is not installed, it is
// downloaded once from Debian's packages into the user's cache folder. That takes a minute and needs no special rights.
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

// packages are the Debian packages with Chromium and a font.
var packages = []string{"chromium", "fonts-dejavu-core"}

// names are the program names under which systems install Chromium and its derivatives.
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
