// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"
)

// Unavailability says which machine types and volume types the zones of a region lack.
type Unavailability struct{ zones []v1beta1.AvailabilityZone }

// InRegion returns what a region's zones lack, according to a profile. An unknown region lacks nothing. The profile must not be modified
// while the result is in use.
func InRegion(profile *v1beta1.CloudProfileSpec, region string) Unavailability {
	if found := find(profile.Regions, func(r *v1beta1.Region) bool { return r.Name == region }); found != nil {
		return Unavailability{found.Zones}
	}
	return Unavailability{}
}

// MachineType returns the given zones that lack a machine type, in their order. Zones that the region does not have are ignored. Gardener
// refuses a worker pool in such a zone if the pool is new or gets the type; an existing pool may keep it.
//
// It is the rule of isUnavailableInAtleastOneZone (plugin/pkg/shoot/validator).
func (u Unavailability) MachineType(name string, zones []string) []string {
	return u.without(name, zones, func(z v1beta1.AvailabilityZone) []string { return z.UnavailableMachineTypes })
}

// VolumeType returns the given zones that lack a volume type, as [Unavailability.MachineType] does.
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

// Zones returns the names of all zones of the region, in the order of the profile. The caller owns the result.
func (u Unavailability) Zones() []string {
	names := make([]string, 0, len(u.zones))
	for _, z := range u.zones {
		names = append(names, z.Name)
	}
	return names
}

// Choices returns the machine types that Gardener accepts for a new worker pool in the same zones and with the same architecture, in the
// order of the profile: the usable ones that no zone of the pool lacks.
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

// VolumeTypes returns the volume types that Gardener accepts for a new worker pool in some zones of the region, in the order of the profile:
// the usable ones that none of these zones lacks.
//
// It is the rule of validateVolumeTypes (plugin/pkg/shoot/validator).
func (u Unavailability) VolumeTypes(profile *v1beta1.CloudProfileSpec, zones []string) (names []string) {
	for _, t := range profile.VolumeTypes {
		if ptr.Deref(t.Usable, true) && len(u.VolumeType(t.Name, zones)) == 0 {
			names = append(names, t.Name)
		}
	}
	return names
}
