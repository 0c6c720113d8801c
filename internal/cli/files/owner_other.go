// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package files

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: files have no owners and groups that are numbers.
func keepOwner(*os.File, fs.FileInfo) {}
