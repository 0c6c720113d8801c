// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// memoryLimit is the smallest limit that docs/operators/operations.md recommends. mostMemory is the most of it that a
// replica may use in a garden with few objects, whatever the requests.
const (
	memoryLimit = 1 << 30
	mostMemory  = memoryLimit / 5 * 4
)

// confine gives a replica the memory limit of a container, beyond which the kernel kills it, with cgroups v1 or v2. The tests must be
// allowed to create control groups, as root usually is. Otherwise the replica only gets the soft limit that it would set itself.
func confine(r *replica) {
	GinkgoHelper()
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		group, err := os.MkdirTemp(root, "capkit-")
		if err != nil {
			continue
		}
		DeferCleanup(func() { Eventually(os.Remove).WithArguments(group).Should(Succeed()) }) // once no process runs in it
		if !overwritten(filepath.Join(group, file), memoryLimit) {
			continue
		}
		script := filepath.Join(GinkgoT().TempDir(), "confined")
		text := fmt.Sprintf("#!/bin/sh\necho $$ > %s/cgroup.procs && exec %s \"$@\"\n", group, r.Path)
		Expect(os.WriteFile(script, []byte(text), 0o700)).To(Succeed())
		r.Path, r.confined = script, true
		return
	}
	r.Env = append(r.Env, fmt.Sprint("GOMEMLIMIT=", memoryLimit/10*7))
}

// overwritten writes a number to an existing file, and reports whether that succeeded. The file may be missing below /sys/fs/cgroup.
func overwritten(path string, number int) bool {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	_, err = file.WriteString(strconv.Itoa(number))
	return errors.Join(err, file.Close()) == nil
}
