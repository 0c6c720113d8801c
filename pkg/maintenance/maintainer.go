// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/provider"
)

// Maintainer says of many Shoots what their next maintenance makes of them by one profile. Worker pools that are alike are
// looked at once. It is not safe for concurrent use.
//
// The rule is that of reconcile in Gardener's maintenance controller. None of its methods changes an argument.
type Maintainer struct {
	profile    *v1beta1.CloudProfileSpec
	workers    provider.Workers
	choices    *choices
	releases   map[Image]*v1beta1.MachineImageVersion
	kubernetes map[pickable]Outcome
	replaced   map[replaceable]replacement
	locker     *gardenerrules.Locker
}

// NewMaintainer returns a Maintainer by a profile, which must not be changed as long as it is asked, of a provider with
// these workers.
func NewMaintainer(profile *v1beta1.CloudProfileSpec, workers provider.Workers) *Maintainer {
	return &Maintainer{
		profile, workers, newChoices(profile), gardenerrules.ImageVersions(profile),
		map[pickable]Outcome{}, map[replaceable]replacement{}, gardenerrules.NewLocker(profile),
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
		chosen := m.choices.of(shoot, &workers[i])
		made.Images[i] = chosen.Outcome
		if chosen.ends {
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
			made.Kubelets[i] = atMost(m.nextKubernetes(*own.Version, updates), *own.Version, spec.Kubernetes.Version)
			if made.Kubelets[i].Version != "" {
				own.Version = ptr.To(made.Kubelets[i].Version)
			}
		}
	}
	return made
}

// replaceable is what decides what [Maintainer.Replace] returns: the worker pool that there is, and versions that it is
// to have.
type replaceable struct {
	shaped
	image, kubernetes, kubelet string
}

// replacement is what it returns.
type replacement struct {
	outcome  Outcome
	replaced bool
}

// Replace answers as the function [Replace] does about a worker pool, by its index; pool is what it is in the Shoot that
// there is, and boots must say the same of pools of the same shape.
func (m *Maintainer) Replace(old, shoot *v1beta1.Shoot, worker int, pool *provider.Pool, boots Filter) (Outcome, bool) {
	before, after := &old.Spec.Provider.Workers[worker], &shoot.Spec.Provider.Workers[worker]
	key := replaceable{
		shaped{ask(old, before), m.workers.ShapeOf(pool)}, *after.Machine.Image.Version, shoot.Spec.Kubernetes.Version, "",
	}
	if after.Kubernetes != nil {
		key.kubelet = said(after.Kubernetes.Version)
	}
	made, done := m.replaced[key]
	if !done {
		works := worksOf(m.releases, after, before, shoot.Spec.Kubernetes.Version, boots)
		if made.replaced = !works(after.Machine.Image.Name, *after.Machine.Image.Version); made.replaced {
			// Gardener chooses images for the Kubernetes that there is, before it updates that.
			made.outcome = m.choices.ofThose(old, before, works)
		}
		m.replaced[key] = made
	}
	return made.outcome, made.replaced
}

// Gone says whether the profile does not have an image any more, or has it expired; empty if it has it.
func (m *Maintainer) Gone(image Image) string {
	v := m.releases[image]
	switch {
	case v == nil:
		return image.Version + " is not in the profile"
	case v1beta1helper.VersionIsExpired(v.ExpirableVersion):
		return image.Version + " has expired"
	}
	return ""
}

// Refused is the function [Refused].
func (m *Maintainer) Refused(image Image, worker, before *v1beta1.Worker, kubernetes string) string {
	return says(gardenerrules.RefusesImage(m.releases[image], worker, before, kubernetes))
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
		reasons[i] = m.locks(after.Machine.Type, image)
		switch {
		case reasons[i] != "":
		case *before.Machine.Image.Version != image.Version:
			reasons[i] = about(image, gardenerrules.RefusesImage(m.releases[image], after, before, shoot.Spec.Kubernetes.Version))
			if reasons[i] == "" {
				reasons[i] = boots(i, image)
			}
		default:
			if v := m.releases[image]; v != nil {
				reasons[i] = about(image, gardenerrules.RefusesKubelet(v, after, shoot.Spec.Kubernetes.Version))
			}
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

// locks says why Gardener refuses every update of a Shoot with a worker pool; empty if it does not.
func (m *Maintainer) locks(machineType string, image Image) string {
	switch m.locker.Lock(machineType, image) {
	case gardenerrules.LockedByType:
		return fmt.Sprintf("the profile has no machine type %q, without which Gardener takes no update of the Shoot", machineType)
	case gardenerrules.LockedByFlavors:
		return fmt.Sprintf("machine type %s fits no flavor of %s, without which Gardener takes no update of the Shoot",
			machineType, image)
	}
	return ""
}
