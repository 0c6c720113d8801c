// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package repository finds the sources of this project.
package repository

import (
	"errors"
	"os"
	"path/filepath"
)

// Root returns the root of the repository around the working directory, where tests and hack/garden are run.
func Root() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "hack", "controlplane.sh")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("the sources of the garden are not found: run this in a clone of the repository")
		}
		folder = parent
	}
}
