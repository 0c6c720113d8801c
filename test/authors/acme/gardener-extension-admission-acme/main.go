// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command gardener-extension-admission-acme is the admission component for the invented cloud of
// docs/authors.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/test/authors/acme"
)

func main() {
	if err := admission.NewCommand(acme.Provider{}).ExecuteContext(signals.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
