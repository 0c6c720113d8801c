// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package shoots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/versions"
)

// DefaultImage returns the image that Gardener fills in for a new worker pool. The image is the named one, or the first in the profile that
// has the pool's architecture or supports its machine type. The version is the latest one that matches a partly named version and is not a
// preview; it is deprecated only if all matching versions are. A complete version, or one that the named image has, is kept, even if the
// image lacks it or the filter does not admit it. Otherwise the rule sees only the versions that the filter admits.
//
// It is the rule of getDefaultMachineImage (plugin/pkg/shoot/mutator), which ensureMachineImage calls for pools that the stored Shoot does
// not have. DefaultImage does not modify its arguments.
func DefaultImage(
	library gardenerrules.Library, profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, boots gardenerrules.Filter,
) (gardenerrules.Image, error) {
	named := gardenerrules.NamedImage(worker)
	image, err := defaultImage(library, profile, worker, named.Name, boots)
	if err != nil {
		return gardenerrules.Image{}, err
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
		return gardenerrules.Image{}, err
	}
	latest, err := latestOf(image, func(v *v1beta1.MachineImageVersion, number *semver.Version) bool {
		return matches(number) && suits(library, profile, worker, v) && boots.Admits(image.Name, v.Version)
	})
	return gardenerrules.Image{Name: image.Name, Version: latest}, err
}

// DefaultKubernetes returns the Kubernetes version that Gardener fills in for a Shoot. A complete version is kept. Otherwise it is the
// latest supported version that begins with the given part, which may be empty.
//
// It is the rule of defaultKubernetesVersion (plugin/pkg/shoot/mutator).
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
			return "", fmt.Errorf("the Kubernetes version %q: %w", v.Version, err)
		}
		if versions.Classification(v) == v1beta1.ClassificationSupported && matches(number) && (latest == nil || number.GreaterThan(latest)) {
			latest = number
		}
	}
	if latest == nil {
		return "", fmt.Errorf("the profile has no supported Kubernetes version %s", strings.Join(parts, "."))
	}
	return latest.String(), nil
}

// defaultImage returns the image with the name or, if that is empty, Gardener's default image.
func defaultImage(
	library gardenerrules.Library, profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, name string, boots gardenerrules.Filter,
) (*v1beta1.MachineImage, error) {
	if name != "" {
		i := slices.IndexFunc(profile.MachineImages, func(image v1beta1.MachineImage) bool { return image.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("the profile has no image %q", name)
		}
		return &profile.MachineImages[i], nil
	}
	architecture, machineType := gardenerrules.Architecture(profile, worker), gardenerrules.FindMachineType(profile, worker.Machine.Type)
	for i := range profile.MachineImages {
		image := &profile.MachineImages[i]
		for _, v := range image.Versions {
			fits := library.SupportsArchitecture(&v, architecture, profile.MachineCapabilities) ||
				machineType != nil && library.SupportsCapabilities(machineType.Capabilities, &v, profile.MachineCapabilities)
			if fits && boots.Admits(image.Name, v.Version) {
				return image, nil
			}
		}
	}
	return nil, fmt.Errorf("the profile has no image for architecture %s", architecture)
}

// suits reports whether a new worker pool can have a version by default.
func suits(library gardenerrules.Library, profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, v *v1beta1.MachineImageVersion) bool {
	definitions := profile.MachineCapabilities
	if !library.SupportsArchitecture(v, gardenerrules.Architecture(profile, worker), definitions) {
		return false
	}
	machineType := gardenerrules.FindMachineType(profile, worker.Machine.Type)
	if machineType != nil && !library.SupportsCapabilities(machineType.Capabilities, v, definitions) {
		return false
	}
	return !gardenerrules.UpdatedInPlace(worker) || v.InPlaceUpdates != nil && v.InPlaceUpdates.Supported
}

// beginning returns a function that reports whether a version begins with the given parts. Of more than two parts only the first one
// matters.
func beginning(parts []string) (func(*semver.Version) bool, error) {
	var numbers [2]*uint64 // nil if not given
	for i, part := range parts[:min(len(parts), 2)] {
		if part == "" || i == 1 && len(parts) > 2 {
			continue
		}
		number, err := strconv.ParseUint(part, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a part of a version", part)
		}
		numbers[i] = &number
	}
	major, minor := numbers[0], numbers[1]
	return func(v *semver.Version) bool {
		return (major == nil || v.Major() == *major) && (minor == nil || v.Minor() == *minor)
	}, nil
}

// latestOf returns the latest accepted version that is not a preview; a deprecated one only if there is no other.
func latestOf(
	image *v1beta1.MachineImage, takes func(*v1beta1.MachineImageVersion, *semver.Version) bool,
) (string, error) {
	var found, preview string
	var latest *semver.Version
	var deprecated bool
	for i := range image.Versions {
		v := &image.Versions[i]
		number, err := semver.NewVersion(v.Version)
		if err != nil {
			return "", fmt.Errorf("version %q of image %s: %w", v.Version, image.Name, err)
		}
		classification := versions.Classification(v.ExpirableVersion)
		if !takes(v, number) {
			continue
		}
		if classification == v1beta1.ClassificationPreview {
			preview = cmp.Or(preview, v.Version)
			continue
		}
		old := classification == v1beta1.ClassificationDeprecated
		if latest == nil || deprecated && !old || deprecated == old && number.GreaterThan(latest) {
			found, latest, deprecated = v.Version, number, old
		}
	}
	switch {
	case latest == nil && preview != "":
		return "", fmt.Errorf("no version of image %s fits but previews, which only a full version such as %s selects", image.Name, preview)
	case latest == nil:
		return "", fmt.Errorf("no version of image %s fits", image.Name)
	}
	return found, nil
}
