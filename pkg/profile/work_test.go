// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
)

// Users may write a NamespacedCloudProfile of 1.5 MiB in which everything is wrong. Reporting its errors must take work proportional to
// core flavors plus mappings, not to their product, which once took minutes. Four times as many must allocate less than eight times as
// much; the product would allocate sixteen times as much.
func TestManyErrorsTakeWorkInProportion(t *testing.T) {
	for name, tc := range map[string]struct {
		flavors, errors int
		versions        func(times int) []any
	}{
		"no flavor corresponds": {500, 500, func(times int) []any {
			unexpected := make([]any, 0, times*500)
			for _, flavor := range manyFlavors("arm64", times*500) {
				unexpected = append(unexpected, given.Object{"capabilities": flavor.Capabilities, "image": "i"})
			}
			return given.List{given.Object{"version": "1.0.0", "capabilityFlavors": unexpected}}
		}},
		"many legacy entries": {2000, 500, func(times int) []any {
			return slices.Repeat(given.List{given.Object{"version": "1.0.0", "image": "i"}}, times*500)
		}},
	} {
		bytes := map[int]uint64{}
		for _, times := range []int{1, 4} {
			spec := &v1beta1.CloudProfileSpec{
				Type: "openstack",
				MachineCapabilities: []v1beta1.CapabilityDefinition{
					{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "tens", Values: hundred}, {Name: "ones", Values: hundred},
				},
				MachineImages: []v1beta1.MachineImage{{Name: "linux", Versions: []v1beta1.MachineImageVersion{{
					ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"}, CapabilityFlavors: manyFlavors("amd64", times*tc.flavors),
				}}}},
				ProviderConfig: given.Raw(t, given.Object{
					"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
					"machineImages": given.List{given.Object{"name": "linux", "versions": tc.versions(times)}},
				}),
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, report := profile.Compile(given.ImagesOnly{}, spec, field.NewPath("spec"))
			runtime.ReadMemStats(&after)
			if len(report.Errors) < min(times*tc.errors, finding.Most) {
				t.Errorf("%s: %d errors only", name, len(report.Errors))
			}
			bytes[times] = after.TotalAlloc - before.TotalAlloc
		}
		if bytes[4] > 8*bytes[1] {
			t.Errorf("%s: %d bytes were allocated, and %d for four times as much", name, bytes[1], bytes[4])
		}
	}
}

// hundred holds the values of a capability.
var hundred = func() []string {
	values := make([]string, 100)
	for i := range values {
		values[i] = strconv.Itoa(i)
	}
	return values
}()

// manyFlavors returns n distinct flavors.
func manyFlavors(architecture string, n int) []v1beta1.MachineImageFlavor {
	flavors := make([]v1beta1.MachineImageFlavor, 0, n)
	for i := range n {
		flavors = append(flavors, v1beta1.MachineImageFlavor{Capabilities: v1beta1.Capabilities{
			"architecture": {architecture}, "tens": {hundred[i/100]}, "ones": {hundred[i%100]},
		}})
	}
	return flavors
}
