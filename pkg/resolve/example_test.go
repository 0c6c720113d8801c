// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// virtualizedOnly is the spec of a CloudProfile whose only image does not fit one of the machine types.
const virtualizedOnly = `
type: local
regions: [{name: local}]
machineCapabilities:
- {name: architecture, values: [amd64]}
- {name: hypervisor, values: [baremetal, virtualized]}
machineTypes:
- {name: metal, capabilities: {hypervisor: [baremetal]}}
- {name: small, capabilities: {hypervisor: [virtualized]}}
machineImages:
- name: linux
  versions: [{version: 1.0.0, capabilityFlavors: [{hypervisor: [virtualized]}]}]
providerConfig:
  apiVersion: local.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: linux
    versions:
    - {version: 1.0.0, capabilityFlavors: [{image: "linux:vm", capabilities: {hypervisor: [virtualized]}}]}
`

func ExamplePool() {
	var spec v1beta1.CloudProfileSpec
	if err := yaml.UnmarshalStrict([]byte(virtualizedOnly), &spec); err != nil {
		panic(err)
	}
	profile, _ := profile.Compile(local.Provider{}, &spec, field.NewPath("spec"))
	answer := resolve.Pool(profile, provider.Pool{
		Name: "storage", MachineType: "metal", Image: "linux", Version: "1.0.0", Region: "local",
		Path: field.NewPath("spec", "provider", "workers").Index(0),
	})
	fmt.Println(answer.Err.Field)
	fmt.Println(" ", strings.NewReplacer(": {", ":\n  {", "; ", ";\n  ").Replace(answer.Err.ErrorBody()))
	// Output:
	// spec.provider.workers[0].machine.type
	//   Invalid value: "metal": worker pool storage: no image fits machine type metal with linux@1.0.0 in region local:
	//   {hypervisor: [virtualized]} has hypervisor [virtualized], the machine type [baremetal];
	//   would work: machine type small
}
