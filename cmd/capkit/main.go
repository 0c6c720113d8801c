// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command capkit checks the machine images of Gardener CloudProfiles offline, and finds the image of a worker pool.
package main

import (
	"os"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/cli/clouds"
)

func main() {
	os.Exit(cli.Run(os.Args, os.Stdin, os.Stdout, os.Stderr, clouds.All()...))
}
