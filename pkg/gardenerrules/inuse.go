// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"maps"
	"slices"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Use is something that an update of a profile takes away or adds, and for which Gardener refuses the update, since
// somebody uses it. Fields that its kind does not name are empty.
type Use struct {
	Kind UseKind
	// Image has no version for the kinds about an image as a whole.
	Image      Image
	Kubernetes string
	MaxNodes   int32
	Capability string
	// Values of the capability that are in use, sorted.
	Values []string
	// Child is the index of the NamespacedCloudProfile that uses it; -1 if Shoots do.
	Child int
	// Pools are the worker pools that use it, in order. A version of Kubernetes, and the limit, are used by all worker pools
	// of a Shoot.
	Pools []PoolIndex
}

// PoolIndex is a worker pool by the indices of its Shoot and of itself.
type PoolIndex struct{ Shoot, Worker int }

// UseKind is the kind of a [Use].
type UseKind int

// The kinds.
const (
	// KubernetesRemoved: a version of Kubernetes is removed, which Shoots have or a child extends.
	KubernetesRemoved UseKind = iota
	// VersionRemoved: an image version is removed, which Shoots have or a child extends.
	VersionRemoved
	// ImageRemoved: an image is removed, which a child extends.
	ImageRemoved
	// ImageAdded: an image is added, which a child defines.
	ImageAdded
	// LimitExceeded: the number of nodes is limited to MaxNodes, and Shoots have a minimum of more.
	LimitExceeded
	// CapabilityRemoved: values of a capability are removed, which a child declares.
	CapabilityRemoved
)

// InUse returns what Gardener refuses in an update of a CloudProfile because somebody uses it: Shoots, which use the profile
// directly or through one of the children, and the children, which are NamespacedCloudProfiles with this parent. Whoever is
// being deleted is for the caller to leave out. The uses come in the order of Shoots and children, each once.
//
// It is the rule for CloudProfiles of ReferenceManager.Validate (plugin/pkg/global/resourcereferencemanager).
func InUse(updated, old *v1beta1.CloudProfileSpec, children []*v1beta1.NamespacedCloudProfile, shoots []*v1beta1.Shoot) []Use {
	u := &users{found: map[useKey]int{}}
	gone := removed{
		kubernetes: removedVersions(old.Kubernetes.Versions, updated.Kubernetes.Versions),
		images:     imageVersions(old.MachineImages).Difference(imageVersions(updated.MachineImages)),
	}
	u.shoots(shoots, gone)
	if !apiequality.Semantic.DeepEqual(old.Limits, updated.Limits) {
		u.limits(shoots, updated.Limits)
	}
	u.children(children, imageNames(old), imageNames(updated), gone)
	u.capabilities(children, removedValues(old.MachineCapabilities, updated.MachineCapabilities))
	return u.uses
}

// InUseNamespaced returns what Gardener refuses in an update of a NamespacedCloudProfile with a parent because Shoots use
// it: what the profile no longer says itself, if the parent does not have it, or has it expired. See [InUse].
//
// It is the rule for NamespacedCloudProfiles of ReferenceManager.Validate (plugin/pkg/global/resourcereferencemanager).
func InUseNamespaced(
	updated, old *v1beta1.NamespacedCloudProfileSpec, parent *v1beta1.CloudProfileSpec, shoots []*v1beta1.Shoot,
) []Use {
	u := &users{found: map[useKey]int{}}
	// Gardener takes a version of Kubernetes that the parent does not have for one that does not expire.
	expired := sets.New[string]()
	for _, v := range parent.Kubernetes.Versions {
		if v1beta1helper.VersionIsExpired(v) {
			expired.Insert(v.Version)
		}
	}
	gone := removed{
		kubernetes: removedVersions(kubernetesOf(old), kubernetesOf(updated)).Intersection(expired),
		images:     imageVersions(old.MachineImages).Difference(imageVersions(updated.MachineImages)),
	}
	for _, image := range parent.MachineImages {
		for _, v := range image.Versions {
			if !v1beta1helper.VersionIsExpired(v.ExpirableVersion) {
				gone.images.Delete(Image{image.Name, v.Version})
			}
		}
	}
	u.shoots(shoots, gone)
	if !apiequality.Semantic.DeepEqual(old.Limits, updated.Limits) {
		u.limits(shoots, updated.Limits)
	}
	return u.uses
}

// removed is what an update takes away.
type removed struct {
	kubernetes sets.Set[string]
	images     sets.Set[Image]
}

// users collects who uses what an update takes away or adds.
type users struct {
	uses []Use
	// found has the indices of uses.
	found map[useKey]int
}

// useKey is what tells two uses apart.
type useKey struct {
	kind                   UseKind
	image                  Image
	kubernetes, capability string
	child                  int
}

// add adds a use or, if there is one already, its pools.
func (u *users) add(use Use, pools ...PoolIndex) {
	key := useKey{use.Kind, use.Image, use.Kubernetes, use.Capability, use.Child}
	at, known := u.found[key]
	if !known {
		at = len(u.uses)
		u.found[key], u.uses = at, append(u.uses, use)
	}
	u.uses[at].Pools = append(u.uses[at].Pools, pools...)
}

// shoots adds the Shoots that use what is gone.
func (u *users) shoots(shoots []*v1beta1.Shoot, gone removed) {
	if len(gone.kubernetes)+len(gone.images) == 0 {
		return
	}
	for i, shoot := range shoots {
		if version := shoot.Spec.Kubernetes.Version; gone.kubernetes.Has(version) {
			u.add(Use{Kind: KubernetesRemoved, Kubernetes: version, Child: -1}, poolsOf(i, shoot)...)
		}
		for k := range shoot.Spec.Provider.Workers {
			if image := NamedImage(&shoot.Spec.Provider.Workers[k]); image.Version != "" && gone.images.Has(image) {
				u.add(Use{Kind: VersionRemoved, Image: image, Child: -1}, PoolIndex{i, k})
			}
		}
	}
}

func poolsOf(at int, shoot *v1beta1.Shoot) []PoolIndex {
	pools := make([]PoolIndex, len(shoot.Spec.Provider.Workers))
	for k := range pools {
		pools[k] = PoolIndex{at, k}
	}
	return pools
}

// limits adds the Shoots that have more nodes than they may have.
func (u *users) limits(shoots []*v1beta1.Shoot, limits *v1beta1.Limits) {
	if limits == nil || limits.MaxNodesTotal == nil {
		return
	}
	for i, shoot := range shoots {
		var nodes int32
		for k := range shoot.Spec.Provider.Workers {
			nodes += shoot.Spec.Provider.Workers[k].Minimum
		}
		if nodes > *limits.MaxNodesTotal {
			u.add(Use{Kind: LimitExceeded, MaxNodes: *limits.MaxNodesTotal, Child: -1}, poolsOf(i, shoot)...)
		}
	}
}

// children adds the NamespacedCloudProfiles that extend what is gone, or define what is added. had and has are the images
// of the parent.
func (u *users) children(children []*v1beta1.NamespacedCloudProfile, had, has sets.Set[string], gone removed) {
	for i, child := range children {
		for _, v := range kubernetesOf(&child.Spec) {
			if gone.kubernetes.Has(v.Version) {
				u.add(Use{Kind: KubernetesRemoved, Kubernetes: v.Version, Child: i})
			}
		}
		for _, image := range child.Spec.MachineImages {
			switch {
			case had.Has(image.Name) && !has.Has(image.Name):
				u.add(Use{Kind: ImageRemoved, Image: Image{Name: image.Name}, Child: i})
			case !had.Has(image.Name) && has.Has(image.Name):
				u.add(Use{Kind: ImageAdded, Image: Image{Name: image.Name}, Child: i})
			}
			for _, v := range image.Versions {
				if version := (Image{image.Name, v.Version}); gone.images.Has(version) {
					u.add(Use{Kind: VersionRemoved, Image: version, Child: i})
				}
			}
		}
	}
}

// capabilities adds the NamespacedCloudProfiles that declare values which are gone. If none of them declares anything
// but an architecture, the profile may go back to the legacy format.
func (u *users) capabilities(children []*v1beta1.NamespacedCloudProfile, gone map[string]sets.Set[string]) {
	if len(gone) == 0 {
		return
	}
	declared, more := make([]map[string]sets.Set[string], len(children)), false
	for i, child := range children {
		declared[i] = declaredBy(child)
		for name := range declared[i] {
			more = more || name != constants.ArchitectureName
		}
	}
	if !more {
		return
	}
	for i := range children {
		for _, name := range slices.Sorted(maps.Keys(gone)) {
			if values := sets.List(gone[name].Intersection(declared[i][name])); len(values) > 0 {
				u.add(Use{Kind: CapabilityRemoved, Capability: name, Values: values, Child: i})
			}
		}
	}
}

// declaredBy returns the values of the capabilities that a NamespacedCloudProfile declares.
func declaredBy(profile *v1beta1.NamespacedCloudProfile) map[string]sets.Set[string] {
	declared := map[string]sets.Set[string]{}
	add := func(capabilities v1beta1.Capabilities) {
		for name, values := range capabilities {
			if declared[name] == nil {
				declared[name] = sets.New[string]()
			}
			declared[name].Insert(values...)
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

// removedVersions returns the versions that are in one list and not in the other.
func removedVersions(in, from []v1beta1.ExpirableVersion) sets.Set[string] {
	gone := sets.New[string]()
	for _, v := range in {
		gone.Insert(v.Version)
	}
	for _, v := range from {
		gone.Delete(v.Version)
	}
	return gone
}

func kubernetesOf(profile *v1beta1.NamespacedCloudProfileSpec) []v1beta1.ExpirableVersion {
	if profile.Kubernetes == nil {
		return nil
	}
	return profile.Kubernetes.Versions
}

func imageVersions(images []v1beta1.MachineImage) sets.Set[Image] {
	versions := sets.New[Image]()
	for i := range images {
		for k := range images[i].Versions {
			versions.Insert(Image{images[i].Name, images[i].Versions[k].Version})
		}
	}
	return versions
}

func imageNames(profile *v1beta1.CloudProfileSpec) sets.Set[string] {
	names := sets.New[string]()
	for i := range profile.MachineImages {
		names.Insert(profile.MachineImages[i].Name)
	}
	return names
}

// removedValues returns the values of capabilities that are in one vocabulary and not in the other; all of a capability
// that is not there.
func removedValues(in, from []v1beta1.CapabilityDefinition) map[string]sets.Set[string] {
	gone := map[string]sets.Set[string]{}
	for _, c := range in {
		values := sets.New(c.Values...)
		for _, other := range from {
			if other.Name == c.Name {
				values.Delete(other.Values...)
			}
		}
		if len(values) > 0 {
			gone[c.Name] = values
		}
	}
	return gone
}
