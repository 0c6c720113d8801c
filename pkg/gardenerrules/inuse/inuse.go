// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package inuse holds Gardener's rules about the parts of a profile that an update must not remove or add while they are in use. They are
// reimplemented as in package gardenerrules. Start reading at [Of].
package inuse

import (
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/releases"
	"github.com/capkit/capkit/pkg/versions"
)

// Use is a part of a profile that an update removes or adds although it is in use, so that Gardener refuses the update.
type Use struct {
	Subject
	// Values are the used values of the capability, sorted.
	Values []string
	// Pools are the worker pools that use the part, in order. All worker pools of a Shoot use its Kubernetes version and the limit.
	Pools []Pool
}

// Subject is the used part and its user. Fields that the kind does not need are empty.
type Subject struct {
	Kind Kind
	// Image has no version if the kind is about a whole image.
	Image      gardenerrules.Image
	Kubernetes string
	MaxNodes   int32
	Capability string
	// Child is the index of the NamespacedCloudProfile that uses the part; -1 if Shoots do.
	Child int
}

// Pool is a worker pool, as the indices of its Shoot and of itself.
type Pool struct{ Shoot, Worker int }

// Kind is the kind of a [Use].
type Kind int

// The kinds.
const (
	// KubernetesRemoved: a Kubernetes version is removed that Shoots have or a child extends.
	KubernetesRemoved Kind = iota
	// VersionRemoved: an image version is removed that Shoots have or a child extends.
	VersionRemoved
	// ImageRemoved: an image is removed that a child extends.
	ImageRemoved
	// ImageAdded: an image is added that a child defines.
	ImageAdded
	// LimitExceeded: the number of nodes is limited to MaxNodes, and a Shoot's minimum is higher.
	LimitExceeded
	// CapabilityRemoved: values of a capability are removed that a child declares.
	CapabilityRemoved
)

// Of returns the parts that make Gardener refuse an update of a CloudProfile because they are in use. Their users are Shoots, which use the
// profile directly or through one of the children, and the children, which are NamespacedCloudProfiles with this parent. The caller leaves
// out objects that are being deleted. Each use is returned once, those of Shoots before those of children.
//
// It is the rule for CloudProfiles of ReferenceManager.Validate (plugin/pkg/global/resourcereferencemanager).
func Of(
	release releases.Release, updated, old *v1beta1.CloudProfileSpec, children []*v1beta1.NamespacedCloudProfile, shoots []*v1beta1.Shoot,
) []Use {
	u := users{}
	gone := removed{
		kubernetes: setOf(old.Kubernetes.Versions, nameOfVersion).Difference(setOf(updated.Kubernetes.Versions, nameOfVersion)),
		images:     imageVersions(old.MachineImages).Difference(imageVersions(updated.MachineImages)),
	}
	u.shoots(shoots, gone)
	u.limits(shoots, old.Limits, updated.Limits)
	u.children(children, setOf(old.MachineImages, nameOfImage), setOf(updated.MachineImages, nameOfImage), gone)
	u.capabilities(release, children, removedValues(old.MachineCapabilities, updated.MachineCapabilities))
	return u.uses
}

// OfNamespaced returns the parts that make Gardener refuse an update of a NamespacedCloudProfile because Shoots use them. These are removed
// image versions that the parent lacks or has only expired, removed Kubernetes versions that the parent has expired, and an exceeded limit
// of nodes. See [Of].
//
// It is the rule for NamespacedCloudProfiles of ReferenceManager.Validate (plugin/pkg/global/resourcereferencemanager).
func OfNamespaced(
	updated, old *v1beta1.NamespacedCloudProfileSpec, parent *v1beta1.CloudProfileSpec, shoots []*v1beta1.Shoot,
) []Use {
	u := users{}
	gone := removed{
		kubernetes: setOf(kubernetesOf(old), nameOfVersion).Difference(setOf(kubernetesOf(updated), nameOfVersion)),
		images:     imageVersions(old.MachineImages).Difference(imageVersions(updated.MachineImages)),
	}
	// Gardener treats a Kubernetes version that the parent lacks as one that does not expire.
	expired := slices.DeleteFunc(slices.Clone(parent.Kubernetes.Versions), func(v v1beta1.ExpirableVersion) bool {
		return !versions.Expired(v)
	})
	gone.kubernetes = gone.kubernetes.Intersection(setOf(expired, nameOfVersion))
	for _, image := range parent.MachineImages {
		for _, v := range image.Versions {
			if !versions.Expired(v.ExpirableVersion) {
				gone.images.Delete(gardenerrules.Image{Name: image.Name, Version: v.Version})
			}
		}
	}
	u.shoots(shoots, gone)
	u.limits(shoots, old.Limits, updated.Limits)
	return u.uses
}

// removed are the parts that an update removes.
type removed struct {
	kubernetes sets.Set[string]
	images     sets.Set[gardenerrules.Image]
}

// users collects uses. The zero value is ready to use.
type users struct {
	uses []Use
	// indices are the indices into uses.
	indices map[Subject]int
}

// add adds worker pools that use a subject.
func (u *users) add(subject Subject, pools ...Pool) {
	at, known := u.indices[subject]
	if !known {
		at = len(u.uses)
		u.uses = append(u.uses, Use{Subject: subject})
		if u.indices == nil {
			u.indices = map[Subject]int{}
		}
		u.indices[subject] = at
	}
	u.uses[at].Pools = append(u.uses[at].Pools, pools...)
}

// shoots adds the Shoots that use removed parts.
func (u *users) shoots(shoots []*v1beta1.Shoot, gone removed) {
	for i, shoot := range shoots {
		if version := shoot.Spec.Kubernetes.Version; gone.kubernetes.Has(version) {
			u.add(Subject{Kind: KubernetesRemoved, Kubernetes: version, Child: -1}, poolsOf(i, shoot)...)
		}
		for k := range shoot.Spec.Provider.Workers {
			if image := gardenerrules.NamedImage(&shoot.Spec.Provider.Workers[k]); image.Version != "" && gone.images.Has(image) {
				u.add(Subject{Kind: VersionRemoved, Image: image, Child: -1}, Pool{i, k})
			}
		}
	}
}

func poolsOf(at int, shoot *v1beta1.Shoot) []Pool {
	pools := make([]Pool, len(shoot.Spec.Provider.Workers))
	for k := range pools {
		pools[k] = Pool{at, k}
	}
	return pools
}

// limits adds the Shoots whose minimum of nodes exceeds a changed limit.
func (u *users) limits(shoots []*v1beta1.Shoot, old, limits *v1beta1.Limits) {
	if limits == nil || limits.MaxNodesTotal == nil || apiequality.Semantic.DeepEqual(old, limits) {
		return
	}
	for i, shoot := range shoots {
		var nodes int32
		for k := range shoot.Spec.Provider.Workers {
			nodes += shoot.Spec.Provider.Workers[k].Minimum
		}
		if nodes > *limits.MaxNodesTotal {
			u.add(Subject{Kind: LimitExceeded, MaxNodes: *limits.MaxNodesTotal, Child: -1}, poolsOf(i, shoot)...)
		}
	}
}

// children adds the NamespacedCloudProfiles that extend removed parts, or define added images. had and has are the parent's images before
// and after the update.
func (u *users) children(children []*v1beta1.NamespacedCloudProfile, had, has sets.Set[string], gone removed) {
	for i, child := range children {
		for _, v := range kubernetesOf(&child.Spec) {
			if gone.kubernetes.Has(v.Version) {
				u.add(Subject{Kind: KubernetesRemoved, Kubernetes: v.Version, Child: i})
			}
		}
		for _, image := range child.Spec.MachineImages {
			switch {
			case had.Has(image.Name) && !has.Has(image.Name):
				u.add(Subject{Kind: ImageRemoved, Image: gardenerrules.Image{Name: image.Name}, Child: i})
			case !had.Has(image.Name) && has.Has(image.Name):
				u.add(Subject{Kind: ImageAdded, Image: gardenerrules.Image{Name: image.Name}, Child: i})
			}
			for _, v := range image.Versions {
				if version := (gardenerrules.Image{Name: image.Name, Version: v.Version}); gone.images.Has(version) {
					u.add(Subject{Kind: VersionRemoved, Image: version, Child: i})
				}
			}
		}
	}
}

// capabilities adds the NamespacedCloudProfiles that declare removed values. If none of them declares anything but an architecture, the
// profile may return to the legacy format, unless the release does not allow that yet.
func (u *users) capabilities(release releases.Release, children []*v1beta1.NamespacedCloudProfile, gone map[string]sets.Set[string]) {
	var uses []Use
	more := !release.Has(releases.ChangeBackToLegacy)
	for i, child := range children {
		declared := declaredBy(child)
		for name := range declared {
			more = more || name != constants.ArchitectureName
		}
		for _, name := range slices.Sorted(maps.Keys(gone)) {
			if values := sets.List(gone[name].Intersection(declared[name])); len(values) > 0 {
				uses = append(uses, Use{Subject: Subject{Kind: CapabilityRemoved, Capability: name, Child: i}, Values: values})
			}
		}
	}
	if more {
		u.uses = append(u.uses, uses...)
	}
}

// declaredBy returns the capability values that a NamespacedCloudProfile declares.
func declaredBy(profile *v1beta1.NamespacedCloudProfile) map[string]sets.Set[string] {
	declared := map[string]sets.Set[string]{}
	add := func(capabilities v1beta1.Capabilities) {
		for name, values := range capabilities {
			declared[name] = sets.New(values...).Union(declared[name])
		}
	}
	for _, image := range profile.Spec.MachineImages {
		for _, version := range image.Versions {
			for _, flavor := range version.CapabilityFlavors {
				add(flavor.Capabilities)
			}
		}
	}
	for _, machineType := range profile.Spec.MachineTypes {
		add(machineType.Capabilities)
	}
	return declared
}

func kubernetesOf(profile *v1beta1.NamespacedCloudProfileSpec) []v1beta1.ExpirableVersion {
	if profile.Kubernetes == nil {
		return nil
	}
	return profile.Kubernetes.Versions
}

// setOf returns the names of a list.
func setOf[T any](list []T, nameOf func(T) string) sets.Set[string] {
	names := sets.New[string]()
	for _, element := range list {
		names.Insert(nameOf(element))
	}
	return names
}

func nameOfVersion(v v1beta1.ExpirableVersion) string { return v.Version }

func nameOfImage(i v1beta1.MachineImage) string { return i.Name }

func imageVersions(images []v1beta1.MachineImage) sets.Set[gardenerrules.Image] {
	return sets.KeySet(gardenerrules.ImageVersions(&v1beta1.CloudProfileSpec{MachineImages: images}))
}

// removedValues returns the capability values that one vocabulary has and the other lacks. If the other lacks a capability, these are all
// its values.
func removedValues(in, from []v1beta1.CapabilityDefinition) map[string]sets.Set[string] {
	gone := map[string]sets.Set[string]{}
	for _, c := range in {
		gone[c.Name] = sets.New(c.Values...)
	}
	for _, c := range from {
		gone[c.Name].Delete(c.Values...)
	}
	return gone
}
