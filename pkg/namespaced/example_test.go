// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package namespaced_test

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// shared is the spec of a CloudProfile; own is the spec of a NamespacedCloudProfile that adds a version.
const (
	shared = `
type: local
regions: [{name: local}]
machineCapabilities: [{name: architecture, values: [amd64]}]
machineTypes: [{name: small, capabilities: {architecture: [amd64]}}]
machineImages: [{name: linux, versions: [{version: 1.0.0, capabilityFlavors: [{architecture: [amd64]}]}]}]
providerConfig:
  apiVersion: local.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages: [{name: linux, versions: [{version: 1.0.0, capabilityFlavors: [{image: "linux:1"}]}]}]
`
	own = `
machineImages: [{name: linux, versions: [{version: 2.0.0, capabilityFlavors: [{architecture: [amd64]}]}]}]
providerConfig:
  apiVersion: local.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages: [{name: linux, versions: [{version: 2.0.0, capabilityFlavors: [{image: "linux:2"}]}]}]
`
)

func ExampleCompile() {
	parent, object := &v1beta1.CloudProfile{}, &v1beta1.NamespacedCloudProfile{}
	for text, spec := range map[string]any{shared: &parent.Spec, own: &object.Spec} {
		if err := yaml.UnmarshalStrict([]byte(text), spec); err != nil {
			panic(err)
		}
	}
	profile, err := namespaced.Compile(local.Provider{}, object, parent)
	if err != nil {
		panic(err)
	}
	for _, version := range []string{"1.0.0", "2.0.0"} {
		answer := resolve.Pool(profile, provider.Pool{MachineType: "small", Image: "linux", Version: version, Region: "local"})
		fmt.Println(answer.Reference.Image)
	}
	// Output:
	// linux:1
	// linux:2
}
