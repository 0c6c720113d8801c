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

// Library is what Gardener's own code answers, and is not written once more. Package gardenerlib has it, a module of its own that
// needs Gardener; what decides needs Gardener's API types alone. Implementations change no argument and are safe for concurrent use.
type Library interface {
	// FilterMachineImageVersions returns the image with the versions that a worker pool can have, by its architecture, machine type,
	// container runtime, kubelet and way of updating, in their order. The machine type, the worker's image and its architecture are set.
	FilterMachineImageVersions(
		image *v1beta1.MachineImage, worker v1beta1.Worker, kubelet *semver.Version, machineType *v1beta1.MachineType,
		capabilities []v1beta1.CapabilityDefinition,
	) *v1beta1.MachineImage
	// DetermineMachineImageVersion returns the version that maintenance chooses by the image's update strategy, which is set; empty if
	// it chooses none. expired says that it has to. The error says why it cannot.
	DetermineMachineImageVersion(current *v1beta1.ShootMachineImage, image *v1beta1.MachineImage, expired bool) (string, error)
	// DetermineKubernetesVersion is the same for a version of Kubernetes: the latest patch or, if that is expired, of the next minor.
	DetermineKubernetesVersion(versions []v1beta1.ExpirableVersion, current string, expired bool) (string, error)
	// FindKubernetesVersion returns a version of Kubernetes of a profile. The error says which one cannot be read.
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

// UpdatePending reports whether an update in place of a worker pool has not been finished, so that Gardener refuses others.
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

// FindMachineType returns the first machine type of a profile that has a name; nil if there is none.
func FindMachineType(profile *v1beta1.CloudProfileSpec, name string) *v1beta1.MachineType {
	return find(profile.MachineTypes, func(t *v1beta1.MachineType) bool { return t.Name == name })
}

// FindMachineImage returns the first machine image of a profile that has a name, in letters of either case, as Gardener looks for it; nil
// if there is none.
func FindMachineImage(profile *v1beta1.CloudProfileSpec, name string) *v1beta1.MachineImage {
	return find(profile.MachineImages, func(i *v1beta1.MachineImage) bool { return strings.EqualFold(i.Name, name) })
}

// FindImageVersion returns a version of a machine image; nil if there is none.
func FindImageVersion(image *v1beta1.MachineImage, version string) *v1beta1.MachineImageVersion {
	return find(image.Versions, func(v *v1beta1.MachineImageVersion) bool { return v.Version == version })
}

func find[T any](list []T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, func(item T) bool { return is(&item) }); i >= 0 {
		return &list[i]
	}
	return nil
}
