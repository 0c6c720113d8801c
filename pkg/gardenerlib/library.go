// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gardenerlib asks the code of the Gardener that a program is built with: about what maintenance chooses, which flavors core
// takes for a machine type, and feature gates of Kubernetes. It is in a module of its own, because what decides needs Gardener's API
// types alone, and is given a [Library].
package gardenerlib

import (
	"github.com/Masterminds/semver/v3"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/controller/shoot/maintenance/helper"
	"github.com/gardener/gardener/pkg/utils/validation/features"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/gardenerrules"
)

// Library asks Gardener's code. The zero value is ready for use, and safe for concurrent use.
type Library struct{}

var _ gardenerrules.Library = Library{}

// FilterMachineImageVersions asks the function of that name of Gardener's maintenance controller.
func (Library) FilterMachineImageVersions(
	image *v1beta1.MachineImage, worker v1beta1.Worker, kubelet *semver.Version, machineType *v1beta1.MachineType,
	capabilities []v1beta1.CapabilityDefinition,
) *v1beta1.MachineImage {
	return helper.FilterMachineImageVersions(image, worker, kubelet, machineType, capabilities)
}

// DetermineMachineImageVersion asks the function of that name of Gardener's maintenance controller.
func (Library) DetermineMachineImageVersion(current *v1beta1.ShootMachineImage, image *v1beta1.MachineImage, expired bool) (string, error) {
	return helper.DetermineMachineImageVersion(current, image, expired)
}

// DetermineKubernetesVersion asks Gardener's maintenance controller as that asks itself for versions of Kubernetes.
func (Library) DetermineKubernetesVersion(versions []v1beta1.ExpirableVersion, current string, expired bool) (string, error) {
	return helper.DetermineVersionForStrategy(versions, current,
		v1beta1helper.GetLatestVersionForPatchAutoUpdate, v1beta1helper.GetVersionForForcefulUpdateToConsecutiveMinor, expired)
}

// FindKubernetesVersion asks v1beta1helper.KubernetesVersionExistsInCloudProfile.
func (Library) FindKubernetesVersion(profile *v1beta1.CloudProfileSpec, version string) (bool, v1beta1.ExpirableVersion, error) {
	return v1beta1helper.KubernetesVersionExistsInCloudProfile(&v1beta1.CloudProfile{Spec: *profile}, version)
}

// SupportsArchitecture asks v1beta1helper.ArchitectureSupportedByImageVersion.
func (Library) SupportsArchitecture(
	version *v1beta1.MachineImageVersion, architecture string, capabilities []v1beta1.CapabilityDefinition,
) bool {
	return v1beta1helper.ArchitectureSupportedByImageVersion(*version, architecture, capabilities)
}

// SupportsCapabilities asks v1beta1helper.AreCapabilitiesSupportedByImageFlavors.
func (Library) SupportsCapabilities(
	machine v1beta1.Capabilities, version *v1beta1.MachineImageVersion, capabilities []v1beta1.CapabilityDefinition,
) bool {
	return v1beta1helper.AreCapabilitiesSupportedByImageFlavors(machine, version.CapabilityFlavors, capabilities)
}

// anyVersion is one by which a feature gate can be looked up that need not be of it.
const anyVersion = "1.0.0"

// KnowsFeatureGate reports whether some version of Kubernetes has a feature gate.
func (Library) KnowsFeatureGate(name string) bool {
	_, err := features.IsFeatureGateSupported(name, anyVersion)
	return err == nil
}

// ValidateFeatureGate asks Gardener's ValidateFeatureGates.
func (Library) ValidateFeatureGate(name string, value bool, version string, at *field.Path) field.ErrorList {
	return features.ValidateFeatureGates(map[string]bool{name: value}, version, at)
}
