// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"fmt"
	"iter"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
	"github.com/capkit/capkit/pkg/words"
)

// The users of the profile that plan compares.

// readable yields the Shoots that could be read.
func (u *Update) readable() iter.Seq[*input.Source[v1beta1.Shoot]] {
	return func(yield func(*input.Source[v1beta1.Shoot]) bool) {
		for _, s := range u.Before.Shoots.All {
			if s.Object != nil && !yield(s) {
				return
			}
		}
	}
}

// leaving reports whether an updated object is being deleted. Admission admits any update of it.
func leaving(updated, old metav1.Object) bool {
	return old.GetDeletionTimestamp() != nil || updated.GetDeletionTimestamp() != nil
}

// remaining returns the objects that are not being deleted, the only users that Gardener considers.
func remaining[T metav1.Object](objects []T) []T {
	return slices.DeleteFunc(slices.Clone(objects), func(o T) bool { return o.GetDeletionTimestamp() != nil })
}

// noteDeleting adds a note that names the Shoots being deleted that the update locks. Other effects on them do not matter.
func (u *Update) noteDeleting() {
	var names []string
	facts := update.Of(gardenerlib.Library{}, u.deleting...)
	for pool := range facts.Locked() {
		names = append(names, pool.Shoot)
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	u.Before.Notes = append(u.Before.Notes, fmt.Sprintf("the update of %s %s locks Shoots that are being deleted, so their deletion would not end: %s; "+
		"apply it once they are gone", u.Kind, u.Name, words.Few(slices.Compact(names))))
}

// children returns the NamespacedCloudProfiles whose parent is updated.
func (u *Update) children() []*input.Source[v1beta1.NamespacedCloudProfile] {
	var children []*input.Source[v1beta1.NamespacedCloudProfile]
	for _, s := range u.Before.Namespaced.All {
		if s.Object != nil && u.Before.ParentOf(s) == u.Profile.Old {
			children = append(children, s)
		}
	}
	return children
}

// shoots returns the Shoots that use a profile, [NAMESPACE/]NAME, as the API server stores them. It leaves out Shoots
// without a selected worker pool.
func (u *Update) shoots(kind, name string, p input.AnyProfile) []*v1beta1.Shoot {
	var shoots []*v1beta1.Shoot
	for s := range u.readable() {
		of, named, _ := input.ProfileNameOf(s.Object)
		if of == "NamespacedCloudProfile" {
			named = s.Object.Namespace + "/" + named
		}
		if of == kind && named == name {
			stored := s.Object
			if !s.Live {
				stored, _ = u.Before.StoredShoot(p, s.Object)
			}
			if !u.Filter.OfPools() || slices.ContainsFunc(provider.PoolsOf(stored), func(p provider.Pool) bool { return u.Filter.Admits(&p) }) {
				shoots = append(shoots, stored)
			}
		}
	}
	return shoots
}

// findUnknown adds findings for the Shoots that may or may not use the updated CloudProfile: the
// NamespacedCloudProfile that they name is missing, or does not name its parent. A Shoot that names another
// CloudProfile, or a child of one, does not use this one, even if the other is missing.
func (u *Update) findUnknown() {
	for s := range u.readable() {
		kind, name, at := input.ProfileNameOf(s.Object)
		if kind != "NamespacedCloudProfile" {
			continue
		}
		name = s.Object.Namespace + "/" + name
		switch n := u.Before.Namespaced.ByName[name]; {
		case n == nil:
			u.Before.AddErrors(s.Manifest, u.Before.Missing(kind, name, at))
		case n.Object == nil || !input.NamesParent(n.Object):
			u.Before.AddErrors(s.Manifest, input.Unreadable(kind, n.Manifest.Name, at))
		}
	}
}

// noteRegions adds a note about Shoots in regions that the update removes from the CloudProfile. This is no change:
// Gardener checks a Shoot's region only when the Shoot is created, and nothing checks it when machines are.
func (u *Update) noteRegions(updated input.AnyProfile, shoots []*v1beta1.Shoot) {
	for _, region := range u.Profile.Old.Object.Spec.Regions {
		if resolve.Region(updated, region.Name, nil) == nil {
			continue
		}
		var names []string
		for _, s := range shoots {
			if s.Spec.Region == region.Name && len(s.Spec.Provider.Workers) > 0 {
				names = append(names, nameOf(s))
			}
		}
		if slices.Sort(names); len(names) > 0 {
			u.Before.Notes = append(u.Before.Notes, fmt.Sprintf(
				"region %s is removed: Gardener accepts no new Shoots there; that alone changes nothing for the worker pools of %s %s",
				region.Name, words.Plural(names, "Shoot"), words.Few(names)))
		}
	}
}
