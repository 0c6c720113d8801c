// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/render"
)

// A legacy version is converted to the parent's format, with flavors.
func ExampleConfig() {
	capabilities := []v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64"}},
		{Name: "hypervisor", Values: []string{"baremetal", "virtualized"}},
	}
	parent := &runtime.RawExtension{Raw: []byte(`{
		"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "linux", "versions": [{"version": "1.0.0", "capabilityFlavors": [
			{"image": "linux:vm", "capabilities": {"hypervisor": ["virtualized"]}}]}]}]}`)}
	child := &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{
		MachineImages: []v1beta1.MachineImage{{Name: "linux", Versions: []v1beta1.MachineImageVersion{{
			ExpirableVersion:  v1beta1.ExpirableVersion{Version: "2.0.0"},
			CapabilityFlavors: []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"hypervisor": {"virtualized"}}}},
		}}}},
		ProviderConfig: &runtime.RawExtension{Raw: []byte(`{
			"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
			"machineImages": [{"name": "linux", "versions": [{"version": "2.0.0", "image": "linux:two"}]}]}`)},
	}}
	changes, err := render.Config(local.Provider{}, capabilities, child, parent)
	if err != nil {
		fmt.Println(err)
	}
	for _, change := range changes {
		fmt.Println(change.Op, change.Path, string(change.Value))
	}
	// Output:
	// add /machineImages/0/versions/- {"capabilityFlavors":[{"capabilities":{"hypervisor":["virtualized"]},"image":"linux:two"}],"version":"2.0.0"}
}
