// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/capkit/capkit/internal/cli/files"
)

// A file keeps its owner when it is replaced, and so does the temporary file for it.
func TestOwnersAreKept(t *testing.T) {
	user, group := os.Geteuid(), os.Getegid()
	if user == 0 {
		user, group = 1234, 5678
	}
	folder := t.TempDir()
	file, next := filepath.Join(folder, "a.yaml"), filepath.Join(folder, "next.yaml")
	if err := os.WriteFile(file, []byte("was"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, user, group); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o640); err != nil { //nolint:gosec // a mode that no new file has
		t.Fatal(err)
	}
	if err := files.Write([]files.Changed{{File: file, Before: "was", Text: "is"}, {File: next, Of: file, Text: "is next"}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, next} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t); int(owner.Uid) != user || int(owner.Gid) != group || info.Mode() != 0o640 {
			t.Errorf("%s is %s of %d:%d, and the file was of %d:%d", name, info.Mode(), owner.Uid, owner.Gid, user, group)
		}
	}
}
