// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command gardener-extension-admission-capkit-aws serves admission webhooks beside those of the Gardener extension for AWS.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/aws"
)

func main() {
	if err := admission.NewCommandBeside(aws.Provider{}).ExecuteContext(signals.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
