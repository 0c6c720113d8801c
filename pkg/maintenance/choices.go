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

// How Gardener chooses the next image version of a worker pool. It is asked once for those that are alike.

// request is what Gardener goes by when it chooses a version for a worker pool. Optional fields are as optional returns them.
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

// optional returns a text which tells an empty value from one that is missing.
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

// offer is what Gardener chooses from. After an error it looks at no further worker pool.
type offer struct {
	*allowed
	err error
}

// choose returns what maintenance does to the image of a worker pool: the latest version by the image's update strategy or,
// if the pool's own is expired or not among those that its architecture, machine type, container runtime, kubelet and way of
// updating allow, the one that is forced. For Gardener's rule there are only the versions that the filter admits: a version
// that the pool has and does not boot counts as missing (semantics S15). Worker pools without a version are not updated. ends
// says of an error that Gardener looks at no further worker pool after it.
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

// offer returns what Gardener chooses from for the request of a worker, which depends on the version that the worker has only
// if it is updated in place.
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

// allowedVersions returns the image of a worker pool with the versions that the pool can have. After an error Gardener looks at
// no further worker pool.
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
		return unreadable(v.KubeletVersionConstraint)
	})
	complete := *worker
	complete.Machine.Architecture = ptr.To(gardenerrules.Architecture(m.profile, worker))
	return m.library.FilterMachineImageVersions(&image, complete, kubelet, machineType, m.profile.MachineCapabilities), nil
}

// withStrategy returns an image with the update strategy that it has by default, if no API server has seen its manifest.
func withStrategy(found *v1beta1.MachineImage) v1beta1.MachineImage {
	image := *found
	if image.UpdateStrategy == nil {
		image.UpdateStrategy = ptr.To(v1beta1.UpdateStrategyMajor)
	}
	return image
}

// unreadable reports whether a constraint cannot be read. No API server accepts it, and Gardener's code relies on that.
func unreadable(constraint *string) bool {
	if constraint == nil {
		return false
	}
	_, err := semver.NewConstraint(*constraint)
	return err != nil
}

// allowed are the versions of an image that a worker pool can have.
type allowed struct {
	library gardenerrules.Library
	image   *v1beta1.MachineImage
	// stages and numbers are those of the versions. There are no numbers if one of them is no plain version.
	stages  []string
	numbers []*semver.Version
	picked  map[pickable]Outcome
}

// pickable is what a pick among allowed versions depends on.
type pickable struct {
	version    string
	autoUpdate bool
}

// contentOf returns what Gardener reads of an image when it picks a version, as a text.
func contentOf(image *v1beta1.MachineImage) string {
	text := []string{image.Name, string(*image.UpdateStrategy)}
	for _, v := range image.Versions {
		text = append(text, v.Version, stageOf(v))
	}
	return strings.Join(text, "\n")
}

// stageOf returns a text that is the same for versions between which Gardener tells no difference but their numbers.
func stageOf(v v1beta1.MachineImageVersion) string {
	return string(versions.Classification(v.ExpirableVersion))
}

func newAllowed(library gardenerrules.Library, image *v1beta1.MachineImage) *allowed {
	a := &allowed{library: library, image: image, picked: map[pickable]Outcome{}}
	allPlain := true
	for _, v := range image.Versions {
		number, plain := plainVersion(v.Version)
		a.numbers, a.stages = append(a.numbers, number), append(a.stages, stageOf(v))
		allPlain = allPlain && plain
	}
	if !allPlain {
		a.numbers = nil
	}
	return a
}

// plainVersion parses a version of three numbers. It reports false for any other.
func plainVersion(version string) (*semver.Version, bool) {
	number, err := semver.StrictNewVersion(version)
	return number, err == nil && number.Prerelease() == "" && number.Metadata() == ""
}

// pick returns what becomes of the version that a worker pool has.
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

// scope is where an update may lead that is not forced: to the versions of a stage that have as many numbers in common
// with the one that there is, from the major on.
type scope struct {
	stage string
	same  int
}

// decisive returns the image with those versions alone that decide which one Gardener picks, unless it has to. It takes
// the latest of those that are newer, of some stages and with the same minor, the same major or any: so the latest of each
// stage in each of these are enough. Gardener parses all versions several times, and there may be hundreds.
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

// inCommon returns how many of their first two numbers two versions have in common, from the major on.
func inCommon(a, b *semver.Version) int {
	switch {
	case a.Major() != b.Major():
		return 0
	case a.Minor() != b.Minor():
		return 1
	}
	return 2
}
