// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/profile"
)

// exampleProfile has one image version with two flavors, and the given ones in its provider config.
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

func ExampleCloudProfile() {
	profile := exampleProfile(virtualized)
	_, report := check.CloudProfile(local.Provider{}, profile)
	for _, err := range report.Errors {
		fmt.Println("error:", err.Origin, "at", err.Field)
	}

	core := &profile.Spec.MachineImages[0].Versions[0]
	core.CapabilityFlavors = core.CapabilityFlavors[:1]
	_, report = check.CloudProfile(local.Provider{}, profile)
	for _, warning := range report.Warnings {
		fmt.Println("warning:", warning.Origin, "at", warning.Field)
	}
	// Output:
	// error: provider-flavor-missing at spec.machineImages[0].versions[0].capabilityFlavors[1]
	// warning: machine-type-without-image at spec.machineTypes[0]
}

// printError prints an error on several short lines.
func printError(err finding.Finding) {
	fmt.Println(err.Field)
	fmt.Println(" ", strings.NewReplacer(": {", ":\n  {", "; ", ";\n  ").Replace(err.ErrorBody()))
}

func ExampleShoot() {
	profile, _ := check.CloudProfile(local.Provider{}, exampleProfile(virtualized+","+baremetal))
	shoot := &v1beta1.Shoot{Spec: v1beta1.ShootSpec{Region: "local", Provider: v1beta1.Provider{Workers: []v1beta1.Worker{
		{Name: "good", Machine: v1beta1.Machine{Type: "small", Image: &v1beta1.ShootMachineImage{Name: "linux", Version: new("1.0.0")}}},
		{Name: "bad", Machine: v1beta1.Machine{Type: "huge", Image: &v1beta1.ShootMachineImage{Name: "linux", Version: new("1.0.0")}}},
	}}}}
	for _, err := range check.Shoot(profile, shoot, nil).Errors {
		printError(err)
	}
	// Output:
	// spec.provider.workers[1].machine.type
	//   Unsupported value: "huge": worker pool bad: machine type huge is not in the profile;
	//   would work: machine type metal or small
}

// exampleChild has its own image version, in the legacy format.
func exampleChild() *v1beta1.NamespacedCloudProfile {
	return &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{
		Parent: v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "parent"},
		MachineImages: []v1beta1.MachineImage{{Name: "linux", Versions: []v1beta1.MachineImageVersion{{
			ExpirableVersion:  v1beta1.ExpirableVersion{Version: "2.0.0"},
			CapabilityFlavors: []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"hypervisor": {"virtualized"}}}},
		}}}},
		ProviderConfig: &runtime.RawExtension{Raw: []byte(`{
			"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
			"machineImages": [{"name": "linux", "versions": [{"version": "2.0.0", "image": "linux:two"}]}]}`)},
	}}
}

func ExampleNamespacedCloudProfile() {
	parent := exampleProfile(virtualized + "," + baremetal)
	above, _ := profile.Compile(local.Provider{}, &parent.Spec, field.NewPath("spec"))

	child := exampleChild()
	_, report := check.NamespacedCloudProfile(above, child)
	fmt.Println(len(report.Errors), "errors")

	child.Spec.MachineImages[0].Versions[0].Version = "1.0.0"
	_, report = check.NamespacedCloudProfile(above, child)
	for _, err := range report.Errors {
		printError(err)
	}
	// Output:
	// 0 errors
	// spec.machineImages[0].versions[0].capabilityFlavors
	//   Forbidden: linux@1.0.0: the parent, CloudProfile parent, has this version, so only its expirationDate can be changed here;
	//   remove capabilityFlavors
}

// The update adds an image version without images. A mapping that was missing before is only a warning.
func ExampleCloudProfileUpdate() {
	old := exampleProfile(virtualized)
	updated := old.DeepCopy()
	updated.Spec.MachineImages[0].Versions = append([]v1beta1.MachineImageVersion{
		{ExpirableVersion: v1beta1.ExpirableVersion{Version: "2.0.0"}},
	}, updated.Spec.MachineImages[0].Versions...)

	stored, _ := profile.Compile(local.Provider{}, &old.Spec, field.NewPath("spec"))
	_, report := check.CloudProfileUpdate(stored, updated, old)
	for _, err := range report.Errors {
		fmt.Println("error:", err.Origin, "at", err.Field)
	}
	for _, warning := range report.Warnings {
		fmt.Println("warning:", warning.Origin, "at", warning.Field)
	}
	// Output:
	// error: provider-version-missing at spec.machineImages[0].versions[0]
	// warning: provider-flavor-missing at spec.machineImages[0].versions[1].capabilityFlavors[1]
}
