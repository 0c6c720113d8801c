// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/maintenance"
)

// InUse returns what Gardener refuses in an update of a CloudProfile because somebody uses what it takes away: Shoots, which
// use the profile directly or through one of the children, and the children themselves, which are NamespacedCloudProfiles
// with this parent. Whoever is being deleted is for the caller to leave out. The order is that of [Sort], with one change
// for each cause.
//
// The rules are those of the admission plugin ResourceReferenceManager of Gardener v1.150.
func InUse(updated, old *v1beta1.CloudProfile, children []*v1beta1.NamespacedCloudProfile, shoots []Shoot) []Change {
	was, is := &old.Spec, &updated.Spec
	u := &users{of: "CloudProfile " + updated.Name, found: map[string]*Change{}}
	gone := removed{kubernetes: missing(was.Kubernetes.Versions, is.Kubernetes.Versions), images: missingVersions(was, is)}
	u.shoots(shoots, gone)
	if !apiequality.Semantic.DeepEqual(was.Limits, is.Limits) {
		u.limits(shoots, is.Limits)
	}
	u.children(children, was, is, gone)
	u.capabilities(children, missingValues(was.MachineCapabilities, is.MachineCapabilities))
	return u.changes()
}

// InUseNamespaced does the same for an update of a NamespacedCloudProfile with a parent: what it no longer says itself is in
// use if the parent does not have it, or has it expired.
func InUseNamespaced(
	updated, old *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, shoots []Shoot,
) []Change {
	u := &users{of: "NamespacedCloudProfile " + updated.Namespace + "/" + updated.Name, found: map[string]*Change{}}
	was := &v1beta1.CloudProfileSpec{MachineImages: old.Spec.MachineImages}
	is := &v1beta1.CloudProfileSpec{MachineImages: updated.Spec.MachineImages}
	// Of a version of Kubernetes that the parent does not have Gardener takes it that it does not expire.
	expired := sets.New[string]()
	for _, v := range parent.Spec.Kubernetes.Versions {
		if v1beta1helper.VersionIsExpired(v) {
			expired.Insert(v.Version)
		}
	}
	gone := removed{
		kubernetes: missing(versionsOf(old), versionsOf(updated)).Intersection(expired), images: missingVersions(was, is),
	}
	for _, image := range parent.Spec.MachineImages {
		for _, v := range image.Versions {
			if !v1beta1helper.VersionIsExpired(v.ExpirableVersion) {
				gone.images.Delete(maintenance.Image{Name: image.Name, Version: v.Version})
			}
		}
	}
	u.shoots(shoots, gone)
	if !apiequality.Semantic.DeepEqual(old.Spec.Limits, updated.Spec.Limits) {
		u.limits(shoots, updated.Spec.Limits)
	}
	return u.changes()
}

// removed is what an update takes away.
type removed struct {
	kubernetes sets.Set[string]
	images     sets.Set[maintenance.Image]
}

// users collects who uses what an update takes away.
type users struct {
	// of is the profile.
	of string
	// found has the changes, by their messages.
	found map[string]*Change
}

// add takes down a change, and who is concerned, if that is a worker pool.
func (u *users) add(c Change, pools ...Pool) {
	c.Kind = Refused
	if u.found[c.Message] == nil {
		u.found[c.Message] = &c
	}
	known := u.found[c.Message]
	known.Pools = append(known.Pools, pools...)
}

func (u *users) changes() []Change {
	var changes []Change
	for _, c := range u.found {
		c.Count = len(c.Pools)
		if c.Pools == nil {
			c.Pools = []Pool{}
		}
		changes = append(changes, *c)
	}
	Sort(changes)
	return changes
}

// shoots takes down the Shoots that use what is gone.
func (u *users) shoots(shoots []Shoot, gone removed) {
	if len(gone.kubernetes)+len(gone.images) == 0 {
		return
	}
	for _, shoot := range shoots {
		workers := shoot.Object.Spec.Provider.Workers
		if version := shoot.Object.Spec.Kubernetes.Version; gone.kubernetes.Has(version) {
			u.add(Change{Field: "spec.kubernetes.versions", Message: fmt.Sprintf(
				"version %s of Kubernetes is removed and still used by Shoots; put it back, with an expirationDate, until nobody uses it",
				version)}, poolsOf(shoot)...)
		}
		for i := range workers {
			image := workers[i].Machine.Image
			if image == nil || image.Version == nil || !gone.images.Has(maintenance.Image{Name: image.Name, Version: *image.Version}) {
				continue
			}
			u.add(Change{Image: image.Name, Version: *image.Version, Field: "spec.machineImages", Message: fmt.Sprintf(
				"%s@%s is removed and still used by Shoots; put it back, with an expirationDate, until nobody uses it",
				image.Name, *image.Version)}, Pool{shoot.Name, workers[i].Name})
		}
	}
}

// poolsOf names the worker pools of a Shoot.
func poolsOf(shoot Shoot) []Pool {
	pools := make([]Pool, 0, len(shoot.Object.Spec.Provider.Workers))
	for i := range shoot.Object.Spec.Provider.Workers {
		pools = append(pools, Pool{shoot.Name, shoot.Object.Spec.Provider.Workers[i].Name})
	}
	return pools
}

// limits takes down the Shoots that have more nodes than they may have.
func (u *users) limits(shoots []Shoot, limits *v1beta1.Limits) {
	if limits == nil || limits.MaxNodesTotal == nil {
		return
	}
	for _, shoot := range shoots {
		var nodes int32
		for i := range shoot.Object.Spec.Provider.Workers {
			nodes += shoot.Object.Spec.Provider.Workers[i].Minimum
		}
		if nodes > *limits.MaxNodesTotal {
			u.add(Change{Field: "spec.limits.maxNodesTotal", Message: fmt.Sprintf(
				"the worker pools of Shoots have a minimum of more than %d nodes in total; set no lower limit than they need",
				*limits.MaxNodesTotal)}, poolsOf(shoot)...)
		}
	}
}

// children takes down the NamespacedCloudProfiles that extend what is gone, or define what is added.
func (u *users) children(children []*v1beta1.NamespacedCloudProfile, was, is *v1beta1.CloudProfileSpec, gone removed) {
	had, has := imagesOf(was), imagesOf(is)
	for _, child := range children {
		name := "NamespacedCloudProfile " + child.Namespace + "/" + child.Name
		for _, v := range versionsOf(child) {
			if gone.kubernetes.Has(v.Version) {
				u.add(Change{Field: "spec.kubernetes.versions", Message: fmt.Sprintf(
					"version %s of Kubernetes is removed and still extended by %s; put it back, or remove it there first", v.Version, name)})
			}
		}
		for _, image := range child.Spec.MachineImages {
			switch {
			case had.Has(image.Name) && !has.Has(image.Name):
				u.add(Change{Image: image.Name, Field: "spec.machineImages", Message: fmt.Sprintf(
					"image %s is removed and still extended by %s; put it back, or remove it there first", image.Name, name)})
			case !had.Has(image.Name) && has.Has(image.Name):
				u.add(Change{Image: image.Name, Field: "spec.machineImages", Message: fmt.Sprintf(
					"image %s is added, and defined by %s already; remove it there first, or take another name", image.Name, name)})
			}
			for _, v := range image.Versions {
				if gone.images.Has(maintenance.Image{Name: image.Name, Version: v.Version}) {
					u.add(Change{Image: image.Name, Version: v.Version, Field: "spec.machineImages", Message: fmt.Sprintf(
						"%s@%s is removed and still extended by %s; put it back, or remove it there first", image.Name, v.Version, name)})
				}
			}
		}
	}
}

// capabilities takes down the NamespacedCloudProfiles that declare values which are gone. If none of them declares anything
// but an architecture, the profile may go back to the legacy format.
func (u *users) capabilities(children []*v1beta1.NamespacedCloudProfile, gone map[string]sets.Set[string]) {
	if len(gone) == 0 {
		return
	}
	declared := make([]map[string]sets.Set[string], len(children))
	more := false
	for i, child := range children {
		declared[i] = map[string]sets.Set[string]{}
		for c := range declaredBy(child) {
			for name, values := range c {
				more = more || name != constants.ArchitectureName
				if declared[i][name] == nil {
					declared[i][name] = sets.New[string]()
				}
				declared[i][name].Insert(values...)
			}
		}
	}
	if !more {
		return
	}
	for i, child := range children {
		for _, name := range slices.Sorted(maps.Keys(gone)) {
			if values := sets.List(gone[name].Intersection(declared[i][name])); len(values) > 0 {
				u.add(Change{Field: "spec.machineCapabilities", Message: fmt.Sprintf(
					"capability %s with [%s] is removed and still declared by NamespacedCloudProfile %s/%s; put it back, or remove it there first",
					name, finding.Few(values), child.Namespace, child.Name)})
			}
		}
	}
}

// declaredBy yields the capabilities that a NamespacedCloudProfile declares.
func declaredBy(profile *v1beta1.NamespacedCloudProfile) func(yield func(v1beta1.Capabilities) bool) {
	return func(yield func(v1beta1.Capabilities) bool) {
		for _, image := range profile.Spec.MachineImages {
			for _, version := range image.Versions {
				for _, flavor := range version.CapabilityFlavors {
					if !yield(flavor.Capabilities) {
						return
					}
				}
			}
		}
		for _, machineType := range profile.Spec.MachineTypes {
			if !yield(machineType.Capabilities) {
				return
			}
		}
	}
}

// missing returns the versions that are in one list and not in the other.
func missing(in, from []v1beta1.ExpirableVersion) sets.Set[string] {
	gone := sets.New[string]()
	for _, v := range in {
		gone.Insert(v.Version)
	}
	for _, v := range from {
		gone.Delete(v.Version)
	}
	return gone
}

func versionsOf(profile *v1beta1.NamespacedCloudProfile) []v1beta1.ExpirableVersion {
	if profile.Spec.Kubernetes == nil {
		return nil
	}
	return profile.Spec.Kubernetes.Versions
}

func missingVersions(in, from *v1beta1.CloudProfileSpec) sets.Set[maintenance.Image] {
	all := func(spec *v1beta1.CloudProfileSpec) sets.Set[maintenance.Image] {
		images := sets.New[maintenance.Image]()
		for i := range spec.MachineImages {
			for k := range spec.MachineImages[i].Versions {
				images.Insert(maintenance.Image{Name: spec.MachineImages[i].Name, Version: spec.MachineImages[i].Versions[k].Version})
			}
		}
		return images
	}
	return all(in).Difference(all(from))
}

func imagesOf(spec *v1beta1.CloudProfileSpec) sets.Set[string] {
	names := sets.New[string]()
	for i := range spec.MachineImages {
		names.Insert(spec.MachineImages[i].Name)
	}
	return names
}

// missingValues returns the values of capabilities that are in one vocabulary and not in the other; all of a capability
// that is not there.
func missingValues(in, from []v1beta1.CapabilityDefinition) map[string]sets.Set[string] {
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
