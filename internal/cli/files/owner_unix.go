// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of another one, if permitted: root may write the files of other users, but must not take them
// away.
func keepOwner(f *os.File, like fs.FileInfo) {
	if of, known := like.Sys().(*syscall.Stat_t); known {
		_, _ = f.Chown(-1, int(of.Gid)), f.Chown(int(of.Uid), -1)
	}
}
