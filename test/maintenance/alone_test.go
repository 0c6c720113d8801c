// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package maintenance compares the predictions of maintenance with Gardener's own code.
package maintenance_test

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/controller/shoot/maintenance/helper"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
	ours "github.com/capkit/capkit/pkg/maintenance"
)

// Reference implementations for a Maintainer: the same rules for one worker pool, with all versions and no tables.

// next returns the effect of the next maintenance on a worker pool's image, if only the versions that the filter admits exist.
func next(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, kubernetes string, autoUpdate bool, boots ours.Filter) ours.Outcome {
	if worker.Machine.Image == nil || worker.Machine.Image.Version == nil {
		return ours.Outcome{}
	}
	image, err := allowed(profile, worker, kubernetes)
	if err != nil {
		return ours.Outcome{Err: err}
	}
	image.Versions = slices.DeleteFunc(image.Versions, func(v v1beta1.MachineImageVersion) bool { return !boots.Admits(image.Name, v.Version) })
	due, forced := shoots.ImageDue(image, worker.Machine.Image, autoUpdate)
	if !due {
		return ours.Outcome{}
	}
	version, err := helper.DetermineMachineImageVersion(worker.Machine.Image, image, forced)
	if err != nil {
		return ours.Outcome{Forced: forced, Err: err}
	}
	return ours.Outcome{Version: version, Forced: forced}
}

// allowed returns the image of a worker pool with the versions that are valid for the pool.
func allowed(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, kubernetes string) (*v1beta1.MachineImage, error) {
	machineType := v1beta1helper.FindMachineTypeByName(profile.MachineTypes, worker.Machine.Type)
	if machineType == nil {
		return nil, fmt.Errorf("the profile has no machine type %q", worker.Machine.Type)
	}
	image, err := helper.DetermineMachineImage(&v1beta1.CloudProfile{Spec: *profile}, worker.Machine.Image)
	if err != nil {
		return nil, fmt.Errorf("the profile has no image %q", worker.Machine.Image.Name)
	}
	if image.UpdateStrategy == nil { // in a manifest without an API server's defaults
		image.UpdateStrategy = ptr.To(v1beta1.UpdateStrategyMajor)
	}
	kubelet, err := gardenerrules.KubeletVersion(kubernetes, worker)
	if err != nil {
		return nil, err
	}
	image.Versions = slices.DeleteFunc(slices.Clone(image.Versions), func(v v1beta1.MachineImageVersion) bool {
		_, err := semver.NewConstraint(ptr.Deref(v.KubeletVersionConstraint, "*"))
		return err != nil
	})
	complete := *worker
	complete.Machine.Architecture = ptr.To(gardenerrules.Architecture(profile, worker))
	return helper.FilterMachineImageVersions(&image, complete, kubelet, machineType, profile.MachineCapabilities), nil
}

// works returns a filter for the versions that boot for a worker pool and pass Gardener's validation.
func works(profile *v1beta1.CloudProfileSpec, worker, before *v1beta1.Worker, kubernetes string, boots ours.Filter) ours.Filter {
	versions := gardenerrules.ImageVersions(profile)
	return func(image, version string) bool {
		v := versions[ours.Image{Name: image, Version: version}]
		return boots.Admits(image, version) && gardenerrules.RefusesImage(v, worker, before, kubernetes) == gardenerrules.Refusal{}
	}
}

// replace is the reference implementation of [ours.Maintainer.Replace].
func replace(
	profile *v1beta1.CloudProfileSpec, old, shoot *v1beta1.Shoot, before, after *v1beta1.Worker, boots ours.Filter,
) (ours.Outcome, bool) {
	works := works(profile, after, before, shoot.Spec.Kubernetes.Version, boots)
	if works(after.Machine.Image.Name, *after.Machine.Image.Version) {
		return ours.Outcome{}, false
	}
	return next(profile, before, old.Spec.Kubernetes.Version, ours.UpdatesImages(old), works), true
}
