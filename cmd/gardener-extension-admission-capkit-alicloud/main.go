// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command gardener-extension-admission-capkit-alicloud serves admission webhooks beside those of the Gardener extension for AliCloud.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/alicloud"
)

func main() {
	if err := admission.NewCommandBeside(alicloud.Provider{}).ExecuteContext(signals.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
