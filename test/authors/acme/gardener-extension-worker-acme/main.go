// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command gardener-extension-worker-acme is the worker controller for the invented cloud of docs/authors.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/capkit/capkit/pkg/worker/kit/command"
	"github.com/capkit/capkit/test/authors/acme/machines"
)

func main() {
	if err := command.New(machines.Controller()).ExecuteContext(signals.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
