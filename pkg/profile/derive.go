// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/profile/internal/onetoone"
	"github.com/capkit/capkit/pkg/provider"
)

// This file derives references that the provider config lacks (semantics S6), for a [provider.ReferenceDeriver].

// derive returns the reference that the provider derives for the flavor at the path at, which supports set. It returns nil if the flavor
// needs a mapping.
func (r *Reading[R]) derive(id provider.ImageVersion, set capability.Set, at *field.Path) *imageselector.Global[R] {
	if r.deriver == nil {
		return nil
	}
	supported := v1beta1.Capabilities{}
	for _, def := range r.vocabulary.Definitions() {
		supported[def.Name] = set.Values(def.Name)
	}
	ref, derived := r.deriver.DeriveReference(id, supported)
	if !derived {
		return nil
	}
	return &imageselector.Global[R]{Ref: ref, Derived: true, Path: at}
}

// derives reports whether the provider derives the reference of a flavor in the provider config.
func (r *Reading[R]) derives(id provider.ImageVersion, flavor *imageselector.Flavor[R]) bool {
	if r.deriver == nil {
		return false
	}
	set, _ := r.vocabulary.Flavor(flavor.Supported(r.vocabulary), Undeclared(r.core[id]), nil)
	return r.derive(id, set, nil) != nil
}

// derivesSome reports whether the provider derives a reference for any flavor of an image that the provider config lacks.
func (r *Reading[R]) derivesSome(image *v1beta1.MachineImage) bool {
	return r.deriver != nil && slices.ContainsFunc(image.Versions, func(version v1beta1.MachineImageVersion) bool {
		id := provider.ImageVersion{Image: image.Name, Version: version.Version}
		return !r.Inherits(id) && slices.ContainsFunc(r.compareVersion(id, &version, r.At).Core, func(core *onetoone.CoreFlavor[R]) bool {
			return r.derive(id, core.Set, nil) != nil
		})
	})
}

// maybeUnreadRegion reports whether a list for single regions, which is a list with nested lists, may hide a mapping because it could not
// be read in full. Unreadable parts of known versions affect only these versions.
func (r *Reading[R]) maybeUnreadRegion() bool {
	extender, extends := provider.As[provider.ListExtender](r.provider)
	if !extends || !r.Unread.Any() {
		return false
	}
	known := sets.New[string]()
	for _, version := range entries.Mappings(r.Images) {
		known.Insert(version.Path.String())
	}
	return slices.ContainsFunc(extender.NamespacedLists(), func(list provider.List) bool {
		return len(list.Lists) > 0 && r.Unread.Beside(r.At.Child("providerConfig", list.Field), known)
	})
}

// withoutEntries returns the entries of an image that the provider config lacks.
func withoutEntries[R any]() *imageEntries[R] {
	return &imageEntries[R]{
		meant: func(string) *imageselector.Version[R] { return nil }, mayBeUnread: func() bool { return false }, nameless: func() []string { return nil },
	}
}

// whereMissing describes where to add a flavor of an image version with the given entries in the provider config.
func (r *Reading[R]) whereMissing(entries []*imageselector.Version[R]) string {
	switch {
	case !r.inConfig:
		return "to " + r.policies.MappedIn
	case len(entries) == 0:
		return "under " + r.images().String()
	case entries[0].Legacy:
		return "under " + entries[0].Path.String()
	}
	return "under " + entries[0].Path.Child("capabilityFlavors").String()
}
