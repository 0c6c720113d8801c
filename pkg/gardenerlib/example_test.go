// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerlib_test

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/update"
)

// The update of a CloudProfile removes a machine type that a Shoot uses.
func ExampleLibrary() {
	old := v1beta1.CloudProfileSpec{
		Type:                "local",
		Regions:             []v1beta1.Region{{Name: "local"}},
		MachineCapabilities: []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}},
		MachineTypes:        []v1beta1.MachineType{{Name: "large"}, {Name: "small"}},
		MachineImages: []v1beta1.MachineImage{{Name: "linux", Versions: []v1beta1.MachineImageVersion{{
			ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"}, CapabilityFlavors: make([]v1beta1.MachineImageFlavor, 1),
		}}}},
		ProviderConfig: &runtime.RawExtension{Raw: []byte(`{
			"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
			"machineImages": [{"name": "linux", "versions": [{"version": "1.0.0", "capabilityFlavors": [{"image": "linux:1"}]}]}]}`)},
	}
	updated := *old.DeepCopy()
	updated.MachineTypes = updated.MachineTypes[:1]
	before, _ := profile.Compile(local.Provider{}, &old, field.NewPath("spec"))
	after, _ := profile.Compile(local.Provider{}, &updated, field.NewPath("spec"))

	shoot := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "blog"}}
	shoot.Spec.Region = "local"
	shoot.Spec.Provider.Workers = []v1beta1.Worker{{Machine: v1beta1.Machine{
		Type: "small", Image: &v1beta1.ShootMachineImage{Name: "linux", Version: new("1.0.0")},
	}}}
	users := []update.User{{Shoot: shoot, Pools: provider.PoolsOf(shoot)}}
	changes := update.Of(gardenerlib.Library{}, update.View[local.Image]{Before: before, After: after, Users: users})
	for _, warning := range check.Effects(before, after, &changes, maintenance.Validates) {
		fmt.Println(warning.Origin, "at", warning.Field)
	}
	// Output:
	// machine-type-in-use at spec.machineTypes
}
