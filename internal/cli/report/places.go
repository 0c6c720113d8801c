// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
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

// of returns the path of a file. It is unchanged if it is in no repository, or stands for standard input.
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

// root returns the root of a folder's repository; empty if there is none.
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
