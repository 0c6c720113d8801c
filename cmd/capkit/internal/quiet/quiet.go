// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package quiet keeps from users what packages log while they are initialized. One that Gardener's validation brings along says at every start
// that a kernel has no pressure stall information, as many have not.
//
// Go initializes packages in the order of their import paths, each after those that it imports (the Go specification, Program initialization).
// This one imports almost nothing, so it comes before all whose path is greater, and before all that wait for one of those.
package quiet

import (
	"io"
	"log"
	"os"
)

// End lets the standard logger write to standard error again. The program calls it first.
var End = begin()

func begin() func() {
	log.SetOutput(io.Discard)
	return func() { log.SetOutput(os.Stderr) }
}
