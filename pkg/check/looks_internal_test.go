// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
)

// A valid NamespacedCloudProfile of 1.5 MiB may have thousands of kinds of machine types and thousands of flavors. The warnings about
// both must not look at their product, which once took eleven seconds.
func TestLooksAreBounded(t *testing.T) {
	const kinds, versions, flavors = 1000, 500, 10
	expired := &metav1.Time{Time: time.Unix(0, 0)}
	for name, tc := range map[string]struct {
		// offered and asked are the values of capability "half" in flavors and machine types.
		offered, asked string
		expired        *metav1.Time
		special        []string
		check          func(*checker[openstack.Image])
	}{
		"no flavor fits":           {"a", "b", nil, nil, (*checker[openstack.Image]).withoutImage},
		"what fits has expired":    {"a", "a", expired, nil, (*checker[openstack.Image]).withoutImage},
		"which order picks":        {"a", "a", nil, nil, (*checker[openstack.Image]).differingOrders},
		"ordinary pools boot none": {"a", "a", nil, []string{"secure"}, (*checker[openstack.Image]).onlyOnRequest},
	} {
		spec := &v1beta1.CloudProfileSpec{
			MachineCapabilities: []v1beta1.CapabilityDefinition{
				{Name: "architecture", Values: []string{"amd64"}}, {Name: "half", Values: []string{"a", "b"}}, {Name: "c", Values: letters(12)},
			},
			Regions: []v1beta1.Region{{Name: "here"}},
		}
		for i := range kinds {
			spec.MachineTypes = append(spec.MachineTypes, v1beta1.MachineType{
				Name: strconv.Itoa(i), Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "half": {tc.asked}, "c": subset(i)},
			})
		}
		core, config := make([]v1beta1.MachineImageVersion, 0, versions), make(given.List, 0, versions)
		for i := range versions {
			version := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{
				Version: fmt.Sprintf("1.%d.0", i), ExpirationDate: tc.expired, //nolint:staticcheck // as people write it
			}}
			var mapped given.List
			for k := range flavors {
				capabilities := v1beta1.Capabilities{"architecture": {"amd64"}, "half": {tc.offered}, "c": subset(flavors*i + k)}
				version.CapabilityFlavors = append(version.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: capabilities})
				own := given.Object{"architecture": capabilities["architecture"], "half": capabilities["half"], "c": capabilities["c"]}
				if tc.special != nil {
					own["gardener-boot-type"] = tc.special
				}
				mapped = append(mapped, given.Object{"capabilities": own, "image": "i"})
			}
			core = append(core, version)
			config = append(config, given.Object{"version": version.Version, "capabilityFlavors": mapped})
		}
		spec.MachineImages = []v1beta1.MachineImage{{Name: "linux", Versions: core}}
		spec.ProviderConfig = given.Raw(t, given.Object{
			"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
			"machineImages": given.List{given.Object{"name": "linux", "versions": config}},
		})
		p, reading := profile.Read(given.ImagesOnly{}, spec, field.NewPath("spec"))
		if len(reading.Report.Errors) > 0 {
			t.Fatal(name, reading.Report.Errors[0])
		}
		c := newChecker(p, reading, "spec.regions")
		c.kinds = c.kindsOfMachines()
		tc.check(c)
		if c.looks < maxLooks || c.looks > maxLooks+2*versions*flavors { // the last kind is always completed
			t.Errorf("%s: %d looks", name, c.looks)
		}
	}
}

// letters returns the first n letters.
func letters(n int) (all []string) {
	for i := range n {
		all = append(all, string(rune('a'+i)))
	}
	return all
}

// subset returns the i-th of the 4095 non-empty sets of letters.
func subset(i int) (set []string) {
	for bit, letter := range letters(12) {
		if (i%4095+1)>>bit&1 == 1 {
			set = append(set, letter)
		}
	}
	return set
}
