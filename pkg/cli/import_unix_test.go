// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Metadata of unknown origin may contain links to endless devices, and pipes without a writer.
func TestImportPassesOverDevices(t *testing.T) {
	profile, folder := filepath.Join(importExamples, "aws.yaml"), t.TempDir()
	want := importing(profile, "--from=gardenlinux:"+copyRelease(t, folder, "aws"))
	for name, target := range map[string]string{"a.yaml": "/dev/zero", "b.json": "pipe"} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := importing(profile, "--from=gardenlinux:"+folder); r != want || r.status != 0 {
		t.Errorf("%+v, want %+v", r, want)
	}
}
