// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package shoots_test

import (
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
)

func flavor(capabilities v1beta1.Capabilities) []v1beta1.MachineImageFlavor {
	return []v1beta1.MachineImageFlavor{{Capabilities: capabilities}}
}

func version(name string, flavors []v1beta1.MachineImageFlavor) v1beta1.MachineImageVersion {
	return v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: name}, CapabilityFlavors: flavors}
}

func profile() *v1beta1.CloudProfileSpec {
	return &v1beta1.CloudProfileSpec{
		MachineCapabilities: []v1beta1.CapabilityDefinition{
			{Name: "architecture", Values: []string{"amd64"}}, {Name: "hypervisor", Values: []string{"baremetal", "kvm"}},
		},
		MachineTypes: []v1beta1.MachineType{
			{Name: "metal", Capabilities: v1beta1.Capabilities{"hypervisor": {"baremetal"}}},
			{Name: "metal", Capabilities: v1beta1.Capabilities{"hypervisor": {"kvm"}}},
			{Name: "any"},
		},
		MachineImages: []v1beta1.MachineImage{
			{Name: "gl", Versions: []v1beta1.MachineImageVersion{
				version("1", nil), version("2", flavor(v1beta1.Capabilities{"hypervisor": {"kvm"}})),
				version("3", flavor(v1beta1.Capabilities{"architecture": {"amd64"}})),
			}},
			{Name: "gl", Versions: []v1beta1.MachineImageVersion{
				version("1", flavor(v1beta1.Capabilities{"hypervisor": {"kvm"}})), version("4", flavor(v1beta1.Capabilities{"hypervisor": {"kvm"}})),
			}},
		},
	}
}

func TestLock(t *testing.T) {
	legacy := profile()
	legacy.MachineCapabilities = nil
	for _, test := range []struct {
		profile              *v1beta1.CloudProfileSpec
		machineType, version string
		want                 shoots.Lock
	}{
		{profile(), "metal", "1", shoots.NoLock}, // the first of the two entries, without flavors
		{profile(), "metal", "2", shoots.LockedByFlavors},
		{profile(), "metal", "3", shoots.NoLock},
		{profile(), "metal", "4", shoots.LockedByFlavors},
		{profile(), "metal", "gone", shoots.NoLock},
		{profile(), "any", "2", shoots.NoLock},
		{profile(), "gone", "2", shoots.LockedByType},
		{profile(), "gone", "gone", shoots.LockedByType},
		{legacy, "metal", "2", shoots.NoLock},
		{legacy, "gone", "2", shoots.NoLock},
	} {
		locker := shoots.NewLocker(given.Library{}, test.profile)
		for range 2 {
			if got := locker.Lock(test.machineType, gardenerrules.Image{Name: "gl", Version: test.version}); got != test.want {
				t.Errorf("%s with %s: got %d, want %d", test.machineType, test.version, got, test.want)
			}
		}
	}
}

// BenchmarkLock has many worker pools, most of them equal.
func BenchmarkLock(b *testing.B) {
	p := profile()
	for i := range 2000 {
		p.MachineImages[0].Versions = append(p.MachineImages[0].Versions,
			version(fmt.Sprint("1.", i), flavor(v1beta1.Capabilities{"hypervisor": {"kvm"}})))
		p.MachineTypes = append(p.MachineTypes, v1beta1.MachineType{Name: fmt.Sprint("t", i)})
	}
	for b.Loop() {
		locker := shoots.NewLocker(given.Library{}, p)
		for i := range 50000 {
			locker.Lock(fmt.Sprint("t", i%2000), gardenerrules.Image{Name: "gl", Version: fmt.Sprint("1.", i%1999)})
		}
	}
}
