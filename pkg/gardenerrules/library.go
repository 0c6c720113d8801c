// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
)

// Library is the interface to Gardener's own code, for decisions that are not copied. Package gardenerlib implements it. That is a module
// of its own, because it needs Gardener, and the packages that decide need only Gardener's API types. Implementations do not modify
// arguments and are safe for concurrent use.
type Library interface {
	// FilterMachineImageVersions returns the image with the versions that a worker pool can have, in their order. They depend on the pool's
	// architecture, machine type, container runtime, kubelet and update strategy. machineType, and the worker's image and architecture,
	// must be set.
	FilterMachineImageVersions(
		image *v1beta1.MachineImage, worker v1beta1.Worker, kubelet *semver.Version, machineType *v1beta1.MachineType,
		capabilities []v1beta1.CapabilityDefinition,
	) *v1beta1.MachineImage
	// DetermineMachineImageVersion returns the version that maintenance chooses by the image's update strategy, which must be set; empty if
	// it chooses none. expired forces a choice. The error says why that is impossible.
	DetermineMachineImageVersion(current *v1beta1.ShootMachineImage, image *v1beta1.MachineImage, expired bool) (string, error)
	// DetermineKubernetesVersion returns the Kubernetes version that maintenance chooses: the latest patch or, if the current version has
	// expired, the next minor. Empty version and error are as for DetermineMachineImageVersion.
	DetermineKubernetesVersion(versions []v1beta1.ExpirableVersion, current string, expired bool) (string, error)
	// FindKubernetesVersion returns a profile's Kubernetes version. The error names a version that is invalid.
	FindKubernetesVersion(profile *v1beta1.CloudProfileSpec, version string) (found bool, is v1beta1.ExpirableVersion, err error)
	// SupportsArchitecture reports whether an image version is for an architecture.
	SupportsArchitecture(version *v1beta1.MachineImageVersion, architecture string, capabilities []v1beta1.CapabilityDefinition) bool
	// SupportsCapabilities reports whether some core flavor of an image version fits the capabilities of a machine type.
	SupportsCapabilities(machine v1beta1.Capabilities, version *v1beta1.MachineImageVersion, capabilities []v1beta1.CapabilityDefinition) bool
}

// UpdatedInPlace reports whether the machines of a worker pool are updated in place.
func UpdatedInPlace(worker *v1beta1.Worker) bool {
	strategy := worker.UpdateStrategy
	return strategy != nil && (*strategy == v1beta1.AutoInPlaceUpdate || *strategy == v1beta1.ManualInPlaceUpdate)
}

// UpdatePending reports whether an update in place of a worker pool is unfinished, so that Gardener refuses another one.
//
// It is the condition of ValidateInPlaceUpdates (pkg/api/core/validation).
func UpdatePending(shoot *v1beta1.Shoot, worker *v1beta1.Worker) bool {
	updates := shoot.Status.InPlaceUpdates
	if !UpdatedInPlace(worker) || updates == nil || updates.PendingWorkerUpdates == nil ||
		shoot.Annotations[constants.GardenerOperation] == constants.ShootOperationForceInPlaceUpdate {
		return false
	}
	pending := updates.PendingWorkerUpdates
	return slices.Contains(pending.AutoInPlaceUpdate, worker.Name) || slices.Contains(pending.ManualInPlaceUpdate, worker.Name)
}

// FindMachineType returns the first machine type of a profile with the name; nil if there is none.
func FindMachineType(profile *v1beta1.CloudProfileSpec, name string) *v1beta1.MachineType {
	return find(profile.MachineTypes, func(t *v1beta1.MachineType) bool { return t.Name == name })
}

// FindMachineImage returns the first machine image of a profile with the name, ignoring case as Gardener does; nil if there is none.
func FindMachineImage(profile *v1beta1.CloudProfileSpec, name string) *v1beta1.MachineImage {
	return find(profile.MachineImages, func(i *v1beta1.MachineImage) bool { return strings.EqualFold(i.Name, name) })
}

// FindImageVersion returns the first version of a machine image with the name; nil if there is none.
func FindImageVersion(image *v1beta1.MachineImage, version string) *v1beta1.MachineImageVersion {
	return find(image.Versions, func(v *v1beta1.MachineImageVersion) bool { return v.Version == version })
}

func find[T any](list []T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, func(item T) bool { return is(&item) }); i >= 0 {
		return &list[i]
	}
	return nil
}
