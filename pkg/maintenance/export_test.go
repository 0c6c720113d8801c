// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/controller/shoot/maintenance/helper"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
)

// What tests compare a [Maintainer] with: the same rules, asked about one worker pool, with all versions and no tables.

// Next returns what the next maintenance does to the image of a worker pool if there are only the versions that the filter admits.
func Next(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, kubernetes string, autoUpdate bool, boots Filter) Outcome {
	if worker.Machine.Image == nil || worker.Machine.Image.Version == nil {
		return Outcome{}
	}
	image, err := allowedVersions(profile, worker, kubernetes)
	if err != nil {
		return Outcome{Err: err}
	}
	image.Versions = slices.DeleteFunc(image.Versions, func(v v1beta1.MachineImageVersion) bool { return !boots.Admits(image.Name, v.Version) })
	due, forced := shoots.ImageDue(image, worker.Machine.Image, autoUpdate)
	if !due {
		return Outcome{}
	}
	version, err := helper.DetermineMachineImageVersion(worker.Machine.Image, image, forced)
	if err != nil {
		return Outcome{Forced: forced, Err: err}
	}
	return Outcome{Version: version, Forced: forced}
}

// Works returns a filter that admits the versions which boot for a worker pool and pass Gardener's validation.
func Works(profile *v1beta1.CloudProfileSpec, worker, before *v1beta1.Worker, kubernetes string, boots Filter) Filter {
	return works(gardenerrules.ImageVersions(profile), worker, before, kubernetes, boots)
}

// Replace returns what [Maintainer.Replace] does.
func Replace(
	profile *v1beta1.CloudProfileSpec, old, shoot *v1beta1.Shoot, before, after *v1beta1.Worker, boots Filter,
) (Outcome, bool) {
	works := Works(profile, after, before, shoot.Spec.Kubernetes.Version, boots)
	if works(after.Machine.Image.Name, *after.Machine.Image.Version) {
		return Outcome{}, false
	}
	return Next(profile, before, old.Spec.Kubernetes.Version, UpdatesImages(old), works), true
}
