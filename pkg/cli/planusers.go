// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"iter"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/cli/plan"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/words"
)

// Who uses the profile that plan is about.

// remaining yields the Shoots that can be read and are not being deleted.
func (u *profileUpdate) remaining() iter.Seq[*source[v1beta1.Shoot]] {
	return func(yield func(*source[v1beta1.Shoot]) bool) {
		for _, s := range u.before.shoots.all {
			if s.object != nil && s.object.DeletionTimestamp == nil && !yield(s) {
				return
			}
		}
	}
}

// children returns the NamespacedCloudProfiles whose parent is updated.
func (u *profileUpdate) children() []*source[v1beta1.NamespacedCloudProfile] {
	var children []*source[v1beta1.NamespacedCloudProfile]
	for _, s := range u.before.namespaced.all {
		if s.object != nil && s.object.DeletionTimestamp == nil && u.before.parentOf(s) == u.profile.old {
			children = append(children, s)
		}
	}
	return children
}

// shoots returns the Shoots that use a profile, [NAMESPACE/]NAME, as they have been stored with it.
func (u *profileUpdate) shoots(kind, name string, p anyProfile) []plan.Shoot {
	var shoots []plan.Shoot
	for s := range u.remaining() {
		of, named, _ := profileNameOf(s.object)
		if of == "NamespacedCloudProfile" {
			named = s.object.Namespace + "/" + named
		}
		if of == kind && named == name {
			stored := s.object
			if !s.live {
				stored = storedShoot(p, s.object)
			}
			shoots = append(shoots, plan.Shoot{Name: s.name, Object: stored})
		}
	}
	return shoots
}

// findUnknown makes findings of the Shoots of which nobody knows whether they use the CloudProfile that is updated: the
// NamespacedCloudProfile that they name is not there, or does not say whose child it is. A Shoot that names another
// CloudProfile, or a child of one, does not use this one, whether or not the other is there.
func (u *profileUpdate) findUnknown() {
	for s := range u.remaining() {
		kind, name, at := profileNameOf(s.object)
		if kind != "NamespacedCloudProfile" {
			continue
		}
		name = s.object.Namespace + "/" + name
		switch n := u.before.namespaced.byName[name]; {
		case n == nil:
			u.before.error(s.manifest, u.before.missing(kind, name, at))
		case n.object == nil || !namesParent(n.object):
			u.before.error(s.manifest, unreadable(kind, n.manifest.Name, at))
		}
	}
}

// noteRegions notes which of the Shoots are in regions that the update removes from the CloudProfile. No change says so:
// Gardener looks at the region of a Shoot when it is created, and nobody does when machines are.
func (u *profileUpdate) noteRegions(updated anyProfile, shoots []plan.Shoot) {
	for _, region := range u.profile.old.object.Spec.Regions {
		if resolve.Region(updated, region.Name, nil) == nil {
			continue
		}
		var names []string
		for _, s := range shoots {
			if s.Object.Spec.Region == region.Name && len(s.Object.Spec.Provider.Workers) > 0 {
				names = append(names, s.Name)
			}
		}
		if slices.Sort(names); len(names) > 0 {
			u.before.notes = append(u.before.notes, fmt.Sprintf(
				"region %s is removed: Gardener takes no new Shoots there; that alone changes nothing for the worker pools of %s %s",
				region.Name, words.Plural(names, "Shoot"), words.Few(names)))
		}
	}
}
