// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"
)

// Unavailability says which zones of a region do not have which types of machines and volumes.
type Unavailability struct{ zones []v1beta1.AvailabilityZone }

// InRegion returns what the zones of a region do not have, by its profile. A region that the profile does not have lacks nothing. The
// profile must not be changed as long as the result is used.
func InRegion(profile *v1beta1.CloudProfileSpec, region string) Unavailability {
	for i := range profile.Regions {
		if profile.Regions[i].Name == region {
			return Unavailability{profile.Regions[i].Zones}
		}
	}
	return Unavailability{}
}

// MachineType returns those of some zones that do not have a machine type, in the order in which they are given. A worker pool with one of
// them is refused when it is new, or gets the type; one that has it may keep it. A zone that the region does not have is not among them.
//
// It is the rule of isUnavailableInAtleastOneZone (plugin/pkg/shoot/validator).
func (u Unavailability) MachineType(name string, zones []string) []string {
	return u.without(name, zones, func(z v1beta1.AvailabilityZone) []string { return z.UnavailableMachineTypes })
}

// VolumeType is [Unavailability.MachineType] for a volume type.
func (u Unavailability) VolumeType(name string, zones []string) []string {
	return u.without(name, zones, func(z v1beta1.AvailabilityZone) []string { return z.UnavailableVolumeTypes })
}

func (u Unavailability) without(name string, zones []string, lacks func(v1beta1.AvailabilityZone) []string) (without []string) {
	for _, zone := range zones {
		if slices.ContainsFunc(u.zones, func(z v1beta1.AvailabilityZone) bool { return z.Name == zone && slices.Contains(lacks(z), name) }) {
			without = append(without, zone)
		}
	}
	return without
}

// Zones returns the names of all zones of the region, in the order of the profile. The caller owns them.
func (u Unavailability) Zones() []string {
	names := make([]string, 0, len(u.zones))
	for _, z := range u.zones {
		names = append(names, z.Name)
	}
	return names
}

// Choices returns the machine types that Gardener lets a new worker pool have in its place and with its architecture, in the order of the
// profile: those that are usable, and that all of its zones have.
//
// It is the rule of validateMachineTypes (plugin/pkg/shoot/validator).
func (u Unavailability) Choices(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker) (names []string) {
	architecture := Architecture(profile, worker)
	for i := range profile.MachineTypes {
		t := &profile.MachineTypes[i]
		if ptr.Deref(t.Usable, true) && t.GetArchitecture(profile.MachineCapabilities) == architecture && len(u.MachineType(t.Name, worker.Zones)) == 0 {
			names = append(names, t.Name)
		}
	}
	return names
}
