// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command capkit-acme is the capkit command for the invented cloud of docs/authors.
package main

import (
	"os"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/test/authors/acme"
)

func main() {
	os.Exit(cli.Run(os.Args, os.Stdin, os.Stdout, os.Stderr, cli.For(acme.Provider{})))
}
