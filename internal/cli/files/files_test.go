// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/capkit/capkit/internal/cli/files"
)

// What somebody else has written since a file was read stays, and so do all other files.
func TestFilesThatChangeMeanwhile(t *testing.T) {
	folder := t.TempDir()
	var changed []files.Changed
	for _, name := range []string{"a.yaml", "b.yaml"} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte("was"), 0o600); err != nil {
			t.Fatal(err)
		}
		changed = append(changed, files.Changed{File: file, Before: "was", Text: "is"})
	}
	look := func(a, b string) {
		t.Helper()
		for i, want := range []string{a, b} {
			if text, err := os.ReadFile(changed[i].File); err != nil || string(text) != want {
				t.Errorf("%s, %v, want %s", text, err, want)
			}
		}
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 2 {
			t.Errorf("%v, %v", entries, err)
		}
	}
	if err := os.WriteFile(changed[1].File, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := files.Write(changed)
	if want := "nothing is written, because " + changed[1].File + " has changed meanwhile: run the command again"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	look("was", "mine")
	changed[1].Before = "mine"
	if err := files.Write(changed); err != nil {
		t.Error(err)
	}
	look("is", "is")
}
