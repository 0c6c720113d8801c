// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// Own makes this process the owner of a file until it ends or closes any file of this name. It does not wait: owned is
// false if another process is the owner. Children do not inherit it.
func Own(file *os.File) (owned bool, err error) {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	err = syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &lock)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return false, nil
	}
	return err == nil, err
}

// Owner returns the process id of the owner as the kernel knows it, or 0 if there is none. It does not see this process.
func Owner(file *os.File) (pid int, err error) {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &lock); err != nil {
		return 0, err
	}
	if lock.Type == syscall.F_UNLCK {
		return 0, nil
	}
	return int(lock.Pid), nil
}
