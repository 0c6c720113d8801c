// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFiles(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		".gitignore": "*.swp\n", "LICENSE": "", "docs/a b.md": "", "docs/c/d.md": "", "docs/gone.md": "", "hack/e.md": "",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "--all"}} {
		if _, err := git(t.Context(), append([]string{"-C", root}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"docs/.a.swp", "docs/new.md"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(root, "docs/gone.md")); err != nil {
		t.Fatal(err)
	}
	is := func(want ...string) {
		t.Helper()
		got, err := Files(root, "docs", "LICENSE")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v: %s", err, diff)
		}
	}
	is("LICENSE", "docs/a b.md", "docs/c/d.md")

	// A source archive has no git, and contains only packed files.
	if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	is("LICENSE", "docs/.a.swp", "docs/a b.md", "docs/c/d.md", "docs/new.md")

	// If git fails, the files are unknown.
	if err := os.WriteFile(filepath.Join(root, ".git"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if files, err := Files(root, "docs"); err == nil {
		t.Errorf("%q", files)
	}
}
