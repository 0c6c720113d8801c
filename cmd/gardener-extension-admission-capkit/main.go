// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command gardener-extension-admission-capkit serves admission webhooks for a cloud by description, beside those of its Gardener extension.
// Flags choose the cloud.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/admission"
)

func main() {
	var known []string
	for _, cloud := range clouds.All() {
		known = append(known, cloud.Type())
	}
	if err := admission.NewCommandDescribed(known...).ExecuteContext(signals.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
