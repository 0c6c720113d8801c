// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"sync"
	"time"

	"github.com/Masterminds/semver/v3"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/controller/shoot/maintenance/helper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Outcome is what maintenance makes of a version.
type Outcome struct {
	Update
	// Err says that an update is due, and why there is none. Version is empty then.
	Err error
}

// Maintained is what the next maintenance makes of a Shoot. Its lists have an entry for each worker pool, in their
// order.
type Maintained struct {
	// Shoot is a copy with the versions that maintenance chooses.
	Shoot  *v1beta1.Shoot
	Images []Outcome
	// Kubernetes is about the control plane, Kubelets about the worker pools that have a version of their own.
	Kubernetes Outcome
	Kubelets   []Outcome
	// GivenUp says from which worker pool on images are not looked at any more, because that one has an error which
	// ends it. It is the number of worker pools if there is none.
	GivenUp int
}

// Maintain returns what the next maintenance of a Shoot does to its versions, without a look at whether the API server
// then takes the Shoot. The Shoot is one as the API server has it; a maintenance or autoUpdate that is missing stands
// for updates of everything, as by default. A profile or machine type without the image of a worker pool ends the
// maintenance of images: that pool and those after it keep their versions.
//
// The rule is that of the maintenance controller of Gardener v1.150 (reconcile). Maintain changes neither argument.
func Maintain(profile *v1beta1.CloudProfileSpec, shoot *v1beta1.Shoot) Maintained {
	workers := shoot.Spec.Provider.Workers
	m := Maintained{
		Shoot: shoot.DeepCopy(), GivenUp: len(workers),
		Images: make([]Outcome, len(workers)), Kubelets: make([]Outcome, len(workers)),
	}
	images, kubernetes := autoUpdates(shoot)
	spec := &m.Shoot.Spec
	for i := range workers {
		update, ends, err := next(profile, &workers[i], shoot.Spec.Kubernetes.Version, images, nil)
		m.Images[i] = Outcome{update, err}
		if ends {
			m.GivenUp = i
			break
		}
		if update.Version != "" {
			spec.Provider.Workers[i].Machine.Image.Version = ptr.To(update.Version)
		}
	}
	m.Kubernetes = nextKubernetes(profile, spec.Kubernetes.Version, kubernetes)
	if m.Kubernetes.Version != "" {
		spec.Kubernetes.Version = m.Kubernetes.Version
	}
	for i := range spec.Provider.Workers {
		if own := spec.Provider.Workers[i].Kubernetes; own != nil && own.Version != nil {
			m.Kubelets[i] = atMost(nextKubernetes(profile, *own.Version, kubernetes), *own.Version, spec.Kubernetes.Version)
			if m.Kubelets[i].Version != "" {
				own.Version = ptr.To(m.Kubelets[i].Version)
			}
		}
	}
	return m
}

// UpdatesImages reports whether maintenance updates image versions that are not expired.
func UpdatesImages(shoot *v1beta1.Shoot) bool {
	images, _ := autoUpdates(shoot)
	return images
}

// autoUpdates reports whether maintenance updates versions of images and of Kubernetes that are not expired.
func autoUpdates(shoot *v1beta1.Shoot) (images, kubernetes bool) {
	if shoot.Spec.Maintenance == nil || shoot.Spec.Maintenance.AutoUpdate == nil {
		return true, true
	}
	auto := shoot.Spec.Maintenance.AutoUpdate
	return ptr.Deref(auto.MachineImageVersion, true), auto.KubernetesVersion
}

// nextKubernetes returns what maintenance makes of a version of Kubernetes: the latest patch or, by force, the next
// minor.
func nextKubernetes(profile *v1beta1.CloudProfileSpec, version string, autoUpdate bool) Outcome {
	found, current, err := v1beta1helper.KubernetesVersionExistsInCloudProfile(&v1beta1.CloudProfile{Spec: *profile}, version)
	if err != nil {
		return Outcome{Err: err}
	}
	forced := !found || v1beta1helper.VersionIsExpired(current)
	if !forced && !autoUpdate {
		return Outcome{}
	}
	to, err := helper.DetermineVersionForStrategy(profile.Kubernetes.Versions, version,
		v1beta1helper.GetLatestVersionForPatchAutoUpdate, v1beta1helper.GetVersionForForcefulUpdateToConsecutiveMinor, forced)
	return Outcome{Update{Version: to, Forced: forced}, err}
}

// atMost returns what becomes of a worker pool's version of Kubernetes, which is not updated past that of the control
// plane.
func atMost(o Outcome, version, controlPlane string) Outcome {
	if o.Version == "" {
		return o
	}
	to, err := semver.NewVersion(o.Version)
	limit, limitErr := semver.NewVersion(controlPlane)
	if err == nil && limitErr == nil && to.GreaterThan(limit) {
		o.Version = limit.String()
	}
	if o.Version == version {
		return Outcome{}
	}
	return o
}

// Replace returns what mutate-shoot makes of the version that maintenance has chosen for a worker pool, and whether it
// makes anything of it (semantics S15): if the version does not work, what Gardener's rule chooses over those that do,
// or, if Version is empty, the version that the pool has. old is the Shoot that there is and before its pool; shoot and
// after are what maintenance makes of them. boots reports what boots for the pool.
func Replace(
	profile *v1beta1.CloudProfileSpec, old, shoot *v1beta1.Shoot, before, after *v1beta1.Worker, boots Filter,
) (Outcome, bool) {
	works := Works(profile, after, before, shoot.Spec.Kubernetes.Version, boots)
	if works(after.Machine.Image.Name, *after.Machine.Image.Version) {
		return Outcome{}, false
	}
	images, _ := autoUpdates(old)
	// Gardener chooses images for the Kubernetes that there is, before it updates that.
	update, err := Next(profile, before, old.Spec.Kubernetes.Version, images, works)
	return Outcome{update, err}, true
}

// Works returns a filter that admits the versions which boot for a worker pool and pass Gardener's validation; see
// [Refused].
func Works(profile *v1beta1.CloudProfileSpec, worker, before *v1beta1.Worker, kubernetes string, boots Filter) Filter {
	releases := sync.OnceValue(func() map[Image]*v1beta1.MachineImageVersion { return releasesOf(profile) })
	return func(image, version string) bool {
		return boots.admits(image, version) && refuses(releases()[Image{image, version}], worker, before, kubernetes) == ""
	}
}

// Gone says whether a profile does not have an image any more, or has it expired; empty if it has it.
func Gone(profile *v1beta1.CloudProfileSpec, image Image) string {
	v := releaseOf(profile, image)
	switch {
	case v == nil:
		return image.Version + " is not in the profile"
	case v1beta1helper.VersionIsExpired(v.ExpirableVersion):
		return image.Version + " has expired"
	}
	return ""
}

// Rejections returns why the API server does not take a Shoot as maintenance has made it, for each worker pool; empty
// for one that is no reason. Each of them is one not to take the Shoot at all. boots reports what boots for a pool, by
// its index, and why not: a pool whose version is not changed need not boot.
//
// Of the rules of the admission plugin ShootValidator of Gardener v1.150 there are those that maintenance can break:
// about versions that are changed, about Kubernetes, and those that a Shoot breaks whatever is changed in it.
func Rejections(
	profile *v1beta1.CloudProfileSpec, old, shoot *v1beta1.Shoot, boots func(worker int, image Image) string,
) []string {
	reasons := make([]string, len(shoot.Spec.Provider.Workers))
	for i := range reasons {
		before, after := &old.Spec.Provider.Workers[i], &shoot.Spec.Provider.Workers[i]
		if after.Machine.Image == nil || after.Machine.Image.Version == nil {
			continue
		}
		image := Image{after.Machine.Image.Name, *after.Machine.Image.Version}
		reasons[i] = locked(profile, after, image)
		switch {
		case reasons[i] != "":
		case *before.Machine.Image.Version != image.Version:
			reasons[i] = about(image, Refused(profile, image, after, before, shoot.Spec.Kubernetes.Version))
			if reasons[i] == "" {
				reasons[i] = boots(i, image)
			}
		default:
			if v := releaseOf(profile, image); v != nil {
				reasons[i] = about(image, refusesKubelet(v, after, shoot.Spec.Kubernetes.Version))
			}
		}
	}
	return reasons
}

// about says which image Gardener refuses for a reason; empty if there is none.
func about(image Image, reason string) string {
	if reason == "" {
		return ""
	}
	return fmt.Sprintf("Gardener refuses %s: %s", image, reason)
}

// locked says why Gardener refuses every update of a Shoot with a worker pool; empty if it does not.
func locked(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker, image Image) string {
	if len(profile.MachineCapabilities) == 0 {
		return ""
	}
	machineType := machineTypeOf(profile, worker)
	if machineType == nil {
		return fmt.Sprintf("the profile has no machine type %q, without which Gardener takes no update of the Shoot",
			worker.Machine.Type)
	}
	if v := releaseOf(profile, image); v != nil && !v1beta1helper.AreCapabilitiesSupportedByImageFlavors(
		machineType.Capabilities, v.CapabilityFlavors, profile.MachineCapabilities) {
		return fmt.Sprintf("machine type %s fits no flavor of %s, without which Gardener takes no update of the Shoot",
			worker.Machine.Type, image)
	}
	return ""
}

// After returns a copy of a profile in which the versions stand as they will, or did, some time from now, by their
// classifications and expirations: Gardener's own code goes by the clock of the machine.
func After(profile *v1beta1.CloudProfileSpec, some time.Duration) *v1beta1.CloudProfileSpec {
	shifted := profile.DeepCopy()
	shift := func(t *metav1.Time) {
		if t != nil {
			t.Time = t.Add(-some)
		}
	}
	version := func(v *v1beta1.ExpirableVersion) {
		shift(v.ExpirationDate) //nolint:staticcheck // as people write it
		for i := range v.Lifecycle {
			shift(v.Lifecycle[i].StartTime)
		}
	}
	for i := range shifted.Kubernetes.Versions {
		version(&shifted.Kubernetes.Versions[i])
	}
	for i := range shifted.MachineImages {
		for k := range shifted.MachineImages[i].Versions {
			version(&shifted.MachineImages[i].Versions[k].ExpirableVersion)
		}
	}
	return shifted
}

// releaseOf returns a version of a profile; nil if there is none.
func releaseOf(profile *v1beta1.CloudProfileSpec, image Image) *v1beta1.MachineImageVersion {
	for i := range profile.MachineImages {
		versions := profile.MachineImages[i].Versions
		for k := range versions {
			if profile.MachineImages[i].Name == image.Name && versions[k].Version == image.Version {
				return &versions[k]
			}
		}
	}
	return nil
}

// releasesOf returns the versions of a profile, of two that are the same the first.
func releasesOf(profile *v1beta1.CloudProfileSpec) map[Image]*v1beta1.MachineImageVersion {
	releases := map[Image]*v1beta1.MachineImageVersion{}
	for i := range profile.MachineImages {
		for k := range profile.MachineImages[i].Versions {
			v := &profile.MachineImages[i].Versions[k]
			if image := (Image{profile.MachineImages[i].Name, v.Version}); releases[image] == nil {
				releases[image] = v
			}
		}
	}
	return releases
}
