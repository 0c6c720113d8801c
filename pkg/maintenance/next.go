// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/controller/shoot/maintenance/helper"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/gardenerrules"
)

// Update is what maintenance does to the image version of a worker pool.
type Update struct {
	// Version is what the pool is updated to; empty if it keeps the version that it has.
	Version string
	// Forced says that the version which the pool has is expired, or none of those that it can have.
	Forced bool
}

// Next returns what the next maintenance does to the image of a worker pool: the latest version by the image's update
// strategy or, if the pool's own is expired or not among those that its architecture, machine type, container runtime,
// kubelet and way of updating allow, the one that is forced. For Gardener's rule there are only the versions that the
// filter admits: a version that the pool has and does not boot counts as missing (semantics S15). autoUpdate says that
// the Shoot has its image versions updated automatically; kubernetes is the version of its control plane.
//
// The error says that an update is due and there is none, that the profile does not have the image or the machine
// type, or that a version cannot be read. The rule is that of maintainMachineImages in Gardener's maintenance controller.
// Next changes none of its arguments. Worker pools without a version are not updated.
func Next(
	profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, kubernetes string, autoUpdate bool, boots Filter,
) (Update, error) {
	update, _, err := next(profile, worker, kubernetes, autoUpdate, boots)
	return update, err
}

// next is [Next]. ends says of an error that Gardener looks at no further worker pool after it.
func next(
	profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, kubernetes string, autoUpdate bool, boots Filter,
) (update Update, ends bool, err error) {
	if worker.Machine.Image == nil || worker.Machine.Image.Version == nil {
		return Update{}, false, nil
	}
	allowed, err := allowedVersions(profile, worker, kubernetes, boots)
	if err != nil {
		return Update{}, true, err
	}
	update, err = pick(allowed, all(allowed), worker.Machine.Image, autoUpdate)
	return update, false, err
}

// all says that every version may be needed.
func all(image *v1beta1.MachineImage) func(*v1beta1.ShootMachineImage) *v1beta1.MachineImage {
	return func(*v1beta1.ShootMachineImage) *v1beta1.MachineImage { return image }
}

// allowedVersions returns the image of a worker pool with the versions that the pool can have. Of the version that it has
// they depend only if it is updated in place. The error is one after which Gardener looks at no further worker pool.
func allowedVersions(
	profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, kubernetes string, boots Filter,
) (*v1beta1.MachineImage, error) {
	machineType := v1beta1helper.FindMachineTypeByName(profile.MachineTypes, worker.Machine.Type)
	if machineType == nil {
		return nil, fmt.Errorf("the profile has no machine type %q", worker.Machine.Type)
	}
	name := worker.Machine.Image.Name
	image, err := helper.DetermineMachineImage(&v1beta1.CloudProfile{Spec: *profile}, worker.Machine.Image)
	if err != nil {
		return nil, fmt.Errorf("the profile has no image %q", name)
	}
	if image.UpdateStrategy == nil { // in a manifest that no API server has seen
		image.UpdateStrategy = ptr.To(v1beta1.UpdateStrategyMajor)
	}
	kubelet, err := gardenerrules.KubeletVersion(kubernetes, worker)
	if err != nil {
		return nil, err
	}
	image.Versions = slices.DeleteFunc(slices.Clone(image.Versions), func(v v1beta1.MachineImageVersion) bool {
		return !boots.Admits(name, v.Version) || unreadable(v.KubeletVersionConstraint)
	})
	complete := *worker
	complete.Machine.Architecture = ptr.To(gardenerrules.Architecture(profile, worker))
	return helper.FilterMachineImageVersions(&image, complete, kubelet, machineType, profile.MachineCapabilities), nil
}

// pick returns what becomes of the version that a worker pool has, of those that it can have: some of these are enough for
// an update that is not forced.
func pick(
	allowed *v1beta1.MachineImage, enough func(*v1beta1.ShootMachineImage) *v1beta1.MachineImage,
	current *v1beta1.ShootMachineImage, autoUpdate bool,
) (Update, error) {
	due, forced := gardenerrules.ImageDue(allowed, current, autoUpdate)
	if !due {
		return Update{}, nil
	}
	if !forced {
		allowed = enough(current)
	}
	version, err := helper.DetermineMachineImageVersion(current, allowed, forced)
	if err != nil {
		return Update{Forced: forced}, err
	}
	return Update{Version: version, Forced: forced}, nil
}

// unreadable reports whether a constraint cannot be read. No API server accepts it, and Gardener's code relies on that.
func unreadable(constraint *string) bool {
	if constraint == nil {
		return false
	}
	_, err := semver.NewConstraint(*constraint)
	return err != nil
}
