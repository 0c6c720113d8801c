// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/local"
)

// The main function of an admission component.
func ExampleNewCommand() {
	if err := admission.NewCommand(local.Provider{}).ExecuteContext(signals.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
