// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"fmt"
	"os"
	"testing"
)

// Main is for a TestMain whose tests share what has to be stopped after them: run starts it, calls m.Run, stops it, and returns
// the status. It ends the process with that status, or with 1 if there is an error, which it prints.
func Main(m *testing.M, run func(*testing.M) (status int, err error)) {
	status, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}
