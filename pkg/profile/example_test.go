// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// spec is the spec of a CloudProfile with one image version in two flavors.
const spec = `
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
  versions:
  - {version: 1.0.0, capabilityFlavors: [{hypervisor: [virtualized]}, {hypervisor: [baremetal]}]}
providerConfig:
  apiVersion: local.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: linux
    versions:
    - version: 1.0.0
      capabilityFlavors:
      - {image: "linux:vm", capabilities: {hypervisor: [virtualized]}}
      - {image: "linux:metal", capabilities: {hypervisor: [baremetal]}}
`

// child is the spec of a NamespacedCloudProfile without flavors in core.
const child = `
parent: {kind: CloudProfile, name: parent}
machineImages:
- name: linux
  versions: [{version: 2.0.0}]
providerConfig:
  apiVersion: local.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: linux
    versions:
    - version: 2.0.0
      capabilityFlavors:
      - {image: "linux:metal", capabilities: {hypervisor: [baremetal]}}
`

func read[T any](manifest string) (into T) {
	if err := yaml.UnmarshalStrict([]byte(manifest), &into); err != nil {
		panic(err)
	}
	return into
}

func ExampleCompile() {
	spec := read[v1beta1.CloudProfileSpec](spec)
	profile, report := profile.Compile(local.Provider{}, &spec, field.NewPath("spec"))
	fmt.Println(len(report.Errors), "errors")

	answer := resolve.Pool(profile, provider.Pool{MachineType: "metal", Image: "linux", Version: "1.0.0", Region: "local"})
	fmt.Println(answer.Decision.Reference.Image)
	// Output:
	// 0 errors
	// linux:metal
}

func ExampleFillCloudProfile() {
	spec := read[v1beta1.CloudProfileSpec](spec)
	spec.MachineImages[0].Versions[0].CapabilityFlavors = nil
	for _, filled := range profile.FillCloudProfile(local.Provider{}, &spec) {
		for _, flavor := range filled.Flavors {
			fmt.Println(filled.Image, filled.Version, flavor.Capabilities)
		}
	}
	// Output:
	// 0 0 map[hypervisor:[virtualized]]
	// 0 0 map[hypervisor:[baremetal]]
}

func ExampleFillNamespacedCloudProfile() {
	parent := read[v1beta1.CloudProfileSpec](spec)
	object := v1beta1.NamespacedCloudProfile{Spec: read[v1beta1.NamespacedCloudProfileSpec](child)}
	for _, filled := range profile.FillNamespacedCloudProfile(local.Provider{}, &object, &parent) {
		fmt.Println(filled.Image, filled.Version, filled.Flavors[0].Capabilities)
	}
	// Output:
	// 0 0 map[hypervisor:[baremetal]]
}
