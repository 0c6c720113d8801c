// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package releases holds the differences between Gardener's minor versions: rules, fields, feature gates and Kubernetes versions. Start
// reading at [Release].
package releases

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Release is a minor version of Gardener, as a number: 150 is v1.150. Its rules are those of the latest patch that could be examined. The
// zero Release is [Newest].
type Release int

// The releases whose rules are known. Newest is the compiled-in one, by cmd/go.mod.
const (
	Oldest Release = 144
	Newest Release = 150
)

// String returns a release in the form v1.150.
func (r Release) String() string { return fmt.Sprintf("v1.%d", int(r.orNewest())) }

func (r Release) orNewest() Release {
	if r == 0 {
		return Newest
	}
	return r
}

// Nearness says which release's rules apply to a version of Gardener.
type Nearness int

// The values.
const (
	// Known: its own.
	Known Nearness = iota
	// TooNew: those of the newest release, the nearest one below it.
	TooNew
	// TooOld: those of the oldest release.
	TooOld
)

// Of returns the release whose rules apply to a version of Gardener such as v1.146.3. The v, the patch and its suffix are optional. The
// error says that the version is invalid.
func Of(version string) (Release, Nearness, error) {
	parsed, err := semver.NewVersion(strings.TrimPrefix(version, "v"))
	switch {
	case err != nil || !strings.Contains(version, "."):
		return 0, Known, fmt.Errorf("%q is not a version of Gardener: write one like %s.0", version, Newest)
	case parsed.Major() > 1 || parsed.Major() == 1 && parsed.Minor() > uint64(Newest):
		return Newest, TooNew, nil
	case parsed.Major() < 1 || parsed.Minor() < uint64(Oldest):
		return Oldest, TooOld, nil
	}
	return Release(parsed.Minor()), Known, nil //nolint:gosec // it is between two small numbers
}

// Change is a difference between releases.
type Change struct {
	Since Release
	// Name is this project's name for the change.
	Name string
	// Now and Before are the API server's behaviour from the release Since on, and before it.
	Now, Before string
	// Read reports whether the difference was only read in Gardener's history, because an older release cannot be built where this is
	// tested. Other changes were compared with the sources of both releases.
	Read bool
}

// The names of changes that rules or answers depend on.
const (
	ChangeParentTypes       = "parent-machine-types"
	ChangeCapabilities      = "capabilities-by-default"
	ChangeBackToLegacy      = "back-to-legacy"
	ChangeNetworksAtCreate  = "networks-at-creation"
	ChangeReservedPrefix    = "reserved-prefix"
	ChangeImageConfig       = "image-provider-config"
	ChangeArchitecture      = "architecture-of-machine-type"
	ChangeControlPlaneZones = "control-plane-zones"
)

// changes are the differences, in the order of the releases.
var changes = []Change{
	{145, ChangeParentTypes, "a NamespacedCloudProfile may list machine types of its parent", "it is refused", true},
	{146, ChangeCapabilities, "the feature gate CloudProfileCapabilities is on by default", "it is off by default", false},
	{146, ChangeBackToLegacy, "capabilities may be removed if NamespacedCloudProfiles declare nothing but the architecture",
		"they may not, if one declares the architecture", false},
	{146, ChangeNetworksAtCreate, "networks of a Shoot that overlap are refused when it is created", "when it gets a Seed", false},
	{147, ChangeReservedPrefix, "capabilities whose names begin with gardener- are refused", "they are like any other", false},
	{148, ChangeImageConfig, "an update that keeps the version of an image may change its provider config", "the config stays as it was", false},
	{149, ChangeArchitecture, "a worker pool without architecture gets that of its machine type", "it gets amd64", false},
	{150, ChangeControlPlaneZones, "the zones of a control plane can be chosen, if the CloudProfile allows it", "there is no such field", false},
}

// Changes returns the differences between the releases, from the oldest to the newest. The caller owns the slice.
func Changes() []Change { return slices.Clone(changes) }

// Has reports whether a release has a change, given by one of the names above.
func (r Release) Has(name string) bool {
	i := slices.IndexFunc(changes, func(c Change) bool { return c.Name == name })
	return i >= 0 && r.orNewest() >= changes[i].Since
}

// fields maps fields of specs to the first release that has them. A key is the kind and the path without indices. Fields of all releases
// are left out.
var fields = map[string]Release{
	"Shoot spec.kubernetes.clusterAutoscaler.autoscaling":                                   147,
	"Shoot spec.provider.workers.machineControllerManager.autoPreserveFailedMachineMax":     147,
	"Shoot spec.provider.workers.machineControllerManager.machinePreserveTimeout":           147,
	"Shoot spec.kubernetes.kubeAPIServer.tlsMinVersion":                                     149,
	"Shoot spec.kubernetes.kubelet.imagePullCredentialsVerificationPolicy":                  149,
	"Shoot spec.kubernetes.kubelet.preloadedImagesVerificationAllowlist":                    149,
	"Shoot spec.provider.workers.kubernetes.kubelet.imagePullCredentialsVerificationPolicy": 149,
	"Shoot spec.provider.workers.kubernetes.kubelet.preloadedImagesVerificationAllowlist":   149,
	"Shoot spec.controlPlane.zones":                                                         150,
	"CloudProfile spec.controlPlane":                                                        150,
}

// Fields returns the fields that [Newest] has but this release lacks, with the first release that has them. A key is the kind, a space and
// the path without indices, as in "Shoot spec.controlPlane.zones". The caller owns the map; it is empty for [Newest].
func (r Release) Fields() map[string]Release {
	missing := maps.Clone(fields)
	maps.DeleteFunc(missing, func(_ string, since Release) bool { return r.orNewest() >= since })
	return missing
}

// FeatureGates returns the feature gates of gardener-apiserver that affect its validation and admission, with their defaults. The caller
// owns the map.
//
// Its source is AllFeatureGates (pkg/features).
func (r Release) FeatureGates() map[string]bool {
	return map[string]bool{
		"CloudProfileCapabilities":       r.Has(ChangeCapabilities),
		"InPlaceNodeUpdates":             false,
		"LiveControlPlaneMigration":      false,
		"VersionClassificationLifecycle": false,
		"DisableNginxIngressInShoot":     false,
	}
}

// kubernetes are the minor Kubernetes versions that all known releases run.
var kubernetes = []string{"1.32", "1.33", "1.34", "1.35", "1.36"}

// Kubernetes returns the minor Kubernetes versions that a release runs, from the oldest to the newest. The caller owns the slice.
//
// Its source is SupportedVersions (pkg/utils/validation/kubernetesversion), which gardenlet checks, and the API server does not.
func (Release) Kubernetes() []string { return slices.Clone(kubernetes) }

// RunsKubernetes reports whether a release runs a Kubernetes version. It returns true for an invalid version.
func (Release) RunsKubernetes(version string) bool {
	parsed, err := semver.NewVersion(version)
	return err != nil || slices.Contains(kubernetes, fmt.Sprintf("%d.%d", parsed.Major(), parsed.Minor()))
}
