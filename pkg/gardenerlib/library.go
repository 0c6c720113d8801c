// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gardenerlib calls the code of the Gardener that a program is built with, for the choices of maintenance, for core's check of
// flavors against a machine type, and for Kubernetes feature gates. It is a module of its own, so that the packages that decide need only
// Gardener's API types. They take a [Library] as an argument.
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

// Library calls Gardener's code. The zero value is ready for use, and safe for concurrent use.
type Library struct{}

var _ gardenerrules.Library = Library{}

// FilterMachineImageVersions calls the function of the same name in Gardener's maintenance controller.
func (Library) FilterMachineImageVersions(
	image *v1beta1.MachineImage, worker v1beta1.Worker, kubelet *semver.Version, machineType *v1beta1.MachineType,
	capabilities []v1beta1.CapabilityDefinition,
) *v1beta1.MachineImage {
	return helper.FilterMachineImageVersions(image, worker, kubelet, machineType, capabilities)
}

// DetermineMachineImageVersion calls the function of the same name in Gardener's maintenance controller.
func (Library) DetermineMachineImageVersion(current *v1beta1.ShootMachineImage, image *v1beta1.MachineImage, expired bool) (string, error) {
	return helper.DetermineMachineImageVersion(current, image, expired)
}

// DetermineKubernetesVersion calls DetermineVersionForStrategy, with the strategies of Gardener's maintenance controller for Kubernetes.
func (Library) DetermineKubernetesVersion(versions []v1beta1.ExpirableVersion, current string, expired bool) (string, error) {
	return helper.DetermineVersionForStrategy(versions, current,
		v1beta1helper.GetLatestVersionForPatchAutoUpdate, v1beta1helper.GetVersionForForcefulUpdateToConsecutiveMinor, expired)
}

// FindKubernetesVersion calls v1beta1helper.KubernetesVersionExistsInCloudProfile.
func (Library) FindKubernetesVersion(profile *v1beta1.CloudProfileSpec, version string) (bool, v1beta1.ExpirableVersion, error) {
	return v1beta1helper.KubernetesVersionExistsInCloudProfile(&v1beta1.CloudProfile{Spec: *profile}, version)
}

// SupportsArchitecture calls v1beta1helper.ArchitectureSupportedByImageVersion.
func (Library) SupportsArchitecture(
	version *v1beta1.MachineImageVersion, architecture string, capabilities []v1beta1.CapabilityDefinition,
) bool {
	return v1beta1helper.ArchitectureSupportedByImageVersion(*version, architecture, capabilities)
}

// SupportsCapabilities calls v1beta1helper.AreCapabilitiesSupportedByImageFlavors.
func (Library) SupportsCapabilities(
	machine v1beta1.Capabilities, version *v1beta1.MachineImageVersion, capabilities []v1beta1.CapabilityDefinition,
) bool {
	return v1beta1helper.AreCapabilitiesSupportedByImageFlavors(machine, version.CapabilityFlavors, capabilities)
}

// anyVersion is a version for looking up a feature gate. The gate need not exist in it.
const anyVersion = "1.0.0"

// KnowsFeatureGate reports whether any Kubernetes version has a feature gate.
func (Library) KnowsFeatureGate(name string) bool {
	_, err := features.IsFeatureGateSupported(name, anyVersion)
	return err == nil
}

// ValidateFeatureGate calls Gardener's ValidateFeatureGates for one feature gate and a Kubernetes version.
func (Library) ValidateFeatureGate(name string, value bool, version string, at *field.Path) field.ErrorList {
	return features.ValidateFeatureGates(map[string]bool{name: value}, version, at)
}
