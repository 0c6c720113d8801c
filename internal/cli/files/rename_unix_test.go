// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/files"
)

// If a rename fails, the files that are replaced already get their text and mode back, and new ones are removed.
func TestRenameThatFails(t *testing.T) {
	folder := t.TempDir()
	a, b := filepath.Join(folder, "a.yaml"), filepath.Join(folder, "b.yaml")
	for _, file := range []string{a, b} {
		if err := os.WriteFile(file, []byte("was"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(a, 0o640); err != nil {
		t.Fatal(err)
	}
	// The folder of the last one, without the detour, can be written to.
	last := folder + "/gone/../last.yaml"
	err := files.Write([]files.Changed{
		{File: a, Before: "was", Text: "is"}, {File: filepath.Join(folder, "next.yaml"), Of: a, Text: "is next"}, {File: last, Of: b, Text: "is last"},
	})
	if want := last + " cannot be written: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	var left []string
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if strings.Join(left, " ") != "a.yaml b.yaml" || err != nil {
		t.Errorf("%v, %v", left, err)
	}
	text, err := os.ReadFile(a)
	if info, statErr := os.Stat(a); err != nil || statErr != nil || string(text) != "was" || info.Mode().Perm() != 0o640 {
		t.Errorf("%s, %v, %v, %v", text, info, err, statErr)
	}
}
