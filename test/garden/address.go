// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// Ports are taken from below those that systems give to connections by themselves.
const (
	firstPort = 20000
	ports     = 12000
)

var reserved struct {
	sync.Mutex
	files []*os.File // a lock goes with its file
}

// FreeAddress returns an address on loopback that is free. It stays so until this process ends, as far as tests are concerned:
// no other process of this user gets the same one.
func FreeAddress() (string, error) {
	folder := filepath.Join(os.TempDir(), fmt.Sprint("capkit-ports-", os.Getuid()))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	for range ports {
		port := strconv.Itoa(firstPort + rand.IntN(ports))
		file, err := os.OpenFile(filepath.Join(folder, port), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return "", err
		}
		address := net.JoinHostPort("127.0.0.1", port)
		if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil || !isFree(address) {
			_ = file.Close()
			continue
		}
		reserved.Lock()
		reserved.files = append(reserved.files, file)
		reserved.Unlock()
		return address, nil
	}
	return "", errors.New("no port is free")
}

func isFree(address string) bool {
	listener, err := net.Listen("tcp", address)
	return err == nil && listener.Close() == nil
}
