// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files returns the files at and below some paths of the repository, as sorted paths relative to root, with slashes. It returns files that
// git tracks, and so no leftovers of editors. Without git, in a source archive, it returns all files.
func Files(root string, below ...string) (files []string, err error) {
	if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
		listed, err := git(context.Background(), append([]string{"-C", root, "ls-files", "-z", "--"}, below...)...)
		if err != nil {
			return nil, fmt.Errorf("the files that git tracks: %w", err)
		}
		files = strings.FieldsFunc(listed, func(r rune) bool { return r == 0 })
		return slices.DeleteFunc(files, func(name string) bool { // except files whose deletion is not yet committed
			_, err := os.Lstat(filepath.Join(root, name))
			return err != nil
		}), nil
	}
	for _, at := range below {
		err := fs.WalkDir(os.DirFS(root), at, func(found string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files = append(files, found)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return files, nil
}
