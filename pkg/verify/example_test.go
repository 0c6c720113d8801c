// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/verify"
)

// The cloud lacks a machine type, and region south has no inventory.
func ExampleCloudProfile() {
	there, errs := inventory.Read([]byte(`
apiVersion: capkit/v1
kind: Inventory
provider: local
taken: "2026-11-23T12:00:00Z"
regions: [{name: north, machineTypes: [{name: small}]}]
`))
	if len(errs) > 0 {
		panic(errs)
	}
	spec := &v1beta1.CloudProfileSpec{
		Regions: []v1beta1.Region{{Name: "north"}, {Name: "south"}}, MachineTypes: []v1beta1.MachineType{{Name: "small"}, {Name: "large"}},
	}
	profile, _ := profile.Compile(local.Provider{}, spec, field.NewPath("spec"))
	report, unread := verify.CloudProfile(profile, verify.NewCloud(local.Provider{}, nil, there), verify.Options{At: there.Taken})
	for _, err := range report.Errors {
		fmt.Println(err.Origin, "at", err.Field)
	}
	fmt.Println(unread)
	// Output:
	// cloud-machine-type-missing at spec.machineTypes[1].name
	// [there is no inventory of region south]
}
