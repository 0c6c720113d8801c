// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// places converts file names for programs that show findings beside the lines of a repository: to paths relative to its root, with slashes.
// The working directory may be elsewhere.
type places struct {
	here string
	// roots memoizes the repository roots of folders; empty for none.
	roots map[string]string
}

func newPlaces() places {
	here, _ := os.Getwd() // without one, paths stay as they are
	return places{here, map[string]string{}}
}

// of returns the path of a file, which is behind links if they lead to a file of the same repository. It is unchanged if it is in no
// repository, or stands for standard input.
func (p places) of(file string) string {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.here, path)
	}
	root := ""
	if p.here != "" && !strings.HasPrefix(file, "<") {
		root = p.root(filepath.Dir(path))
	}
	if target, err := filepath.EvalSymlinks(path); err == nil && root != "" {
		if own, err := filepath.EvalSymlinks(root); err == nil && p.root(filepath.Dir(target)) == own {
			path, root = target, own
		}
	}
	relative, err := filepath.Rel(root, path)
	if root == "" || err != nil {
		relative = file
	}
	return filepath.ToSlash(relative)
}

// root returns the root of a folder's repository; empty if there is none. A submodule is part of the repository around it.
func (p places) root(dir string) string {
	root, known := p.roots[dir]
	if known {
		return root
	}
	_, err := os.Stat(filepath.Join(dir, ".git"))
	if above := filepath.Dir(dir); above != dir && (err != nil || submodule(dir)) {
		root = p.root(above)
	}
	if root == "" && err == nil {
		root = dir
	}
	p.roots[dir] = root
	return root
}

// submodule reports whether a folder is the root of a submodule: it has a file .git like a worktree, but git has its data below modules.
func submodule(dir string) bool {
	link, err := os.ReadFile(filepath.Join(dir, ".git"))
	return err == nil && bytes.Contains(link, []byte("/modules/")) && !bytes.Contains(link, []byte("/worktrees/"))
}
