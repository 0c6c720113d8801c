// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/utils/ptr"
)

// Filter reports whether a worker pool boots a version of an image. Nil: it boots all.
type Filter func(image, version string) bool

func (f Filter) admits(image, version string) bool { return f == nil || f(image, version) }

// Image is a version of a machine image, by its names in a CloudProfile.
type Image struct{ Name, Version string }

// String returns the image as NAME@VERSION.
func (i Image) String() string { return i.Name + "@" + i.Version }

// Default returns the image that Gardener fills in for a new worker pool: the image that it names, or the first of the
// profile that has its architecture or supports its machine type; of the versions that match what it names of one, the
// latest that is no preview, and deprecated only if all are. A worker that names an image and a whole version, or one
// that the profile has, keeps it, whether or not the profile knows it or the filter admits it.
//
// The rule is that of the admission plugin ShootMutator of Gardener v1.150 (ensureMachineImage), for pools that are not
// in the stored Shoot yet. Default changes neither argument.
func Default(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, boots Filter) (Image, error) {
	named := named(worker)
	image, err := defaultImage(profile, worker, named.Name, boots)
	if err != nil {
		return Image{}, err
	}
	known := func(v v1beta1.MachineImageVersion) bool { return v.Version == named.Version }
	if named.Name != "" && slices.ContainsFunc(image.Versions, known) {
		return named, nil
	}
	parts := strings.Split(strings.TrimPrefix(named.Version, "v"), ".")
	if len(parts) == 3 {
		return named, nil
	}
	matches, err := beginning(parts)
	if err != nil {
		return Image{}, err
	}
	latest, err := latestOf(image, func(v *v1beta1.MachineImageVersion, number *semver.Version) bool {
		return matches(number) && suits(profile, worker, v) && boots.admits(image.Name, v.Version)
	})
	return Image{image.Name, latest}, err
}

// named returns what a worker names of an image.
func named(worker *v1beta1.Worker) Image {
	image := worker.Machine.Image
	if image == nil {
		return Image{}
	}
	return Image{image.Name, ptr.Deref(image.Version, "")}
}

// Filled returns the image that a new worker pool gets where mutate-shoot is asked: what Gardener fills in or, if that
// does not work, what it would fill in if it had only the versions that do (semantics S15). If none works, it is what
// Gardener fills in, and will be refused. What the worker names is kept. kubernetes is the version of the control
// plane; boots reports what boots for the pool.
func Filled(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, kubernetes string, boots Filter) (Image, error) {
	image, err := Default(profile, worker, nil)
	works := Works(profile, worker, nil, kubernetes, boots)
	if err != nil || image == named(worker) || works(image.Name, image.Version) {
		return image, err
	}
	if other, err := Default(profile, worker, works); err == nil {
		return other, nil
	}
	return image, nil
}

// DefaultKubernetes returns the version of Kubernetes that Gardener takes a Shoot to name: a whole version as it is,
// and otherwise the latest supported one that begins with what it names; nothing is named by an empty one. The rule is
// that of the admission plugin ShootMutator of Gardener v1.150 (defaultKubernetesVersion).
func DefaultKubernetes(profile *v1beta1.CloudProfileSpec, version string) (string, error) {
	parts := strings.Split(version, ".")
	if len(parts) == 3 {
		return version, nil
	}
	matches, err := beginning(parts)
	if err != nil {
		return "", err
	}
	var latest *semver.Version
	for _, v := range profile.Kubernetes.Versions {
		number, err := semver.NewVersion(v.Version)
		if err != nil {
			return "", fmt.Errorf("version %q of Kubernetes: %w", v.Version, err)
		}
		if v1beta1helper.VersionIsSupported(v) && matches(number) && (latest == nil || number.GreaterThan(latest)) {
			latest = number
		}
	}
	if latest == nil {
		return "", fmt.Errorf("the profile has no supported version %s of Kubernetes", strings.Join(parts, "."))
	}
	return latest.String(), nil
}

// defaultImage returns the image of this name or, if it is empty, the one that Gardener takes.
func defaultImage(
	profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, name string, boots Filter,
) (*v1beta1.MachineImage, error) {
	architecture, machineType := Architecture(profile, worker), machineTypeOf(profile, worker)
	for i := range profile.MachineImages {
		image := &profile.MachineImages[i]
		if name != "" {
			if image.Name == name {
				return image, nil
			}
			continue
		}
		for _, v := range image.Versions {
			fits := v1beta1helper.ArchitectureSupportedByImageVersion(v, architecture, profile.MachineCapabilities) ||
				machineType != nil && v1beta1helper.AreCapabilitiesSupportedByImageFlavors(
					machineType.Capabilities, v.CapabilityFlavors, profile.MachineCapabilities)
			if fits && boots.admits(image.Name, v.Version) {
				return image, nil
			}
		}
	}
	if name != "" {
		return nil, fmt.Errorf("the profile has no image %q", name)
	}
	return nil, fmt.Errorf("the profile has no image for architecture %s", architecture)
}

// Architecture returns the architecture that Gardener takes a worker pool to have: what it says or, if it says none,
// that of its machine type, or amd64 if this is unknown or has several.
func Architecture(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker) string {
	if worker.Machine.Architecture != nil {
		return *worker.Machine.Architecture
	}
	if machineType := machineTypeOf(profile, worker); machineType != nil {
		if architecture := machineType.GetArchitecture(profile.MachineCapabilities); architecture != "" {
			return architecture
		}
	}
	return v1beta1constants.ArchitectureAMD64
}

func machineTypeOf(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker) *v1beta1.MachineType {
	return v1beta1helper.FindMachineTypeByName(profile.MachineTypes, worker.Machine.Type)
}

// suits reports whether Gardener takes a version for one that a new worker pool can have.
func suits(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, v *v1beta1.MachineImageVersion) bool {
	definitions := profile.MachineCapabilities
	if !v1beta1helper.ArchitectureSupportedByImageVersion(*v, Architecture(profile, worker), definitions) {
		return false
	}
	machineType := machineTypeOf(profile, worker)
	if machineType != nil && !v1beta1helper.AreCapabilitiesSupportedByImageFlavors(
		machineType.Capabilities, v.CapabilityFlavors, definitions) {
		return false
	}
	updatedInPlace := v1beta1helper.IsUpdateStrategyInPlace(worker.UpdateStrategy)
	return !updatedInPlace || v.InPlaceUpdates != nil && v.InPlaceUpdates.Supported
}

// beginning returns what reports whether a version begins with the numbers that a worker names of one.
func beginning(parts []string) (func(*semver.Version) bool, error) {
	numbers := make([]uint64, 0, 2)
	for _, part := range parts[:min(len(parts), 2)] {
		if part == "" { // nothing is named, or nothing behind a dot
			break
		}
		number, err := strconv.ParseUint(part, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no part of a version", part)
		}
		numbers = append(numbers, number)
	}
	return func(v *semver.Version) bool {
		return (len(numbers) < 1 || v.Major() == numbers[0]) && (len(numbers) < 2 || v.Minor() == numbers[1])
	}, nil
}

// latestOf returns the latest version of those that are taken into account and no preview; a deprecated one only if
// there is no other.
func latestOf(
	image *v1beta1.MachineImage, takes func(*v1beta1.MachineImageVersion, *semver.Version) bool,
) (string, error) {
	var found string
	var latest *semver.Version
	var deprecated bool
	for i := range image.Versions {
		v := &image.Versions[i]
		number, err := semver.NewVersion(v.Version)
		if err != nil {
			return "", fmt.Errorf("version %q of image %s: %w", v.Version, image.Name, err)
		}
		classification := v1beta1helper.CurrentLifecycleClassification(v.ExpirableVersion)
		if classification == v1beta1.ClassificationPreview || !takes(v, number) {
			continue
		}
		old := classification == v1beta1.ClassificationDeprecated
		if latest == nil || deprecated && !old || deprecated == old && number.GreaterThan(latest) {
			found, latest, deprecated = v.Version, number, old
		}
	}
	if latest == nil {
		return "", fmt.Errorf("no version of image %s fits", image.Name)
	}
	return found, nil
}
