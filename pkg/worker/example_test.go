// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/worker"
)

// twoFlavors is the spec of a CloudProfile whose image has two flavors, the second of which is preferred.
const twoFlavors = `
type: local
regions: [{name: local}]
machineCapabilities: [{name: architecture, values: [amd64]}, {name: disk, values: [nvme, scsi]}]
machineTypes: [{name: small, capabilities: {architecture: [amd64]}}]
machineImages: [{name: linux, versions: [{version: 1.0.0, capabilityFlavors: [{disk: [scsi]}, {disk: [nvme]}]}]}]
providerConfig:
  apiVersion: local.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: linux
    versions:
    - version: 1.0.0
      capabilityFlavors: [{image: "linux:scsi", capabilities: {disk: [scsi]}}, {image: "linux:nvme", capabilities: {disk: [nvme]}}]
`

// A new pool boots the best flavor. A pool that keeps its machine class keeps its flavor.
func ExampleImages_Of() {
	var spec v1beta1.CloudProfileSpec
	if err := yaml.UnmarshalStrict([]byte(twoFlavors), &spec); err != nil {
		panic(err)
	}
	profile, _ := profile.Compile(local.Provider{}, &spec, field.NewPath("spec"))
	images := worker.NewImages[local.Image](profile, nil)

	question := worker.Question[local.Image]{
		Pool:  provider.Pool{Name: "web", MachineType: "small", Image: "linux", Version: "1.0.0", Region: "local"},
		Names: []string{"web-z1-12345"},
	}
	for _, classes := range [][]worker.Class[local.Image]{
		nil, {{Name: "web-z1-12345", Image: "linux", Version: "1.0.0", Reference: local.Image{Image: "linux:scsi"}}},
	} {
		question.Classes = classes
		image, err := images.Of(question)
		fmt.Println(image.Reference.Image, err)
	}
	// Output:
	// linux:nvme <nil>
	// linux:scsi <nil>
}
