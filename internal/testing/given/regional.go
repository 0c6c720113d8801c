// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
)

// Regional returns a profile with machine types in which pools on gl@2.0.0 need net: fast in europe, and net: slow in asia.
func Regional(t testing.TB, types string) *profile.Profile[openstack.Image] {
	t.Helper()
	return Sound(t, ImagesOnly{}, Decoded[v1beta1.CloudProfileSpec](t, `
type: openstack
kubernetes: {versions: [{version: 1.33.3}]}
machineCapabilities:
- {name: architecture, values: [amd64]}
- {name: net, values: [fast, slow]}
regions: [{name: europe}, {name: asia}]
machineTypes: [`+types+`]
machineImages:
- name: gl
  updateStrategy: major
  versions:
  - {version: 1.0.0, cri: [{name: containerd}], capabilityFlavors: [{architecture: [amd64]}]}
  - version: 2.0.0
    cri: [{name: containerd}]
    capabilityFlavors: [{architecture: [amd64], net: [fast]}, {architecture: [amd64], net: [slow]}]
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - version: 1.0.0
      capabilityFlavors:
      - capabilities: {architecture: [amd64]}
        regions: [{name: europe, id: 11111111-1111-1111-1111-111111111111}, {name: asia, id: 11111111-1111-1111-1111-111111111112}]
    - version: 2.0.0
      capabilityFlavors:
      - capabilities: {architecture: [amd64], net: [fast]}
        regions: [{name: europe, id: 22222222-2222-2222-2222-222222222221}]
      - capabilities: {architecture: [amd64], net: [slow]}
        regions: [{name: asia, id: 22222222-2222-2222-2222-222222222222}]
`))
}

// Machine types for [Regional].
const (
	Either = "{name: any, capabilities: {architecture: [amd64], net: [fast, slow]}}"
	Fast   = "{name: any, capabilities: {architecture: [amd64], net: [fast]}}"
	Slow   = "{name: any, capabilities: {architecture: [amd64], net: [slow]}}"
	// AlsoSlow is a different spelling of Slow.
	AlsoSlow = "{name: any, capabilities: {net: [slow]}}"
)
