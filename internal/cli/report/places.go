// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"os"
	"path/filepath"
	"strings"
)

// places are the paths of files as programs want them that show findings beside the lines of a repository: relative to its root, with
// slashes. The working directory need not be that.
type places struct {
	here string
	// roots are the roots of the repositories that folders are in; empty for none.
	roots map[string]string
}

func newPlaces() places {
	here, _ := os.Getwd() // without one, paths stay as they are
	return places{here, map[string]string{}}
}

// of returns the path of a file. It stays as it is if the file is in no repository, or is none, as standard input.
func (p places) of(file string) string {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.here, path)
	}
	root := ""
	if p.here != "" && !strings.HasPrefix(file, "<") {
		root = p.root(filepath.Dir(path))
	}
	relative, err := filepath.Rel(root, path)
	if root == "" || err != nil {
		relative = file
	}
	return filepath.ToSlash(relative)
}

// root returns the root of the repository that a folder is in; empty if it is in none.
func (p places) root(dir string) string {
	root, known := p.roots[dir]
	if known {
		return root
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		root = dir
	} else if above := filepath.Dir(dir); above != dir {
		root = p.root(above)
	}
	p.roots[dir] = root
	return root
}
