// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package release

import (
	"io/fs"
	"path/filepath"
	"testing"
)

// built returns the contents of all files below bin, except the release tool.
func built(t *testing.T, clone string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join(clone, "bin"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "release-tool" {
			return err
		}
		below, err := filepath.Rel(clone, path)
		files[below] = read(t, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Two releases of the same commit are identical, byte by byte.
func TestTwiceTheSame(t *testing.T) {
	if _, err := script(clones[1]); err != nil {
		t.Fatal(err)
	}
	one, other := built(t, clones[0]), built(t, clones[1])
	if len(one) < 100 || len(one) != len(other) {
		t.Errorf("%d and %d files", len(one), len(other))
	}
	for name, content := range one {
		if other[name] != content {
			t.Errorf("%s is another one", name)
		}
	}
	for _, revision := range []string{"HEAD", "HEAD~1"} {
		if a, b := in(t, clones[0], "git", "rev-parse", revision), in(t, clones[1], "git", "rev-parse", revision); a != b {
			t.Errorf("%s is %s and %s", revision, a, b)
		}
	}
}
