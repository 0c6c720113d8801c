// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
)

// Maintainer predicts the next maintenance of many Shoots of one profile. It memoizes results for similar worker pools. It is not safe for
// concurrent use.
//
// The rule is that of reconcile in Gardener's maintenance controller. No method modifies an argument.
type Maintainer struct {
	// Locker reports which Shoots the profile locks, so that their maintenance fails.
	*shoots.Locker
	library  gardenerrules.Library
	profile  *v1beta1.CloudProfileSpec
	workers  provider.Workers
	versions map[Image]*v1beta1.MachineImageVersion
	// Memoized results. The requests of offers have no autoUpdate, and a version only if it matters; the keys of allowed are results of
	// contentOf.
	offers     map[request]offer
	allowed    map[string]*allowed
	kubernetes map[pickable]Outcome
	replaced   map[replaceable]replacement
	blocked    map[shaped]Blocked
	numbers    map[shaped]int // by Alike
}

// NewMaintainer returns a Maintainer for a profile, whose provider has these workers. The profile must not be modified while the Maintainer
// is in use.
func NewMaintainer(library gardenerrules.Library, profile *v1beta1.CloudProfileSpec, workers provider.Workers) *Maintainer {
	return &Maintainer{
		Locker: shoots.NewLocker(library, profile), library: library, profile: profile, workers: workers, versions: gardenerrules.ImageVersions(profile),
		offers: map[request]offer{}, allowed: map[string]*allowed{}, kubernetes: map[pickable]Outcome{},
		replaced: map[replaceable]replacement{}, blocked: map[shaped]Blocked{}, numbers: map[shaped]int{},
	}
}

// Maintained is the result of a Shoot's next maintenance. Its lists have an entry for each worker pool, in their order.
type Maintained struct {
	// Shoot is a copy with the versions that maintenance chooses.
	Shoot  *v1beta1.Shoot
	Images []Outcome
	// Kubernetes is about the control plane, Kubelets about the worker pools that set a Kubernetes version.
	Kubernetes Outcome
	Kubelets   []Outcome
	// GivenUp is the index of the worker pool whose error ends the maintenance of images; the number of worker pools if there is none.
	GivenUp int
}

// Maintain returns the effects of a Shoot's next maintenance on its versions. It does not check whether the API server accepts the result.
// The Shoot is as the API server has it. A missing maintenance or autoUpdate means that everything is updated, as by default. If the
// profile lacks a worker pool's machine type or image, or a Kubernetes version is invalid, the maintenance of images ends: that pool and
// the following ones keep their versions.
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

// nextKubernetes returns the effect of maintenance on a Kubernetes version: the latest patch or, if forced, the next minor.
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

// nextKubelet returns the effect of maintenance on a worker pool's own Kubernetes version. It is not updated past the control plane's.
func (m *Maintainer) nextKubelet(version, controlPlane string, autoUpdate bool) Outcome {
	next := m.nextKubernetes(version, autoUpdate)
	if next.Version = shoots.KubeletAtMost(next.Version, controlPlane); next.Version == version {
		return Outcome{}
	}
	return next
}

// shaped are the properties that decide which version a worker pool gets, and whether the pool boots it.
type shaped struct {
	request
	provider.Shape
}

// Blocked is a version that Gardener's maintenance would choose for a worker pool that cannot boot it. The zero value means that there is
// none.
type Blocked struct {
	// Image that maintenance chooses.
	Image Image
	// Instead is the version that mutate-shoot gives the pool (semantics S15); empty if the pool keeps its own.
	Instead string
}

// Blocked returns, for each of a Shoot's worker pools, the version that the next maintenance would choose but the pool cannot boot. The
// pools are those of [provider.PoolsOf]; one without an image or version is ignored. boots returns a pool's filter, or nil if it is
// unknown. It must give the same answer on each call.
func (m *Maintainer) Blocked(
	shoot *v1beta1.Shoot, pools []provider.Pool, boots func(provider.Pool) func(image, version string) bool,
) []Blocked {
	blocked := make([]Blocked, len(pools))
	for i, pool := range pools {
		if pool.Image == "" || pool.Version == "" {
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
			// After an error the pool keeps its version.
			instead, _ := m.choose(shoot, worker, works(m.versions, worker, worker, shoot.Spec.Kubernetes.Version, boots))
			return Blocked{Image{Name: pool.Image, Version: chosen.Version}, instead.Version}
		})
	}
	return blocked
}

// replaceable is the key of a result of [Maintainer.Replace]: the worker pool before maintenance, and its versions after it.
type replaceable struct {
	shaped
	image, kubernetes, kubelet string
}

// replacement is a memoized result of [Maintainer.Replace].
type replacement struct {
	outcome  Outcome
	replaced bool
}

// Replace returns how mutate-shoot replaces the version that maintenance has chosen for a worker pool, and whether it does (semantics S15).
// It does if the version does not work. Gardener's rule then chooses from the versions that do; if the resulting Version is empty, the pool
// keeps its own. old is the stored Shoot and before its pool; shoot and after are the results of maintenance. boots must give the same
// answers for pools of the same shape.
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
		// Gardener chooses images before it updates Kubernetes, so for the stored Kubernetes version.
		outcome, _ := m.choose(old, before, works)
		return replacement{outcome, true}
	})
	return made.outcome, made.replaced
}

// Gone describes why an image is unusable, because the profile lacks it or it has expired; empty if it is usable.
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

// Refused returns why Gardener's validation refuses an image for a worker pool, whether or not it boots; empty if it is not refused. Even
// Gardener's own choice may be refused. before is the stored pool, nil if it is new: only an existing pool may have an expired version.
// kubernetes is the control plane's version. See [gardenerrules.RefusesImage].
func (m *Maintainer) Refused(image Image, worker, before *v1beta1.Worker, kubernetes string) string {
	return says(gardenerrules.RefusesImage(m.versions[image], worker, before, kubernetes))
}

// PassedOver returns why a worker pool does not get the version that the image's update strategy alone would give it; empty if there is no
// newer version, if nothing prevents it, or if the profile lacks the image. The pool must have an image version.
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

// Rejections returns, for each worker pool, why the API server refuses a Shoot as changed by maintenance; empty for a pool that is no
// reason. One reason is enough to refuse the whole Shoot. boots returns why a pool, by its index, does not boot an image; empty if it
// boots. It is not asked about unchanged versions.
//
// Of the rules of the admission plugin ShootValidator, it has those that maintenance can break: rules about changed versions, about
// Kubernetes, and rules that a Shoot can break without any change.
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
		if reasons[i] == "" {
			reasons[i] = m.refusesKubernetes(before, after, shoot.Spec.Kubernetes.Version)
		}
		if reasons[i] == "" && gardenerrules.UpdatePending(old, before) && (*before.Machine.Image.Version != image.Version ||
			cmp.Or(kubeletOf(before), old.Spec.Kubernetes.Version) != cmp.Or(kubeletOf(after), shoot.Spec.Kubernetes.Version)) {
			reasons[i] = "Gardener takes no other version as long as an update in place is pending (status.inPlaceUpdates.pendingWorkerUpdates)"
		}
	}
	return reasons
}

// refusesKubernetes returns why Gardener refuses a Shoot because of a worker pool's own Kubernetes version; empty if it does not.
func (m *Maintainer) refusesKubernetes(before, after *v1beta1.Worker, controlPlane string) string {
	if kubeletOf(after) == "" {
		return ""
	}
	own := *after.Kubernetes.Version
	is := func(v v1beta1.ExpirableVersion) bool { return v.Version == own }
	switch {
	case kubeletOf(before) != kubeletOf(after) && !slices.ContainsFunc(m.profile.Kubernetes.Versions, is):
		return fmt.Sprintf("Gardener refuses Kubernetes %s, which is the version of the control plane: the profile does not have it", own)
	case shoots.KubeletTooOld(own, controlPlane):
		return fmt.Sprintf("Gardener refuses Kubernetes %s for the control plane: the worker pool has %s, which is more than three minor versions behind",
			controlPlane, own)
	}
	return ""
}

// about says which image Gardener refuses, and why; empty if it does not.
func about(image Image, refusal gardenerrules.Refusal) string {
	if refusal == (gardenerrules.Refusal{}) {
		return ""
	}
	return fmt.Sprintf("Gardener refuses %s: %s", image, says(refusal))
}

// tooSmall returns why a worker pool's volume makes Gardener refuse every update of its Shoot; empty if it does not.
func (m *Maintainer) tooSmall(worker *v1beta1.Worker) string {
	minimum := gardenerrules.VolumeTooSmall(m.profile, worker.Machine.Type, worker.Volume)
	if minimum == nil {
		return ""
	}
	return fmt.Sprintf("the volume has %s, and the profile demands %s, without which Gardener takes no update of the Shoot",
		worker.Volume.VolumeSize, &minimum.Size)
}

// locks returns why a worker pool makes Gardener refuse every update of its Shoot; empty if it does not.
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
