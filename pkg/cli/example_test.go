// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/local"
)

// An extension's command is this call with its own provider and the streams of the process.
func ExampleRun() {
	manifest := strings.NewReader(`
apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata: {name: local}
spec:
  type: local
  machineTypes: [{name: medium, cpu: "4", gpu: "0", memory: 8Gi}]
  machineImages: [{name: local, versions: [{version: 1.0.0}]}]
  providerConfig:
    apiVersion: local.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    machineImages: [{name: local, versions: [{version: 1.0.0}]}]
  kubernetes: {versions: [{version: 1.36.0}]}
  regions: [{name: local}]
`)
	status := cli.Run([]string{"capkit", "lint", "-"}, manifest, os.Stdout, os.Stdout, cli.For(local.Provider{}))
	fmt.Println("exit status", status)
	// Output:
	// <stdin>:12:46: error: local@1.0.0: the version has no image: add a reference in the legacy format [reference-missing]
	//     CloudProfile local: spec.providerConfig.machineImages[0].versions[0]
	// for details, run capkit explain-rule reference-missing
	// 1 object checked: 1 error, no warnings
	// exit status 1
}
