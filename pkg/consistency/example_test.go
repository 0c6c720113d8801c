// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/local"
)

// exampleProfile has one image version in two flavors; its provider config has what is given.
func exampleProfile(flavors string) *v1beta1.CloudProfile {
	return &v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{
		Type:    "local",
		Regions: []v1beta1.Region{{Name: "local"}},
		MachineCapabilities: []v1beta1.CapabilityDefinition{
			{Name: "architecture", Values: []string{"amd64"}},
			{Name: "hypervisor", Values: []string{"baremetal", "virtualized"}},
		},
		MachineTypes: []v1beta1.MachineType{
			{Name: "metal", Capabilities: v1beta1.Capabilities{"hypervisor": {"baremetal"}}},
			{Name: "small", Capabilities: v1beta1.Capabilities{"hypervisor": {"virtualized"}}},
		},
		MachineImages: []v1beta1.MachineImage{{Name: "linux", Versions: []v1beta1.MachineImageVersion{{
			ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"},
			CapabilityFlavors: []v1beta1.MachineImageFlavor{
				{Capabilities: v1beta1.Capabilities{"hypervisor": {"virtualized"}}},
				{Capabilities: v1beta1.Capabilities{"hypervisor": {"baremetal"}}},
			},
		}}}},
		ProviderConfig: &runtime.RawExtension{Raw: []byte(`{
			"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
			"machineImages": [{"name": "linux", "versions": [{"version": "1.0.0", "capabilityFlavors": [` + flavors + `]}]}]}`)},
	}}
}

const (
	virtualized = `{"image": "linux:vm", "capabilities": {"hypervisor": ["virtualized"]}}`
	baremetal   = `{"image": "linux:metal", "capabilities": {"hypervisor": ["baremetal"]}}`
)

func ExampleCompile() {
	spec := exampleProfile(virtualized + "," + baremetal).Spec
	profile, report := consistency.Compile(local.Provider{}, &spec, field.NewPath("spec"))
	fmt.Println(len(report.Errors), "errors")

	answer := profile.ResolvePool(consistency.Pool{MachineType: "metal", Image: "linux", Version: "1.0.0", Region: "local"})
	fmt.Println(answer.Decision.Reference.Image)
	// Output:
	// 0 errors
	// linux:metal
}

func ExampleCheckCloudProfile() {
	profile := exampleProfile(virtualized)
	_, report := consistency.CheckCloudProfile(local.Provider{}, profile)
	for _, err := range report.Errors {
		fmt.Println("error:", err.Origin, "at", err.Field)
	}

	core := &profile.Spec.MachineImages[0].Versions[0]
	core.CapabilityFlavors = core.CapabilityFlavors[:1]
	_, report = consistency.CheckCloudProfile(local.Provider{}, profile)
	for _, warning := range report.Warnings {
		fmt.Println("warning:", warning.Origin, "at", warning.Field)
	}
	// Output:
	// error: provider-flavor-missing at spec.machineImages[0].versions[0].capabilityFlavors[1]
	// warning: machine-type-without-image at spec.machineTypes[0]
}

func ExampleProfile_ResolvePool() {
	profile, _ := consistency.CheckCloudProfile(local.Provider{}, exampleProfile(virtualized))
	answer := profile.ResolvePool(consistency.Pool{
		Name: "storage", MachineType: "metal", Image: "linux", Version: "1.0.0", Region: "local",
		Path: field.NewPath("spec", "provider", "workers").Index(0),
	})
	fmt.Println(answer.Err)
	// Output:
	// spec.provider.workers[0].machine.type: Invalid value: "metal": worker pool storage: no image fits machine type metal with linux@1.0.0 in region local: {hypervisor: [virtualized]} has hypervisor [virtualized], the machine type [baremetal]; would work: machine type small
}
