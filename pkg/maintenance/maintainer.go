// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
)

// Maintainer says of many Shoots what their next maintenance makes of them by one profile. It looks once at worker pools that are
// alike. It is not safe for concurrent use.
//
// The rule is that of reconcile in Gardener's maintenance controller. None of its methods changes an argument.
type Maintainer struct {
	// Locker says which Shoots the profile locks, and that maintenance therefore does not change.
	*shoots.Locker
	library  gardenerrules.Library
	profile  *v1beta1.CloudProfileSpec
	workers  provider.Workers
	versions map[Image]*v1beta1.MachineImageVersion
	// What is known. The requests of offers have no autoUpdate, and a version only if that matters; the keys of allowed are of
	// contentOf.
	offers     map[request]offer
	allowed    map[string]*allowed
	kubernetes map[pickable]Outcome
	replaced   map[replaceable]replacement
	blocked    map[shaped]Blocked
	numbers    map[shaped]int // of Alike
}

// NewMaintainer returns a Maintainer by a profile, which must not be changed as long as it is asked, of a provider with
// these workers.
func NewMaintainer(library gardenerrules.Library, profile *v1beta1.CloudProfileSpec, workers provider.Workers) *Maintainer {
	return &Maintainer{
		Locker: shoots.NewLocker(library, profile), library: library, profile: profile, workers: workers, versions: gardenerrules.ImageVersions(profile),
		offers: map[request]offer{}, allowed: map[string]*allowed{}, kubernetes: map[pickable]Outcome{},
		replaced: map[replaceable]replacement{}, blocked: map[shaped]Blocked{}, numbers: map[shaped]int{},
	}
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
func (m *Maintainer) Maintain(shoot *v1beta1.Shoot) Maintained {
	workers := shoot.Spec.Provider.Workers
	made := Maintained{
		Shoot: shoot.DeepCopy(), GivenUp: len(workers),
		Images: make([]Outcome, len(workers)), Kubelets: make([]Outcome, len(workers)),
	}
	_, updates := autoUpdates(shoot)
	spec := &made.Shoot.Spec
	for i := range workers {
		chosen, ends := m.choose(shoot, &workers[i], nil)
		made.Images[i] = chosen
		if ends {
			made.GivenUp = i
			break
		}
		if chosen.Version != "" {
			spec.Provider.Workers[i].Machine.Image.Version = ptr.To(chosen.Version)
		}
	}
	made.Kubernetes = m.nextKubernetes(spec.Kubernetes.Version, updates)
	if made.Kubernetes.Version != "" {
		spec.Kubernetes.Version = made.Kubernetes.Version
	}
	for i := range spec.Provider.Workers {
		if own := spec.Provider.Workers[i].Kubernetes; own != nil && own.Version != nil {
			made.Kubelets[i] = m.nextKubelet(*own.Version, spec.Kubernetes.Version, updates)
			if made.Kubelets[i].Version != "" {
				own.Version = ptr.To(made.Kubelets[i].Version)
			}
		}
	}
	return made
}

// nextKubernetes returns what maintenance makes of a version of Kubernetes: the latest patch or, by force, the next
// minor.
func (m *Maintainer) nextKubernetes(version string, autoUpdate bool) Outcome {
	return memo.Get(m.kubernetes, pickable{version, autoUpdate}, func() Outcome {
		due, forced, err := shoots.KubernetesDue(m.library, m.profile, version, autoUpdate)
		if err != nil || !due {
			return Outcome{Err: err}
		}
		to, err := m.library.DetermineKubernetesVersion(m.profile.Kubernetes.Versions, version, forced)
		return Outcome{to, forced, err}
	})
}

// nextKubelet returns what maintenance makes of a worker pool's own version of Kubernetes: it is not updated past that of the
// control plane.
func (m *Maintainer) nextKubelet(version, controlPlane string, autoUpdate bool) Outcome {
	next := m.nextKubernetes(version, autoUpdate)
	if next.Version == "" {
		return next
	}
	if next.Version = shoots.KubeletAtMost(next.Version, controlPlane); next.Version == version {
		return Outcome{}
	}
	return next
}

// shaped is what decides which version a worker pool gets, and whether the pool boots it.
type shaped struct {
	request
	provider.Shape
}

// Blocked is a version that Gardener's maintenance chooses for a worker pool which does not boot it. The zero Blocked
// says that there is none.
type Blocked struct {
	// Image that maintenance chooses.
	Image Image
	// Instead is the version that mutate-shoot gives the pool (semantics S15); empty if it keeps the one that it has.
	Instead string
}

// Blocked returns, for each worker pool of a Shoot, the version that its next maintenance chooses and that the pool does
// not boot. The pools are those of [provider.PoolsOf]; one without an image is left out. boots returns the filter of a pool,
// nil if nobody can tell; it must be the same at each call.
func (m *Maintainer) Blocked(
	shoot *v1beta1.Shoot, pools []provider.Pool, boots func(provider.Pool) func(image, version string) bool,
) []Blocked {
	blocked := make([]Blocked, len(pools))
	for i, pool := range pools {
		if pool.Image == "" {
			continue
		}
		worker := &shoot.Spec.Provider.Workers[i]
		chosen, ends := m.choose(shoot, worker, nil)
		if ends {
			break
		}
		if chosen.Version == "" {
			continue
		}
		blocked[i] = memo.Get(m.blocked, shaped{requestOf(shoot, worker), m.workers.ShapeOf(&pool)}, func() Blocked {
			boots := boots(pool)
			if boots == nil || boots(pool.Image, chosen.Version) {
				return Blocked{}
			}
			// After an error the pool keeps the version that it has.
			instead, _ := m.choose(shoot, worker, works(m.versions, worker, worker, shoot.Spec.Kubernetes.Version, boots))
			return Blocked{Image{Name: pool.Image, Version: chosen.Version}, instead.Version}
		})
	}
	return blocked
}

// replaceable is what decides what [Maintainer.Replace] returns: the worker pool before maintenance, and its versions after it.
type replaceable struct {
	shaped
	image, kubernetes, kubelet string
}

// replacement is what it returns.
type replacement struct {
	outcome  Outcome
	replaced bool
}

// Replace returns what mutate-shoot makes of the version that maintenance has chosen for a worker pool, and whether it replaces
// that (semantics S15): if the version does not work, Gardener's rule chooses from those that do; where the Version of the result is
// empty, the pool keeps the one that it has. old is the stored Shoot and before its pool; shoot and after are what maintenance makes
// of them. boots reports what the pool boots, and must report the same for pools of the same shape.
func (m *Maintainer) Replace(
	old, shoot *v1beta1.Shoot, before, after *v1beta1.Worker, pool *provider.Pool, boots Filter,
) (Outcome, bool) {
	key := replaceable{
		shaped{requestOf(old, before), m.workers.ShapeOf(pool)},
		*after.Machine.Image.Version, shoot.Spec.Kubernetes.Version, kubeletOf(after),
	}
	made := memo.Get(m.replaced, key, func() replacement {
		works := works(m.versions, after, before, shoot.Spec.Kubernetes.Version, boots)
		if works(after.Machine.Image.Name, *after.Machine.Image.Version) {
			return replacement{}
		}
		// Gardener chooses images for the stored version of Kubernetes, before it updates that.
		outcome, _ := m.choose(old, before, works)
		return replacement{outcome, true}
	})
	return made.outcome, made.replaced
}

// Gone says whether the profile does not have an image any more, or has it expired; empty if it has it.
func (m *Maintainer) Gone(image Image) string {
	v := m.versions[image]
	switch {
	case v == nil:
		return image.Version + " is not in the profile"
	case versions.Expired(v.ExpirableVersion):
		return image.Version + " has expired"
	}
	return ""
}

// Refused says why Gardener's validation refuses to give a worker pool an image, whatever boots; empty if it does not. What Gardener
// chooses need not pass it. before is the pool as it is stored, nil if it is new: only a pool that exists may have a version that is
// expired. kubernetes is the version of the control plane. See [gardenerrules.RefusesImage].
func (m *Maintainer) Refused(image Image, worker, before *v1beta1.Worker, kubernetes string) string {
	return says(gardenerrules.RefusesImage(m.versions[image], worker, before, kubernetes))
}

// PassedOver says why a worker pool does not get the version that the image's update strategy alone would give it; empty if there is
// none, or if the profile does not have the image. The pool has a version.
func (m *Maintainer) PassedOver(shoot *v1beta1.Shoot, pool int) string {
	worker := &shoot.Spec.Provider.Workers[pool]
	found := gardenerrules.FindMachineImage(m.profile, worker.Machine.Image.Name)
	if found == nil {
		return ""
	}
	image := withStrategy(found)
	to := newAllowed(m.library, &image).pick(worker.Machine.Image, true).Version
	version := gardenerrules.FindImageVersion(found, to)
	if version == nil || to == *worker.Machine.Image.Version {
		return ""
	}
	if refused := says(gardenerrules.RefusesImage(version, worker, worker, shoot.Spec.Kubernetes.Version)); refused != "" {
		return fmt.Sprintf("there is nothing newer for it: %s %s", to, strings.TrimPrefix(refused, "it "))
	}
	alike := *worker
	alike.UpdateStrategy = nil
	offer := m.offer(&alike, requestOf(shoot, &alike))
	if offer.err != nil {
		return ""
	}
	if gardenerrules.FindImageVersion(offer.image, to) == nil {
		return fmt.Sprintf("there is nothing newer for it: %s does not run on machine type %q", to, worker.Machine.Type)
	}
	if !gardenerrules.UpdatedInPlace(worker) {
		return ""
	}
	why := "does not support them (inPlaceUpdates.supported)"
	switch updates := version.InPlaceUpdates; {
	case updates == nil || !updates.Supported:
	case updates.MinVersionForUpdate == nil:
		why = "does not say from which version on (inPlaceUpdates.minVersionForUpdate)"
	default:
		why = fmt.Sprintf("supports them from %s on (inPlaceUpdates.minVersionForUpdate)", *updates.MinVersionForUpdate)
	}
	return fmt.Sprintf("there is nothing newer for updates in place: %s %s", to, why)
}

// Rejections returns why the API server does not take a Shoot as maintenance has made it, for each worker pool; empty
// for one that is no reason. Each of them is one not to take the Shoot at all. boots reports what boots for a pool, by
// its index, and why not: a pool whose version is not changed need not boot.
//
// Of the rules of the admission plugin ShootValidator there are those that maintenance can break: about versions that are
// changed, about Kubernetes, and those that a Shoot breaks whatever is changed in it.
func (m *Maintainer) Rejections(old, shoot *v1beta1.Shoot, boots func(worker int, image Image) string) []string {
	reasons := make([]string, len(shoot.Spec.Provider.Workers))
	for i := range reasons {
		before, after := &old.Spec.Provider.Workers[i], &shoot.Spec.Provider.Workers[i]
		if after.Machine.Image == nil || after.Machine.Image.Version == nil {
			continue
		}
		image := Image{Name: after.Machine.Image.Name, Version: *after.Machine.Image.Version}
		if reasons[i] = m.locks(after.Machine.Type, image); reasons[i] == "" {
			reasons[i] = m.tooSmall(after)
		}
		switch {
		case reasons[i] != "":
		case *before.Machine.Image.Version != image.Version:
			reasons[i] = about(image, gardenerrules.RefusesImage(m.versions[image], after, before, shoot.Spec.Kubernetes.Version))
			if reasons[i] == "" {
				reasons[i] = boots(i, image)
			}
		default:
			if v := m.versions[image]; v != nil {
				reasons[i] = about(image, gardenerrules.RefusesKubelet(v, after, shoot.Spec.Kubernetes.Version))
			}
		}
		if reasons[i] == "" && gardenerrules.UpdatePending(old, before) && (*before.Machine.Image.Version != image.Version ||
			cmp.Or(kubeletOf(before), old.Spec.Kubernetes.Version) != cmp.Or(kubeletOf(after), shoot.Spec.Kubernetes.Version)) {
			reasons[i] = "Gardener takes no other version as long as an update in place is pending (status.inPlaceUpdates.pendingWorkerUpdates)"
		}
	}
	return reasons
}

// about says which image Gardener refuses, and why; empty if it does not.
func about(image Image, refusal gardenerrules.Refusal) string {
	if refusal == (gardenerrules.Refusal{}) {
		return ""
	}
	return fmt.Sprintf("Gardener refuses %s: %s", image, says(refusal))
}

// tooSmall says that Gardener refuses every update of a Shoot because of the volume of a worker pool; empty if it does not.
func (m *Maintainer) tooSmall(worker *v1beta1.Worker) string {
	minimum := gardenerrules.VolumeTooSmall(m.profile, worker)
	if minimum == nil {
		return ""
	}
	return fmt.Sprintf("the volume has %s, and the profile demands %s, without which Gardener takes no update of the Shoot",
		worker.Volume.VolumeSize, minimum)
}

// locks says why Gardener refuses every update of a Shoot with a worker pool; empty if it does not.
func (m *Maintainer) locks(machineType string, image Image) string {
	switch m.Lock(machineType, image) {
	case shoots.LockedByType:
		return fmt.Sprintf("the profile has no machine type %q, without which Gardener takes no update of the Shoot", machineType)
	case shoots.LockedByFlavors:
		return fmt.Sprintf("machine type %s fits no flavor of %s, without which Gardener takes no update of the Shoot",
			machineType, image)
	}
	return ""
}
