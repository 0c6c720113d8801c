// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package shoots

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/memo"
)

// Lock is the reason why Gardener refuses every update of a Shoot with a worker pool (semantics S16).
type Lock int

// The reasons.
const (
	// NoLock: Gardener does not refuse them.
	NoLock Lock = iota
	// LockedByType: the profile lacks the machine type. Gardener then answers "service unavailable".
	LockedByType
	// LockedByFlavors: no core flavor of the image version fits the machine type.
	LockedByFlavors
)

// Locker finds the worker pools of one profile that lock their Shoots. It memoizes the answer for each combination of machine type and
// image version. It is not safe for concurrent use.
type Locker struct {
	library    gardenerrules.Library
	vocabulary []v1beta1.CapabilityDefinition
	types      map[string]*v1beta1.MachineType
	versions   map[gardenerrules.Image]*v1beta1.MachineImageVersion
	fits       map[combination]bool
}

// combination is a worker pool's machine type and image version.
type combination struct {
	machineType string
	image       gardenerrules.Image
}

// NewLocker returns a Locker for a profile, which must not be modified while the Locker is in use. For a NamespacedCloudProfile, pass the
// result of its merge (status.cloudProfileSpec).
func NewLocker(library gardenerrules.Library, profile *v1beta1.CloudProfileSpec) *Locker {
	l := &Locker{
		library: library, vocabulary: profile.MachineCapabilities, fits: map[combination]bool{}, versions: gardenerrules.ImageVersions(profile),
		types: make(map[string]*v1beta1.MachineType, len(profile.MachineTypes)),
	}
	for i := range profile.MachineTypes {
		if name := profile.MachineTypes[i].Name; l.types[name] == nil {
			l.types[name] = &profile.MachineTypes[i]
		}
	}
	return l
}

// Lock returns why Gardener refuses every update of a Shoot that has a worker pool with this machine type and image version; NoLock if it
// does not. A profile without capabilities locks no Shoot. A missing image version is no reason.
//
// It is the rule of validateMachineCapabilities (plugin/pkg/shoot/validator), which judges every worker pool at every update, whatever the
// update changes. It dereferences the machine type without a check.
func (l *Locker) Lock(machineType string, image gardenerrules.Image) Lock {
	if len(l.vocabulary) == 0 {
		return NoLock
	}
	t, v := l.types[machineType], l.versions[image]
	if t == nil {
		return LockedByType
	}
	if v == nil || memo.Get(l.fits, combination{machineType, image}, func() bool {
		return l.library.SupportsCapabilities(t.Capabilities, v, l.vocabulary)
	}) {
		return NoLock
	}
	return LockedByFlavors
}
