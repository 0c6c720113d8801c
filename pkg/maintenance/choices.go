// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/versions"
)

// This file has Gardener's choice of a worker pool's next image version. Similar pools share a memoized result.

// request are the properties that decide which version Gardener chooses for a worker pool. Optional fields are results of optional.
type request struct {
	machineType, image, version, architecture string
	inPlace                                   bool
	kubernetes, kubelet, runtimes             string
	autoUpdate                                bool
}

func requestOf(shoot *v1beta1.Shoot, worker *v1beta1.Worker) request {
	return request{
		machineType: worker.Machine.Type, image: worker.Machine.Image.Name, version: *worker.Machine.Image.Version,
		architecture: optional(worker.Machine.Architecture), inPlace: gardenerrules.UpdatedInPlace(worker),
		kubernetes: shoot.Spec.Kubernetes.Version, kubelet: kubeletOf(worker), runtimes: gardenerrules.RuntimesOf(worker.CRI),
		autoUpdate: UpdatesImages(shoot),
	}
}

// optional returns a text that distinguishes an empty value from an absent one.
func optional(value *string) string {
	if value == nil {
		return ""
	}
	return "=" + *value
}

func kubeletOf(worker *v1beta1.Worker) string {
	if worker.Kubernetes == nil {
		return ""
	}
	return optional(worker.Kubernetes.Version)
}

// offer are the versions that Gardener chooses from. After an error Gardener stops, and leaves the remaining worker pools alone.
type offer struct {
	*allowed
	err error
}

// choose returns the effect of maintenance on a worker pool's image. Usually that is the latest version by the image's update strategy. The
// update is forced if the pool's own version has expired, or is excluded by the pool's architecture, machine type, container runtime,
// kubelet or update strategy. The rule sees only the versions that the filter admits, so a pool's version that it does not boot counts as
// missing (semantics S15). Worker pools without a version are not updated. ends reports whether an error makes Gardener leave the remaining
// worker pools alone.
//
// It is the rule of maintainMachineImages in Gardener's maintenance controller.
func (m *Maintainer) choose(shoot *v1beta1.Shoot, worker *v1beta1.Worker, admits Filter) (chosen Outcome, ends bool) {
	current := worker.Machine.Image
	if current == nil || current.Version == nil {
		return Outcome{}, false
	}
	request := requestOf(shoot, worker)
	offer := m.offer(worker, request)
	switch {
	case offer.err != nil:
		return Outcome{Err: offer.err}, true
	case admits == nil:
		return offer.pick(current, request.autoUpdate), false
	}
	rest := *offer.image
	rest.Versions = slices.DeleteFunc(slices.Clone(rest.Versions), func(v v1beta1.MachineImageVersion) bool {
		return !admits(rest.Name, v.Version)
	})
	return newAllowed(m.library, &rest).pick(current, request.autoUpdate), false
}

// offer returns the versions that Gardener chooses from for a request. They depend on the worker's own version only for updates in place.
func (m *Maintainer) offer(worker *v1beta1.Worker, r request) offer {
	r.autoUpdate = false
	if !r.inPlace {
		r.version = ""
	}
	return memo.Get(m.offers, r, func() offer {
		image, err := m.allowedVersions(worker, r.kubernetes)
		if err != nil {
			return offer{err: err}
		}
		return offer{allowed: memo.Get(m.allowed, contentOf(image), func() *allowed { return newAllowed(m.library, image) })}
	})
}

// allowedVersions returns a worker pool's image with the versions that the pool can have. After an error Gardener leaves the remaining
// worker pools alone.
func (m *Maintainer) allowedVersions(worker *v1beta1.Worker, kubernetes string) (*v1beta1.MachineImage, error) {
	machineType := gardenerrules.FindMachineType(m.profile, worker.Machine.Type)
	if machineType == nil {
		return nil, fmt.Errorf("the profile has no machine type %q", worker.Machine.Type)
	}
	found := gardenerrules.FindMachineImage(m.profile, worker.Machine.Image.Name)
	if found == nil {
		return nil, fmt.Errorf("the profile has no image %q", worker.Machine.Image.Name)
	}
	image := withStrategy(found)
	kubelet, err := gardenerrules.KubeletVersion(kubernetes, worker)
	if err != nil {
		return nil, err
	}
	image.Versions = slices.DeleteFunc(slices.Clone(image.Versions), func(v v1beta1.MachineImageVersion) bool {
		if v.KubeletVersionConstraint == nil {
			return false
		}
		// The API server accepts no invalid constraint, and Gardener's code relies on that.
		_, err := semver.NewConstraint(*v.KubeletVersionConstraint)
		return err != nil
	})
	complete := *worker
	complete.Machine.Architecture = ptr.To(gardenerrules.Architecture(m.profile, worker))
	return m.library.FilterMachineImageVersions(&image, complete, kubelet, machineType, m.profile.MachineCapabilities), nil
}

// withStrategy returns a copy of an image with the default update strategy if the manifest has not passed an API server yet.
func withStrategy(found *v1beta1.MachineImage) v1beta1.MachineImage {
	image := *found
	if image.UpdateStrategy == nil {
		image.UpdateStrategy = ptr.To(v1beta1.UpdateStrategyMajor)
	}
	return image
}

// allowed are the versions of an image that a worker pool can have.
type allowed struct {
	library gardenerrules.Library
	image   *v1beta1.MachineImage
	// stages and numbers belong to the versions. numbers is nil if one of them is not a plain version.
	stages  []v1beta1.VersionClassification
	numbers []*semver.Version
	picked  map[pickable]Outcome
}

// pickable is the key of a pick among allowed versions.
type pickable struct {
	version    string
	autoUpdate bool
}

// contentOf returns the parts of an image that Gardener reads when it picks a version, as a text.
func contentOf(image *v1beta1.MachineImage) string {
	text := []string{image.Name, string(*image.UpdateStrategy)}
	for _, v := range image.Versions {
		text = append(text, v.Version, string(versions.Classification(v.ExpirableVersion)))
	}
	return strings.Join(text, "\n")
}

func newAllowed(library gardenerrules.Library, image *v1beta1.MachineImage) *allowed {
	a := &allowed{library: library, image: image, picked: map[pickable]Outcome{}}
	allPlain := true
	for _, v := range image.Versions {
		number, plain := plainVersion(v.Version)
		a.numbers, a.stages = append(a.numbers, number), append(a.stages, versions.Classification(v.ExpirableVersion))
		allPlain = allPlain && plain
	}
	if !allPlain {
		a.numbers = nil
	}
	return a
}

// plainVersion parses a version of three numbers. It reports false for any other version.
func plainVersion(version string) (*semver.Version, bool) {
	number, err := semver.StrictNewVersion(version)
	return number, err == nil && number.Prerelease() == "" && number.Metadata() == ""
}

// pick returns the effect of maintenance on a worker pool's version.
func (a *allowed) pick(current *v1beta1.ShootMachineImage, autoUpdate bool) Outcome {
	return memo.Get(a.picked, pickable{*current.Version, autoUpdate}, func() Outcome {
		due, forced := shoots.ImageDue(a.image, current, autoUpdate)
		if !due {
			return Outcome{}
		}
		image := a.image
		if !forced {
			image = a.decisive(current)
		}
		version, err := a.library.DetermineMachineImageVersion(current, image, forced)
		if err != nil {
			version = ""
		}
		return Outcome{version, forced, err}
	})
}

// scope is a possible target of an update that is not forced: the versions of one stage that share a number of leading components with the
// current version, from the major on.
type scope struct {
	stage v1beta1.VersionClassification
	same  int
}

// decisive returns the image with only the versions that decide an update that is not forced. Gardener takes the latest newer version of
// certain stages, with the same minor, the same major or any. So the latest version in each of these scopes is enough. Gardener parses all
// versions several times, and there may be hundreds.
func (a *allowed) decisive(current *v1beta1.ShootMachineImage) *v1beta1.MachineImage {
	from, plain := plainVersion(*current.Version)
	if !plain || a.numbers == nil {
		return a.image
	}
	latest := map[scope]int{}
	for i, number := range a.numbers {
		for same := range 1 + inCommon(number, from) {
			at := scope{a.stages[i], same}
			if k, found := latest[at]; number.GreaterThan(from) && (!found || number.GreaterThan(a.numbers[k])) {
				latest[at] = i
			}
		}
	}
	decisive := &v1beta1.MachineImage{Name: a.image.Name, UpdateStrategy: a.image.UpdateStrategy}
	indices := slices.Sorted(maps.Values(latest))
	for _, i := range slices.Compact(indices) {
		decisive.Versions = append(decisive.Versions, a.image.Versions[i])
	}
	return decisive
}

// inCommon returns the number of leading components, at most two, that two versions share.
func inCommon(a, b *semver.Version) int {
	switch {
	case a.Major() != b.Major():
		return 0
	case a.Minor() != b.Minor():
		return 1
	}
	return 2
}
