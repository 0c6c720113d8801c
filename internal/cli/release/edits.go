// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"slices"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/release/source"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
)

// The parts of a version that a profile has already, and the edits of its manifest.

// wanted is a version to import into a profile.
type wanted struct {
	// index is its position among the versions of the release.
	index   int
	id      provider.ImageVersion
	flavors []*flavor
	// has are its flavors in the provider config.
	has []*mappedFlavor
	// changed, replaced and conflicts determine the version's action.
	changed, replaced, conflicts bool
}

func (w *wanted) action() string {
	switch {
	case w.conflicts:
		return ActionConflict
	case w.replaced:
		return ActionReplaced
	case w.changed:
		return ActionAdded
	}
	return ActionUnchanged
}

// mappedFlavor is a flavor in the provider config.
type mappedFlavor struct {
	version *imageselector.Version[any]
	flavor  *imageselector.Flavor[any]
	set     capability.Set
}

// compare finds the flavors that the profile has already.
func (w *wanted) compare(t *target) {
	undeclared := t.undeclared(w.id)
	for id, version := range entries.Mappings(t.existing) {
		if id != w.id {
			continue
		}
		for i := range version.Flavors {
			f := &version.Flavors[i]
			set, _ := t.vocabulary.Flavor(f.Supported(t.vocabulary), undeclared, nil)
			w.has = append(w.has, &mappedFlavor{version, f, set})
		}
	}
	for _, f := range w.flavors {
		same := func(m *mappedFlavor) bool {
			forAll := t.keepsLegacy && len(m.flavor.Capabilities) == 0 // one image for all architectures
			return m.set == f.set || forAll && m.set.Intersect(f.set) == f.set
		}
		if i := slices.IndexFunc(w.has, same); i >= 0 {
			f.same = w.has[i]
		}
	}
}

// edits are the operations on a manifest.
type edits struct {
	// tree is the manifest.
	tree  map[string]any
	ops   []edit.Op
	order []string
	// lists are pending insertions by list path; paths preserves their order.
	lists map[string][]insertion
	paths []string
	// replaced are the paths of replaced reference fields. Several flavors may share a field.
	replaced map[string]bool
}

// insertion is a new list item, inserted before the item with an index.
type insertion struct {
	before int
	value  any
}

func (e *edits) add(op edit.Op) { e.ops = append(e.ops, op.InOrder(e.order...)) }

// insert records a new item.
func (e *edits) insert(path string, before int, value any) {
	if e.lists == nil {
		e.lists = map[string][]insertion{}
	}
	if e.lists[path] == nil {
		e.paths = append(e.paths, path)
	}
	e.lists[path] = append(e.lists[path], insertion{before, value})
}

// flush converts the recorded items to operations. The mappings that contain the lists must exist.
func (e *edits) flush() {
	for _, path := range e.paths {
		items := e.lists[path]
		slices.SortStableFunc(items, func(a, b insertion) int { return a.before - b.before })
		at := fieldpath.Parse(path)
		if len(edit.Items(edit.Value(e.tree, at))) > 0 {
			for _, item := range items {
				e.add(edit.Insert(at.Index(item.before), item.value))
			}
			continue
		}
		var values []any
		for _, item := range items {
			values = append(values, item.value)
		}
		e.set(path, values)
	}
	e.lists, e.paths = nil, nil
}

// set sets a member, replacing an existing value.
func (e *edits) set(path string, value any, before ...string) {
	at := fieldpath.Parse(path)
	if _, there := edit.Members(edit.Value(e.tree, at[:len(at)-1]))[at[len(at)-1].Name]; there {
		e.add(edit.Replace(at, value))
		return
	}
	e.add(edit.Insert(at, value, before...))
}

// newVersion is a version to add to a list, with its entries there.
type newVersion struct {
	version string
	entries []map[string]any
}

// firstOf returns the index of the first entry that fits, or the length of the list.
func firstOf[T any](list []T, fits func(T) bool) int {
	if i := slices.IndexFunc(list, fits); i >= 0 {
		return i
	}
	return len(list)
}

// insertVersions records new entries of a version list: before the first older one or, in ascending lists, after the
// last older one. The result does not depend on the order in which versions are imported.
func (e *edits) insertVersions(path string, list []any, added []newVersion) {
	has := make([]string, 0, len(list))
	for _, item := range list {
		version, _ := edit.Members(item)["version"].(string)
		has = append(has, version)
	}
	ascending := ascends(has)
	slices.SortStableFunc(added, func(a, b newVersion) int {
		if ascending {
			a, b = b, a
		}
		return source.NewestFirst(a.version, b.version)
	})
	before := 0
	for _, v := range added { // they are sorted like the list
		before += firstOf(has[before:], func(other string) bool {
			if ascending {
				return source.Older(v.version, other)
			}
			return source.Older(other, v.version)
		})
		for _, entry := range v.entries {
			e.insert(path, before, entry)
		}
	}
}

// ascends reports whether the versions ascend, with at least two of them different.
func ascends(versions []string) bool {
	rises := false
	for i := 1; i < len(versions); i++ {
		if source.Older(versions[i], versions[i-1]) {
			return false
		}
		rises = rises || source.Older(versions[i-1], versions[i])
	}
	return rises
}
