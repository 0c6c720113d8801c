// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command capkit checks the machine images of Gardener CloudProfiles offline, and finds the image of a worker pool.
package main

import (
	"os"
	"runtime/debug"

	"github.com/capkit/capkit/cmd/capkit/internal/quiet"
	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

// memory is the soft memory limit, in bytes. Near it, the garbage collector runs more often instead of letting the heap double. Landscapes
// of 20,000 Shoots stay below it; larger ones may exceed it.
const memory = 350 << 20

func main() {
	quiet.End()
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory)
	}
	os.Exit(cli.Run(os.Args, os.Stdin, os.Stdout, os.Stderr, clouds.All()...))
}
