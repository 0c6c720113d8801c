// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package files

import (
	"io/fs"
	"os"
)

// keepOwner does nothing, because files have no numeric owners and groups here.
func keepOwner(*os.File, fs.FileInfo) {}
