// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package quiet hides log output of packages during their initialization. A package that Gardener's validation imports logs at every start
// that the kernel has no pressure stall information, as many kernels do not.
//
// Go initializes packages in the order of their import paths, each after its imports (the Go specification, Program initialization). This
// package imports almost nothing, so it comes before all packages with a greater path, and before their importers.
package quiet

import (
	"io"
	"log"
	"os"
)

// End restores the output of the standard logger to standard error. The program calls it first.
var End = begin()

func begin() func() {
	log.SetOutput(io.Discard)
	return func() { log.SetOutput(os.Stderr) }
}
